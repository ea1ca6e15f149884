/* The kernel for WebAssembly. Its vectors have 128 bits, and no fused multiply-add. */
#include <wasm_simd128.h>

#define KERNEL_LANES 4
#define KERNEL_BLOCK 2
#include "vectors.h"
#define lookup_lanes lookup_in_register
#define lookup_32 lookup_in_memory

/* a * b + c for the two lower floats, in double: the product is exact, the sum is rounded. */
static inline v128_t sum_low(v128_t a, v128_t b, v128_t c)
{
    const v128_t product =
        wasm_f64x2_mul(wasm_f64x2_promote_low_f32x4(a), wasm_f64x2_promote_low_f32x4(b));
    return wasm_f64x2_add(product, wasm_f64x2_promote_low_f32x4(c));
}

static inline v128_t high_half(v128_t v)
{
    return wasm_i32x4_shuffle(v, v, 2, 3, 2, 3);
}

static __attribute__((noinline)) narrow_vector multiply_add_middle(narrow_vector a, narrow_vector b,
                                                                   narrow_vector c)
{
    for (int lane = 0; lane < narrow_LANES; lane++)
        c[lane] = soft_fmaf(a[lane], b[lane], c[lane]);
    return c;
}

/* Rounded twice, to double and to float, unless a double lies in the middle between two floats. */
static inline narrow_vector narrow_multiply_add(narrow_vector a, narrow_vector b, narrow_vector c)
{
    const v128_t va = (v128_t)a, vb = (v128_t)b, vc = (v128_t)c;
    const v128_t low = sum_low(va, vb, vc);
    const v128_t high = sum_low(high_half(va), high_half(vb), high_half(vc));
    const v128_t last_bits = wasm_i32x4_shuffle(low, high, 0, 2, 4, 6);
    if (!wasm_i32x4_all_true(wasm_v128_and(last_bits, wasm_i32x4_splat(FMAF_MIDDLE))))
        return multiply_add_middle(a, b, c);
    return (narrow_vector)wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low),
                                             wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5);
}

/* --- Doubles: the functions of soft_fma.c on vectors --- */

typedef int64_t long_vector __attribute__((vector_size(16)));

static inline broad_vector two_sums(broad_vector a, broad_vector b, broad_vector *rest)
{
    const broad_vector sum = a + b, of_b = sum - a;
    *rest = (a - (sum - of_b)) + (b - of_b);
    return sum;
}

static inline broad_vector split(broad_vector x, broad_vector *low)
{
    const broad_vector scaled = x * broad_splat(FMA_SPLIT), high = scaled - (scaled - x);
    *low = x - high;
    return high;
}

static inline broad_vector to_odds(broad_vector sum, broad_vector rest)
{
    const long_vector inexact = rest != 0, beyond = ((long_vector)sum ^ (long_vector)rest) < 0;
    return (broad_vector)(((long_vector)sum + (beyond & inexact)) | (inexact & 1));
}

static inline broad_vector fma_in_doubles(broad_vector a, broad_vector b, broad_vector c,
                                          broad_vector product)
{
    broad_vector a_low, b_low, sum_rest, high_rest, odd_rest;
    const broad_vector a_high = split(a, &a_low), b_high = split(b, &b_low);
    const broad_vector product_rest =
        a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    const broad_vector sum = two_sums(c, product_rest, &sum_rest);
    const broad_vector high = two_sums(product, sum, &high_rest);
    const broad_vector low = two_sums(sum_rest, high_rest, &odd_rest);
    return high + to_odds(low, odd_rest);
}

/* True if no part of the sum can overflow or underflow. */
static inline bool is_moderate(broad_vector a, broad_vector b, broad_vector c, broad_vector product)
{
    const v128_t size = wasm_f64x2_abs((v128_t)product);
    const v128_t factor = wasm_f64x2_max(wasm_f64x2_abs((v128_t)a), wasm_f64x2_abs((v128_t)b));
    const v128_t largest = wasm_f64x2_max(factor, wasm_f64x2_max(wasm_f64x2_abs((v128_t)c), size));
    return wasm_i64x2_all_true(wasm_v128_and(wasm_f64x2_lt(largest, wasm_f64x2_splat(FMA_MOST)),
                                             wasm_f64x2_gt(size, wasm_f64x2_splat(FMA_LEAST))));
}

static __attribute__((noinline)) broad_vector broad_multiply_add(broad_vector a, broad_vector b,
                                                                 broad_vector c)
{
    const broad_vector product = a * b;
    if (is_moderate(a, b, c, product))
        return fma_in_doubles(a, b, c, product);
    for (int lane = 0; lane < broad_LANES; lane++)
        c[lane] = soft_fma(a[lane], b[lane], c[lane]);
    return c;
}

#define KERNEL kernel_simd128
#define KERNEL_NAME "simd128"
#define KERNEL_SUPPORTED true
#include "kernel_template.h"
