/* Maxima and minima for floats. gcc needs a comparison and a blend for floats, but one instruction
 * for integers, and floats from 0 on have the same order as their bits. */
#ifndef FARLANDS_LAYERS_CLAMP_H
#define FARLANDS_LAYERS_CLAMP_H

#include <stdint.h>
#include <string.h>

#include "server/core/multiversion.h"

INLINE int32_t clamp_bits(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

INLINE float clamp_float(int32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* X, but at least LEAST, which is not negative. Neither is NAN. */
INLINE float at_least(float x, float least)
{
    const int32_t bits = clamp_bits(x), bound = clamp_bits(least);
    return clamp_float(bits > bound ? bits : bound);
}

/* X, but at most MOST, which is not negative. Neither is NAN. */
INLINE float at_most(float x, float most)
{
    const int32_t bits = clamp_bits(x), bound = clamp_bits(most);
    return clamp_float(bits < bound ? bits : bound);
}

/* X from 0 to MOST. */
INLINE float clamped(float x, float most)
{
    return at_most(at_least(x, 0), most);
}

#endif
