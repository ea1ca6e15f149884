/* Fused multiply-add in software. Pure. */
#ifndef FARLANDS_VIEWER_WASM_SOFT_FMA_H
#define FARLANDS_VIEWER_WASM_SOFT_FMA_H

/* A * B + C, rounded once, to nearest, ties to even, like fma and fmaf in C. */
double soft_fma(double a, double b, double c);
float soft_fmaf(float a, float b, float c);

#endif
