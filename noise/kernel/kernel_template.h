/*
 * A kernel: all inner loops, compiled once for each instruction set by a file of its own with its
 * own flags. noise/README.md explains the method; kernel_scalar.c is the plainest example.
 *
 * Parameters, all required; those that are macros are taken back at the end:
 *   KERNEL             identifier    name of the struct kernel that this defines
 *   KERNEL_NAME        string        its value of FARLANDS_KERNEL
 *   KERNEL_SUPPORTED   expression    true if this machine has the instructions
 *   KERNEL_LANES       4, 8 or 16    floats in a vector; define it before including vectors.h
 *   KERNEL_BLOCK       2 or more     vectors of each of KERNEL_SET_ROWS rows whose sums stay in
 *                                    registers, so as many as the registers hold
 *   vectors.h                        included before the following functions are defined
 *   narrow_multiply_add(a, b, c)     a * b + c rounded once, lane by lane: floats
 *   broad_multiply_add(a, b, c)      the same: doubles
 *   lookup_lanes(table, index)       table[index], index < KERNEL_LANES, table a narrow_vector
 *   lookup_32(table, index)          table[index], index < 32, table 32 floats in memory
 *
 * A grid is axis-aligned, so that a cell, the fraction of it and the fade belong to a column or to
 * a row alone. With u = fade(f), a corner's gradient (gx, gy) counts for (q p' gx + p q' gy): along
 * an axis q is 1 - u or u, and p is q f or q (f - 1); q' and p' are those of the other axis. So
 * each lattice row is interpolated along x first, at every sample, into two lines:
 *
 *     along = p0 gx0 + p1 gx1     across = q0 gy0 + q1 gy1
 *
 * A sample between lattice rows 0 and 1 is then
 *
 *     n = q0' along0 + q1' along1 + p0' across0 + p1' across1,
 *
 * four multiply-adds with constants of the row: no hash, no gather, no fade, and cells need not
 * begin at any particular sample. Lines are made once for each lattice row.
 *
 * Simplex noise and warped coordinates do not allow this. There each sample is a point with corners
 * of its own, evaluated by the same operations in the same order.
 *
 * The order of operations is part of the generator. Sums of octaves go from the finest to the
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

/* KERNEL_FLAT, of a function: inline all calls in it; KERNEL_INLINE: inline this one. Browsers
 * download WebAssembly, so there they do not, functions between KERNEL_SMALL and KERNEL_FAST are
 * optimised for size, and a single place is evaluated as few samples are (KERNEL_PLACES is 0). */
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

/* Before a loop whose iterations do not depend on each other, whatever pointers it has. */
#ifdef __clang__
#define KERNEL_IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define KERNEL_IVDEP _Pragma("GCC ivdep")
#endif

#define GULLY_REACH 1.125f /* of a point's stripes, in cells */

/* The pieces of a curve that a vector of values lies on: by binary search if a lookup is one
 * instruction, or else by counting. */
static inline integer_vector piece_of(const struct curve *c, narrow_vector v)
{
    integer_vector piece = {0};
    if (KERNEL_LANES == 16)
        for (uint32_t bit = c->half; bit; bit >>= 1)
            piece |= bit & (integer_vector)(v >= lookup_32(c->from, piece | bit));
    else
        for (int k = 1; k < c->pieces; k++)
            piece -= (integer_vector)(v >= narrow_splat(c->from[k]));
    return piece;
}

/* True if it is faster to look up the tables of CURVE in a vector, which they fit, than in memory.
 */
static inline bool curve_is_small(const struct curve *c)
{
    return KERNEL_LANES == 8 && c->pieces <= KERNEL_LANES;
}

/* TABLE[index] of a curve, which is SMALL or not. */
static inline narrow_vector lookup_piece(const float *table, integer_vector index, bool small)
{
    return small ? lookup_lanes(narrow_load(table), index) : lookup_32(table, index);
}

/* The pieces of a linear curve that N values lie on. */
static inline void find_pieces(const struct curve *c, const float *value, int n, float *from,
                               float *base, float *slope, float *slope_rest)
{
    const bool small = curve_is_small(c);
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const integer_vector piece = piece_of(c, narrow_load(value + i));
        narrow_store(from + i, lookup_piece(c->from, piece, small));
        narrow_store(base + i, lookup_piece(c->base, piece, small));
        narrow_store(slope + i, lookup_piece(c->slope, piece, small));
        narrow_store(slope_rest + i, lookup_piece(c->slope_rest, piece, small));
    }
}

/* True if every sample has lattice corners of its own. */
static inline bool is_scattered(const struct noise_run *run)
{
    return basis_of(run->noise->basis).method == BASIS_POINTS || run->noise->warp != 0 ||
           run->moved;
}

