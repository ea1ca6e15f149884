/*
 * Octaves over a chunk and at a point, and from their sum to heights: once for narrow octaves, once
 * for broad ones. Included by kernel_template.h.
 *
 * Parameters, required:
 *   REAL_IS_FLOAT                see real_begin.h; undefined at the end
 *   KERNEL_LANES, KERNEL_BLOCK   see kernel_template.h
 */
#if !defined KERNEL_LANES || !defined KERNEL_BLOCK
#error "octave_template.h: include kernel_template.h instead"
#endif
#include "real_begin.h"

static inline void REAL_NAME(fill)(REAL *restrict row, REAL value, int n)
{
    for (int i = 0; i < n; i++)
        row[i] = value;
}

/* Cellular noise, from the squared distance to the nearest point. */
static inline REAL REAL_NAME(cellular)(REAL squared)
{
    return 2 * REAL_SQRT(squared < 1 ? squared : 1) - 1;
}

#include "lines_template.h"
KERNEL_SMALL
#include "points_template.h"
#include "space_template.h"
KERNEL_FAST

/* --- Over a chunk: octaves FIRST to LAST - 1 --- */

/* Add octave K to row J + R in the chunk, sample by sample. R counts rows within the band. */
static KERNEL_FLAT void REAL_NAME(add_scattered)(const struct noise_run *run, int k, int j, int r,
                                                 REAL *restrict sum)
{
    struct REAL_NAME(octave) *s = &run->octave[k].REAL_MEMBER;
    const bool moved = run->noise->warp != 0 || run->moved;
    const struct displacement *d = run->work->displacement[r];
    const int n = run->n;
    struct point_room room[2];
    for (int i = 0; i < n; i += KERNEL_POINTS) {
        const int count = n - i < KERNEL_POINTS ? n - i : KERNEL_POINTS;
        struct points x = points_of(&s->columns, i);
        struct points y = points_repeat(&s->rows, j + r, count, &room[AXIS_Y]);
        if (moved) {
            x = points_moved(&s->source, x, &d[AXIS_X], i, count, &room[AXIS_X]);
            y = points_moved(&s->source, y, &d[AXIS_Y], i, count, &room[AXIS_Y]);
        }
        REAL_NAME(add_points)
        (&s->source, &s->table[i / KERNEL_POINTS], s->amplitude, &x, &y, count, sum + i);
    }
}

/* The sum, finest octave first, on ROWS rows from J on, at most a band. For BASIS_LINES. */
static void REAL_NAME(sum_lines)(struct noise_run *run, int first, int last, int j, int rows)
{
    struct REAL_NAME(set) *sets = run->work->sets.REAL_MEMBER;
    int count = 0, octaves = 0;

    for (int top = 0; top < rows; top += sets[count++].rows) {
        struct REAL_NAME(set) *set = &sets[count];
        set->rows = rows - top < KERNEL_SET_ROWS ? 1 : KERNEL_SET_ROWS;
        for (int r = 0; r < set->rows; r++)
            set->sum[r] = run->work->sums[top + r].REAL_MEMBER;
        octaves = 0;
        for (int k = last - 1; k >= first; k--) {
            struct REAL_NAME(octave) *s = &run->octave[k].REAL_MEMBER;
            if (run->band_limit[k] != 0)
                REAL_NAME(find_terms)(s, j + top, set->rows, &set->terms[octaves++]);
        }
    }
    const int lines = basis_of(run->noise->basis).lines;
    REAL_NAME(sum_sets)(sets, count, octaves, lines, run->n);
}

/* The same for other bases, and for warped terrains. */
static void REAL_NAME(sum_octaves)(struct noise_run *run, int first, int last, int j, int rows)
{
    const bool scattered = is_scattered(run);
    for (int r = 0; r < rows; r++) {
        REAL *sum = run->work->sums[r].REAL_MEMBER;
        REAL_NAME(fill)(sum, 0, run->n);
        for (int k = last - 1; k >= first; k--)
            if (run->band_limit[k] == 0)
                continue;
            else if (scattered)
                REAL_NAME(add_scattered)(run, k, j, r, sum);
            else
                REAL_NAME(add_row)(&run->octave[k].REAL_MEMBER, j + r, sum);
    }
}

/* Fractals that are more than a sum: the coarsest octave first, on row J + R. */
static void REAL_NAME(fractal_octaves)(struct noise_run *run, int first, int last, int j, int r,
                                       REAL *restrict sum, REAL *restrict weight)
{
    const struct noise *noise = run->noise;
    const bool scattered = is_scattered(run);
    const int n = run->n;
    KERNEL_ALIGNED REAL value[KERNEL_CHUNK];
    for (int k = first; k < last; k++) {
        const double limit = run->band_limit[k];
        if (limit == 0 || scattered)
            REAL_NAME(fill)(value, 0, n);
        if (limit != 0 && scattered)
            REAL_NAME(add_scattered)(run, k, j, r, value);
        else if (limit != 0)
            REAL_NAME(octave_row)(&run->octave[k].REAL_MEMBER, j + r, value);
        REAL_NAME(add_fractal)(noise, &noise->octave[k], limit, n, value, sum, weight);
    }
}

