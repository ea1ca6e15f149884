/* The headings of rivers: whether they prefer the directions of a lattice. Pure. */
#ifndef FARLANDS_DESCRIBE_HEADINGS_H
#define FARLANDS_DESCRIBE_HEADINGS_H

#include <stdbool.h>
#include <stdint.h>

enum { HEADINGS_CHORD = 256 }; /* blocks along a line */

/* Headings of chords: the sum of exp (6 i heading) over CHORDS. All 0 at first. */
struct headings {
    int chords;
    double real, imaginary;
};

/* A line that is cut into chords, each between two points HEADINGS_CHORD apart along the line. */
struct headings_line {
    struct headings headings;
    bool begun;
    int64_t origin[2];        /* units */
    double from[2], since[2]; /* blocks from ORIGIN: the last point, and the chord's beginning */
    double way;               /* along the line since then */
};

/* Begin LINE anew at the next point; its chords so far count. */
void headings_lift(struct headings_line *line);

/* Go on to (X, Y), in units. */
void headings_go(struct headings_line *line, int64_t x, int64_t y);

/* The share of a hexagonal preference: |sum| / chords. 1 if all headings are multiples of 60
 * degrees apart. About 1 / sqrt (chords) if there is none, as in nature. NAN if there are no
 * chords. */
double headings_hexagonal(const struct headings *headings);

#endif