#include "lattice_template.h"

#define REAL_IS_FLOAT 1
#include "octave_template.h"
#define REAL_IS_FLOAT 0
#include "octave_template.h"

static void begin_sums(struct sums *s, int n)
{
    narrow_fill(s->narrow, 0, n);
    broad_fill(s->broad, 0, n);
    broad_fill(s->broad_weight, 1, n);
}

/* The weights after the last broad octave are those of the first narrow one. */
static void round_weights(struct sums *s, int n)
{
    for (int i = 0; i < n; i++)
        s->narrow_weight[i] = (float)s->broad_weight[i];
}

/* Sums to values, of which BROAD octaves are in double: of CURVE, or if it is NULL of the noise
 * itself. BIAS is added to the sum. */
static void finish(const struct noise *noise, int broad, const struct curve *curve, struct sums *s,
                   double bias, int n, float *restrict out)
{
    const double scale = fractal_scale(noise), shift = fractal_shift(noise) + bias;
    if (broad == 0) {
        if (curve)
            narrow_bend(curve, (float)scale, (float)shift, s->narrow, n, out);
        else
            for (int i = 0; i < n; i++)
                out[i] = fmaf((float)scale, s->narrow[i], (float)shift);
        return;
    }
    for (int i = 0; i < n; i++)
        s->broad[i] += (double)s->narrow[i];
    if (curve)
        broad_bend(curve, scale, shift, s->broad, n, out);
    else
        for (int i = 0; i < n; i++)
            out[i] = (float)fma(scale, s->broad[i], shift);
}

/* --- A noise over a chunk --- */

static void set_octave(struct noise_run *run, union octave_scratch *s, struct octave_source source,
                       bool broad, double amplitude)
{
    s->source = source;
    if (broad) {
        s->broad.amplitude = amplitude;
        s->broad.work = &run->work->line;
    } else {
        s->narrow.amplitude = (float)amplitude;
        s->narrow.work = &run->work->line;
    }
}

/* The weight of OCTAVE for samples STEP units apart. */
static double limit_of(const struct noise_run *run, const struct octave *octave, int64_t step)
{
    return run->use == USE_GULLIES ? octave_gully_limit(octave, step)
                                   : octave_band_limit(octave, step);
}

/* Set the octaves, with their amplitudes and, if the noise is BAND_LIMITed, their weights for
 * samples STEP units apart. */
static void choose_octaves(struct noise_run *run, bool band_limit, int64_t step)
{
    const struct noise *noise = run->noise;
    const bool sum = fractal_is_sum(noise);
    run->bias = 0;
    run->broad = 0;
    for (int k = 0; k < noise->broad; k++)
        run->broad +=
            !(run->moved && band_limit && octave_is_narrow_in_pictures(&noise->octave[k], step));
    for (int k = 0; k < noise->octaves; k++) {
        const struct octave *octave = &noise->octave[k];
        const double limit = band_limit ? limit_of(run, octave, step) : 1;
        const double share = noise->share[k];
        run->band_limit[k] = limit;
        run->bias += sum ? share * (1 - limit) * noise->moments.mean : 0;
        set_octave(run, &run->octave[k],
                   (struct octave_source){noise, octave, noise->basis, run->use, 0}, k < run->broad,
                   sum && run->use == USE_VALUES ? share * limit : 1);
    }
    for (int axis = 0; noise->warp != 0 && axis < 2; axis++)
        set_octave(run, &warp_octaves(run)[axis],
                   (struct octave_source){noise, &noise->warp_octave[axis], FARLANDS_PERLIN,
                                          USE_VALUES, 0},
                   octave_is_broad(&noise->warp_octave[axis]), 1);
}

static void begin_octave(union octave_scratch *s, bool broad, enum axis axis,
                         struct coordinates along, int n)
{
    const bool columns = axis == AXIS_X;
    if (broad && columns)
        broad_begin_columns(&s->broad, along, n);
    else if (broad)
        broad_begin_rows(&s->broad, along, n);
    else if (columns)
        narrow_begin_columns(&s->narrow, along, n);
    else
        narrow_begin_rows(&s->narrow, along, n);
}

/* Prepare N columns (AXIS_X) or rows (AXIS_Y) of all octaves. */
static void begin_axis(struct noise_run *run, enum axis axis, struct coordinates along, int n)
{
    for (int k = 0; k < run->noise->octaves; k++)
        if (run->band_limit[k] != 0)
            begin_octave(&run->octave[k], k < run->broad, axis, along, n);
    for (int i = 0; run->noise->warp != 0 && i < 2; i++)
        begin_octave(&warp_octaves(run)[i], octave_is_broad(&run->noise->warp_octave[i]), axis,
                     along, n);
}

