/* Formulas that kernels and single points share, as params.h defines them. Private to noise/. */
#ifndef FARLANDS_FORMULAS_H
#define FARLANDS_FORMULAS_H

#include <math.h>

#include "noise/fractal/noise.h"

/* True if the fractal is a plain sum over octaves. */
static inline bool fractal_is_sum(const struct noise *noise)
{
    return noise->fractal == FARLANDS_NONE || noise->fractal == FARLANDS_FBM;
}

/* The noise is fractal_scale * sum + fractal_shift. */
static inline double fractal_scale(const struct noise *noise)
{
    switch (noise->fractal) {
    case FARLANDS_BILLOW:
        return 2;
    case FARLANDS_HYBRID:
        return 1 / noise->amplitude;
    default:
        return 1;
    }
}

static inline double fractal_shift(const struct noise *noise)
{
    return noise->fractal == FARLANDS_BILLOW ? -1 : 0;
}

#define REAL_IS_FLOAT 1
#include "formulas_template.h"
#define REAL_IS_FLOAT 0
#include "formulas_template.h"

#endif
