/*
 * One octave over a grid, row by row, and at scattered points. Part of
 * kernel_template.h, which includes it once for narrow cells (REAL float) and
 * once for broad ones (REAL double); NAME(x) tells the two apart.
 */

#include "formulas_template.h"

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

/* weigh_point for N columns or rows. The fade is a constant where it is inlined. */
static inline __attribute__((always_inline)) void
NAME(weigh_by)(enum farlands_fade kind, const double *restrict f, int n, REAL amplitude,
               REAL (*restrict p)[CHUNK], REAL (*restrict q)[CHUNK])
{
    for (int i = 0; i < n; i++) {
        REAL along[2], across[2];
        NAME(weigh_point)(kind, f[i], amplitude, along, across);
        p[0][i] = along[0];
        p[1][i] = along[1];
        q[0][i] = across[0];
        q[1][i] = across[1];
    }
}

static void NAME(weigh)(enum farlands_fade kind, const double *f, int n, REAL amplitude,
                        REAL (*p)[CHUNK], REAL (*q)[CHUNK])
{
    switch (kind) {
    case FARLANDS_LINEAR:
        NAME(weigh_by)(FARLANDS_LINEAR, f, n, amplitude, p, q);
        break;
    case FARLANDS_CUBIC:
        NAME(weigh_by)(FARLANDS_CUBIC, f, n, amplitude, p, q);
        break;
    case FARLANDS_QUINTIC:
        NAME(weigh_by)(FARLANDS_QUINTIC, f, n, amplitude, p, q);
        break;
    }
}

static void NAME(begin_columns)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                                struct SCRATCH *s, int64_t x, int64_t step, int width)
{
    places_along(s->octave, AXIS_X, x, step, width, &s->columns);
    if (basis == FARLANDS_SIMPLEX) {
        skew_places(s->columns.cell, s->columns.f, width, s->columns.skew, s->columns.skew_f);
        return;
    }
    lattice_begin(terrain, basis, s->octave, &s->columns, step, width, &s->lattice);
    NAME(weigh)(terrain->fade, s->columns.f, width, 1, s->p_x, s->q_x);
    s->slots = (struct slots){.count = slot_count(basis, s->octave, step)};
}

static void NAME(begin_rows)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                             struct SCRATCH *s, int64_t y, int64_t step, int height)
{
    places_along(s->octave, AXIS_Y, y, step, height, &s->rows);
    if (basis == FARLANDS_SIMPLEX)
        skew_places(s->rows.cell, s->rows.f, height, s->rows.skew, s->rows.skew_f);
    NAME(weigh)(terrain->fade, s->rows.f, height, s->amplitude, s->weight + 2, s->weight);
}

/* The gradients of the lattice columns, or of each sample's two, interpolated along x. */
static void NAME(perlin_line)(const struct SCRATCH *s, struct line_work *w, int n,
                              REAL *restrict along, REAL *restrict across)
{
#if EXPAND_IN_REGISTERS
    if (s->lattice.dense) {
        expand_perlin(&s->lattice, w, s->p_x, s->q_x, n, along, across);
        return;
    }
#else
    for (int side = 0; s->lattice.dense && side < 2; side++) {
        expand(&s->lattice, w->x, side, n, w->side_x[side]);
        expand(&s->lattice, w->y, side, n, w->side_y[side]);
    }
#endif
    for (int i = 0; i < n; i++) {
        along[i] = FMA(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        across[i] = FMA(s->q_x[1][i], w->side_y[1][i], s->q_x[0][i] * w->side_y[0][i]);
    }
}

static void NAME(value_line)(const struct SCRATCH *s, const struct line_work *w, int n,
                             REAL *restrict value)
{
    for (int i = 0; i < n; i++)
        value[i] = FMA(s->q_x[1][i], w->side_y[1][i], s->q_x[0][i] * w->side_y[0][i]);
}

/* The points' distances along x, squared, and their places along y. */
static void NAME(cellular_line)(const struct SCRATCH *s, const struct line_work *w, int n,
                                REAL (*restrict line)[CHUNK])
{
    for (int side = 0; side < 3; side++)
        for (int i = 0; i < n; i++) {
            const REAL d = (REAL)(side - 1) + w->side_x[side][i] - (REAL)s->columns.f[i];
            line[side][i] = d * d;
            line[side + 3][i] = w->side_y[side][i];
        }
}

static __attribute__((noinline)) void NAME(make_lines)(const struct farlands_terrain *terrain,
                                                       enum farlands_basis basis, struct SCRATCH *s,
                                                       struct line_work *work, int64_t row, int n,
                                                       REAL (*line)[CHUNK])
{
#if EXPAND_IN_REGISTERS
    if (basis == FARLANDS_PERLIN && terrain->hash == FARLANDS_MIX64 && !s->lattice.dense) {
        mix_perlin(&s->lattice, &terrain->gradients, row_hash(terrain, s->octave, row), s->p_x,
                   s->q_x, n, line[0], line[1]);
        return;
    }
#endif
    lattice_line(terrain, basis, s->octave, &s->lattice, row, n, work);
    if (basis == FARLANDS_PERLIN)
        NAME(perlin_line)(s, work, n, line[0], line[1]);
    else if (basis == FARLANDS_VALUE)
        NAME(value_line)(s, work, n, line[0]);
    else
        NAME(cellular_line)(s, work, n, line);
}

/* The lines of lattice row ROW, made if they are not there; they stay for three more rows. */
static inline REAL (*NAME(lines)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                                 struct SCRATCH *s, struct line_work *work, int64_t row,
                                 int n))[CHUNK]
{
    bool known;
    REAL(*line)[CHUNK] = s->line + slot_lines(basis) * find_slot(&s->slots, row, 0, &known);
    if (!known)
        NAME(make_lines)(terrain, basis, s, work, row, n, line);
    return line;
}

