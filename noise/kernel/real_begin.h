/*
 * Begins a template that exists twice: in float for narrow octaves, in double for broad ones. Ends
 * with real_end.h. No include guard.
 *
 * Parameter, required:
 *   REAL_IS_FLOAT   1 or 0   1: float, names begin with narrow_; 0: double, broad_
 *
 * Gives the template:
 *   REAL            the type
 *   REAL_NAME(x)    narrow_x or broad_x
 *   REAL_MEMBER     narrow or broad, as struct members are called
 *   REAL_FMA(a, b, c), REAL_SQRT(x), REAL_ABS(x)   math.h's functions for the type
 */
#ifndef REAL_IS_FLOAT
#error "define REAL_IS_FLOAT as 1 (float) or 0 (double) before including a template"
#endif
#ifdef REAL
#error "a template was included within another: real_end.h is missing"
#endif

#if REAL_IS_FLOAT
#define REAL float
#define REAL_NAME(x) narrow_##x
#define REAL_MEMBER narrow
#define REAL_FMA fmaf
#define REAL_SQRT sqrtf
#define REAL_ABS fabsf
#else
#define REAL double
#define REAL_NAME(x) broad_##x
#define REAL_MEMBER broad
#define REAL_FMA fma
#define REAL_SQRT sqrt
#define REAL_ABS fabs
#endif
