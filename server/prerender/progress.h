/* Shows a long command's progress on stderr: a bar redrawn in place on a terminal, otherwise a line
 * every few seconds. One thread. */
#ifndef FARLANDS_PRERENDER_PROGRESS_H
#define FARLANDS_PRERENDER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_state {
    const char *action;   /* as in "3 of 9 tiles done": done, verified */
    uint64_t done, total; /* tiles */
    uint64_t rendered;    /* tiles that count for the rate */
    double seconds_left;  /* less than 0: unknown */
    bool pending;         /* waiting for free space in the cache */
};

struct progress {
    bool terminal, drawn;
    double started, shown; /* s */
    struct progress_mark {
        double time;
        uint64_t rendered;
    } before, last; /* the rate is measured since BEFORE */
};

void progress_begin(struct progress *progress);

/* Call it often: it draws at most every 0.2 s (bar) or 5 s (line). */
void progress_show(struct progress *progress, const struct progress_state *state);

/* Clear the bar. */
void progress_end(struct progress *progress);

enum { PROGRESS_TEXT = 512 };

/* Format a line of at most WIDTH characters, with a bar if there is space for one. Pure. */
char *progress_bar(const struct progress_state *state, double rate, int width,
                   char buffer[PROGRESS_TEXT]);

/* Format a line without a bar. Pure. */
char *progress_line(const struct progress_state *state, double rate, char buffer[PROGRESS_TEXT]);

#endif