/* Lines of lattice row ROW in the next slot, which held those made longest ago. Returns the slot.
 */
static inline int NAME(next_lines)(const struct farlands_terrain *terrain,
                                   enum farlands_basis basis, struct SCRATCH *s,
                                   struct line_work *work, int64_t row, int n)
{
    const int slot = s->slots.next;
    s->slots.next = slot + 1 < s->slots.count ? slot + 1 : 0;
    NAME(make_lines)(terrain, basis, s, work, row, n, s->line + slot * slot_lines(basis));
    return slot;
}

/* Have the lines around lattice row ROW; rows come in ascending order. */
static void NAME(advance_lines)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                                struct SCRATCH *s, struct line_work *work, int64_t row, int n)
{
    struct slots *slots = &s->slots;
    if (slots->known && row == slots->at + 1)
        slots->above = slots->below;
    else
        slots->above = NAME(next_lines)(terrain, basis, s, work, row, n);
    slots->below = NAME(next_lines)(terrain, basis, s, work, row + 1, n);
    slots->at = row;
    slots->known = true;
}

/* Of rows J to J + ROWS - 1. */
static inline void NAME(find_terms)(const struct farlands_terrain *terrain,
                                    enum farlands_basis basis, struct SCRATCH *s,
                                    struct line_work *work, int j, int rows, int n,
                                    struct NAME(terms) * t)
{
    const int64_t *row = s->rows.cell + j;
    const int each = slot_lines(basis);
    t->weight = &s->weight[0][j];
    t->shared = row[0] == row[rows - 1];
    for (int r = 0; r < (t->shared ? 1 : rows); r++) {
        if (row[r] != s->slots.at || !s->slots.known)
            NAME(advance_lines)(terrain, basis, s, work, row[r], n);
        const REAL(*above)[CHUNK] = (const REAL(*)[CHUNK])s->line + s->slots.above * each;
        const REAL(*below)[CHUNK] = (const REAL(*)[CHUNK])s->line + s->slots.below * each;
        t->line[r][0] = above[0];
        t->line[r][1] = below[0];
        t->line[r][2] = above[1];
        t->line[r][3] = below[1];
    }
}

/*
 * The sum of OCTAVES' TERMS on ROWS rows, for VECTORS vectors from sample I on.
 * All but the first are constants where this is inlined, so that the sums stay
 * in registers while the octaves pass; a shared line is loaded once for all rows.
 */
