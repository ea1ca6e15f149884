/* Measures the time that a world's tiles take, by zoom. The times differ from run to run. */
#ifndef FARLANDS_DESCRIBE_TILE_TIMES_H
#define FARLANDS_DESCRIBE_TILE_TIMES_H

#include "server/world/world.h"

enum { TILE_TIMES_ZOOMS = 7, TILE_TIMES_PLACES = 5 };

extern const int tile_times_zooms[TILE_TIMES_ZOOMS];

/* Milliseconds of one thread's CPU time, the median over several places; NAN if the zoom has no
 * tile. */
struct tile_times {
    double heights[TILE_TIMES_ZOOMS]; /* `height` tiles: every octave unless far apart */
    double picture[TILE_TIMES_ZOOMS]; /* the same without octaves finer than a sample */
    double tile[TILE_TIMES_ZOOMS];    /* a whole tile of LAYER, painted and encoded */
    int layer;                        /* the first layer that the world serves */
    /* Per field: computed alone, with all nodes that it needs, over the picture around the first
     * place. The rivers there are found and remembered before, and don't count. */
    double (*field)[TILE_TIMES_ZOOMS];
};

/* Measure tiles around COUNT places, in units; at most TILE_TIMES_PLACES are used. Returns 0,
 * -ENOMEM, or a render's error. The caller frees OUT->field. */
int tile_times_measure(struct tile_times *out, const struct world *world,
                       const int64_t (*places)[2], int count);

#endif
