/* Fused multiply-add in software. Pure. Private to noise/. */
#ifndef FARLANDS_SOFT_FMA_H
#define FARLANDS_SOFT_FMA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* A * B + C, rounded once, to nearest, ties to even, like C's fma. */
double soft_fma(double a, double b, double c);

/* The same for float, like fmaf. Defined below. */
static inline float soft_fmaf(float a, float b, float c);

/*
 * In WebAssembly these two replace the C library's: musl's fmaf needs rounding modes, which
 * WebAssembly lacks, and musl's fma loses the sign if a product underflows to 0. On Windows
 * mingw-w64's functions round twice, so these replace them as well; if the processor has the
 * instruction, the builtins use it even without optimization.
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

/* SUM + REST rounded to odd: if inexact, towards zero, and then the last bit is set. Rounding
 * again, to at least two bits less, gives the same as rounding once (Boldo and Melquiond,
 * "Emulation of a FMA and correctly rounded sums", IEEE Trans. Computers 57, 2008). No branch, so
 * that compilers can vectorize loops. */
static inline __attribute__((always_inline)) double to_odd(double sum, double rest)
{
    const uint64_t bits = bits_of(sum), inexact = fabs(rest) > 0; /* 0 if REST is not a number */
    const uint64_t beyond = (bits ^ bits_of(rest)) >> 63;
    return double_of((bits - (beyond & inexact)) | inexact);
}

/* A * B + C, rounded to double, has these bits all 0 if it lies in the middle between two floats,
 * normal or subnormal. If any is set, rounding again to float equals rounding once. */
#define FMAF_MIDDLE 0x0fffffff

static inline __attribute__((always_inline)) float soft_fmaf(float a, float b, float c)
{
    const double product = (double)a * (double)b; /* 48 bits: exact */
    double rest;
    const double sum = two_sum(product, (double)c, &rest);
    return (float)to_odd(sum, rest);
}

/* If all doubles lie within these, soft_fma's sums neither overflow nor underflow. */
#define FMA_LEAST 0x1p-900
#define FMA_MOST 0x1p900
#define FMA_SPLIT 0x1.0000002p27 /* 2^27 + 1 */

#endif
