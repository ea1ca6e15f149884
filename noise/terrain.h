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

/* An octave of a volume's noise: whose columns and rows are those of an octave with cells HEIGHT
 * units high. */
struct space_octave {
    struct octave plane;
    int64_t height;
    double inverse_height; /* 1 / height */
    float share;           /* of all octaves' amplitudes */
};

struct space_noise {
    int octaves; /* 0: off */
    struct space_octave octave[FARLANDS_MAX_VOLUME_OCTAVES];
};

enum space { OVERHANGS, CAVERNS, TUNNELS, TUNNELS_ACROSS, SPACES };

/* Of caverns or tunnels: farlands.h has the formula, in blocks. */
struct caves {
    float scale; /* the wavelength */
    float reach; /* where fully open: what is taken from the distance */
    float start; /* open = start + rise * ground, within 0 .. 1 */
    float rise;
    float from; /* they count where the ground's density is above */
};

struct volume {
    struct space_noise noise[SPACES];
    float amplitude, inverse, threshold; /* of overhangs: blocks, 1 / amplitude, noise */
    struct caves caverns, tunnels;
};

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
    struct volume volume;
};

/* Numbers that the seed draws, four for each octave in the plane, four for the
 * other axes, then the warp's, and then those of volumes. */
enum {
    DRAWS_OF_SPACE = 4 * FARLANDS_MAX_OCTAVES,
    DRAWS_OF_WARP = 2 * DRAWS_OF_SPACE,
    DRAWS_OF_VOLUME = DRAWS_OF_WARP + 2 * 4,
};

/* WAVELENGTH / LACUNARITY^K, rounded to the nearest; 0 where it would not fit. */
int64_t octave_wavelength(int64_t wavelength, double lacunarity, int k);

/* An octave of a terrain of PARAMS, of amplitude 1, its lattice not yet drawn. */
struct octave octave_make(const struct farlands_params *params, int64_t wavelength);

/* Keys and shifts of two axes, from AXIS on, by the draws FIRST to FIRST + 3. */
void octave_draw(struct octave *octave, uint64_t seed, uint64_t first, int axis);

void volume_make(struct volume *volume, const struct farlands_params *params);

#endif
