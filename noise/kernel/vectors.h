/*
 * Vectors of KERNEL_LANES floats or 32-bit integers, and of half as many doubles, as extensions of
 * gcc and clang: operators work lane by lane. Everything else in a kernel is plain loops that the
 * compiler vectorizes.
 *
 * Parameter, required:
 *   KERNEL_LANES   4, 8 or 16   floats in one of the instruction set's vectors
 */
#ifndef KERNEL_LANES
#error "vectors.h: define KERNEL_LANES, the number of floats in a vector: 4, 8 or 16"
#endif

#include <stdint.h>
#include <string.h>

#include "noise/exact/arithmetic.h"

typedef uint32_t integer_vector __attribute__((vector_size(4 * KERNEL_LANES)));

#define REAL_IS_FLOAT 1
#include "vectors_template.h"
#define REAL_IS_FLOAT 0
#include "vectors_template.h"

static inline integer_vector integer_load(const uint32_t *from)
{
    integer_vector v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* TABLE[index] lane by lane, for instruction sets that have no such instruction: TABLE in a
 * register ... */
static inline narrow_vector lookup_in_register(narrow_vector table, integer_vector index)
{
    narrow_vector v = {0};
    for (int lane = 0; lane < KERNEL_LANES; lane++)
        v[lane] = table[index[lane]];
    return v;
}

/* ... and in memory. */
static inline narrow_vector lookup_in_memory(const float *table, integer_vector index)
{
    narrow_vector v = {0};
    for (int lane = 0; lane < KERNEL_LANES; lane++)
        v[lane] = table[index[lane]];
    return v;
}