static inline __attribute__((always_inline)) void NAME(sum_block)(const struct NAME(terms) * t,
                                                                  int octaves, int rows, int terms,
                                                                  int vectors, int i,
                                                                  REAL *const *sum)
{
    NAME(vector) a[ROWS][BLOCK];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            a[r][v] = (NAME(vector)){0};
    for (const struct NAME(terms) *end = t + octaves; t < end; t++) {
        if (t->shared)
            for (int k = 0; k < terms; k++) {
                const REAL *line = t->line[0][k] + i;
                NAME(vector) w[ROWS];
                for (int r = 0; r < rows; r++)
                    w[r] = NAME(splat)(t->weight[k * CHUNK + r]);
                for (int v = 0; v < vectors; v++) {
                    const NAME(vector) x = NAME(load)(line + v * NAME(LANES));
                    for (int r = 0; r < rows; r++)
                        a[r][v] = NAME(multiply_add)(w[r], x, a[r][v]);
                }
            }
        else
            for (int k = 0; k < terms; k++)
                for (int r = 0; r < rows; r++) {
                    const REAL *line = t->line[r][k] + i;
                    const NAME(vector) w = NAME(splat)(t->weight[k * CHUNK + r]);
                    for (int v = 0; v < vectors; v++)
                        a[r][v] =
                            NAME(multiply_add)(w, NAME(load)(line + v * NAME(LANES)), a[r][v]);
                }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            NAME(store)(sum[r] + i + v * NAME(LANES), a[r][v]);
}

/* The same for one vector column of one set: ROWS rows, or 1. */
static inline __attribute__((always_inline)) void
NAME(sum_set)(const struct NAME(set) * set, int octaves, int terms, int vectors, int i)
{
    if (set->rows == ROWS)
        NAME(sum_block)(set->terms, octaves, ROWS, terms, vectors, i, set->sum);
    else
        NAME(sum_block)(set->terms, octaves, 1, terms, vectors, i, set->sum);
}

/* Sets of rows one below the other, block by block: so lines stay in the level 1 cache. */
static inline __attribute__((always_inline)) void
NAME(sum_blocks)(const struct NAME(set) * sets, int count, int octaves, int terms, int n)
{
    int i = 0;
    for (; i + BLOCK * NAME(LANES) <= n; i += BLOCK * NAME(LANES))
        for (int k = 0; k < count; k++)
            NAME(sum_set)(&sets[k], octaves, terms, BLOCK, i);
    for (; i + 2 * NAME(LANES) <= n; i += 2 * NAME(LANES))
        for (int k = 0; k < count; k++)
            NAME(sum_set)(&sets[k], octaves, terms, 2, i);
    for (; i < n; i += NAME(LANES))
        for (int k = 0; k < count; k++)
            NAME(sum_set)(&sets[k], octaves, terms, 1, i);
}

/* Two terms for value noise, four for Perlin's. */
static void NAME(sum_sets)(const struct NAME(set) * sets, int count, int octaves,
                           enum farlands_basis basis, int n)
{
    if (basis == FARLANDS_VALUE)
        NAME(sum_blocks)(sets, count, octaves, 2, n);
    else
        NAME(sum_blocks)(sets, count, octaves, 4, n);
}

static inline REAL NAME(cellular)(REAL squared)
{
    return 2 * ROOT(squared < 1 ? squared : 1) - 1;
}

/* Add the octave to row J. */
static void NAME(cellular_row)(const struct farlands_terrain *terrain, struct SCRATCH *s,
                               struct line_work *work, int j, int n, REAL *restrict sum)
{
    ALIGNED REAL nearest[CHUNK];
    const REAL f = (REAL)s->rows.f[j];

    NAME(fill)(nearest, 1, n);
    for (int k = -1; k <= 1; k++) {
        const REAL(*line)[CHUNK] = (const REAL(*)[CHUNK])NAME(lines)(terrain, FARLANDS_CELLULAR, s,
                                                                     work, s->rows.cell[j] + k, n);
        for (int side = 0; side < 3; side++) {
            const REAL *restrict squared = line[side], *restrict y = line[side + 3];
            for (int i = 0; i < n; i++) {
                const REAL d = (REAL)k + y[i] - f;
                const REAL r = FMA(d, d, squared[i]);
                nearest[i] = r < nearest[i] ? r : nearest[i];
            }
        }
    }
    for (int i = 0; i < n; i++)
        sum[i] = FMA(s->amplitude, NAME(cellular)(nearest[i]), sum[i]);
}

/* One octave of row J. */
static void NAME(octave_row)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                             struct SCRATCH *s, struct line_work *work, int j, int n, REAL *sum)
{
    struct NAME(set) set;
    if (basis == FARLANDS_CELLULAR) {
        NAME(fill)(sum, 0, n);
        NAME(cellular_row)(terrain, s, work, j, n, sum);
        return;
    }
    set.rows = 1;
    set.sum[0] = sum;
    NAME(find_terms)(terrain, basis, s, work, j, 1, n, &set.terms[0]);
    NAME(sum_sets)(&set, 1, 1, basis, n);
}

