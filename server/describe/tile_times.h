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
    /* For each field, the part of PICTURE that its own expression takes, 0 .. 1, as far as it can
     * be told (noise/estimate.h): the same in each run. Fields that the height does not use have 0.
     */
    double (*share)[TILE_TIMES_ZOOMS];
};

/* Measure tiles around COUNT places, in units; at most TILE_TIMES_PLACES of them. Returns 0,
 * -ENOMEM, or the error of a render. The caller frees OUT->share. */
int tile_times_measure(struct tile_times *out, const struct world *world,
                       const int64_t (*places)[2], int count);

#endif
