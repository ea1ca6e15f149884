/* Pictures of regions are painted in bands of rows, and these in blocks whose heights, with those
 * around them that slopes need, fit a render thread's memory. Pure. */
#ifndef FARLANDS_WORLD_PICTURE_H
#define FARLANDS_WORLD_PICTURE_H

#include "server/layers/layer.h"

enum {
    PICTURE_BAND_MAX = 1 << 18, /* samples */
    PICTURE_HEIGHTS_SIDE = LAYER_MAX_SIZE + 2 * LAYER_MAX_REACH,
    PICTURE_HEIGHTS_MAX =
        PICTURE_HEIGHTS_SIDE * PICTURE_HEIGHTS_SIDE, /* of a block, with those around it */
};

struct picture_block {
    int width, height; /* samples to paint; the last ones may have fewer */
};

static inline int picture_part(int whole, int most)
{
    const int parts = (whole + most - 1) / most;
    return (whole + parts - 1) / parts;
}

/* The blocks of a band of WIDTH x ROWS samples, at most PICTURE_BAND_MAX, if slopes reach REACH
 * samples. */
static inline struct picture_block picture_block(int width, int rows, int reach)
{
    const int height = picture_part(rows, LAYER_MAX_SIZE);
    return (struct picture_block){
        .width = picture_part(width, PICTURE_HEIGHTS_MAX / (height + 2 * reach) - 2 * reach),
        .height = height,
    };
}

#endif