/* --- Scattered points ------------------------------------------------------------------- */

static void NAME(lattice_points)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                                 const struct octave *octave, REAL amplitude,
                                 const struct points *x, const struct points *y, int n,
                                 REAL *restrict sum)
{
    struct point_hashes column, row;
    ALIGNED uint32_t index[POINTS];
    ALIGNED float gx[3][3][POINTS], gy[3][3][POINTS];
    const int sides = corners(basis).count;

    hash_points(terrain, basis, octave, AXIS_X, x->cell, n, &column);
    hash_points(terrain, basis, octave, AXIS_Y, y->cell, n, &row);
    for (int k = 0; k < sides; k++)
        for (int side = 0; side < sides; side++) {
            point_indices(terrain, (struct axis_hash){column.low[side], column.high[side]},
                          (struct axis_hash){row.low[k], row.high[k]}, n, index);
            meanings_at(terrain, basis, index, n, gx[k][side], gy[k][side]);
        }
    if (basis == FARLANDS_CELLULAR) {
        for (int i = 0; i < n; i++) {
            REAL nearest = 1;
            for (int k = 0; k < 3; k++)
                for (int side = 0; side < 3; side++) {
                    const REAL dx = (REAL)(side - 1) + gx[k][side][i] - (REAL)x->f[i];
                    const REAL dy = (REAL)(k - 1) + gy[k][side][i] - (REAL)y->f[i];
                    const REAL r = FMA(dy, dy, dx * dx);
                    nearest = r < nearest ? r : nearest;
                }
            sum[i] = FMA(amplitude, NAME(cellular)(nearest), sum[i]);
        }
        return;
    }
    REAL px[2][CHUNK], qx[2][CHUNK], py[2][CHUNK], qy[2][CHUNK];
    NAME(weigh)(terrain->fade, x->f, n, 1, px, qx);
    NAME(weigh)(terrain->fade, y->f, n, amplitude, py, qy);
    if (basis == FARLANDS_VALUE) {
        for (int i = 0; i < n; i++) {
            const REAL above = FMA(qx[1][i], gy[0][1][i], qx[0][i] * gy[0][0][i]);
            const REAL below = FMA(qx[1][i], gy[1][1][i], qx[0][i] * gy[1][0][i]);
            sum[i] = FMA(qy[1][i], below, FMA(qy[0][i], above, sum[i]));
        }
        return;
    }
    for (int i = 0; i < n; i++) {
        const REAL p0 = px[0][i], p1 = px[1][i], q0 = qx[0][i], q1 = qx[1][i];
        const REAL along0 = FMA(p1, gx[0][1][i], p0 * gx[0][0][i]);
        const REAL along1 = FMA(p1, gx[1][1][i], p0 * gx[1][0][i]);
        const REAL across0 = FMA(q1, gy[0][1][i], q0 * gy[0][0][i]);
        const REAL across1 = FMA(q1, gy[1][1][i], q0 * gy[1][0][i]);
        const REAL n0 = FMA(qy[1][i], along1, FMA(qy[0][i], along0, sum[i]));
        sum[i] = FMA(py[1][i], across1, FMA(py[0][i], across0, n0));
    }
}

/* One corner's part of simplex noise; x, y: the way from it. */
static inline REAL NAME(simplex_corner)(REAL x, REAL y, float gx, float gy)
{
    REAL t = FMA(-y, y, FMA(-x, x, (REAL)0.5));
    t = t > 0 ? t : 0;
    t *= t;
    return t * t * FMA(y, gy, x * gx);
}

