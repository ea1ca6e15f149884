/*
 * A noise as kernels see it: all numbers that follow from the parameters alone. Private to noise/.
 */
#ifndef FARLANDS_NOISE_H
#define FARLANDS_NOISE_H

#include "noise/fractal/gradients.h"
#include "noise/fractal/octave.h"
#include "noise/fractal/params.h"

/* Averages over the plane for one octave's noise n. */
struct moments {
    double mean, absolute, square; /* the means: n, |n|, n^2 */
    double ridge, ridge_spread;    /* mean and standard deviation for (offset - |n|)^2 */
};

/* The most octaves in a kernel's vector. */
enum { NOISE_LANES = 16 };

/* One block of memory, only as large as the octaves need, because a world has dozens of noises, and
 * most have few octaves. */
struct noise {
    enum farlands_basis basis;
    enum farlands_fade fade;
    enum farlands_hash hash;
    enum farlands_fractal fractal;
    double offset, gain;
    double amplitude; /* the sum over all octaves */
    struct gradient_set gradients;
    const uint32_t *permutation; /* 256 numbers; NULL if the hash does without */
    int octaves;
    int broad; /* how many octaves, the first ones, are octave_is_broad */
    /* One number per octave, padded to whole vectors: share of the amplitude, keys along x and y.
     */
    double *share;
    uint64_t *key[2];
    double warp;                  /* units; 0: none */
    struct octave warp_octave[2]; /* for the displacements along x and y */
    struct moments moments;
    struct octave octave[];
};

/* The number of octaves, with those for the warp. */
static inline int noise_octaves(const struct noise *noise)
{
    return noise->octaves + (noise->warp != 0 ? 2 : 0);
}

/* A noise with PARAMS, which are valid. The caller frees it with free(). NULL if out of memory. */
struct noise *noise_new(const struct farlands_params *params);

#endif
