/*
 * One octave of noise that is made of lines, row by row: Perlin, value and
 * cellular noise on a grid. Part of octave_template.h.
 */

/* weigh_point for N columns or rows. The fade is a constant where it is inlined. */
static inline __attribute__((always_inline)) void
NAME(weigh_by)(enum farlands_fade kind, const double *restrict f, int n, REAL amplitude,
               REAL (*restrict p)[CHUNK], REAL (*restrict q)[CHUNK])
{
    for (int i = 0; i < n; i++) {
        REAL along[2], across[2];
        NAME(corner_weights)(kind, f[i], amplitude, along, across);
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
