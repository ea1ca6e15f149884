/*
 * Reciprocals from multiplications alone: several times as fast as division and square root in
 * vectors, and the same bits on every machine, which the instructions for approximations have not.
 */
#ifndef FARLANDS_LAYERS_RECIPROCAL_H
#define FARLANDS_LAYERS_RECIPROCAL_H

#include "clamp.h"

/*
 * 1 / sqrt(X) to 5 parts in a million, X from 0 to 1e37. Of 0 it is a number beyond 1e19. A line
 * through the logarithm, then Newton's method twice (Lomont, "Fast inverse square root", 2003).
 */
INLINE float reciprocal_root(float x)
{
    const float half = 0.5f * x;
    float y = clamp_float(0x5f375a86 - (clamp_bits(x) >> 1));
    y *= 1.5f - half * y * y;
    return y * (1.5f - half * y * y);
}

/* 1 / X to 1 part in a million, X from 1e-37 to 1e37; in the same way, with three steps. */
INLINE float reciprocal(float x)
{
    float y = clamp_float(0x7ef311c7 - clamp_bits(x));
    y *= 2 - x * y;
    y *= 2 - x * y;
    return y * (2 - x * y);
}

#endif
