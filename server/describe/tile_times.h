/* The time that tiles of a world take, by zoom: measured, so it differs from run to run. */
#ifndef FARLANDS_DESCRIBE_TILE_TIMES_H
#define FARLANDS_DESCRIBE_TILE_TIMES_H

#include "server/world/world.h"

enum { TILE_TIMES_ZOOMS = 7, TILE_TIMES_PLACES = 5 };

extern const int tile_times_zooms[TILE_TIMES_ZOOMS];

/* Milliseconds of CPU time of one thread, the median of several places; NAN if the zoom has no
 * tile. */
struct tile_times {
    double heights[TILE_TIMES_ZOOMS]; /* of tiles of `height`: with every octave unless far apart */
    double picture[TILE_TIMES_ZOOMS]; /* the same without what is finer than a sample */
    double tile[TILE_TIMES_ZOOMS];    /* a whole tile of LAYER, painted and encoded */
    int layer;                        /* the world's first one */
    /* Of each field of the terrain, over the first of these pictures, by itself: with all that it
     * is made of, but without the rivers that are remembered, which are found before. */
    double (*field)[TILE_TIMES_ZOOMS];
};

/* Measure tiles around COUNT places, in units; at most TILE_TIMES_PLACES of them. Returns 0,
 * -ENOMEM, or the error of a render. The caller frees OUT->field. */
int tile_times_measure(struct tile_times *out, const struct world *world,
                       const int64_t (*places)[2], int count);

#endif