/* --- At few samples --- */

static KERNEL_FLAT void REAL_NAME(add_few)(const struct octave_source *source, REAL amplitude,
                                           const struct few_samples *few, REAL *restrict sum)
{
    struct point_room room[2];
    struct points x = points_among(source, AXIS_X, few, few->count, &room[AXIS_X]);
    struct points y = points_among(source, AXIS_Y, few, few->count, &room[AXIS_Y]);
    if (few->moved) {
        x = points_moved(source, x, &few->moved[AXIS_X], 0, few->count, &room[AXIS_X]);
        y = points_moved(source, y, &few->moved[AXIS_Y], 0, few->count, &room[AXIS_Y]);
    }
    REAL_NAME(add_points)(source, NULL, amplitude, &x, &y, few->count, sum);
}

static void REAL_NAME(sum_few)(const struct noise *noise, int first, int last,
                               const struct few_samples *few, REAL *restrict sum)
{
    for (int k = last - 1; k >= first; k--) {
        const struct octave_source source = {noise, &noise->octave[k], noise->basis, USE_VALUES, 0};
        REAL_NAME(add_few)(&source, (REAL)noise->share[k], few, sum);
    }
}

static void REAL_NAME(fractal_few)(const struct noise *noise, int first, int last,
                                   const struct few_samples *few, REAL *restrict sum,
                                   REAL *restrict weight)
{
    for (int k = first; k < last; k++) {
        const struct octave_source source = {noise, &noise->octave[k], noise->basis, USE_VALUES, 0};
        KERNEL_ALIGNED REAL value[KERNEL_POINTS];
        REAL_NAME(fill)(value, 0, few->count);
        REAL_NAME(add_few)(&source, 1, few, value);
        REAL_NAME(add_fractal)(noise, source.octave, 1, few->count, value, sum, weight);
    }
}

/* --- At a single place, in whose lattices each octave is a point --- */

/* Add octave I's terms. */
static inline REAL REAL_NAME(add_octave)(const struct REAL_NAME(point_terms) * t, int i, REAL sum)
{
    for (int k = 0; k < 4 && k < t->count; k++)
        sum = REAL_FMA(t->weight[k][i], t->line[k][i], sum);
    return sum;
}

/* Octaves FIRST to LAST - 1 from their terms. */
static void REAL_NAME(sum_place)(const struct noise *noise, int first, int last,
                                 const struct REAL_NAME(point_terms) * t, REAL *sum, REAL *weight)
{
    if (fractal_is_sum(noise)) {
        for (int k = last - 1; k >= first; k--)
            *sum = REAL_NAME(add_octave)(t, k, *sum);
        return;
    }
    for (int k = first; k < last; k++) {
        const REAL value = REAL_NAME(add_octave)(t, k, 0);
        REAL_NAME(add_fractal)(noise, &noise->octave[k], 1, 1, &value, sum, weight);
    }
}

/* --- Curves --- */

/* A linear curve at SCALE * sum + SHIFT, for N sums. */
static void REAL_NAME(bend)(const struct curve *e, REAL scale, REAL shift, const REAL *restrict sum,
                            int n, float *restrict metres)
{
    KERNEL_ALIGNED REAL noise[KERNEL_CHUNK];
    KERNEL_ALIGNED float value[KERNEL_CHUNK], from[KERNEL_CHUNK], base[KERNEL_CHUNK];
    KERNEL_ALIGNED float slope[KERNEL_CHUNK], rest[KERNEL_CHUNK];
    const REAL min = e->first, max = e->last;
    const float lowest = e->lowest, highest = e->highest;

    if (e->pieces == 1) {
        const REAL first = (REAL)e->base[0], s = (REAL)e->slope[0] + (REAL)e->slope_rest[0];
        for (int i = 0; i < n; i++) {
            const REAL v = REAL_FMA(scale, sum[i], shift) - min;
            metres[i] = narrow_clamp((float)REAL_FMA(v, s, first), lowest, highest);
        }
        return;
    }
    value[0] = 0; /* gcc thinks that N may be 0 */
    for (int i = 0; i < n; i++) {
        noise[i] = REAL_NAME(clamp)(REAL_FMA(scale, sum[i], shift), min, max);
        value[i] = (float)noise[i];
    }
    find_pieces(e, value, n, from, base, slope, rest);
    for (int i = 0; i < n; i++) {
        const REAL s = (REAL)slope[i] + (REAL)rest[i];
        const float m = (float)REAL_FMA(noise[i] - (REAL)from[i], s, (REAL)base[i]);
        metres[i] = narrow_clamp(m, lowest, highest);
    }
}

#include "real_end.h"
