/* Fused multiply-add in software. Pure. Private to noise/. */
#ifndef FARLANDS_SOFT_FMA_H
#define FARLANDS_SOFT_FMA_H

/*
 * In WebAssembly these replace the C library's: musl's fmaf needs rounding modes, which WebAssembly
 * lacks, and its fma loses the sign of products that underflow to 0.
 *
 * mingw-w64's round twice. The builtins are the instruction, even if nothing is optimised.
 */
#ifdef __wasm__
#define soft_fma fma
#define soft_fmaf fmaf
#elif defined _WIN32
#include <math.h>
#ifdef __FMA__
#define fma __builtin_fma
#define fmaf __builtin_fmaf
#else
#define fma soft_fma
#define fmaf soft_fmaf
#endif
#endif

/* A * B + C, rounded once, to nearest, ties to even, like fma and fmaf in C. */
double soft_fma(double a, double b, double c);
float soft_fmaf(float a, float b, float c);

#endif
