/* Fused multiply-add in software. Pure. Private to noise/. */
#ifndef FARLANDS_SOFT_FMA_H
#define FARLANDS_SOFT_FMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A * B + C, rounded once, to nearest, ties to even, like fma in C. */
double soft_fma(double a, double b, double c);

/* The same like fmaf; see below. */
static inline float soft_fmaf(float a, float b, float c);

/*
 * In WebAssembly these replace the C library's: musl's fmaf needs rounding modes, which WebAssembly
 * lacks, and its fma loses the sign of products that underflow to 0.
 *
 * mingw-w64's round twice. The builtins are the instruction, even if nothing is optimised.
 */
#if defined __wasm__ || (defined _WIN32 && !defined __FMA__)
#define fma soft_fma
#define fmaf soft_fmaf
#elif defined _WIN32
#define fma __builtin_fma
#define fmaf __builtin_fmaf
#endif

static inline uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* A + B = result + *REST, exactly (Knuth, TAOCP 2, 4.2.2). */
static inline __attribute__((always_inline)) double two_sum(double a, double b, double *rest)
{
    const double sum = a + b, of_b = sum - a;
    *rest = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* SUM + REST rounded to odd: if inexact, towards zero, and then the last bit is set. Rounding that
 * again, to at least two bits less, gives the same as rounding once (Boldo and Melquiond,
 * "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008). Without a
 * branch, so that compilers make vectors of loops. */
static inline __attribute__((always_inline)) double to_odd(double sum, double rest)
{
    const uint64_t bits = bits_of(sum), inexact = fabs(rest) > 0; /* 0 if REST is not a number */
    const uint64_t beyond = (bits ^ bits_of(rest)) >> 63;
    return double_of((bits - (beyond & inexact)) | inexact);
}

/* The bits of A * B + C, rounded to double, that are all 0 if it lies in the middle between two
 * floats, normal or subnormal. If any is set, rounding to float again is as good as rounding once.
 */
#define FMAF_MIDDLE 0x0fffffff

static inline __attribute__((always_inline)) float soft_fmaf(float a, float b, float c)
{
    const double product = (double)a * (double)b; /* 48 bits: exact */
    double rest;
    const double sum = two_sum(product, (double)c, &rest);
    return (float)to_odd(sum, rest);
}

/* A double within these does not overflow or underflow in soft_fma's sums of doubles. */
#define FMA_LEAST 0x1p-900
#define FMA_MOST 0x1p900
#define FMA_SPLIT 0x1.0000002p27 /* 2^27 + 1 */

#endif
