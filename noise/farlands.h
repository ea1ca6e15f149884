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
 *   height    metres, of the ground at (x, y): terrain_heights, terrain_height
 *   density   blocks, above 0 within the ground and below 0 in the air, with overhangs and caves:
 *             terrain_density, terrain_density_at
 *   noise     bare Perlin noise without a unit: terrain_volume, terrain_noise1 to terrain_noise4
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

/* A box of samples. (i, j, k) lies at (x + i * step, y + j * step, z + k * step) units, within the
 * same bounds as those of a grid. */
struct farlands_box {
    int64_t x, y, z;
    int64_t step; /* 1 .. FARLANDS_MAX_STEP */
    int width, height, depth;
};

#ifdef __cplusplus
}
#endif

#endif
