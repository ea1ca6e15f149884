/*
 * Octaves over a grid and at a point, and from their sum to heights. Part of
 * kernel_template.h, which includes it once for narrow cells (REAL float) and
 * once for broad ones (REAL double); NAME(x) tells the two apart.
 */


/* Written as the minimum and maximum that processors have. */
static inline REAL NAME(clamp)(REAL x, REAL min, REAL max)
{
    x = x > min ? x : min;
    return x < max ? x : max;
}

static inline void NAME(fill)(REAL *restrict row, REAL value, int n)
{
    for (int i = 0; i < n; i++)
        row[i] = value;
}

static inline REAL NAME(cellular)(REAL squared)
{
    return 2 * ROOT(squared < 1 ? squared : 1) - 1;
}

#include "lines_template.h"
#include "points_template.h"
#include "space_template.h"

/* Add octave K to row J + R of the chunk, whose every sample has corners of its own. */
static void NAME(scattered_row)(const struct farlands_terrain *terrain,
                                const struct farlands_scratch *scratch, int k, int j, int r, int n,
                                REAL *restrict sum)
{
    const struct SCRATCH *s = &scratch->octave[k].MEMBER;
    const struct displacement *d = terrain->warp != 0 ? scratch->displacement[r] : NULL;
    struct point_room room[2];
    for (int i = 0; i < n; i += POINTS) {
        const int count = n - i < POINTS ? n - i : POINTS;
        struct points x = points_of(&s->columns, i);
        struct points y = points_repeat(&s->rows, j + r, count, &room[AXIS_Y]);
        if (d) {
            x = points_moved(terrain, s->octave, x, &d[AXIS_X], i, count, &room[AXIS_X]);
            y = points_moved(terrain, s->octave, y, &d[AXIS_Y], i, count, &room[AXIS_Y]);
        }
        NAME(add_points)(terrain, terrain->basis, s->octave, s->amplitude, &x, &y, count, sum + i);
    }
}

/* The sum of octaves FIRST to LAST - 1, the finest first, on ROWS rows from J on. */
static void NAME(sum_lines)(const struct farlands_terrain *terrain,
                            struct farlands_scratch *scratch, int first, int last, int j, int rows,
                            int n)
{
    struct NAME(set) *sets = scratch->sets.MEMBER;
    int count = 0, octaves = 0;

    for (int top = 0; top < rows; top += sets[count++].rows) {
        struct NAME(set) *set = &sets[count];
        set->rows = rows - top < ROWS ? 1 : ROWS;
        for (int r = 0; r < set->rows; r++)
            set->sum[r] = scratch->sums[top + r].MEMBER;
        octaves = 0;
        for (int k = last - 1; k >= first; k--)
            if (scratch->band_limit[k] != 0)
                NAME(find_terms)
        (terrain, terrain->basis, &scratch->octave[k].MEMBER, &scratch->line, j + top, set->rows, n,
         &set->terms[octaves++]);
    }
    NAME(sum_sets)(sets, count, octaves, terrain->basis, n);
}

/* The same for noise that is not made of lines. */
static void NAME(sum_octaves)(const struct farlands_terrain *terrain,
                              struct farlands_scratch *scratch, int first, int last, int j,
                              int rows, int n)
{
    for (int r = 0; r < rows; r++) {
        REAL *sum = scratch->sums[r].MEMBER;
        NAME(fill)(sum, 0, n);
        for (int k = last - 1; k >= first; k--)
            if (scratch->band_limit[k] == 0)
                continue;
            else if (is_scattered(terrain))
                NAME(scattered_row)(terrain, scratch, k, j, r, n, sum);
            else
                NAME(cellular_row)
        (terrain, &scratch->octave[k].MEMBER, &scratch->line, j + r, n, sum);
    }
}

