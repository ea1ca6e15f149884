/*
 * Farlands: the heights of an infinite, seeded terrain.
 *
 * A terrain is a pure function from a place to a height in metres. Horizontal coordinates, x to the
 * east and y to the south, and altitudes, z upwards, are signed 64-bit counts of units. A unit is
 * 1/1024 block and a block is one metre, so nothing loses precision far from the origin. The same
 * parameters give the same bits on every machine, for a grid of any shape and for a single point.
 *
 * Three functions of a place, each with a variant for a single point:
 *   height    metres, of the ground at (x, y): farlands_heights, farlands_height
 *   density   blocks, above 0 within the ground and below 0 in the air, with overhangs and caves:
 *             farlands_density, farlands_density_at
 *   noise     bare Perlin noise without a unit: farlands_volume, farlands_noise1 to farlands_noise4
 *
 * Functions that return int return 0 or a negative errno; on an error they write nothing. A terrain
 * may be used by any number of threads at once, a scratch by one at a time. noise/README.md in the
 * sources has an example.
 */
#ifndef FARLANDS_H
#define FARLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the generator. It changes if a height or density changes by as much as one bit. */
#define FARLANDS_GENERATOR 2

/* Units per block. */
#define FARLANDS_UNIT_BITS 10
#define FARLANDS_UNIT (INT64_C(1) << FARLANDS_UNIT_BITS)

/* The world ends this far from the origin, in blocks and in units. */
#define FARLANDS_LIMIT_BLOCKS (INT64_C(1) << 52)
#define FARLANDS_LIMIT (FARLANDS_LIMIT_BLOCKS * FARLANDS_UNIT)

#define FARLANDS_MAX_OCTAVES 64
#define FARLANDS_MAX_KNOTS 32
/* Bounds of a wavelength, in units. A cell of 2 units is the smallest that has an inside. */
#define FARLANDS_MIN_WAVELENGTH INT64_C(2)
#define FARLANDS_MAX_WAVELENGTH (INT64_C(1) << 50)
#define FARLANDS_MAX_LACUNARITY 1024.0
/* Upper bounds of offset and gain; the lower ones are 0. */
#define FARLANDS_MAX_OFFSET 16.0
#define FARLANDS_MAX_GAIN 1024.0
/* Upper bounds of struct farlands_volume_params: of all lengths, in units, so that floats are
 * exact; of octaves; and of squash, whose lower bound is 1 / FARLANDS_MAX_SQUASH. */
#define FARLANDS_MAX_VOLUME_WAVELENGTH (INT64_C(1) << 24)
#define FARLANDS_MAX_VOLUME_OCTAVES 16
#define FARLANDS_MAX_SQUASH 16.0
/* Largest distance between two samples of a grid or box, in units. */
#define FARLANDS_MAX_STEP (INT64_C(1) << 52)

/*
 * The noise of one octave, n(x, y). Its lattice has square cells, one wavelength wide. The hash
 * gives each corner of a cell an index, 0 .. 255, whose meaning depends on the basis. f is
 * the fraction of the cell along an axis, 0 .. 1.
 */
enum farlands_basis {
    /* Each corner has a gradient. Its scalar product with the vector from the corner to the place
     * is interpolated by the fade (Perlin 1985, 2002). */
    FARLANDS_PERLIN,
    /* A triangle of a skewed lattice, three corners: 70 times the sum of max(0, 1/2 - r^2)^4 times
     * the same scalar product, r the distance from the corner (Perlin 2001, Gustavson 2005).
     * Without fade. */
    FARLANDS_SIMPLEX,
    /* 2 min(F1, 1) - 1. F1 is the distance, in cells, to the nearest of the points that the cells
     * hold, one each (Worley 1996). In the cell whose north-west corner has index i it lies at
     * ((i + 1/2) / 256, ((159 i mod 256) + 1/2) / 256). Without fade and gradients. */
    FARLANDS_CELLULAR,
    /* Each corner has a value, 2 i / 255 - 1, interpolated by the fade. Without gradients. */
    FARLANDS_VALUE,
};

