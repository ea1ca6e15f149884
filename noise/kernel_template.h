/*
 * The kernel, compiled once for each instruction set: include it after
 * defining KERNEL (the table's name), KERNEL_NAME and KERNEL_SUPPORTED.
 *
 * A grid is axis-aligned, so a cell's index, the fraction and the fade belong
 * to a column or to a row alone. The vertical interpolation is folded into the
 * corners first. With g the gradients (times the amplitude) at a lattice
 * column's two corners, fy the row's fraction and v = fade(fy):
 *
 *     a = lerp(v, g0x, g1x)    b = lerp(v, g0y * fy, g1y * (fy - 1))
 *
 * and a sample at fraction f of the cell between columns 0 and 1 is
 *
 *     l = a0 f + b0,  r = a1 (f - 1) + b1,  n = l + u (r - l),  u = fade(f)
 *       = b0 + a0 f + e u + d f u,  d = a1 - a0,  e = b1 - a1 - b0
 *
 * so that the inner loop has neither hash nor gather nor fade, only three
 * multiply-adds.
 *
 * A float's 24 bits tell the units of a cell apart only up to 2^24 of them.
 * Octaves with broader cells, the few coarsest, are computed in double: the
 * ground would show steps close by otherwise.
 *
 * The order of operations is part of the generator, shared by grid and point:
 * from the finest octave to the coarsest, so that rounding errors stay as small
 * as what is summed; for each octave d, e and a; the b's in a sum of their own;
 * narrow octaves first, then broad ones; at last all four sums.
 */
#include <math.h>

#include "kernel.h"
#include "lattice.h"
#include "scratch.h"

/* Cells of this many samples or more are worked on cell by cell, finer ones by lookup. */
enum { WIDE_CELL = 12 };

/* What a corner's column, and its row, bring to the choice of a gradient. */
static inline uint64_t column_hash(const struct farlands_terrain *terrain,
                                   const struct octave *octave, int64_t x)
{
    return terrain->hash == FARLANDS_MIX64 ? lattice_axis(x, octave->key_x) : (uint64_t)x & 255;
}

static inline uint64_t row_hash(const struct farlands_terrain *terrain, const struct octave *octave,
                                int64_t y)
{
    return terrain->hash == FARLANDS_MIX64 ? lattice_axis(y, octave->key_y)
                                           : terrain->permutation[y & 255] + octave->salt;
}

static inline uint32_t corner(const struct farlands_terrain *terrain, uint64_t column, uint64_t row)
{
    return terrain->hash == FARLANDS_MIX64 ? lattice_corner(column, row)
                                           : terrain->permutation[(column + row) & 255];
}

/* Cells and lattice columns of samples that begin at PLACE and are STRIDE apart. */
static void begin_columns(const struct farlands_terrain *terrain, struct columns *columns,
                          struct lattice_place place, struct lattice_place stride, int width)
{
    const struct octave *octave = columns->octave;
    const int64_t first = place.cell;
    /* At most one cell on from sample to sample? */
    const bool shared = stride.cell == 0 || (stride.cell == 1 && stride.rest == 0);

    columns->stride = shared ? 1 : 2;
    for (int i = 0; i < width; i++) {
        int cell = shared ? (int)(place.cell - first) : i;
        if (i == 0 || cell != columns->cell[i - 1])
            columns->begin[cell] = i;
        columns->cell[i] = cell;
        if (!shared) {
            columns->hash[2 * i] = column_hash(terrain, octave, place.cell);
            columns->hash[2 * i + 1] = column_hash(terrain, octave, place.cell + 1);
        }
        lattice_advance(&place, stride, octave->wavelength);
    }
    columns->cells = columns->cell[width - 1] + 1;
    columns->begin[columns->cells] = width;
    columns->count = shared ? columns->cells + 1 : 2 * width;
    for (int c = 0; shared && c < columns->count; c++)
        columns->hash[c] = column_hash(terrain, octave, first + c);
    columns->row_known = false;
}

#define REAL float
#define FMA fmaf
#define SCRATCH narrow_scratch
#define NAME(x) narrow_##x
#include "octave_template.h"

#define REAL double
#define FMA fma
#define SCRATCH broad_scratch
#define NAME(x) broad_##x
#include "octave_template.h"

/* Keep VALUE within MIN .. MAX. */
#define CLAMP(value, min, max) ((value) < (min) ? (min) : (value) > (max) ? (max) : (value))

