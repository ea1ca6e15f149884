/*
 * The kernel, compiled once for each instruction set: include it after
 * vectors.h (which wants LANES and BLOCK), narrow_ and broad_multiply_add, lookup_lanes (below
 * LANES) and lookup_32 (below 32), and after defining KERNEL (the table's name), KERNEL_NAME and
 * KERNEL_SUPPORTED.
 *
 * A grid is axis-aligned, so a cell's index, the fraction and the fade belong to
 * a column or to a row alone. With u = fade(f), a corner's gradient (gx, gy)
 * counts for (q p' gx + p q' gy), where along an axis q is 1 - u or u, p is
 * q f or q (f - 1), and those of the other axis are q' and p'. So each lattice
 * row is interpolated along x first, at every sample:
 *
 *     along = p0 gx0 + p1 gx1     across = q0 gy0 + q1 gy1
 *
 * and a sample between lattice rows 0 and 1 is
 *
 *     n = q0' along0 + q1' along1 + p0' across0 + p1' across1,
 *
 * four multiply-adds with the row's constants: no hash, no gather, no fade, and
 * no care for where cells begin. Lines are made once a lattice row.
 *
 * Where this does not hold, for simplex noise and for warped places, each sample
 * is a point with an index of its own: the same operations in the same order.
 *
 * The order of operations is part of the generator. Sums of octaves (fbm) go
 * from the finest to the coarsest, so that rounding errors stay as small as what
 * is summed; other fractals from the coarsest on, whose weights go that way.
 * Narrow octaves are in float, broad ones in double (see OCTAVE_NARROW_MAX).
 */
#include <math.h>

#include "formulas.h"
#include "kernel.h"
#include "noise/lattice.h"
#include "scratch.h"

static inline int whole_steps(int n)
{
    return (n + STEP - 1) / STEP * STEP;
}

/* The pieces of the elevation curve that N noise values lie on: found by halving where a lookup
 * is one instruction, else counted. */
static inline void find_pieces(const struct elevation *e, const float *value, int n, float *from,
                               float *base, float *slope, float *slope_rest)
{
    for (int i = 0; i < n; i += LANES) {
        const vf v = narrow_load(value + i);
        vu piece = {0};
        if (LANES == 16)
            for (uint32_t bit = e->half; bit; bit >>= 1)
                piece |= bit & (vu)(v >= lookup_32(e->from, piece | bit));
        else
            for (int k = 1; k < e->pieces; k++)
                piece -= (vu)(v >= narrow_splat(e->from[k]));
        narrow_store(from + i, lookup_32(e->from, piece));
        narrow_store(base + i, lookup_32(e->base, piece));
        narrow_store(slope + i, lookup_32(e->slope, piece));
        narrow_store(slope_rest + i, lookup_32(e->slope_rest, piece));
    }
}

/* Whether every sample has lattice corners of its own. */
static inline bool is_scattered(const struct farlands_terrain *terrain)
{
    return terrain->basis == FARLANDS_SIMPLEX || terrain->warp != 0;
}

/* Whether noise is made of lines, each times a constant of the row. */
static inline bool has_lines(const struct farlands_terrain *terrain)
{
    return !is_scattered(terrain) && terrain->basis != FARLANDS_CELLULAR;
}

#include "lattice_template.h"

#define REAL float
#define EXPAND_IN_REGISTERS 1
#define FMA fmaf
#define ROOT sqrtf
#define ABS fabsf
#define SCRATCH narrow_scratch
#define MEMBER narrow
#define NAME(x) narrow_##x
#include "octave_template.h"

#define REAL double
#define EXPAND_IN_REGISTERS 0
#define FMA fma
#define ROOT sqrt
#define ABS fabs
#define SCRATCH broad_scratch
#define MEMBER broad
#define NAME(x) broad_##x
#include "octave_template.h"

static void begin_join(struct sums *s, int n)
{
    narrow_fill(s->narrow, 0, n);
    broad_fill(s->broad, 0, n);
    broad_fill(s->broad_weight, 1, n);
}

/* The coarse octaves' weights, for the fine ones. */
static void hand_over_weights(struct sums *s, int n)
{
    for (int i = 0; i < n; i++)
        s->narrow_weight[i] = (float)s->broad_weight[i];
}

/* Sums to metres. BIAS is of the sum. */
static void finish(const struct farlands_terrain *terrain, struct sums *s, double bias, int n,
                   float *metres)
{
    const double scale = fractal_scale(terrain), shift = fractal_shift(terrain) + bias;
    if (terrain->broad == 0) {
        narrow_elevate(&terrain->elevation, (float)scale, (float)shift, s->narrow, n, metres);
        return;
    }
    for (int i = 0; i < n; i++)
        s->broad[i] += (double)s->narrow[i];
    broad_elevate(&terrain->elevation, scale, shift, s->broad, n, metres);
}