/* The gradient of a corner with index i: number i mod 4, i mod 8 or i of the set. */
enum farlands_gradients {
    FARLANDS_AXIS4,     /* (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_DIAGONAL4, /* (1,1) (1,-1) (-1,1) (-1,-1) */
    FARLANDS_UNIT8, /* with s = 1/sqrt 2: (s,s) (-s,s) (s,-s) (-s,-s) (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_INTEGER8, /* (1,1) (-1,1) (1,-1) (-1,-1) (1,0) (-1,0) (0,1) (0,-1) */
    /* 256 evenly spaced unit vectors: the angle is ((i mod 32) + 1/2) 2 pi / 256; then, if bit 5 of
     * i is set, x and y are exchanged; if bit 6, x is negated; if bit 7, y is negated. */
    FARLANDS_UNIT256,
};

/* The weight of a cell's far corners at fraction t along an axis. */
enum farlands_fade {
    FARLANDS_LINEAR,  /* t */
    FARLANDS_CUBIC,   /* 3t^2 - 2t^3 */
    FARLANDS_QUINTIC, /* 6t^5 - 15t^4 + 10t^3 */
};

/* From a lattice corner (X, Y) to its index. */
enum farlands_hash {
    /* Does not repeat. The seed shifts each octave's lattice by a random number of units. */
    FARLANDS_MIX64,
    /* P[(X + P[Y mod 256] + salt) mod 256], P being Perlin's table, shuffled unless the seed is 0.
     * Repeats after 256 cells; every lattice begins at coordinate 0. */
    FARLANDS_PERMUTATION,
};

/*
 * From octaves k = 0, 1, ... with amplitudes a_k = persistence^k to one noise; A is the sum of all
 * a_k.
 */
enum farlands_fractal {
    FARLANDS_NONE,   /* n_0: one octave */
    FARLANDS_FBM,    /* sum of a_k n_k / A */
    FARLANDS_BILLOW, /* sum of a_k (2 |n_k| - 1) / A */
    /* sum of a_k s_k / A, s_k = w_k (offset - |n_k|)^2, w_0 = 1,
     * w_k+1 = gain s_k clamped to 0 .. 1 (Musgrave, Texturing & Modeling, ch. 16) */
    FARLANDS_RIDGED,
    /* sum of w_k s_k / A, s_k = a_k (n_k + offset), w_0 = 1,
     * w_k+1 = w_k s_k, at most 1 (Musgrave, the same chapter) */
    FARLANDS_HYBRID,
};

/* How many enumerators each of them has. */
enum {
    FARLANDS_BASES = FARLANDS_VALUE + 1,
    FARLANDS_GRADIENT_SETS = FARLANDS_UNIT256 + 1,
    FARLANDS_FADES = FARLANDS_QUINTIC + 1,
    FARLANDS_HASHES = FARLANDS_PERMUTATION + 1,
    FARLANDS_FRACTALS = FARLANDS_HYBRID + 1,
};

/* One knot of the elevation curve, which maps noise to metres. */
struct farlands_knot {
    float noise;
    float metres;
};

/* Perlin noise in space, in three dimensions: fbm, with octaves of its own. A cell of octave k is
 * wavelength_k wide in x and y, and wavelength_k / squash high. */
struct farlands_space_noise {
    int64_t wavelength; /* units, of the first octave */
    int octaves;
    double persistence, lacunarity, squash;
};

/*
 * Overhangs, caverns and tunnels, for farlands_density, which has the formula. All 0: the ground is
 * a pure height field. If a part is off, its noise is ignored.
 */
struct farlands_volume_params {
    /* The surface bulges wherever the noise is above THRESHOLD or below -THRESHOLD. An excess of 1,
     * more than there is, would move it by half of AMPLITUDE. */
    struct {
        int64_t amplitude; /* units; 0: off */
        double threshold;  /* 0 .. 1 */
        struct farlands_space_noise noise;
    } overhangs;
    /* Hollow wherever the noise is above 1 - SIZE ("cheese" caves). */
    struct {
        double size;   /* 0 .. 1; 0: off */
        int64_t cover; /* units below the surface until fully open; 0: they break through it */
        struct farlands_space_noise noise;
    } caverns;
    /* Hollow around the curves on which two noises are both 0 ("spaghetti" caves). */
    struct {
        int64_t radius; /* units, approximate: for noises that rise by 1 per wavelength; 0: off */
        int64_t cover;  /* as for caverns */
        struct farlands_space_noise noise;
    } tunnels;
};

