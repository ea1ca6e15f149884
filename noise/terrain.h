/* A terrain as kernels see it: its noise and what becomes of it. Private to noise/. */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "density.h"
#include "noise.h"

/* The elevation curve. On piece p, metres = base + slope * (noise - from). */
struct elevation {
    int pieces;
    uint32_t half; /* the greatest power of 2 below PIECES, or 0: where a binary search begins */
    /* Tables of 32 floats, the size that kernels look up. FROM is infinite beyond the last piece.
     * A slope is the sum of two floats. */
    float from[FARLANDS_MAX_KNOTS], base[FARLANDS_MAX_KNOTS];
    float slope[FARLANDS_MAX_KNOTS], slope_rest[FARLANDS_MAX_KNOTS];
    float noise_min, noise_max; /* ends of the curve */
    float metres_min, metres_max;
};

struct farlands_terrain {
    const struct kernel *kernel;
    struct noise noise;
    struct elevation elevation;
    struct density density;
};

#endif
