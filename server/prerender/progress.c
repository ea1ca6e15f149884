#include "progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <uv.h>

#include "server/prerender/human_units.h"

enum { WIDTH = 80, BAR_MIN = 10, BAR_MAX = 60 };

/* Seconds between two bars, between two lines, and over which the rate is measured, or twice that.
 */
static const double BAR_EVERY = 0.2, LINE_EVERY = 5, RATE_OVER = 5;

static double now(void)
{
    return (double)uv_hrtime() / 1e9;
}

/* --- Text ---------------------------------------------------------------------- */

static int percent(const struct progress_state *state)
{
    return state->total ? (int)((double)state->done * 100 / (double)state->total) : 100;
}

/* What is behind the numbers of tiles. */
static void describe_rest(const struct progress_state *state, double rate, char *out, size_t size)
{
    char left[HUMAN_UNITS_TEXT];
    int length = rate > 0 ? snprintf(out, size, ", %.0f/s", rate) : 0;
    out[length] = '\0';
    if (state->pending)
        snprintf(out + length, size - (size_t)length, ", waiting for room in the cache");
    else if (state->seconds_left >= 0)
        snprintf(out + length, size - (size_t)length, ", %s left",
                 human_units_seconds(state->seconds_left, left));
}

char *progress_bar(const struct progress_state *state, double rate, int width,
                   char buffer[PROGRESS_TEXT])
{
    char head[16], tail[PROGRESS_TEXT / 2], rest[PROGRESS_TEXT / 4], bar[BAR_MAX + 1] = "";
    describe_rest(state, rate, rest, sizeof rest);
    const int begun = snprintf(head, sizeof head, "%3d %% ", percent(state));
    const int ended =
        snprintf(tail, sizeof tail, "%" PRIu64 "/%" PRIu64 "%s", state->done, state->total, rest);
    int room = width - begun - ended - (int)strlen("[] ");
    if (room >= BAR_MIN) {
        room = room > BAR_MAX ? BAR_MAX : room;
        const int full =
            state->total ? (int)((double)state->done * room / (double)state->total) : room;
        for (int i = 0; i < room; i++)
            bar[i] = i < full ? '#' : '.';
        snprintf(buffer, PROGRESS_TEXT, "%s[%s] %s", head, bar, tail);
    } else {
        snprintf(buffer, PROGRESS_TEXT, "%s%s", head, tail);
    }
    if (width > 0 && width < PROGRESS_TEXT)
        buffer[width] = '\0';
    return buffer;
}

char *progress_line(const struct progress_state *state, double rate, char buffer[PROGRESS_TEXT])
{
    char rest[PROGRESS_TEXT / 4];
    describe_rest(state, rate, rest, sizeof rest);
    snprintf(buffer, PROGRESS_TEXT, "farlands: %s %" PRIu64 " of %" PRIu64 " tiles (%d %%)%s",
             state->doing, state->done, state->total, percent(state), rest);
    return buffer;
}

/* --- Time ---------------------------------------------------------------------- */

static int terminal_width(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : WIDTH;
}

void progress_begin(struct progress *progress)
{
    const char *kind = getenv("TERM");
    const bool plain = !kind || !kind[0] || strcmp(kind, "dumb") == 0;
    *progress = (struct progress){.terminal = !plain && isatty(STDERR_FILENO), .started = now()};
    progress->shown = progress->before.time = progress->last.time = progress->started;
}

static double measure_rate(struct progress *progress, double time, uint64_t rendered)
{
    if (rendered < progress->last.rendered) /* something else is done now */
        progress->before = progress->last = (struct progress_mark){time, rendered};
    if (time - progress->last.time > RATE_OVER) {
        progress->before = progress->last;
        progress->last = (struct progress_mark){time, rendered};
    }
    const double passed = time - progress->before.time;
    return passed > 0 ? (double)(rendered - progress->before.rendered) / passed : 0;
}

/* The window's width is asked for each time, so that nobody need be told that it has changed. The
 * last column stays free: what is in it may break the line. */
void progress_show(struct progress *progress, const struct progress_state *state)
{
    char text[PROGRESS_TEXT];
    const double time = now();
    const double rate = measure_rate(progress, time, state->rendered);
    if (time - progress->shown < (progress->terminal ? BAR_EVERY : LINE_EVERY))
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
