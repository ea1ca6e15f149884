/* A terrain as the kernels see it: everything worked out from the parameters. Private to noise/. */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "farlands.h"
#include "gradients.h"

enum axis { AXIS_X, AXIS_Y, AXIS_Z, AXIS_W, AXES };

struct octave {
    int64_t wavelength;  /* units */
    double inverse;      /* 1 / wavelength */
    double amplitude;    /* persistence^k */
    int64_t cells;       /* after which the lattice repeats; 0: never */
    int64_t shift[AXES]; /* units: where this octave's lattice begins (mix64) */
    uint64_t key[AXES];  /* of lattice_axis (mix64) */
    uint32_t salt;       /* permutation: added to the index */
};

/* An octave's weight in a picture with samples STEP units apart: it fades from 1
 * to 0 between a quarter and half of a wavelength, where it would begin to alias. */
static inline double octave_band_limit(const struct octave *octave, int64_t step)
{
    double t = ((double)step * octave->inverse - 0.25) * 4;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return 1 - t * t * (3 - 2 * t);
}

/* Where octaves with cells up to this wide, in units, are computed in float, broader ones in
 * double: a float's 24 bits tell the units of a cell apart only up to here. */
#define NARROW_MAX (INT64_C(1) << 24)

/* The elevation curve: on piece p, metres = base + slope * (noise - from). As
 * floats, 32 of each, for lookups, and beyond the last piece nothing is reached;
 * slope is the sum of two. */
struct elevation {
    int pieces;
    uint32_t half; /* the greatest power of 2 below their number, or 0 */
    float from[FARLANDS_MAX_KNOTS], base[FARLANDS_MAX_KNOTS];
    float slope[FARLANDS_MAX_KNOTS], slope_rest[FARLANDS_MAX_KNOTS];
    float noise_min, noise_max; /* ends of the curve */
    float metres_min, metres_max;
};

/* How many octaves the fractal has. */
int octave_count(const struct farlands_params *params);

/* Averages over the plane of one octave's n, |n| and n^2, and the root mean square of its slope
 * along an axis, a cell; mean and standard deviation of (offset - |n|)^2. */
struct moments {
    double mean, absolute, square, slope;
    double ridge, ridge_spread;
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
    int broad; /* the first octaves, with cells beyond NARROW_MAX */
    int octaves;
    struct octave octave[FARLANDS_MAX_OCTAVES];
    double warp;                  /* units; 0: none */
    struct octave warp_octave[2]; /* of the displacements in x and in y */
    struct moments moments;
    struct elevation elevation;
};

#endif
