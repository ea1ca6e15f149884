/*
 * Farlands: the heights of an infinite, seeded terrain.
 *
 * A terrain is a pure function from a place to a height in metres. Horizontal coordinates, x to the
 * east and y to the south, and altitudes, z upwards, are signed 64-bit counts of units. A unit is
 * 1/1024 block and a block is one metre, so nothing loses precision far from the origin. The same
 * parameters give the same bits on every machine, for a grid of any shape and for a single point,
 * in any floating-point mode: a thread may round upwards or flush subnormal numbers to zero.
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

/* Largest distance between two samples of a grid or box, in units. */
#define FARLANDS_MAX_STEP (INT64_C(1) << 52)

struct farlands_params; /* params.h */

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