static void NAME(simplex_points)(const struct farlands_terrain *terrain,
                                 const struct octave *octave, REAL amplitude,
                                 const struct points *x, const struct points *y, int n,
                                 REAL *restrict sum)
{
    const double unskew = 0x1.b0cb174df99c7p-3; /* (3 - sqrt 3) / 6 */
    struct point_hashes column, row;
    int64_t ci[POINTS], cj[POINTS];
    uint32_t middle[2][2][POINTS];
    REAL fx[POINTS], fy[POINTS];
    int32_t east[POINTS];
    ALIGNED uint32_t index[POINTS];
    ALIGNED float gx[3][POINTS], gy[3][POINTS];

    for (int i = 0; i < n; i++) {
        const double skew = x->skew_f[i] + y->skew_f[i];
        const double a = x->f[i] + skew, b = y->f[i] + skew;
        const double ia = floor(a), ib = floor(b);
        const double fa = a - ia, fb = b - ib, t = (fa + fb) * unskew;
        const int64_t cells = x->skew[i] + y->skew[i];
        ci[i] = x->cell[i] + cells + exact_integer(ia);
        cj[i] = y->cell[i] + cells + exact_integer(ib);
        fx[i] = (REAL)(fa - t);
        fy[i] = (REAL)(fb - t);
        east[i] = fa > fb ? 1 : 0;
    }
    hash_points(terrain, FARLANDS_SIMPLEX, octave, AXIS_X, ci, n, &column);
    hash_points(terrain, FARLANDS_SIMPLEX, octave, AXIS_Y, cj, n, &row);
    for (int i = 0; i < n; i++) {
        const bool e = east[i];
        middle[0][0][i] = e ? column.low[1][i] : column.low[0][i];
        middle[0][1][i] = e ? column.high[1][i] : column.high[0][i];
        middle[1][0][i] = e ? row.low[0][i] : row.low[1][i];
        middle[1][1][i] = e ? row.high[0][i] : row.high[1][i];
    }
    const struct axis_hash columns[3] = {{column.low[0], column.high[0]},
                                         {middle[0][0], middle[0][1]},
                                         {column.low[1], column.high[1]}};
    const struct axis_hash rows[3] = {
        {row.low[0], row.high[0]}, {middle[1][0], middle[1][1]}, {row.low[1], row.high[1]}};
    for (int k = 0; k < 3; k++) {
        point_indices(terrain, columns[k], rows[k], n, index);
        meanings_at(terrain, FARLANDS_SIMPLEX, index, n, gx[k], gy[k]);
    }
    for (int i = 0; i < n; i++) {
        const REAL g = (REAL)unskew, e = (REAL)east[i];
        const REAL n0 = NAME(simplex_corner)(fx[i], fy[i], gx[0][i], gy[0][i]);
        const REAL n1 =
            NAME(simplex_corner)(fx[i] - e + g, fy[i] - (1 - e) + g, gx[1][i], gy[1][i]);
        const REAL n2 =
            NAME(simplex_corner)(fx[i] - 1 + 2 * g, fy[i] - 1 + 2 * g, gx[2][i], gy[2][i]);
        sum[i] = FMA(70 * amplitude, n0 + n1 + n2, sum[i]);
    }
}

static void NAME(add_points)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                             const struct octave *octave, REAL amplitude, const struct points *x,
                             const struct points *y, int n, REAL *restrict sum)
{
    if (basis == FARLANDS_SIMPLEX)
        NAME(simplex_points)(terrain, octave, amplitude, x, y, n, sum);
    else
        NAME(lattice_points)(terrain, basis, octave, amplitude, x, y, n, sum);
}

/* The warp's NOISE along one axis as a displacement in units. */
static void NAME(displace)(const struct farlands_terrain *terrain, const REAL *restrict noise,
                           int n, struct displacement *d)
{
    for (int i = 0; i < n; i++) {
        const double units = terrain->warp * (double)noise[i];
        const double whole = floor(units);
        d->whole[i] = whole;
        d->fraction[i] = units - whole;
    }
}

/* --- All octaves ------------------------------------------------------------------------ */

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
        NAME(join)(terrain, &terrain->octave[k], scratch->band_limit[k], n, noise, sum, weight);
    }
}

/* Add one octave at one place, N times. */
static void NAME(add_place)(const struct farlands_terrain *terrain, enum farlands_basis basis,
                            const struct octave *octave, REAL amplitude, int64_t x, int64_t y,
                            const struct displacement *d, int n, REAL *restrict sum)
{
    struct point_room room[2];
    struct points px = points_at(octave, AXIS_X, x, n, &room[AXIS_X]);
    struct points py = points_at(octave, AXIS_Y, y, n, &room[AXIS_Y]);
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
        ALIGNED REAL noise[STEP] = {0};
        NAME(add_place)(terrain, terrain->basis, &terrain->octave[k], 1, x, y, d, n, noise);
        NAME(join)(terrain, &terrain->octave[k], 1, n, noise, sum, weight);
    }
}

/* --- The elevation curve ------------------------------------------------------------------ */

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