struct farlands_params {
    uint64_t seed;
    enum farlands_basis basis;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    enum farlands_hash hash;
    /* Permutation only: the salt is the octave's wavelength in whole blocks, instead of 0. */
    bool octave_salt;
    enum farlands_fractal fractal;
    int64_t wavelength; /* units, of the first octave */
    int octaves;
    double persistence; /* amplitude of an octave, relative to the one before: above 0, up to 1 */
    double lacunarity;  /* frequency of an octave, relative to the one before: at least 1 */
    double offset;      /* of ridged and hybrid */
    double gain;        /* of ridged */
    /* Domain warping: x and y are each displaced by AMPLITUDE times one octave of Perlin noise,
     * with the terrain's gradients, fade and hash. Amplitude 0: none. */
    struct {
        int64_t amplitude, wavelength; /* units */
    } warp;
    /* The terrain repeats after this many units in x and y; 0: never. It must be a multiple of
     * every wavelength. Not with simplex, whose lattice is skewed. */
    int64_t period;
    /* The elevation curve: linear between knots, whose noise ascends; constant beyond both ends. */
    struct farlands_knot elevation[FARLANDS_MAX_KNOTS];
    int knots;
    struct farlands_volume_params volume; /* does not change heights */
};

/*
 * Check PARAMS. Returns NULL, or a message that says what is expected; then *KEY, if KEY is not
 * NULL, is the name of the parameter, such as "warp.amplitude". Both are static strings.
 */
const char *farlands_params_fault(const struct farlands_params *params, const char **key);

/* Wavelength of octave K >= 0 in units, rounded to the nearest; 0 if it does not fit. PARAMS need
 * not be valid. */
int64_t farlands_octave_wavelength(const struct farlands_params *params, int k);

/* A terrain. It never changes, and any number of threads may use it at once. */
struct farlands_terrain;

/* Make a terrain, which the caller frees. Returns 0, -EINVAL (see farlands_params_fault and
 * farlands_kernel_fault) or -ENOMEM; *OUT is set only on 0. */
int farlands_terrain_new(struct farlands_terrain **out, const struct farlands_params *params);
void farlands_terrain_free(struct farlands_terrain *terrain);

/* The lowest and the highest height of the elevation curve, in metres. */
void farlands_terrain_range(const struct farlands_terrain *terrain, float *min, float *max);

/* Wavelength of the last octave, in units. The terrain has no finer detail. */
int64_t farlands_terrain_finest(const struct farlands_terrain *terrain);

/*
 * Estimate of the root mean square slope, in metres per block, that a band-limited grid with
 * samples STEP units apart shows, for choosing a vertical exaggeration. It may change without a new
 * FARLANDS_GENERATOR.
 */
float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step);

/* Working memory for grids and boxes of any terrain, one at a time: make one per thread and reuse
 * it. Returns 0 or -ENOMEM. */
struct farlands_scratch;
int farlands_scratch_new(struct farlands_scratch **out);
void farlands_scratch_free(struct farlands_scratch *scratch);

/*
 * A rectangle of samples. Column i, row j lies at (x + i * step, y + j * step) units. Every sample
 * must lie within FARLANDS_LIMIT + FARLANDS_MAX_STEP of the origin along each axis: tiles at the
 * end of the world have a border, too. First and last must be less than 2^63 units apart.
 */
struct farlands_grid {
    int64_t x, y;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height;
    bool band_limit; /* fade out octaves finer than the samples: for pictures */
};

/*
 * Heights in metres into OUT, row by row from north to south, west to east within a row. Rows begin
 * STRIDE >= width floats apart. Without band_limit a sample is exactly farlands_height at its
 * place. Returns 0, or -EINVAL if the grid is out of bounds or STRIDE is less than its width.
 */
int farlands_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride);

/* The height at one place, in metres; NAN beyond the bounds of a grid. Any thread; needs 100 KiB of
 * stack. */
float farlands_height(const struct farlands_terrain *terrain, int64_t x, int64_t y);

