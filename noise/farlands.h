/*
 * Farlands: the heights of an infinite, seeded terrain.
 *
 * A terrain is a pure function from a place to a height in metres. Places are
 * counted in units of 1/1024 block as signed 64-bit integers, so that nothing
 * loses precision far from the origin. The same parameters give the same bits
 * on every machine, for a grid of any shape and for a single point.
 *
 * Functions return 0 or a negative errno; on an error they touch nothing.
 */
#ifndef FARLANDS_H
#define FARLANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Version of the generator: changes whenever any height or density changes by one bit. */
#define FARLANDS_GENERATOR 2

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
/* Of ridged and hybrid: offset within 0 .. this, gain within 0 .. this. */
#define FARLANDS_MAX_OFFSET 16.0
#define FARLANDS_MAX_GAIN 1024.0
/* Of a volume's noises: wavelengths, amplitude, radius and cover in units, so that floats hold
 * them; octaves; and cells from 16 times as high as wide to 16 times as wide as high. */
#define FARLANDS_MAX_VOLUME_WAVELENGTH (INT64_C(1) << 24)
#define FARLANDS_MAX_VOLUME_OCTAVES 16
#define FARLANDS_MAX_SQUASH 16.0
/* Samples between two columns or rows of a grid, in units: zoom native-42. */
#define FARLANDS_MAX_STEP (INT64_C(1) << 52)

/*
 * The noise of one octave, n(x, y). A lattice of square cells, one wavelength
 * wide; each corner has an index 0 .. 255 from the hash; the basis says what
 * the index stands for. f is the fraction of the cell along an axis.
 */
enum farlands_basis {
    /* A gradient at each corner; their products with the way from the corner,
     * interpolated by the fade (Perlin 1985, 2002). */
    FARLANDS_PERLIN,
    /* Three corners of a triangle of the skewed lattice: 70 times the sum of
     * max(0, 1/2 - r^2)^4 times gradient times way (Perlin 2001, Gustavson
     * 2005). The fade does not apply. */
    FARLANDS_SIMPLEX,
    /* 2 min(F1, 1) - 1, F1 the distance in cells to the nearest of the points
     * that the cells hold, one each (Worley 1996): at ((i + 1/2) / 256,
     * ((159 i mod 256) + 1/2) / 256) of its cell where i is the index of the
     * cell's north-west corner. Fade and gradients do not apply. */
    FARLANDS_CELLULAR,
    /* A value at each corner, 2 i / 255 - 1, interpolated by the fade. */
    FARLANDS_VALUE,
};

/* Index i of a corner to its gradient: number i mod 4, mod 8 or i. */
enum farlands_gradients {
    FARLANDS_AXIS4,     /* (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_DIAGONAL4, /* (1,1) (1,-1) (-1,1) (-1,-1) */
    FARLANDS_UNIT8, /* with s = 1/sqrt 2: (s,s) (-s,s) (s,-s) (-s,-s) (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_INTEGER8, /* (1,1) (-1,1) (1,-1) (-1,-1) (1,0) (-1,0) (0,1) (0,-1) */
    /* 256 unit vectors, evenly spaced: at ((i mod 32) + 1/2) 2 pi / 256; then,
     * if bit 5 is set, x and y exchanged; bit 6, x negated; bit 7, y negated. */
    FARLANDS_UNIT256,
};

enum farlands_fade {
    FARLANDS_LINEAR,  /* t */
    FARLANDS_CUBIC,   /* 3t^2 - 2t^3 */
    FARLANDS_QUINTIC, /* 6t^5 - 15t^4 + 10t^3 */
};

enum farlands_hash {
    /* No period; each octave's lattice begins at a place drawn from the seed. */
    FARLANDS_MIX64,
    /* P[(X + P[Y mod 256] + salt) mod 256] with Perlin's table P, shuffled by a
     * seed other than 0; repeats after 256 cells, lattices begin at 0. */
    FARLANDS_PERMUTATION,
};

/*
 * How octaves k = 0, 1, ... with amplitudes a_k = persistence^k make one noise;
 * A is the sum of all a_k.
 */
