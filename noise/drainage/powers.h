/* Powers of two and logarithms, with the same bits everywhere. Private to drainage/. */
#ifndef FARLANDS_POWERS_H
#define FARLANDS_POWERS_H

#include <string.h>

#include "noise/exact/arithmetic.h"
#include "noise/exact/cloned.h"

/* The logarithm of X to base 2, for normal X above 0: within 1.1e-5. Like the one below,
 * the polynomial has about the least maximal error of its degree. */
INLINE float powers_log2(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const float exponent = (float)(int32_t)((bits >> 23) - 127);
    bits = (bits & 0x7fffff) | 0x3f800000;
    float t;
    memcpy(&t, &bits, sizeof t);
    t -= 1;
    float p = -0.0353869307f;
    p = p * t + 0.148413366f;
    p = p * t - 0.305122473f;
    p = p * t + 0.469920806f;
    p = p * t - 0.720519809f;
    p = p * t + 1.4426848f;
    return exponent + p * t;
}

/* 2 to the power X, -126 to 127: within 4e-6 of the result. Loops in which X is kept within these
 * bounds are not vectorized, so callers have smaller ones. */
INLINE float powers_exp2(float x)
{
    int32_t whole = (int32_t)x;
    whole -= (float)whole > x;
    const float t = x - (float)whole;
    float p = 0.0136976638f;
    p = p * t + 0.0516903596f;
    p = p * t + 0.241638445f;
    p = p * t + 0.692966123f;
    p = p * t + 1.0000037f;
    const uint32_t bits = (uint32_t)(whole + 127) << 23;
    float power;
    memcpy(&power, &bits, sizeof power);
    return p * power;
}

#endif
