/*
 * The parameters of a terrain with one noise, and the reference for every formula of a noise.
 * Private to the project; farlands.h has the public interface.
 */
#ifndef FARLANDS_PARAMS_H
#define FARLANDS_PARAMS_H

#include "noise/farlands.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FARLANDS_MAX_OCTAVES 64
#define FARLANDS_MAX_KNOTS 32
/* Bounds for wavelengths, in units. A cell of 2 units is the smallest with an inside. */
#define FARLANDS_MIN_WAVELENGTH INT64_C(2)
#define FARLANDS_MAX_WAVELENGTH (INT64_C(1) << 50)
#define FARLANDS_MAX_LACUNARITY 1024.0
/* Upper bounds for offset and gain. The lower bounds are 0. */
#define FARLANDS_MAX_OFFSET 16.0
#define FARLANDS_MAX_GAIN 1024.0
/* Upper bounds in struct farlands_volume_params. Lengths, in units, are small enough to be exact
 * floats. The least squash is 1 / FARLANDS_MAX_SQUASH. */
#define FARLANDS_MAX_VOLUME_WAVELENGTH (INT64_C(1) << 24)
#define FARLANDS_MAX_VOLUME_OCTAVES 16
#define FARLANDS_MAX_SQUASH 16.0

/*
 * One octave's noise, n(x, y). The lattice has square cells, one wavelength wide. The hash gives
 * each corner of a cell an index, 0 .. 255, and the basis says what an index means. f is the
 * fraction of the cell along an axis, 0 .. 1.
 */
enum farlands_basis {
    /* Each corner has a gradient. Its scalar product with the vector from the corner to the place
     * is interpolated by the fade (Perlin 1985, 2002). */
    FARLANDS_PERLIN,
    /* Three corners, of a triangle in a skewed lattice: 70 times the sum over max(0, 1/2 - r^2)^4
     * times the same scalar product, where r is the distance from the corner (Perlin 2001,
     * Gustavson 2005). Without fade. */
    FARLANDS_SIMPLEX,
    /* 2 min(F1, 1) - 1. Each cell holds one point, and F1 is the distance in cells to the nearest
     * point (Worley 1996). If the cell's north-west corner has index i, its point lies at ((i +
     * 1/2) / 256, ((159 i mod 256) + 1/2) / 256). Without fade and gradients. */
    FARLANDS_CELLULAR,
    /* Each corner has a value, 2 i / 255 - 1, interpolated by the fade. Without gradients. */
    FARLANDS_VALUE,
};

/* The gradient at a corner with index i: number i mod 4, i mod 8 or i in the set. */
enum farlands_gradients {
    FARLANDS_AXIS4,     /* (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_DIAGONAL4, /* (1,1) (1,-1) (-1,1) (-1,-1) */
    FARLANDS_UNIT8, /* with s = 1/sqrt 2: (s,s) (-s,s) (s,-s) (-s,-s) (1,0) (-1,0) (0,1) (0,-1) */
    FARLANDS_INTEGER8, /* (1,1) (-1,1) (1,-1) (-1,-1) (1,0) (-1,0) (0,1) (0,-1) */
    /* 256 evenly spaced unit vectors: the angle is ((i mod 32) + 1/2) 2 pi / 256; then, if bit 5 of
     * i is set, x and y are exchanged; if bit 6, x is negated; if bit 7, y is negated. */
    FARLANDS_UNIT256,
};

/* The weight that a cell's far corners have at fraction t along an axis. */
enum farlands_fade {
    FARLANDS_LINEAR,  /* t */
    FARLANDS_CUBIC,   /* 3t^2 - 2t^3 */
    FARLANDS_QUINTIC, /* 6t^5 - 15t^4 + 10t^3 */
};

/* From a lattice corner (X, Y) to its index. */
enum farlands_hash {
    /* Does not repeat. The seed shifts each octave's lattice by a random number of units. */
    FARLANDS_MIX64,
    /* P[(X + P[Y mod 256] + salt) mod 256]. P is Perlin's table, shuffled unless the seed is 0.
     * Repeats after 256 cells. Every lattice begins at coordinate 0. */
    FARLANDS_PERMUTATION,
};

/*
 * Octaves k = 0, 1, ... with amplitudes a_k = persistence^k become one noise. A is the sum over all
 * a_k.
 */
enum farlands_fractal {
    FARLANDS_NONE,   /* n_0: one octave */
    FARLANDS_FBM,    /* sum(a_k n_k) / A */
    FARLANDS_BILLOW, /* sum(a_k (2 |n_k| - 1)) / A */
    /* sum(a_k s_k) / A, s_k = w_k (offset - |n_k|)^2, w_0 = 1, w_k+1 = gain s_k clamped to 0 .. 1
     * (Musgrave, Texturing & Modeling, ch. 16) */
    FARLANDS_RIDGED,
    /* sum(w_k s_k) / A, s_k = a_k (n_k + offset), w_0 = 1, w_k+1 = w_k s_k, at most 1 (Musgrave,
     * the same chapter) */
    FARLANDS_HYBRID,
};

/* How many enumerators each has. */
enum {
    FARLANDS_BASES = FARLANDS_VALUE + 1,
    FARLANDS_GRADIENT_SETS = FARLANDS_UNIT256 + 1,
    FARLANDS_FADES = FARLANDS_QUINTIC + 1,
    FARLANDS_HASHES = FARLANDS_PERMUTATION + 1,
    FARLANDS_FRACTALS = FARLANDS_HYBRID + 1,
};

/* A knot in the elevation curve, which maps noise to metres. */
struct farlands_knot {
    float noise;
    float metres;
};

/* Perlin noise in space, in three dimensions: fbm, with separate octaves. In octave k a cell is
 * wavelength_k wide in x and y, and wavelength_k / squash high. */
struct farlands_space_noise {
    int64_t wavelength; /* the first octave's, in units */
    int octaves;
    double persistence, lacunarity, squash;
};

/*
 * Overhangs, caverns and tunnels for terrain_density, which has the formula. All 0: the ground is a
 * pure height field. A part that is off ignores its noise.
 */
struct farlands_volume_params {
    /* The surface bulges wherever the noise is above THRESHOLD or below -THRESHOLD. An excess of 1,
     * more than is possible, would move the surface by half the AMPLITUDE. */
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
    int64_t wavelength; /* the first octave's, in units */
    int octaves;
    double persistence; /* an octave's amplitude, relative to the one before: above 0, up to 1 */
    double lacunarity;  /* an octave's frequency, relative to the one before: at least 1 */
    double offset;      /* ridged and hybrid */
    double gain;        /* ridged */
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
 * Check PARAMS. Returns NULL, or a message that says what is expected, and then sets *KEY to the
 * parameter's name, such as "warp.amplitude". KEY may be NULL. Both are static strings.
 */
const char *params_fault(const struct farlands_params *params, const char **key);

/* Octave K's wavelength in units, K >= 0, rounded to nearest; 0 if it does not fit. PARAMS need not
 * be valid. */
int64_t params_wavelength(const struct farlands_params *params, int k);

#ifdef __cplusplus
}
#endif

#endif