enum farlands_fractal {
    FARLANDS_NONE,   /* n_0, one octave */
    FARLANDS_FBM,    /* sum of a_k n_k / A */
    FARLANDS_BILLOW, /* sum of a_k (2 |n_k| - 1) / A */
    /* sum of a_k s_k / A, s_k = w_k (offset - |n_k|)^2, w_0 = 1,
     * w_k+1 = gain s_k within 0 .. 1 (Musgrave, Texturing & Modeling, ch. 16) */
    FARLANDS_RIDGED,
    /* sum of w_k s_k / A, s_k = a_k (n_k + offset), w_0 = 1,
     * w_k+1 = w_k s_k, at most 1 (Musgrave, the same chapter) */
    FARLANDS_HYBRID,
};

/* A knot of the elevation curve: noise value -> metres. */
struct farlands_knot {
    float noise;
    float metres;
};

/* Perlin noise in space as a volume has it: octaves as in fbm, sum of a_k n_k / A, with numbers of
 * their own. A cell of octave k is wavelength_k wide in x and y, wavelength_k / squash high. */
struct farlands_space_noise {
    int64_t wavelength; /* units, of the first octave */
    int octaves;
    double persistence, lacunarity, squash;
};

/*
 * What the world is above and below its heights, for farlands_density. All 0: a pure height field.
 * Of what is off, the noise does not count.
 */
struct farlands_volume_params {
    /* The surface bulges where n, the noise, is beyond THRESHOLD either way; n - threshold = 1
     * would move it by half of AMPLITUDE, and nothing moves by as much. */
    struct {
        int64_t amplitude; /* units; 0: none */
        double threshold;  /* 0 .. 1 */
        struct farlands_space_noise noise;
    } overhangs;
    /* Hollow where the noise is above 1 - SIZE ("cheese"). */
    struct {
        double size;   /* 0 .. 1; 0: none */
        int64_t cover; /* units below the surface over which they open; 0: they break through it */
        struct farlands_space_noise noise;
    } caverns;
    /* Hollow around the curves where two noises are 0 both ("spaghetti"). */
    struct {
        int64_t radius; /* units, roughly: of a round tunnel across the slope of noise 1; 0: none */
        int64_t cover;  /* as of caverns */
        struct farlands_space_noise noise;
    } tunnels;
};

struct farlands_params {
    uint64_t seed;
    enum farlands_basis basis;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    enum farlands_hash hash;
    bool octave_salt; /* permutation only: the wavelength in whole blocks is the salt */
    enum farlands_fractal fractal;
    int64_t wavelength; /* units, of the first octave */
    int octaves;
    double persistence; /* amplitude ratio of one octave to the one before, in (0, 1] */
    double lacunarity;  /* frequency ratio of one octave to the one before, >= 1 */
    double offset;      /* ridged and hybrid */
    double gain;        /* ridged */
    /* The place is moved, in x and in y, by AMPLITUDE times an octave of Perlin noise
     * each (of the terrain's gradients, fade and hash); 0: not at all. */
    struct {
        int64_t amplitude, wavelength; /* units */
    } warp;
    /* The terrain repeats after this many units in x and y; 0: it does not. A
     * multiple of each wavelength; not with simplex, whose lattice is skewed. */
    int64_t period;
    /* Piecewise linear, noise ascending, constant beyond both ends. */
    struct farlands_knot elevation[FARLANDS_MAX_KNOTS];
    int knots;
    struct farlands_volume_params volume; /* does not change a height */
};

/*
 * What is wrong with PARAMS, or NULL. The answer names the parameter and what
 * is accepted; KEY, if not NULL, gets the parameter's name alone. Static text.
 */
const char *farlands_params_fault(const struct farlands_params *params, const char **key);

/* Wavelength of octave K >= 0 in units, rounded to the nearest. PARAMS may have faults: 0 where
 * it would not fit. */
int64_t farlands_octave_wavelength(const struct farlands_params *params, int k);

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

/* Working memory for one grid or box at a time: one a thread, reused for ever. */
struct farlands_scratch;
int farlands_scratch_new(struct farlands_scratch **out);
void farlands_scratch_free(struct farlands_scratch *scratch);

/*
 * A rectangle of samples: column i, row j lies at (x + i * step, y + j * step)
 * units; y grows south. Every sample must lie within FARLANDS_LIMIT plus one
 * FARLANDS_MAX_STEP (so that a border for slopes exists everywhere), and the
 * first and last of an axis less than 2^63 units apart.
 */
struct farlands_grid {
    int64_t x, y;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height;
    bool band_limit; /* fade out octaves finer than the samples: for pictures */
};