/* --- Grids ------------------------------------------------------------------------------- */

/* The warp's noise along x or y on row J + R. */
static void displace_row(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         int axis, int j, int r, int n)
{
    struct sums *s = &scratch->sums[r];
    struct displacement *d = &scratch->displacement[r][axis];
    if (terrain->warp_octave[axis].wavelength > OCTAVE_NARROW_MAX) {
        broad_octave_row(terrain, FARLANDS_PERLIN, &scratch->warp[axis].broad, &scratch->line,
                         j + r, n, s->broad);
        broad_displace(terrain, s->broad, n, d);
    } else {
        narrow_octave_row(terrain, FARLANDS_PERLIN, &scratch->warp[axis].narrow, &scratch->line,
                          j + r, n, s->narrow);
        narrow_displace(terrain, s->narrow, n, d);
    }
}

/* The sums of ROWS rows from J on, no more than a band. */
static void sum_rows(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     int j, int rows, int n)
{
    const int octaves = terrain->octaves, broad = terrain->broad;
    for (int r = 0; terrain->warp != 0 && r < rows; r++) {
        displace_row(terrain, scratch, AXIS_X, j, r, n);
        displace_row(terrain, scratch, AXIS_Y, j, r, n);
    }
    if (fractal_is_sum(terrain) && has_lines(terrain)) {
        narrow_sum_lines(terrain, scratch, broad, octaves, j, rows, n);
        if (broad)
            broad_sum_lines(terrain, scratch, 0, broad, j, rows, n);
        return;
    }
    if (fractal_is_sum(terrain)) {
        narrow_sum_octaves(terrain, scratch, broad, octaves, j, rows, n);
        if (broad)
            broad_sum_octaves(terrain, scratch, 0, broad, j, rows, n);
        return;
    }
    for (int r = 0; r < rows; r++) {
        struct sums *s = &scratch->sums[r];
        begin_join(s, n);
        broad_join_octaves(terrain, scratch, 0, broad, j, r, n, s->broad, s->broad_weight);
        hand_over_weights(s, n);
        narrow_join_octaves(terrain, scratch, broad, octaves, j, r, n, s->narrow, s->narrow_weight);
    }
}

/* Float or double, as the octave's cells want it. */
static void set_octave(union octave_scratch *s, const struct octave *octave, double amplitude)
{
    if (octave->wavelength > OCTAVE_NARROW_MAX) {
        s->broad.octave = octave;
        s->broad.amplitude = amplitude;
    } else {
        s->narrow.octave = octave;
        s->narrow.amplitude = (float)amplitude;
    }
}

static void begin_octave_columns(const struct farlands_terrain *terrain, enum farlands_basis basis,
                                 const struct octave *octave, union octave_scratch *s, int64_t x,
                                 int64_t step, int width)
{
    if (octave->wavelength > OCTAVE_NARROW_MAX)
        broad_begin_columns(terrain, basis, &s->broad, x, step, width);
    else
        narrow_begin_columns(terrain, basis, &s->narrow, x, step, width);
}

static void begin_octave_rows(const struct farlands_terrain *terrain, enum farlands_basis basis,
                              const struct octave *octave, union octave_scratch *s, int64_t y,
                              int64_t step, int height)
{
    if (octave->wavelength > OCTAVE_NARROW_MAX)
        broad_begin_rows(terrain, basis, &s->broad, y, step, height);
    else
        narrow_begin_rows(terrain, basis, &s->narrow, y, step, height);
}

static void begin_columns(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                          int64_t x, int64_t step, int width)
{
    for (int k = 0; k < terrain->octaves; k++)
        if (scratch->band_limit[k] != 0)
            begin_octave_columns(terrain, terrain->basis, &terrain->octave[k], &scratch->octave[k],
                                 x, step, width);
    for (int axis = 0; terrain->warp != 0 && axis < 2; axis++)
        begin_octave_columns(terrain, FARLANDS_PERLIN, &terrain->warp_octave[axis],
                             &scratch->warp[axis], x, step, width);
}

static void begin_rows(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int64_t y, int64_t step, int height)
{
    for (int k = 0; k < terrain->octaves; k++)
        if (scratch->band_limit[k] != 0)
            begin_octave_rows(terrain, terrain->basis, &terrain->octave[k], &scratch->octave[k], y,
                              step, height);
    for (int axis = 0; terrain->warp != 0 && axis < 2; axis++)
        begin_octave_rows(terrain, FARLANDS_PERLIN, &terrain->warp_octave[axis],
                          &scratch->warp[axis], y, step, height);
}

