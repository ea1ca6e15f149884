/* Fused multiply-add in software. Pure. Private to noise/. */
#ifndef FARLANDS_SOFT_FMA_H
#define FARLANDS_SOFT_FMA_H

/*
 * In WebAssembly these replace the C library's: musl's fmaf needs rounding modes, which WebAssembly
 * lacks, and its fma loses the sign of products that underflow to 0.
 */
#ifdef __wasm__
#define soft_fma fma
#define soft_fmaf fmaf
#endif

/* A * B + C, rounded once, to nearest, ties to even, like fma and fmaf in C. */
double soft_fma(double a, double b, double c);
float soft_fmaf(float a, float b, float c);

#endif