/* The warp's displacement along AXIS on row J + R. */
static void displace_row(struct noise_run *run, int axis, int j, int r)
{
    union octave_scratch *octave = &warp_octaves(run)[axis];
    struct sums *s = &run->work->sums[r];
    struct displacement *d = &run->work->displacement[r][axis];
    if (octave_is_broad(octave->source.octave)) {
        broad_octave_row(&octave->broad, j + r, s->broad);
        broad_displace(run->noise, s->broad, run->n, d);
    } else {
        narrow_octave_row(&octave->narrow, j + r, s->narrow);
        narrow_displace(run->noise, s->narrow, run->n, d);
    }
}

/* The sums of ROWS rows from J on, no more than a band. */
static void sum_rows(struct noise_run *run, int j, int rows)
{
    const struct noise *noise = run->noise;
    const int octaves = noise->octaves, broad = run->broad;
    for (int r = 0; noise->warp != 0 && r < rows; r++) {
        displace_row(run, AXIS_X, j, r);
        displace_row(run, AXIS_Y, j, r);
    }
    if (!fractal_is_sum(noise)) {
        for (int r = 0; r < rows; r++) {
            struct sums *s = &run->work->sums[r];
            begin_sums(s, run->n);
            broad_fractal_octaves(run, 0, broad, j, r, s->broad, s->broad_weight);
            round_weights(s, run->n);
            narrow_fractal_octaves(run, broad, octaves, j, r, s->narrow, s->narrow_weight);
        }
    } else if (is_scattered(run) || basis_of(noise->basis).method != BASIS_LINES) {
        narrow_sum_octaves(run, broad, octaves, j, rows);
        if (broad)
            broad_sum_octaves(run, 0, broad, j, rows);
    } else {
        narrow_sum_lines(run, broad, octaves, j, rows);
        if (broad)
            broad_sum_lines(run, 0, broad, j, rows);
    }
}

/* The wavelength of the finest octave that the band limit leaves. */
static int64_t finest_wavelength(const struct noise_run *run)
{
    int k = run->noise->octaves - 1;
    while (k > 0 && run->band_limit[k] == 0)
        k--;
    return run->noise->octave[k].wavelength;
}

static int noise_choose(struct noise_run *run, bool band_limit, int64_t step)
{
    choose_octaves(run, band_limit, step);
    return band_rows(finest_wavelength(run), step);
}

static void noise_begin(struct noise_run *run, const struct chunk *chunk)
{
    run->n = whole_steps(chunk->width);
    begin_axis(run, AXIS_X, chunk->x, run->n);
    begin_axis(run, AXIS_Y, chunk->y, whole_steps(chunk->height));
}

/* Displacements by UNITS times N values. */
static void move_row(const float *restrict value, double units, int n, struct displacement *d)
{
    for (int i = 0; i < n; i++) {
        const double moved = units * (double)value[i], whole = floor(moved);
        d->whole[i] = whole;
        d->fraction[i] = moved - whole;
    }
}

static void noise_band(struct noise_run *run, const struct curve *curve, const struct rows *move,
                       double units, int j, int rows, struct rows out)
{
    for (int axis = 0; move && axis < 2; axis++)
        for (int r = 0; r < rows; r++)
            move_row(move[axis].at + (size_t)r * move[axis].stride, units, run->n,
                     &run->work->displacement[r][axis]);
    sum_rows(run, j, rows);
    for (int r = 0; r < rows; r++)
        finish(run->noise, run->broad, curve, &run->work->sums[r], run->bias, run->n,
               out.at + (size_t)r * out.stride);
}

#include "fields_template.h"
#include "rivers_template.h"

/* --- Few samples --- */

/* The warp's displacement of FEW along AXIS. */
static void displace_few(const struct noise *noise, int axis, const struct few_samples *few,
                         struct sums *sums, struct displacement *d)
{
    const struct octave_source source = {noise, &noise->warp_octave[axis], FARLANDS_PERLIN,
                                         USE_VALUES, 0};
    if (octave_is_broad(source.octave)) {
        broad_fill(sums->broad, 0, few->count);
        broad_add_few(&source, 1, few, sums->broad);
        broad_displace(noise, sums->broad, few->count, d);
    } else {
        narrow_fill(sums->narrow, 0, few->count);
        narrow_add_few(&source, 1, few, sums->narrow);
        narrow_displace(noise, sums->narrow, few->count, d);
    }
}

/* What lies beyond N samples, up to COUNT, may be anything: it is moved as the last of them. */
static void move_few(const float *value, double units, int n, int count, struct displacement *d)
{
    move_row(value, units, n, d);
    for (int i = n; i < count; i++) {
        d->whole[i] = d->whole[n - 1];
        d->fraction[i] = d->fraction[n - 1];
    }
}

