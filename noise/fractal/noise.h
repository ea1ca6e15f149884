/*
 * A noise as kernels see it: every number that can be computed from the parameters alone. Private
 * to noise/.
 */
#ifndef FARLANDS_NOISE_H
#define FARLANDS_NOISE_H

#include "noise/fractal/gradients.h"
#include "noise/fractal/octave.h"
#include "noise/fractal/params.h"

/* Averages over the plane for one octave's noise n. */
struct moments {
    double mean, absolute, square; /* of n, |n| and n^2 */
    double slope;                  /* root mean square along an axis, per cell */
    double ridge, ridge_spread;    /* mean and standard deviation of (offset - |n|)^2 */
};

/* The most octaves of a noise that a vector of a kernel holds. */
enum { NOISE_LANES = 16 };

/* In one piece of memory, as large as its octaves need: a world has dozens of noises, most of them
 * with few octaves. */
struct noise {
    enum farlands_basis basis;
    enum farlands_fade fade;
    enum farlands_hash hash;
    enum farlands_fractal fractal;
    double offset, gain;
    double amplitude; /* the sum of all octaves' */
    struct gradient_set gradients;
    const uint32_t *permutation; /* 256 numbers; NULL if the hash does without */
    int octaves;
    int broad; /* the first octaves, those of octave_is_broad */
    /* Of each octave, side by side for whole vectors: its share of the amplitude, its keys along x
     * and y. */
    double *share;
    uint64_t *key[2];
    double warp;                  /* units; 0: none */
    struct octave warp_octave[2]; /* of the displacements along x and y */
    struct moments moments;
    struct octave octave[];
};

/* Its octaves and those of its warp. */
static inline int noise_octaves(const struct noise *noise)
{
    return noise->octaves + (noise->warp != 0 ? 2 : 0);
}

/* A noise of PARAMS, which are valid; the caller frees it with free(). NULL if out of memory. */
struct noise *noise_new(const struct farlands_params *params);

/* Estimate of the root mean square slope, per block, that samples STEP units apart show. */
double noise_slope(const struct noise *noise, int64_t step);

#endif