/* Each octave's weight in the grid, and what it is multiplied by. */
static void choose_octaves(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                           const struct farlands_grid *grid)
{
    scratch->bias = 0;
    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        const double limit = grid->band_limit ? octave_band_limit(octave, grid->step) : 1;
        const double share = octave->amplitude / terrain->amplitude;
        const double amplitude = fractal_is_sum(terrain) ? share * limit : 1;
        scratch->band_limit[k] = limit;
        scratch->bias += share * (1 - limit) * terrain->moments.mean;
        set_octave(&scratch->octave[k], octave, amplitude);
    }
    if (!fractal_is_sum(terrain))
        scratch->bias = 0;
    for (int axis = 0; axis < 2; axis++)
        set_octave(&scratch->warp[axis], &terrain->warp_octave[axis], 1);
}

/* Of the octaves that the grid sees. */
static int64_t finest_wavelength(const struct farlands_terrain *terrain,
                                 const struct farlands_scratch *scratch)
{
    int k = terrain->octaves - 1;
    while (k > 0 && scratch->band_limit[k] == 0)
        k--;
    return terrain->octave[k].wavelength;
}

static void heights_grid(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_grid *grid, float *out, size_t stride)
{
    const int chunks = (grid->width - 1) / CHUNK + 1;
    const int even = (grid->width - 1) / chunks + 1;

    choose_octaves(terrain, scratch, grid);
    const int band = band_rows(finest_wavelength(terrain, scratch), grid->step);
    for (int64_t i = 0; i < grid->width; i += even) {
        const int width = grid->width - i < even ? (int)(grid->width - i) : even;
        const int n = whole_steps(width);
        begin_columns(terrain, scratch, grid->x + i * grid->step, grid->step, n);
        for (int64_t top = 0; top < grid->height; top += CHUNK) {
            const int height = grid->height - top < CHUNK ? (int)(grid->height - top) : CHUNK;
            begin_rows(terrain, scratch, grid->y + top * grid->step, grid->step,
                       whole_steps(height));
            for (int j = 0, rows; j < height; j += rows) {
                rows = height - j < band ? height - j : band;
                sum_rows(terrain, scratch, j, rows, n);
                for (int r = 0; r < rows; r++) {
                    float *row = out + (size_t)(top + j + r) * stride + (size_t)i;
                    ALIGNED float metres[CHUNK];
                    finish(terrain, &scratch->sums[r], scratch->bias, n, n == width ? row : metres);
                    if (n > width)
                        memcpy(row, metres, (size_t)width * sizeof *metres);
                }
            }
        }
    }
}

/* --- One point ----------------------------------------------------------------------------- */

static float height_point(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    const int n = LANES; /* all the same place */
    struct displacement d[2];
    struct sums sums;
    ALIGNED float metres[LANES];

    for (int axis = 0; terrain->warp != 0 && axis < 2; axis++) {
        const struct octave *octave = &terrain->warp_octave[axis];
        if (octave->wavelength > OCTAVE_NARROW_MAX) {
            broad_fill(sums.broad, 0, n);
            broad_add_place(terrain, FARLANDS_PERLIN, octave, 1, x, y, NULL, n, sums.broad);
            broad_displace(terrain, sums.broad, n, &d[axis]);
        } else {
            narrow_fill(sums.narrow, 0, n);
            narrow_add_place(terrain, FARLANDS_PERLIN, octave, 1, x, y, NULL, n, sums.narrow);
            narrow_displace(terrain, sums.narrow, n, &d[axis]);
        }
    }
    const struct displacement *moved = terrain->warp != 0 ? d : NULL;
    begin_join(&sums, n);
    if (fractal_is_sum(terrain)) {
        narrow_sum_place(terrain, terrain->broad, terrain->octaves, x, y, moved, n, sums.narrow);
        broad_sum_place(terrain, 0, terrain->broad, x, y, moved, n, sums.broad);
    } else {
        broad_join_place(terrain, 0, terrain->broad, x, y, moved, n, sums.broad, sums.broad_weight);
        hand_over_weights(&sums, n);
        narrow_join_place(terrain, terrain->broad, terrain->octaves, x, y, moved, n, sums.narrow,
                          sums.narrow_weight);
    }
    finish(terrain, &sums, 0, n, metres);
    return metres[0];
}

#include "volume_template.h"

#include "density_template.h"

static bool supported(void)
{
    return KERNEL_SUPPORTED;
}

extern const struct kernel KERNEL;
const struct kernel KERNEL = {KERNEL_NAME, supported, heights_grid, height_point, volume, density};
