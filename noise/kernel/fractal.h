/* What the fractals have in common, for kernels and for single points. Private to noise/. */
#ifndef FARLANDS_FRACTAL_H
#define FARLANDS_FRACTAL_H

#include "noise/terrain.h"

/* Whether the fractal is a sum of octaves, and nothing else. */
static inline bool is_sum(enum farlands_fractal fractal)
{
    return fractal == FARLANDS_NONE || fractal == FARLANDS_FBM;
}

/* Noise is scale * sum + shift. */
static inline double fractal_scale(const struct farlands_terrain *terrain)
{
    switch (terrain->fractal) {
    case FARLANDS_BILLOW:
        return 2;
    case FARLANDS_HYBRID:
        return 1 / terrain->amplitude;
    default:
        return 1;
    }
}

static inline double fractal_shift(const struct farlands_terrain *terrain)
{
    return terrain->fractal == FARLANDS_BILLOW ? -1 : 0;
}

#endif
