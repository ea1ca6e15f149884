/* WebAssembly has instructions for all of these but the fused multiply-add. */
#ifndef FARLANDS_WASM_MATH_H
#define FARLANDS_WASM_MATH_H

#include "server/viewer/wasm/soft_fma.h"

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define isfinite(x) __builtin_isfinite(x)
#define isnan(x) __builtin_isnan(x)

#define sqrt(x) __builtin_sqrt(x)
#define sqrtf(x) __builtin_sqrtf(x)
#define floor(x) __builtin_floor(x)
#define fabs(x) __builtin_fabs(x)
#define fabsf(x) __builtin_fabsf(x)

#define fma(a, b, c) soft_fma(a, b, c)
#define fmaf(a, b, c) soft_fmaf(a, b, c)

/* If one argument is NaN, the result is the other one. */
static inline double fmin(double a, double b)
{
    return a < b || b != b ? a : b;
}

static inline double fmax(double a, double b)
{
    return a > b || b != b ? a : b;
}

static inline float fminf(float a, float b)
{
    return (float)fmin((double)a, (double)b);
}

static inline float fmaxf(float a, float b)
{
    return (float)fmax((double)a, (double)b);
}

#endif
