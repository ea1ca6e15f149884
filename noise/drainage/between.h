/* Values between those of a square. Private to drainage/. */
#ifndef FARLANDS_BETWEEN_H
#define FARLANDS_BETWEEN_H

#include <string.h>

#include "noise/exact/arithmetic.h"

/* Between four values, FIRST and the next one, and those below in rows STRIDE apart, at (X, Y) from
 * FIRST on. */
static inline float bilinear(const float *first, int stride, float x, float y)
{
    const float *low = first + stride;
    const float above = first[0] + x * (first[1] - first[0]);
    const float below = low[0] + x * (low[1] - low[0]);
    return above + y * (below - above);
}

/* The same for four values that lie beside each other, all at once. */
enum { FOUR = 4 };
typedef float four_values __attribute__((vector_size(4 * FOUR)));

static inline four_values four_at(const float *first)
{
    four_values v;
    memcpy(&v, first, sizeof v);
    return v;
}

static inline four_values between_four(const float *first, int stride, float x, float y)
{
    const float *low = first + stride;
    const four_values above = four_at(first) + x * (four_at(first + FOUR) - four_at(first));
    const four_values below = four_at(low) + x * (four_at(low + FOUR) - four_at(low));
    return above + y * (below - above);
}

#endif
