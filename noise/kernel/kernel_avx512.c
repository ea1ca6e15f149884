/* The kernel for x86-64 with AVX-512. */
#include <immintrin.h>

#define KERNEL_LANES 16
#define KERNEL_BLOCK 4 /* vectors in each of 4 rows: half the 32 registers */
#include "vectors.h"

/* TABLE[index], index below KERNEL_LANES. Lanes that no index names may be unwritten. */
static inline narrow_vector lookup_lanes(narrow_vector table, integer_vector index)
{
    return (narrow_vector)_mm512_permutexvar_ps((__m512i)index, (__m512)table);
}

/* TABLE[index], index below 32. Other floats may be unwritten. */
static inline narrow_vector lookup_32(const float *table, integer_vector index)
{
    return (narrow_vector)_mm512_permutex2var_ps((__m512)narrow_load(table), (__m512i)index,
                                                 (__m512)narrow_load(table + 16));
}

static inline narrow_vector narrow_multiply_add(narrow_vector a, narrow_vector b, narrow_vector c)
{
    return (narrow_vector)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

static inline broad_vector broad_multiply_add(broad_vector a, broad_vector b, broad_vector c)
{
    return (broad_vector)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

#define KERNEL kernel_avx512
#define KERNEL_NAME "avx512"
#define KERNEL_SUPPORTED                                                        \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && \
     __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
#include "kernel_template.h"