/*
 * Heights in metres into OUT, row by row, north first, STRIDE >= width floats a row.
 * Without band_limit a sample is exactly farlands_height at its place.
 * Returns 0, or -EINVAL for a grid out of bounds.
 */
int farlands_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride);

/* The height at one place, in metres; NAN where a grid could have no sample. Any thread that has
 * 100 KiB of stack. */
float farlands_height(const struct farlands_terrain *terrain, int64_t x, int64_t y);

/*
 * Perlin noise in 1, 2, 3 and 4 dimensions with the terrain's hash, fade,
 * octaves and fractal; basis, warp and elevation do not apply, and gradients in
 * 2 dimensions only. The others are those of "Improving Noise" (2002): in 1-D
 * +1, -1; in 3-D the 12 edges of a cube, (1,1,0) (-1,1,0) (0,-1,1) (0,-1,-1)
 * again making 16; in 4-D the 32 edges of a hypercube, index / 8 leaving out w, z,
 * y or x, and bits 0, 1 and 2 negating the others in order. With permutation the
 * index is P[P[P[X] + Y] + Z] there, so that seed 0 gives the published noise.
 * In double precision. NAN beyond FARLANDS_LIMIT plus FARLANDS_MAX_STEP. Any thread.
 */
double farlands_noise1(const struct farlands_terrain *terrain, int64_t x);
double farlands_noise2(const struct farlands_terrain *terrain, int64_t x, int64_t y);
double farlands_noise3(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);
double farlands_noise4(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z,
                       int64_t w);

/* A box of samples: (i, j, k) lies at (x + i * step, y + j * step, z + k * step) units. */
struct farlands_box {
    int64_t x, y, z;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height, depth;
};

/*
 * farlands_noise3 at every sample, rounded to float, into OUT: x fastest, then
 * y, then z, without gaps. Returns 0, or -EINVAL for a box out of bounds.
 */
int farlands_volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out);

/*
 * Density in blocks at every sample of a box, into OUT as above: positive inside the ground,
 * negative in the air. z is the altitude, growing upwards, one block of it a metre; x and y are
 * those of heights. Near a surface its size is roughly the distance. In float:
 *
 *     s       = height(x, y) - z
 *     ground  = s + amplitude (1 - (s / amplitude)^2)^2 bulge       where |s| < amplitude, else s
 *     bulge   = n - n within -threshold .. threshold, n of overhangs
 *     open    = ground / cover within 0 .. 1; 1 where cover is 0
 *     cavern  = wavelength (1 - n) - wavelength size open           n of caverns
 *     tunnel  = wavelength sqrt(a^2 + b^2) - radius open            a, b of tunnels
 *     density = the least of ground, cavern and tunnel, of the latter two where ground is above
 *               0, with cover 0 above -wavelength size and -radius: elsewhere neither is less
 *
 * lengths in blocks; what is off is left out. s is computed in double, from z rounded to double
 * (exact up to 2^43 blocks), and then rounded to float: far out, too, each to the nearest, ties to
 * even. Without volume, density is s.
 *
 * The least of several densities is their intersection, after Hart, "Sphere tracing" (1996);
 * caverns and tunnels after Minecraft's noise caves, cheese and spaghetti (1.18); overhangs after
 * its terrain, whose height is a gradient in density that a noise in space is added to. The noises
 * are those of farlands_noise3, with the terrain's hash and fade, but in float, and from these
 * draws of the seed: noise m (0 overhangs, 1 caverns, 2 and 3 tunnels a and b), octave k has keys
 * and shifts of x, y, z from draw 520 + 8 (16 m + k) on, two keys and two shifts for x and y, then
 * the same for z and one that has none; with permutation, 51 (m + 1) is added to the salt instead.
 * With a period the volume repeats in x and y, too.
 *
 * A sample's bits are farlands_density_at's at its place: boxes share faces, at any step, and a box
 * is as good in slabs. Returns 0, or -EINVAL for a box out of bounds.
 */
int farlands_density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_box *box, float *out);

/* The same at one place; NAN where a box could have no sample. As farlands_height. */
float farlands_density_at(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t z);

/* The kernel that TERRAIN runs on: "avx512", "avx2", "neon" or "scalar", the fastest that
 * the machine had when the terrain was made, or the one that the environment
 * variable FARLANDS_KERNEL named. They differ in speed only. */
const char *farlands_kernel(const struct farlands_terrain *terrain);

#ifdef __cplusplus
}
#endif

#endif