/* The elevation curve at N, on its piece P. */
static inline float elevate(const struct farlands_terrain *terrain, double n, int p)
{
    const struct piece *piece = &terrain->piece[p];
    const float metres = (float)fma(n - piece->from, piece->slope, piece->base);
    return CLAMP(metres, terrain->metres_min, terrain->metres_max);
}

/* Noise to metres. Each sample's piece is counted, not searched, for vectors. */
static inline void elevate_row(const struct farlands_terrain *terrain, const double *noise,
                               int width, float *out)
{
    ALIGNED double n[CHUNK];
    ALIGNED int32_t p[CHUNK];

    for (int i = 0; i < width; i++) {
        n[i] = CLAMP(noise[i], terrain->noise_min, terrain->noise_max);
        p[i] = 0;
    }
    for (int k = 1; k < terrain->pieces; k++) {
        const double from = terrain->piece[k].from;
        for (int i = 0; i < width; i++)
            p[i] += n[i] >= from ? 1 : 0;
    }
    for (int i = 0; i < width; i++)
        out[i] = elevate(terrain, n[i], p[i]);
}

static void grid_chunk(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int64_t x, const struct farlands_grid *grid, int width, float *out,
                       size_t stride)
{
    /* Not in scratch: the compiler must see that nothing aliases them. */
    ALIGNED float narrow[CHUNK], narrow_b[CHUNK];
    ALIGNED double broad[CHUNK], broad_b[CHUNK];

    for (int k = 0; k < scratch->octaves; k++)
        if (k < scratch->broad)
            broad_begin_chunk(terrain, &scratch->octave[k].broad, x, grid->step, width);
        else
            narrow_begin_chunk(terrain, &scratch->octave[k].narrow, x, grid->step, width);
    for (int j = 0; j < grid->height; j++, out += stride) {
        const int64_t y = grid->y + j * grid->step;
        for (int i = 0; i < width; i++) {
            narrow[i] = narrow_b[i] = 0;
            broad[i] = broad_b[i] = 0;
        }
        for (int k = scratch->octaves - 1; k >= scratch->broad; k--) {
            narrow_begin_row(terrain, &scratch->octave[k].narrow, y);
            narrow_add_row(&scratch->octave[k].narrow, width, narrow, narrow_b);
        }
        for (int k = scratch->broad - 1; k >= 0; k--) {
            broad_begin_row(terrain, &scratch->octave[k].broad, y);
            broad_add_row(&scratch->octave[k].broad, width, broad, broad_b);
        }
        for (int i = 0; i < width; i++)
            broad[i] = (double)(narrow[i] + narrow_b[i]) + (broad[i] + broad_b[i]);
        elevate_row(terrain, broad, width, out);
    }
}

static void heights_grid(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_grid *grid, float *out, size_t stride)
{
    scratch->octaves = scratch->broad = 0;
    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        double weight = grid->band_limit ? octave_band_limit(octave, grid->step) : 1;
        if (weight == 0)
            continue;
        bool broad = k < terrain->broad;
        struct columns *columns = broad ? &scratch->octave[scratch->octaves].broad.columns
                                        : &scratch->octave[scratch->octaves].narrow.columns;
        columns->octave = octave;
        columns->amplitude = octave->amplitude * weight;
        scratch->octaves++;
        scratch->broad += broad;
    }
    const int chunks = (grid->width - 1) / CHUNK + 1;
    const int even = (grid->width - 1) / chunks + 1;
    for (int64_t i = 0; i < grid->width; i += even) {
        int width = grid->width - i < even ? (int)(grid->width - i) : even;
        grid_chunk(terrain, scratch, grid->x + i * grid->step, grid, width, out + i, stride);
    }
}

static float height_point(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    float narrow = 0, narrow_b = 0;
    double broad = 0, broad_b = 0;

    for (int k = terrain->octaves - 1; k >= terrain->broad; k--)
        narrow_add_point(terrain, &terrain->octave[k], x, y, &narrow, &narrow_b);
    for (int k = terrain->broad - 1; k >= 0; k--)
        broad_add_point(terrain, &terrain->octave[k], x, y, &broad, &broad_b);
    const double noise = (double)(narrow + narrow_b) + (broad + broad_b);
    float metres;
    elevate_row(terrain, &noise, 1, &metres);
    return metres;
}

static bool supported(void)
{
    return KERNEL_SUPPORTED;
}

extern const struct kernel KERNEL;
const struct kernel KERNEL = {KERNEL_NAME, supported, heights_grid, height_point};