/* Join octaves FIRST to LAST - 1, the coarsest first, on row J + R. */
static void NAME(join_octaves)(const struct farlands_terrain *terrain,
                               struct farlands_scratch *scratch, int first, int last, int j, int r,
                               int n, REAL *restrict sum, REAL *restrict weight)
{
    ALIGNED REAL noise[CHUNK];
    for (int k = first; k < last; k++) {
        if (scratch->band_limit[k] == 0 || is_scattered(terrain))
            NAME(fill)(noise, 0, n);
        if (scratch->band_limit[k] != 0 && is_scattered(terrain))
            NAME(scattered_row)(terrain, scratch, k, j, r, n, noise);
        else if (scratch->band_limit[k] != 0)
            NAME(octave_row)
        (terrain, terrain->basis, &scratch->octave[k].MEMBER, &scratch->line, j + r, n, noise);
        NAME(add_fractal)(terrain, &terrain->octave[k], scratch->band_limit[k], n, noise, sum, weight);
    }
}

/* Add one octave at one place, N times. */
static void NAME(add_place)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                            const struct octave *octave, REAL amplitude, int64_t x, int64_t y,
                            const struct displacement *d, int n, REAL *restrict sum)
{
    struct point_room room[2];
    struct points px = points_at(basis, octave, AXIS_X, x, n, &room[AXIS_X]);
    struct points py = points_at(basis, octave, AXIS_Y, y, n, &room[AXIS_Y]);
    if (d) {
        px = points_moved(terrain, octave, px, &d[AXIS_X], 0, n, &room[AXIS_X]);
        py = points_moved(terrain, octave, py, &d[AXIS_Y], 0, n, &room[AXIS_Y]);
    }
    NAME(add_points)(terrain, basis, octave, amplitude, &px, &py, n, sum);
}

static void NAME(sum_place)(const struct farlands_terrain *terrain, int first, int last, int64_t x,
                            int64_t y, const struct displacement *d, int n, REAL *restrict sum)
{
    for (int k = last - 1; k >= first; k--) {
        const struct octave *octave = &terrain->octave[k];
        const REAL share = (REAL)(octave->amplitude / terrain->amplitude);
        NAME(add_place)(terrain, terrain->basis, octave, share, x, y, d, n, sum);
    }
}

static void NAME(join_place)(const struct farlands_terrain *terrain, int first, int last, int64_t x,
                             int64_t y, const struct displacement *d, int n, REAL *restrict sum,
                             REAL *restrict weight)
{
    for (int k = first; k < last; k++) {
        ALIGNED REAL noise[LANES] = {0};
        NAME(add_place)(terrain, terrain->basis, &terrain->octave[k], 1, x, y, d, n, noise);
        NAME(add_fractal)(terrain, &terrain->octave[k], 1, n, noise, sum, weight);
    }
}

/* N sums to metres: the noise is SCALE * sum + SHIFT. */
static void NAME(elevate)(const struct elevation *e, REAL scale, REAL shift,
                          const REAL *restrict sum, int n, float *restrict metres)
{
    ALIGNED REAL noise[CHUNK];
    ALIGNED float value[CHUNK], from[CHUNK], base[CHUNK], slope[CHUNK], rest[CHUNK];
    const REAL min = e->noise_min, max = e->noise_max;
    const float lowest = e->metres_min, highest = e->metres_max;

    if (e->pieces == 1) {
        const REAL first = (REAL)e->base[0], s = (REAL)e->slope[0] + (REAL)e->slope_rest[0];
        for (int i = 0; i < n; i++) {
            const REAL v = FMA(scale, sum[i], shift) - min;
            metres[i] = narrow_clamp((float)FMA(v, s, first), lowest, highest);
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        noise[i] = NAME(clamp)(FMA(scale, sum[i], shift), min, max);
        value[i] = (float)noise[i];
    }
    find_pieces(e, value, n, from, base, slope, rest);
    for (int i = 0; i < n; i++) {
        const REAL s = (REAL)slope[i] + (REAL)rest[i];
        const float m = (float)FMA(noise[i] - (REAL)from[i], s, (REAL)base[i]);
        metres[i] = narrow_clamp(m, lowest, highest);
    }
}

#undef REAL
#undef EXPAND_IN_REGISTERS
#undef FMA
#undef ROOT
#undef ABS
#undef SCRATCH
#undef MEMBER
#undef NAME