static void sum_few(const struct noise *noise, const struct few_samples *few, struct sums *s)
{
    const int broad = noise->broad, octaves = noise->octaves;
    if (fractal_is_sum(noise)) {
        narrow_sum_few(noise, broad, octaves, few, s->narrow);
        broad_sum_few(noise, 0, broad, few, s->broad);
    } else {
        broad_fractal_few(noise, 0, broad, few, s->broad, s->broad_weight);
        round_weights(s, few->count);
        narrow_fractal_few(noise, broad, octaves, few, s->narrow, s->narrow_weight);
    }
}

/* The terms of all octaves at a single place. Flat, so that loops run in whole vectors. */
static KERNEL_FLAT void place_terms(const struct noise *noise, int64_t x, int64_t y,
                                    const struct displacement *moved,
                                    struct narrow_point_terms *narrow_terms,
                                    struct broad_point_terms *broad_terms)
{
    const struct octave_source source = {noise, noise->octave, noise->basis, USE_VALUES,
                                         noise->octaves};
    const int n = whole_vectors(noise->octaves), broad_n = whole_vectors(noise->broad);
    KERNEL_ALIGNED float narrow_amplitude[KERNEL_POINTS];
    KERNEL_ALIGNED double broad_amplitude[KERNEL_POINTS];
    struct point_room room[2];
    struct point_corners c;
    const struct points at_x = points_at(&source, AXIS_X, x, moved, n, &room[AXIS_X]);
    const struct points at_y = points_at(&source, AXIS_Y, y, moved, n, &room[AXIS_Y]);
    for (int i = 0; i < n; i++) {
        broad_amplitude[i] = fractal_is_sum(noise) ? noise->share[i] : 1;
        narrow_amplitude[i] = (float)broad_amplitude[i];
    }
    points_corners(&source, NULL, &at_x, &at_y, n, &c);
    narrow_use_points(&source, &c, &at_x, &at_y, n,
                      (struct narrow_point_use){narrow_amplitude, NULL, narrow_terms});
    broad_use_points(&source, &c, &at_x, &at_y, broad_n,
                     (struct broad_point_use){broad_amplitude, NULL, broad_terms});
}

static void sum_place(const struct noise *noise, int64_t x, int64_t y,
                      const struct displacement *moved, struct sums *s)
{
    const struct basis basis = basis_of(noise->basis);
    const int count = basis.method == BASIS_LINES ? 2 * basis.lines : 1;
    struct narrow_point_terms narrow_terms;
    struct broad_point_terms broad_terms;
    narrow_terms.count = broad_terms.count = count;
    place_terms(noise, x, y, moved, &narrow_terms, &broad_terms);
    broad_sum_place(noise, 0, noise->broad, &broad_terms, s->broad, s->broad_weight);
    round_weights(s, 1);
    narrow_sum_place(noise, noise->broad, noise->octaves, &narrow_terms, s->narrow,
                     s->narrow_weight);
}

static void noise_few(const struct noise *noise, const struct curve *curve,
                      const struct chunk *chunk, const struct rows *move, double units, float *out)
{
    const int n = chunk->width * chunk->height;
    struct few_samples few;
    struct displacement d[2];
    struct sums sums;

    take_samples(chunk, &few);
    for (int axis = 0; axis < 2; axis++)
        if (move)
            move_few(move[axis].at, units, n, few.count, &d[axis]);
        else if (noise->warp != 0)
            displace_few(noise, axis, &few, &sums, &d[axis]);
    few.moved = move || noise->warp != 0 ? d : NULL;
    begin_sums(&sums, few.count);
    if (KERNEL_PLACES && n == 1)
        sum_place(noise, chunk->x.first, chunk->y.first, few.moved, &sums);
    else
        sum_few(noise, &few, &sums);
    finish(noise, noise->broad, curve, &sums, 0, few.count, out);
}

static float noise_point(const struct noise *noise, const struct curve *curve, int64_t x, int64_t y)
{
    KERNEL_ALIGNED float metres[KERNEL_LANES];
    if (KERNEL_PLACES && noise->warp == 0) {
        struct sums sums;
        begin_sums(&sums, KERNEL_LANES);
        sum_place(noise, x, y, NULL, &sums);
        finish(noise, noise->broad, curve, &sums, 0, KERNEL_LANES, metres);
    } else {
        const struct chunk here = {{x, 1, NULL}, {y, 1, NULL}, 1, 1};
        noise_few(noise, curve, &here, NULL, 0, metres);
    }
    return metres[0];
}

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
