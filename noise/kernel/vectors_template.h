/*
 * Vectors of floats or doubles. Included by vectors.h.
 *
 * Parameters, required:
 *   REAL_IS_FLOAT   see real_begin.h
 *   KERNEL_LANES    see vectors.h
 */
#ifndef KERNEL_LANES
#error "vectors_template.h: include vectors.h instead"
#endif
#include "real_begin.h"

typedef REAL REAL_NAME(vector) __attribute__((vector_size(4 * KERNEL_LANES)));
enum { REAL_NAME(LANES) = 4 * KERNEL_LANES / (int)sizeof(REAL) };

static inline REAL_NAME(vector) REAL_NAME(splat)(REAL x)
{
    return x - (REAL_NAME(vector)){0};
}

static inline REAL_NAME(vector) REAL_NAME(load)(const REAL *from)
{
    REAL_NAME(vector) v;
    memcpy(&v, from, sizeof v);
    return v;
}

static inline void REAL_NAME(store)(REAL *to, REAL_NAME(vector) v)
{
    memcpy(to, &v, sizeof v);
}

#include "real_end.h"
