#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/prerender/human_units.h"

enum { DEFAULT_WIDTH = 80, BAR_MIN = 10, BAR_MAX = 60 };

/* Seconds. The rate is the mean over the last one to two windows. */
static const double BAR_INTERVAL = 0.2, LINE_INTERVAL = 5, RATE_WINDOW = 5;

static double now(void)
{
    return (double)clock_ns(NULL) / 1e9;
}

/* TOTAL times the finished share. */
static int scale(const struct progress_state *state, int total)
{
    return state->total ? (int)((double)state->done * total / (double)state->total) : total;
}

/* Format the rate and the time left. */
static void format_pace(const struct progress_state *state, double rate, char *out, size_t size)
{
    char left[HUMAN_UNITS_TEXT];
    int length = rate > 0 ? snprintf(out, size, ", %.0f/s", rate) : 0;
    out[length] = '\0';
    if (state->pending)
        snprintf(out + length, size - (size_t)length, ", waiting for free space in the cache");
    else if (state->seconds_left >= 0)
        snprintf(out + length, size - (size_t)length, ", %s left",
                 human_units_seconds(state->seconds_left, left));
}

char *progress_bar(const struct progress_state *state, double rate, int width,
                   char buffer[PROGRESS_TEXT])
{
    char head[16], tail[PROGRESS_TEXT / 2], pace[PROGRESS_TEXT / 4], bar[BAR_MAX + 4] = "";
    format_pace(state, rate, pace, sizeof pace);
    const int head_length = snprintf(head, sizeof head, "%3d %% ", scale(state, 100));
    const int tail_length =
        snprintf(tail, sizeof tail, "%" PRIu64 "/%" PRIu64 "%s", state->done, state->total, pace);
    int length = width - head_length - tail_length - (int)strlen("[] ");
    if (length >= BAR_MIN) {
        length = length > BAR_MAX ? BAR_MAX : length;
        bar[0] = '[';
        memset(bar + 1, '.', (size_t)length);
        memset(bar + 1, '#', (size_t)scale(state, length));
        bar[1 + length] = ']';
        bar[2 + length] = ' ';
    }
    snprintf(buffer, PROGRESS_TEXT, "%s%s%s", head, bar, tail);
    if (width > 0 && width < PROGRESS_TEXT)
        buffer[width] = '\0';
    return buffer;
}

char *progress_line(const struct progress_state *state, double rate, char buffer[PROGRESS_TEXT])
{
    char pace[PROGRESS_TEXT / 4];
    format_pace(state, rate, pace, sizeof pace);
    snprintf(buffer, PROGRESS_TEXT, "farlands: %" PRIu64 " of %" PRIu64 " tiles %s (%d %%)%s",
             state->done, state->total, state->action, scale(state, 100), pace);
    return buffer;
}

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col
                                                                           : DEFAULT_WIDTH;
}

void progress_begin(struct progress *progress)
{
    const char *kind = getenv("TERM");
    const bool dumb = !kind || !kind[0] || strcmp(kind, "dumb") == 0;
    *progress = (struct progress){.terminal = !dumb && isatty(STDERR_FILENO), .started = now()};
    progress->shown = progress->before.time = progress->last.time = progress->started;
}

static double measure_rate(struct progress *progress, double time, uint64_t rendered)
{
    if (rendered < progress->last.rendered) /* another action has begun */
        progress->before = progress->last = (struct progress_mark){time, rendered};
    if (time - progress->last.time > RATE_WINDOW) {
        progress->before = progress->last;
        progress->last = (struct progress_mark){time, rendered};
    }
    const double passed = time - progress->before.time;
    return passed > 0 ? (double)(rendered - progress->before.rendered) / passed : 0;
}

/* The width is read each time, which saves a SIGWINCH handler. The last column stays free, because
 * some terminals wrap after it. */
void progress_show(struct progress *progress, const struct progress_state *state)
{
    char text[PROGRESS_TEXT];
    const double time = now();
    const double rate = measure_rate(progress, time, state->rendered);
    if (time - progress->shown < (progress->terminal ? BAR_INTERVAL : LINE_INTERVAL))
        return;
    progress->shown = time;
    if (progress->terminal)
        fprintf(stderr, "\r%s\033[K", progress_bar(state, rate, terminal_width() - 1, text));
    else
        fprintf(stderr, "%s\n", progress_line(state, rate, text));
    progress->drawn = progress->terminal;
}

void progress_end(struct progress *progress)
{
    if (progress->drawn)
        fputs("\r\033[K", stderr);
    progress->drawn = false;
}
