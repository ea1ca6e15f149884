/*
 * Measures whether a world's tiles agree with those of the next zoom: heights, and the share of
 * water. The same places give the same numbers with any number of threads.
 */
#ifndef FARLANDS_DESCRIBE_ZOOMS_H
#define FARLANDS_DESCRIBE_ZOOMS_H

#include "server/world/world.h"

enum {
    ZOOMS_FIRST = 4, /* against zoom 5, and so on */
    ZOOMS = 10,      /* pairs: the last is 13 against 14 */
    ZOOMS_PLACES = 8,
    ZOOMS_SIDE = 64, /* pixels of the coarser tile */
    ZOOMS_PIXELS = ZOOMS_SIDE * ZOOMS_SIDE
};

/* NAN if there are no places, or if the world has no such zoom at any of the places. */
struct zooms {
    double apart[ZOOMS];    /* metres: the 99 % quantile of the difference between a pixel's height
                               and the mean of the 2 x 2 pixels of the next zoom in its area */
    double water[ZOOMS][2]; /* the share of pixels with water, at this zoom and the next */
};

/*
 * Measure heights of pictures, which are filtered, in a part of the tile around each of the first
 * ZOOMS_PLACES of PLACES places, in units. A pixel is water if its height is not above 0, or if the
 * field `water` is higher. Returns 0, -ENOMEM or -EAGAIN.
 */
int zooms_measure(struct zooms *out, const struct world *world, unsigned threads,
                  const int64_t (*place)[2], int places);

/*
 * Set APART, for each of ZOOMS_PIXELS HEIGHTS, to its difference from the mean of FINER heights in
 * its area: those of rows and columns 2 i and 2 i + 1 among twice as many.
 */
void zooms_compare(const float *heights, const float *finer, float *apart);

#endif
