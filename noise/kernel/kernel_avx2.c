/* The kernel for x86-64 with AVX2 and FMA. */
#include <immintrin.h>

#define KERNEL_LANES 8
#define KERNEL_BLOCK 3 /* vectors in each of 4 rows: 12 among 16 registers */
#include "vectors.h"

/* TABLE[index], index below KERNEL_LANES. Lanes that no index names may be unwritten. */
static inline narrow_vector lookup_lanes(narrow_vector table, integer_vector index)
{
    return (narrow_vector)_mm256_permutevar8x32_ps((__m256)table, (__m256i)index);
}

/* TABLE[index], index below 32. Other floats may be unwritten. A gather, because four permutations
 * and a choice would cost more. */
static inline narrow_vector lookup_32(const float *table, integer_vector index)
{
    return (narrow_vector)_mm256_i32gather_ps(table, (__m256i)index, 4);
}

static inline narrow_vector narrow_multiply_add(narrow_vector a, narrow_vector b, narrow_vector c)
{
    return (narrow_vector)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

static inline broad_vector broad_multiply_add(broad_vector a, broad_vector b, broad_vector c)
{
    return (broad_vector)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

#define KERNEL kernel_avx2
#define KERNEL_NAME "avx2"
#define KERNEL_SUPPORTED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#include "kernel_template.h"
