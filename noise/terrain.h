/*
 * A terrain as kernels see it: every number that can be computed from the parameters alone. Private
 * to noise/.
 */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "density.h"
#include "farlands.h"
#include "gradients.h"
#include "octave.h"

/* The elevation curve. On piece p, metres = base + slope * (noise - from). */
struct elevation {
    int pieces;
    uint32_t half; /* the greatest power of 2 below PIECES, or 0: where a binary search begins */
    /* Tables of 32 floats, the size that kernels look up. FROM is infinite beyond the last piece.
     * A slope is the sum of two floats. */
    float from[FARLANDS_MAX_KNOTS], base[FARLANDS_MAX_KNOTS];
    float slope[FARLANDS_MAX_KNOTS], slope_rest[FARLANDS_MAX_KNOTS];
    float noise_min, noise_max; /* ends of the curve */
    float metres_min, metres_max;
};

/* Averages over the plane for one octave's noise n. */
struct moments {
    double mean, absolute, square; /* of n, |n| and n^2 */
    double slope;                  /* root mean square along an axis, per cell */
    double ridge, ridge_spread;    /* mean and standard deviation of (offset - |n|)^2 */
};

struct farlands_terrain {
    const struct kernel *kernel;
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
    double warp;                  /* units; 0: none */
    struct octave warp_octave[2]; /* of the displacements along x and y */
    struct moments moments;
    struct elevation elevation;
    struct density density;
};

#endif
