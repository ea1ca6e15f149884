/*
 * A noise as kernels see it: every number that can be computed from the parameters alone. Private
 * to noise/.
 */
#ifndef FARLANDS_NOISE_H
#define FARLANDS_NOISE_H

#include "gradients.h"
#include "octave.h"
#include "params.h"

/* Averages over the plane for one octave's noise n. */
struct moments {
    double mean, absolute, square; /* of n, |n| and n^2 */
    double slope;                  /* root mean square along an axis, per cell */
    double ridge, ridge_spread;    /* mean and standard deviation of (offset - |n|)^2 */
};

struct noise {
    enum farlands_basis basis;
    enum farlands_fade fade;
    enum farlands_hash hash;
    enum farlands_fractal fractal;
    double offset, gain;
    double amplitude; /* the sum of all octaves' */
    struct gradient_set gradients;
    uint32_t permutation[256];
    int octaves;
    int broad; /* the first octaves, those of octave_is_broad */
    struct octave octave[FARLANDS_MAX_OCTAVES];
    /* Of each octave, side by side for vectors: its share of the amplitude, its keys along x and y.
     */
    double share[FARLANDS_MAX_OCTAVES];
    uint64_t key[2][FARLANDS_MAX_OCTAVES];
    double warp;                  /* units; 0: none */
    struct octave warp_octave[2]; /* of the displacements along x and y */
    struct moments moments;
};

/* Its octaves and those of its warp. */
static inline int noise_octaves(const struct noise *noise)
{
    return noise->octaves + (noise->warp != 0 ? 2 : 0);
}

/* Make NOISE from PARAMS, which are valid. */
void noise_make(struct noise *noise, const struct farlands_params *params);

/* Estimate of the root mean square slope, per block, that samples STEP units apart show. */
double noise_slope(const struct noise *noise, int64_t step);

#endif
