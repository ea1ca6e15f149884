/* The kernel for any machine. fmaf is exact everywhere, but slow without hardware for it. */
#include <math.h>

#define KERNEL_LANES 4
#define KERNEL_BLOCK 2
#include "vectors.h"
#define lookup_lanes lookup_in_register
#define lookup_32 lookup_in_memory

static inline narrow_vector narrow_multiply_add(narrow_vector a, narrow_vector b, narrow_vector c)
{
    for (int lane = 0; lane < narrow_LANES; lane++)
        c[lane] = fmaf(a[lane], b[lane], c[lane]);
    return c;
}

static inline broad_vector broad_multiply_add(broad_vector a, broad_vector b, broad_vector c)
{
    for (int lane = 0; lane < broad_LANES; lane++)
        c[lane] = fma(a[lane], b[lane], c[lane]);
    return c;
}

#define KERNEL kernel_scalar
#define KERNEL_NAME "scalar"
#define KERNEL_SUPPORTED true
#include "kernel_template.h"
