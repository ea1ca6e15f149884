/*
 * Farlands: the heights of an infinite, seeded terrain.
 *
 * A terrain is a pure function from a place to a height in metres. Places are
 * counted in units of 1/1024 block as signed 64-bit integers, so that nothing
 * loses precision far from the origin. The same parameters give the same bits
 * on every machine, for a grid of any shape and for a single point.
 */
#ifndef FARLANDS_H
#define FARLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Version of the generator: changes whenever any height changes by one bit. */
#define FARLANDS_GENERATOR 1

/* Units in a block. */
#define FARLANDS_UNIT_BITS 10
#define FARLANDS_UNIT (INT64_C(1) << FARLANDS_UNIT_BITS)

/* Places beyond this many blocks, or units, from block 0 do not exist. */
#define FARLANDS_LIMIT_BLOCKS (INT64_C(1) << 52)
#define FARLANDS_LIMIT (FARLANDS_LIMIT_BLOCKS * FARLANDS_UNIT)

#define FARLANDS_MAX_OCTAVES 64
#define FARLANDS_MAX_KNOTS 32
/* A wavelength, in units: at least 2, so that a cell has an inside. */
#define FARLANDS_MIN_WAVELENGTH INT64_C(2)
#define FARLANDS_MAX_WAVELENGTH (INT64_C(1) << 50)
#define FARLANDS_MAX_LACUNARITY 1024.0
/* Samples between two columns or rows of a grid, in units: zoom native-42. */
#define FARLANDS_MAX_STEP (INT64_C(1) << 52)

enum farlands_gradients {
    FARLANDS_AXIS4,
    FARLANDS_DIAGONAL4,
    FARLANDS_UNIT8,
    FARLANDS_INTEGER8,
    FARLANDS_UNIT256,
};

enum farlands_fade {
    FARLANDS_LINEAR,
    FARLANDS_CUBIC,
    FARLANDS_QUINTIC,
};

enum farlands_hash {
    FARLANDS_MIX64,       /* no period */
    FARLANDS_PERMUTATION, /* Perlin's table; repeats after 256 cells */
};

enum farlands_fractal {
    FARLANDS_NONE, /* one octave */
    FARLANDS_FBM,  /* sum of a_k n_k / sum of a_k, a_k = persistence^k */
};

/* A knot of the elevation curve: noise value -> metres. */
struct farlands_knot {
    float noise;
    float metres;
};

struct farlands_params {
    uint64_t seed;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    enum farlands_hash hash;
    bool octave_salt; /* permutation only: the wavelength in blocks joins the index */
    enum farlands_fractal fractal;
    int64_t wavelength; /* units, of the first octave */
    int octaves;
    double persistence; /* amplitude ratio of one octave to the one before, in (0, 1] */
    double lacunarity;  /* frequency ratio of one octave to the one before, >= 1 */
    /* Piecewise linear, noise ascending, constant beyond both ends. */
    struct farlands_knot elevation[FARLANDS_MAX_KNOTS];
    int knots;
};

/*
 * What is wrong with PARAMS, or NULL. The answer names the parameter and what
 * is accepted; KEY, if not NULL, gets the parameter's name alone. Static text.
 */
const char *farlands_params_fault(const struct farlands_params *params, const char **key);

/* A terrain: immutable once made, shared by any number of threads. */
struct farlands_terrain;

/* Returns 0, -EINVAL (see farlands_params_fault) or -ENOMEM; *OUT only on 0. */
int farlands_terrain_new(struct farlands_terrain **out, const struct farlands_params *params);
void farlands_terrain_free(struct farlands_terrain *terrain);

/* The lowest and the highest height that the elevation curve can give. */
void farlands_terrain_range(const struct farlands_terrain *terrain, float *min, float *max);

/* Wavelength of the last octave, in units: nothing in the terrain is finer. */
int64_t farlands_terrain_finest(const struct farlands_terrain *terrain);

/*
 * Root mean square of the slope (metres a block) that a grid with samples STEP
 * units apart shows at this terrain, band-limited: an estimate from octaves
 * and curve, for choosing an exaggeration. Not part of the contract of heights.
 */
float farlands_terrain_slope(const struct farlands_terrain *terrain, int64_t step);

/* Working memory for one grid at a time: one a thread, reused for ever. */
struct farlands_scratch;
int farlands_scratch_new(struct farlands_scratch **out);
void farlands_scratch_free(struct farlands_scratch *scratch);

/*
 * A rectangle of samples: column i, row j lies at (x + i * step, y + j * step)
 * units; y grows south. Every sample must lie within FARLANDS_LIMIT plus one
 * FARLANDS_MAX_STEP (so that a border for slopes exists everywhere).
 */
struct farlands_grid {
    int64_t x, y;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height;
    bool band_limit; /* fade out octaves finer than the samples: for pictures */
};

/*
 * Heights in metres into OUT, row by row, north first, STRIDE floats a row.
 * Without band_limit a sample is exactly farlands_height at its place.
 * Returns 0, or -EINVAL for a grid out of bounds: then OUT is untouched.
 */
int farlands_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride);

/* The height at one place, in metres; NAN where a grid could have no sample. Any thread. */
float farlands_height(const struct farlands_terrain *terrain, int64_t x, int64_t y);

/* The kernel that TERRAIN runs on: "avx512", "avx2" or "scalar", the fastest that
 * the machine had when the terrain was made, or the one that the environment
 * variable FARLANDS_KERNEL named. They differ in speed only. */
const char *farlands_kernel(const struct farlands_terrain *terrain);

#endif
