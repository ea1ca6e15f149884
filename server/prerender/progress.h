/*
 * How far a long command is, on stderr: a bar on a terminal, drawn anew in its line, and elsewhere
 * a line every few seconds. One thread.
 */
#ifndef FARLANDS_PRERENDER_PROGRESS_H
#define FARLANDS_PRERENDER_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct progress_state {
    const char *doing;    /* "rendered", "looked for": what tiles are */
    uint64_t done, total; /* tiles */
    uint64_t rendered;    /* of those that are done: what the rate is of */
    double seconds_left;  /* less than 0: not known */
    bool pending;         /* for room in the cache */
};

enum { PROGRESS_TEXT = 512 };

/* A line of at most WIDTH characters, in BUFFER, with a bar where it is wide enough. */
char *progress_bar(const struct progress_state *state, double rate, int width,
                   char buffer[PROGRESS_TEXT]);
/* A line by itself. */
char *progress_line(const struct progress_state *state, double rate, char buffer[PROGRESS_TEXT]);

struct progress {
    bool terminal, drawn;
    double started, shown;
    struct progress_mark {
        double time;
        uint64_t rendered;
    } before, last; /* what the rate is measured from */
};

void progress_begin(struct progress *progress);
/* Call it many times a second: it is shown when it is time. */
void progress_show(struct progress *progress, const struct progress_state *state);
/* The terminal's line is empty again. */
void progress_end(struct progress *progress);

#endif
