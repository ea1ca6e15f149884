/* Windows: the samples in a block that lie near something. Private to rivers.c. */
#ifndef FARLANDS_RIVER_WINDOWS_H
#define FARLANDS_RIVER_WINDOWS_H

#include "noise/kernel/river_rows.h"

/* A block of a chunk's samples: columns I to I2 - 1, rows J to J2 - 1. */
struct river_block {
    const struct chunk *chunk;
    int i, j, i2, j2;
    int step; /* columns that belong together */
};

/* A rectangle, in metres from some place. */
struct river_box {
    float left, right, top, bottom;
};

static inline int64_t river_units(float metres)
{
    return (int64_t)(metres * FARLANDS_UNIT);
}

/* Find the samples in B that lie within BOX around (X, Y), in whole steps of columns. W refers to
 * PLACE, which gets their places. Returns false if there are none. */
bool river_window_find(const struct river_block *b, int64_t x, int64_t y, struct river_box box,
                       float place[2][KERNEL_CHUNK], struct river_window *w);

/* The part of W, a window on B, within REACH of PIECE. */
struct river_window river_window_near(const struct river_block *b, const struct river_window *w,
                                      const struct river_piece *piece, float reach);

#endif
