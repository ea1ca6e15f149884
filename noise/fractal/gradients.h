/* Gradient sets: the vectors that a lattice corner's index chooses from. Private to noise/. */
#ifndef FARLANDS_GRADIENTS_H
#define FARLANDS_GRADIENTS_H

#include "noise/fractal/params.h"

/*
 * Index i has the gradient (x, y)[i mod 32]; small sets are repeated to fill the 32 entries, which
 * two registers hold. Then, as far as the masks allow, bit 5 in i exchanges x and y, bit 6 negates
 * x, and bit 7 negates y.
 */
struct gradient_set {
    float x[32];
    float y[32];
    uint32_t exchange; /* all ones or 0 */
    uint32_t sign;     /* the sign bit or 0 */
};

/* One index's gradient. Kernels look up many at once. */
static inline void gradient_at(const struct gradient_set *set, uint32_t index, float *x, float *y)
{
    const bool exchange = index & 32 & set->exchange;
    const float gx = set->x[index & 31], gy = set->y[index & 31];
    *x = index & 64 && set->sign ? -(exchange ? gy : gx) : exchange ? gy : gx;
    *y = index & 128 && set->sign ? -(exchange ? gx : gy) : exchange ? gx : gy;
}

void gradients_make(struct gradient_set *set, enum farlands_gradients kind);

/* Gradients in 3 and 4 dimensions, one row per axis. The 16 in 3-D come twice. */
extern const float gradients_3d[3][32];
extern const float gradients_4d[4][32];

#endif
