/*
 * Reciprocals by multiplications alone: several times as fast as division and square root in
 * vectors, and the same bits on every machine. Instructions for approximations differ between
 * machines.
 */
#ifndef FARLANDS_LAYERS_RECIPROCAL_H
#define FARLANDS_LAYERS_RECIPROCAL_H

#include "clamp.h"

/*
 * 1 / sqrt(X) to 7 parts in 10,000, X from 0 to 1e37: a fifth of one level in 255. X = 0 gives a
 * number beyond 1e19. A line through the logarithm, then a step like Newton's, with constants that
 * leave the least error (Kadlec, "Improving the fast inverse square root", 2010).
 */
INLINE float reciprocal_root(float x)
{
    const float y = clamp_float(0x5f1ffff9 - (clamp_bits(x) >> 1));
    return y * 0.703952253f * (2.38924456f - x * y * y);
}

/* 1 / X to 7 parts in a million, X from 1e-37 to 1e37: the same with two of Newton's steps. */
INLINE float reciprocal(float x)
{
    float y = clamp_float(0x7ef311c7 - clamp_bits(x));
    y *= 2 - x * y;
    return y * (2 - x * y);
}

#endif
