/* Formulas that kernels and single points share, as farlands.h defines them. Private to noise/. */
#ifndef FARLANDS_FORMULAS_H
#define FARLANDS_FORMULAS_H

#include <math.h>

#include "noise/terrain.h"

/* True if the fractal is a plain sum of octaves. */
static inline bool fractal_is_sum(const struct farlands_terrain *terrain)
{
    return terrain->fractal == FARLANDS_NONE || terrain->fractal == FARLANDS_FBM;
}

/* The terrain's noise is fractal_scale * sum + fractal_shift. */
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

#define REAL_IS_FLOAT 1
#include "formulas_template.h"
#define REAL_IS_FLOAT 0
#include "formulas_template.h"

#endif