/*
 * Perlin noise in 1 to 4 dimensions, in double, with the terrain's hash, fade, octaves and fractal;
 * in 2 dimensions with its gradients as well. Basis, warp and elevation do not apply. Any thread.
 * NAN beyond FARLANDS_LIMIT + FARLANDS_MAX_STEP.
 *
 * Other gradients are those of "Improving Noise" (Perlin 2002): in one dimension +1 and -1; in
 * three the 12 edges of a cube, of which (1,1,0) (-1,1,0) (0,-1,1) (0,-1,-1) occur twice to make
 * 16; in four the 32 edges of a hypercube: index / 8 leaves out w, z, y or x, and bits 0, 1 and 2
 * negate the other axes in order. In 3 dimensions permutation gives the index P[P[P[X] + Y] + Z],
 * so that seed 0 reproduces the published noise.
 */
double farlands_noise1(const struct farlands_terrain *terrain, int64_t x);
double farlands_noise2(const struct farlands_terrain *terrain, int64_t x, int64_t y);
double farlands_noise3(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);
double farlands_noise4(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z,
                       int64_t w);

/* A box of samples. (i, j, k) lies at (x + i * step, y + j * step, z + k * step) units, within the
 * same bounds as those of a grid. */
struct farlands_box {
    int64_t x, y, z;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height, depth;
};

/*
 * farlands_noise3 at every sample of a box, rounded to float, into OUT: x varies fastest, then y,
 * then z, without gaps. Returns 0, or -EINVAL if the box is out of bounds.
 */
int farlands_volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);

/*
 * Density in blocks at every sample of a box, into OUT as above: above 0 within the ground, below 0
 * in the air. Near a surface its size is roughly the distance from it. In float:
 *
 *     s       = height(x, y) - z
 *     ground  = s + amplitude (1 - (s / amplitude)^2)^2 bulge       if |s| < amplitude, else s
 *     bulge   = n - n clamped to -threshold .. threshold            n of overhangs
 *     open    = ground / cover clamped to 0 .. 1; 1 if cover is 0
 *     cavern  = wavelength (1 - n) - wavelength size open           n of caverns
 *     tunnel  = wavelength sqrt(a^2 + b^2) - radius open            a, b of tunnels
 *     density = the least of ground, cavern and tunnel
 *
 * Lengths are in blocks; a part that is off is left out. Cavern and tunnel count only if ground is
 * above 0, or, if cover is 0, above -wavelength size and -radius; otherwise neither is the least. s
 * is computed in double, from z rounded to double (exact up to 2^43 blocks), then rounded to float;
 * both round to the nearest, ties to even.
 *
 * Sources: the least of several densities is their intersection (Hart, "Sphere tracing", 1996).
 * Caverns and tunnels are the "cheese" and "spaghetti" caves of Minecraft 1.18, overhangs are like
 * its terrain, a vertical gradient of density with noise in space added to it.
 *
 * The noises are like farlands_noise3, with the terrain's hash and fade, but in float, and with
 * random numbers of their own. With mix64, octave k of noise m (0 overhangs, 1 caverns, 2 and 3
 * tunnels a and b) takes eight of the seed's, from number 520 + 8 (16 m + k) on: keys of x and y,
 * shifts of x and y, the same for z and an unused axis. With permutation, 51 (m + 1) is added to
 * the salt. If the terrain has a period, density has the same in x and y.
 *
 * A sample has the same bits as farlands_density_at there, so boxes may share faces at any step,
 * and a box may be computed in parts. Returns 0, or -EINVAL if the box is out of bounds.
 */
int farlands_density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_box *box, float *out);

/* The density at one place; NAN beyond the bounds of a box. Any thread; stack as farlands_height.
 */
float farlands_density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);

/* Name of the kernel that TERRAIN runs on, a static string: "avx512", "avx2", "neon" or "scalar".
 * It is the fastest that the machine supported when the terrain was made, or the one named by the
 * environment variable FARLANDS_KERNEL. Kernels differ in speed only. */
const char *farlands_kernel(const struct farlands_terrain *terrain);

/* Check the environment variable FARLANDS_KERNEL. Returns NULL if it is unset, empty or names a
 * kernel that this machine supports; or else a message that says what is expected, a static string,
 * and farlands_terrain_new returns -EINVAL. */
const char *farlands_kernel_fault(void);

#ifdef __cplusplus
}
#endif

#endif
