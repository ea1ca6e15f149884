/*
 * The noise as a plain program computes it, to compare the speed of kernels with. In double,
 * sample by sample and octave by octave, hashing each corner when it is needed. It keeps nothing
 * from one sample to the next, but does nothing needlessly slowly. Coordinates are doubles, and
 * results right to float's precision within some 2^24 cells of the origin.
 */
#ifndef FARLANDS_PLAIN_NOISE_H
#define FARLANDS_PLAIN_NOISE_H

#include <stdint.h>

#include "noise/terrain/terrain.h"

enum { PLAIN_AXES = 3, PLAIN_SPACES = 4 };

struct plain_octave {
    double frequency; /* cells per unit */
    double rise;      /* the same along z */
    double amplitude; /* persistence^k, in fbm times its band limit */
    double shift[PLAIN_AXES];
    uint64_t key[PLAIN_AXES];
};

struct plain_noise {
    struct farlands_params params;
    double gradient[256][2];
    double amplitude; /* the sum of all octaves', without band limit */
    int octaves;
    struct plain_octave octave[FARLANDS_MAX_OCTAVES];
    struct plain_octave warp[2];
    /* Of density: overhangs, caverns, tunnels twice. */
    struct {
        double amplitude; /* the sum of all octaves' */
        int octaves;
        struct plain_octave octave[FARLANDS_MAX_VOLUME_OCTAVES];
    } space[PLAIN_SPACES];
};

/*
 * Set up the noise of a terrain of PARAMS, which must have mix64, unit256, quintic and no
 * period; in 3 dimensions fbm. STEP: distance of the samples of a band-limited picture, only fbm
 * of perlin; 0: no band limit.
 */
void plain_noise_make(struct plain_noise *plain, const struct farlands_params *params,
                      int64_t step);

/* Height in metres at a place in units. */
double plain_noise_height(const struct plain_noise *plain, double x, double y);

/* As terrain_noise3. */
double plain_noise_3d(const struct plain_noise *plain, double x, double y, double z);

/* As terrain_density_at; HEIGHT is plain_noise_height's at (x, y). */
double plain_noise_density(const struct plain_noise *plain, double height, double x, double y,
                           double z);

enum { PLAIN_MAP = 256, PLAIN_MAP_OCTAVES = 8 };

/*
 * Improved Perlin noise in a plane as published, as a map of 256 x 256 pixels: Ken Perlin's
 * table, eight gradients, the quintic, and the octave's size in pixels as part of the index;
 * octaves from size / 2 down to 1 pixel, (1 + n) / 2 each, amplitudes halving from 1. The same
 * as a terrain with integer8, permutation, octave_salt, seed 0 and a first wavelength of 128
 * blocks.
 */
void plain_noise_map(double map[PLAIN_MAP][PLAIN_MAP]);

#endif
