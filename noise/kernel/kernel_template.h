/*
 * A kernel: all inner loops. Each instruction set has a file, with its own compiler flags, that
 * includes this one. noise/README.md explains the method; kernel_scalar.c is the plainest example.
 *
 * Parameters, all required; macros are undefined again at the end:
 *   KERNEL             identifier    name of the struct kernel that this defines
 *   KERNEL_NAME        string        its value of FARLANDS_KERNEL
 *   KERNEL_SUPPORTED   expression    true if this machine has the instructions
 *   KERNEL_LANES       4, 8 or 16    floats in a vector; define it before including vectors.h
 *   KERNEL_BLOCK       2 or more     vectors in a row. The sums on KERNEL_SET_ROWS rows of so
 *                                    many vectors must fit the registers
 *   vectors.h                        included before the following functions are defined
 *   narrow_multiply_add(a, b, c)     a * b + c rounded once, lane by lane: floats
 *   broad_multiply_add(a, b, c)      the same: doubles
 *   lookup_lanes(table, index)       table[index], index < KERNEL_LANES, table a narrow_vector
 *   lookup_32(table, index)          table[index], index < 32, table 32 floats in memory
 *
 * A grid is axis-aligned, so a cell, a fraction and a fade belong to a column or to a row alone.
 * With u = fade(f), a corner's gradient (gx, gy) counts for (q p' gx + p q' gy). Along an axis q is
 * 1 - u or u, and p is q f or q (f - 1); q' and p' belong to the other axis. So each lattice row is
 * interpolated along x first, at every sample, into two lines:
 *
 *     along = p0 gx0 + p1 gx1     across = q0 gy0 + q1 gy1
 *
 * A sample between lattice rows 0 and 1 is then
 *
 *     n = q0' along0 + q1' along1 + p0' across0 + p1' across1,
 *
 * four multiply-adds with the row's constants: no hash, no gather, no fade, and cells need not
 * begin at any particular sample. Lines are made once for each lattice row.
 *
 * Simplex noise and warped coordinates do not allow this. There each sample is a point with
 * separate corners, evaluated by the same operations in the same order.
 *
 * The order of operations belongs to the generator. Octaves are summed from the finest to the
 * coarsest, so that rounding errors stay as small as the sum so far. Other fractals go from the
 * coarsest on, because each octave's weight depends on the one before. Narrow octaves are in float,
 * broad ones in double: see OCTAVE_NARROW_MAX.
 */
#if !defined KERNEL || !defined KERNEL_NAME || !defined KERNEL_SUPPORTED
#error "kernel_template.h: define KERNEL, KERNEL_NAME and KERNEL_SUPPORTED"
#endif
#if !defined KERNEL_LANES || !defined KERNEL_BLOCK
#error "kernel_template.h: define KERNEL_LANES and KERNEL_BLOCK, then include vectors.h"
#endif
#if KERNEL_LANES != 4 && KERNEL_LANES != 8 && KERNEL_LANES != 16
#error "kernel_template.h: KERNEL_LANES must be 4, 8 or 16"
#endif
#if KERNEL_BLOCK < 2
#error "kernel_template.h: KERNEL_BLOCK must be at least 2"
#endif

#include <math.h>

#include "formulas.h"
#include "kernel.h"
#include "noise/exact/lattice.h"
#include "river_rows.h"
#include "scratch.h"

/* KERNEL_FLAT, before a function: inline all calls in it. KERNEL_INLINE: inline the function
 * itself. Browsers download WebAssembly, so there both do nothing, functions between KERNEL_SMALL
 * and KERNEL_FAST are optimized for size, and a single place is evaluated like few samples
 * (KERNEL_PLACES is 0). */
#ifdef __wasm__
#define KERNEL_PLACES 0
#define KERNEL_INLINE __attribute__((noinline))
#define KERNEL_FLAT
#define KERNEL_SMALL _Pragma("clang attribute push(__attribute__((minsize)), apply_to = function)")
#define KERNEL_FAST _Pragma("clang attribute pop")
#else
#define KERNEL_PLACES 1
#define KERNEL_INLINE inline
#define KERNEL_FLAT __attribute__((flatten))
#define KERNEL_SMALL
#define KERNEL_FAST
#endif

/* Before a loop with independent iterations, whatever pointers it has. */
#ifdef __clang__
#define KERNEL_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERNEL_IVDEP _Pragma("GCC ivdep")
#endif

#define GULLY_REACH 1.125f /* how far a point's stripes reach, in cells */

/* True if every sample needs separate lattice corners. */
static inline bool is_scattered(const struct noise_run *run)
{
    return basis_of(run->noise->basis).method == BASIS_POINTS || run->noise->warp != 0 ||
           run->moved;
}

#include "curves_template.h"
#include "places_template.h"

#include "corners_template.h"
#include "lattice_template.h"

#define REAL_IS_FLOAT 1
#include "octave_template.h"
#define REAL_IS_FLOAT 0
#include "octave_template.h"

#include "noise_template.h"

#include "biomes_template.h"
#include "few_template.h"
#include "fields_template.h"
#include "rivers_template.h"
#include "steered_template.h"

KERNEL_SMALL
#ifdef __wasm__ /* farlands.js has no bare noise, and is downloaded */
#define volume NULL
#else
#include "volume_template.h"
#endif

#include "density_template.h"
KERNEL_FAST

static bool supported(void)
{
    return KERNEL_SUPPORTED;
}

static bool exact(void)
{
    return arithmetic_is_exact();
}

extern const struct kernel KERNEL;
const struct kernel KERNEL = {
    KERNEL_NAME, KERNEL_LANES, supported,    exact,       noise_choose, noise_begin, noise_band,
    damped_band, erode_band,   operate,      is_zero,     unsign_zeros, interpolate, noise_few,
    noise_point, river_near,   river_valley, river_floor, river_lake,   river_carve, river_channel,
    river_water, river_order,  volume,       density,
};

#undef KERNEL
#undef KERNEL_NAME
#undef KERNEL_SUPPORTED
#undef KERNEL_LANES
#undef KERNEL_BLOCK
#undef KERNEL_PLACES
#undef KERNEL_INLINE
#undef KERNEL_FLAT
#undef KERNEL_SMALL
#undef KERNEL_FAST
#undef KERNEL_IVDEP
#undef GULLY_REACH
