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
 * multiply-adds. The order of operations is part of the generator: all b in
 * octave order, then for each octave d, e and a. Grid and point share it.
 */
#include <math.h>

#include "kernel.h"
#include "lattice.h"
#include "scratch.h"

static inline float fade(enum farlands_fade kind, float t)
{
    switch (kind) {
    case FARLANDS_LINEAR:
        return t;
    case FARLANDS_CUBIC:
        return t * t * (3 - 2 * t);
    case FARLANDS_QUINTIC: /* Perlin, "Improving Noise" (2002) */
        break;
    }
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static inline float fraction(struct lattice_place place, const struct octave *octave)
{
    return (float)((double)place.rest * octave->inverse);
}

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

static inline float lerp(float t, float a, float b)
{
    return fmaf(t, b - a, a);
}

/* The elevation curve. A chain of selections instead of a search, for vectors. */
static inline float elevation(const struct farlands_terrain *terrain, float noise)
{
    float n = noise < terrain->noise_min   ? terrain->noise_min
              : noise > terrain->noise_max ? terrain->noise_max
                                           : noise;
    struct piece piece = terrain->piece[0];
    for (int i = 1; i < terrain->pieces; i++) {
        bool beyond = n >= terrain->piece[i].from;
        piece.from = beyond ? terrain->piece[i].from : piece.from;
        piece.slope = beyond ? terrain->piece[i].slope : piece.slope;
        piece.base = beyond ? terrain->piece[i].base : piece.base;
    }
    float metres = fmaf(n - piece.from, piece.slope, piece.base);
    metres = metres < terrain->metres_min ? terrain->metres_min : metres;
    return metres > terrain->metres_max ? terrain->metres_max : metres;
}

/* Everything about an octave that the chunk's columns decide; the first is at X units. */
static void begin_columns(const struct farlands_terrain *terrain, struct octave_scratch *s,
                          int64_t x, int64_t step, int width)
{
    const struct octave *octave = s->octave;
    const struct lattice_place stride = lattice_place(step, octave->wavelength);
    struct lattice_place place = lattice_place(x + octave->shift_x, octave->wavelength);
    const bool shared = step <= octave->wavelength;
    int64_t first = place.cell;

    s->stride = shared ? 1 : 2;
    for (int i = 0; i < width; i++) {
        s->f[i] = fraction(place, octave);
        if (shared) {
            s->cell[i] = (int32_t)(place.cell - first);
            if (i == 0 || s->cell[i] != s->cell[i - 1])
                s->begin[s->cell[i]] = i;
        } else {
            s->cell[i] = s->begin[i] = i;
            s->hash[2 * i] = column_hash(terrain, octave, place.cell);
            s->hash[2 * i + 1] = column_hash(terrain, octave, place.cell + 1);
        }
        lattice_advance(&place, stride, octave->wavelength);
    }
    for (int i = 0; i < width; i++) {
        s->u[i] = fade(terrain->fade, s->f[i]);
        s->fu[i] = s->f[i] * s->u[i];
    }
    s->cells = s->cell[width - 1] + 1;
    s->begin[s->cells] = width;
    s->columns = shared ? s->cells + 1 : 2 * width;
    if (shared)
        for (int c = 0; c < s->columns; c++)
            s->hash[c] = column_hash(terrain, octave, first + c);
    s->row_known = false;
}

static void lattice_row(const struct farlands_terrain *terrain, const struct octave_scratch *s,
                        int64_t y, float *restrict gx, float *restrict gy)
{
    const uint64_t row = row_hash(terrain, s->octave, y);
    for (int c = 0; c < s->columns; c++) {
        uint32_t h = corner(terrain, s->hash[c], row);
        gx[c] = s->amplitude * terrain->gradients.x[h];
        gy[c] = s->amplitude * terrain->gradients.y[h];
    }
}

/* Fold the row at Y units into the cells' four coefficients. */
static void begin_row(const struct farlands_terrain *terrain, struct octave_scratch *s, int64_t y)
{
    const struct octave *octave = s->octave;
    const struct lattice_place place = lattice_place(y + octave->shift_y, octave->wavelength);
    const float fy = fraction(place, octave), v = fade(terrain->fade, fy);

    if (!s->row_known || s->row != place.cell) {
        lattice_row(terrain, s, place.cell, s->above_x, s->above_y);
        lattice_row(terrain, s, place.cell + 1, s->below_x, s->below_y);
        s->row = place.cell;
        s->row_known = true;
    }
    for (int c = 0; c < s->columns; c++) {
        s->a[c] = lerp(v, s->above_x[c], s->below_x[c]);
        s->b[c] = lerp(v, s->above_y[c] * fy, s->below_y[c] * (fy - 1));
    }
    for (int c = 0; c < s->cells; c++) {
        const float *a = s->a + c * s->stride, *b = s->b + c * s->stride;
        s->cell_a[c] = a[0];
        s->cell_b[c] = b[0];
        s->cell_d[c] = a[1] - a[0];
        s->cell_e[c] = (b[1] - a[1]) - b[0];
    }
}

/* Cells of this many samples or more are worked on cell by cell, finer ones by lookup. */
enum { WIDE_CELL = 12 };

static inline bool wide(const struct octave_scratch *s, int width)
{
    return s->cells * WIDE_CELL <= width;
}

static inline void add_b(const struct octave_scratch *s, int width, float *restrict sum)
{
    if (wide(s, width)) {
        for (int c = 0; c < s->cells; c++) {
            const float b = s->cell_b[c];
            const int end = s->begin[c + 1];
            for (int i = s->begin[c]; i < end; i++)
                sum[i] += b;
        }
    } else {
        for (int i = 0; i < width; i++)
            sum[i] += s->cell_b[s->cell[i]];
    }
}

static inline void add_dea(const struct octave_scratch *s, int width, float *restrict sum)
{
    const float *restrict f = s->f, *restrict u = s->u, *restrict fu = s->fu;

    if (wide(s, width)) {
        for (int c = 0; c < s->cells; c++) {
            const float a = s->cell_a[c], d = s->cell_d[c], e = s->cell_e[c];
            const int end = s->begin[c + 1];
            for (int i = s->begin[c]; i < end; i++)
                sum[i] = fmaf(a, f[i], fmaf(e, u[i], fmaf(d, fu[i], sum[i])));
        }
    } else {
        for (int i = 0; i < width; i++) {
            const int c = s->cell[i];
            sum[i] = fmaf(s->cell_a[c], f[i],
                          fmaf(s->cell_e[c], u[i], fmaf(s->cell_d[c], fu[i], sum[i])));
        }
    }
}

static void grid_chunk(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int64_t x, const struct farlands_grid *grid, int width, float *out,
                       size_t stride)
{
    ALIGNED float sum[CHUNK]; /* not in scratch: the compiler must see that nothing aliases it */

    for (int k = 0; k < scratch->octaves; k++)
        begin_columns(terrain, &scratch->octave[k], x, grid->step, width);
    for (int j = 0; j < grid->height; j++, out += stride) {
        for (int i = 0; i < width; i++)
            sum[i] = 0;
        for (int k = 0; k < scratch->octaves; k++) {
            begin_row(terrain, &scratch->octave[k], grid->y + j * grid->step);
            add_b(&scratch->octave[k], width, sum);
        }
        for (int k = 0; k < scratch->octaves; k++)
            add_dea(&scratch->octave[k], width, sum);
        for (int i = 0; i < width; i++)
            out[i] = elevation(terrain, sum[i]);
    }
}

static void heights_grid(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                         const struct farlands_grid *grid, float *out, size_t stride)
{
    scratch->octaves = 0;
    for (int k = 0; k < terrain->octaves; k++) {
        const struct octave *octave = &terrain->octave[k];
        double weight = grid->band_limit ? terrain_band_limit(octave, grid->step) : 1;
        if (weight == 0)
            continue;
        struct octave_scratch *s = &scratch->octave[scratch->octaves++];
        s->octave = octave;
        s->amplitude = (float)(octave->amplitude * weight);
    }
    const int chunks = (grid->width + CHUNK - 1) / CHUNK;
    const int even = (grid->width + chunks - 1) / chunks;
    for (int i = 0; i < grid->width; i += even) {
        int width = grid->width - i < even ? grid->width - i : even;
        grid_chunk(terrain, scratch, grid->x + i * grid->step, grid, width, out + i, stride);
    }
}

/* One octave's corners at a place, folded as in begin_row. */
static float point_octave(const struct farlands_terrain *terrain, const struct octave *octave,
                          int64_t x, int64_t y, float dea[6])
{
    const struct lattice_place px = lattice_place(x + octave->shift_x, octave->wavelength);
    const struct lattice_place py = lattice_place(y + octave->shift_y, octave->wavelength);
    const uint64_t above = row_hash(terrain, octave, py.cell);
    const uint64_t below = row_hash(terrain, octave, py.cell + 1);
    const float fy = fraction(py, octave), v = fade(terrain->fade, fy);
    const float amplitude = (float)octave->amplitude;
    float a[2], b[2];

    for (int c = 0; c < 2; c++) {
        const uint64_t column = column_hash(terrain, octave, px.cell + c);
        const uint32_t g0 = corner(terrain, column, above), g1 = corner(terrain, column, below);
        a[c] = lerp(v, amplitude * terrain->gradients.x[g0], amplitude * terrain->gradients.x[g1]);
        b[c] = lerp(v, amplitude * terrain->gradients.y[g0] * fy,
                    amplitude * terrain->gradients.y[g1] * (fy - 1));
    }
    const float f = fraction(px, octave), u = fade(terrain->fade, f);
    dea[0] = a[1] - a[0], dea[1] = f * u;
    dea[2] = (b[1] - a[1]) - b[0], dea[3] = u;
    dea[4] = a[0], dea[5] = f;
    return b[0];
}

static float height_point(const struct farlands_terrain *terrain, int64_t x, int64_t y)
{
    float dea[FARLANDS_MAX_OCTAVES][6], sum = 0;

    for (int k = 0; k < terrain->octaves; k++)
        sum += point_octave(terrain, &terrain->octave[k], x, y, dea[k]);
    for (int k = 0; k < terrain->octaves; k++)
        for (int i = 0; i < 6; i += 2)
            sum = fmaf(dea[k][i], dea[k][i + 1], sum);
    return elevation(terrain, sum);
}

static bool supported(void)
{
    return KERNEL_SUPPORTED;
}

extern const struct kernel KERNEL;
const struct kernel KERNEL = {KERNEL_NAME, supported, heights_grid, height_point};
