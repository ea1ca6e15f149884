/* Fused multiply-add where the hardware has none: exact, in integers and in doubles. Pure. */
#ifndef FARLANDS_VIEWER_WASM_SOFT_FMA_H
#define FARLANDS_VIEWER_WASM_SOFT_FMA_H

/* A * B + C, rounded once, to nearest, ties to even; as fma and fmaf of C. */
double soft_fma(double a, double b, double c);
float soft_fmaf(float a, float b, float c);

#endif
