/*
 * One octave on a grid, for BASIS_LINES and BASIS_ROWS: lines are made once for each lattice row,
 * and samples are computed from lines. Included by octave_template.h, which lists the parameters.
 */
#if !defined REAL || !defined KERNEL_BLOCK
#error "lines_template.h: include octave_template.h instead"
#endif

/* --- The start of a chunk --- */

/* corner_weights for N columns or rows. FADE is a constant in each call, so that the loop has no
 * branch. EACH: every one has another AMPLITUDE. */
static inline __attribute__((always_inline)) void
REAL_NAME(weights_by)(enum farlands_fade fade, const double *restrict f, int n,
                      const REAL *restrict amplitude, bool each, REAL (*restrict p)[KERNEL_CHUNK],
                      REAL (*restrict q)[KERNEL_CHUNK])
{
    for (int i = 0; i < n; i++) {
        REAL along[2], across[2];
        REAL_NAME(corner_weights)(fade, f[i], amplitude[each ? i : 0], along, across);
        p[0][i] = along[0];
        p[1][i] = along[1];
        q[0][i] = across[0];
        q[1][i] = across[1];
    }
}

static inline __attribute__((always_inline)) void
REAL_NAME(weights_of)(enum farlands_fade fade, const double *f, int n, const REAL *amplitude,
                      bool each, REAL (*p)[KERNEL_CHUNK], REAL (*q)[KERNEL_CHUNK])
{
    switch (fade) {
    case FARLANDS_LINEAR:
        REAL_NAME(weights_by)(FARLANDS_LINEAR, f, n, amplitude, each, p, q);
        break;
    case FARLANDS_CUBIC:
        REAL_NAME(weights_by)(FARLANDS_CUBIC, f, n, amplitude, each, p, q);
        break;
    case FARLANDS_QUINTIC:
        REAL_NAME(weights_by)(FARLANDS_QUINTIC, f, n, amplitude, each, p, q);
        break;
    }
}

static void REAL_NAME(weights)(enum farlands_fade fade, const double *f, int n, REAL amplitude,
                               REAL (*p)[KERNEL_CHUNK], REAL (*q)[KERNEL_CHUNK])
{
    REAL_NAME(weights_of)(fade, f, n, &amplitude, false, p, q);
}

/* Prepare S, whose source is set, for N columns. */
static void REAL_NAME(begin_columns)(struct REAL_NAME(octave) * s, struct coordinates x, int n)
{
    const enum farlands_basis basis = s->source.basis;
    s->n = n;
    places_along(s->source.octave, AXIS_X, x, n, &s->columns);
    if (basis == FARLANDS_SIMPLEX) {
        skew_places(s->columns.cell, s->columns.f, n, s->columns.skew, s->columns.skew_f);
        return;
    }
    for (int i = 0; i * KERNEL_POINTS < n; i++)
        s->table[i].columns = 0;
    lattice_begin(&s->source, &s->columns, x.step, n, &s->lattice);
    REAL_NAME(weights)(s->source.noise->fade, s->columns.f, n, 1, s->p_x, s->q_x);
    s->slots = (struct slots){.count = slot_count(&s->source, x.step)};
}

static void REAL_NAME(begin_rows)(struct REAL_NAME(octave) * s, struct coordinates y, int height)
{
    places_along(s->source.octave, AXIS_Y, y, height, &s->rows);
    if (s->source.basis == FARLANDS_SIMPLEX)
        skew_places(s->rows.cell, s->rows.f, height, s->rows.skew, s->rows.skew_f);
    const enum farlands_fade fade = s->source.noise->fade;
    REAL_NAME(weights)(fade, s->rows.f, height, s->amplitude, s->weight + 2, s->weight);
}

/* --- Lines: one formula for each basis --- */

/* Two lines: gradients interpolated along x. ALONG is their x component, ACROSS their y component.
 */
static void REAL_NAME(perlin_line)(const struct REAL_NAME(octave) * s, REAL *restrict along,
                                   REAL *restrict across)
{
    struct line_work *w = s->work;
    const int n = s->n;
#if REAL_IS_FLOAT
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
        along[i] = REAL_FMA(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        across[i] = REAL_FMA(s->q_x[1][i], w->side_y[1][i], s->q_x[0][i] * w->side_y[0][i]);
    }
}

/* One line: values interpolated along x. */
static void REAL_NAME(value_line)(const struct REAL_NAME(octave) * s, REAL *restrict value)
{
    const struct line_work *w = s->work;
    for (int i = 0, n = s->n; i < n; i++)
        value[i] = REAL_FMA(s->q_x[1][i], w->side_y[1][i], s->q_x[0][i] * w->side_y[0][i]);
}

/* Four lines: perlin_line's two, and their derivatives along x. */
static void REAL_NAME(slope_line)(const struct REAL_NAME(octave) * s,
                                  REAL (*restrict line)[KERNEL_CHUNK])
{
    struct line_work *w = s->work;
    const int n = s->n;
    for (int side = 0; s->lattice.dense && side < 2; side++) {
        expand(&s->lattice, w->x, side, n, w->side_x[side]);
        expand(&s->lattice, w->y, side, n, w->side_y[side]);
    }
    for (int i = 0; i < n; i++) {
        REAL p[2], q[2];
        REAL_NAME(corner_slopes)(s->source.noise->fade, s->columns.f[i], p, q);
        line[0][i] = REAL_FMA(s->p_x[1][i], w->side_x[1][i], s->p_x[0][i] * w->side_x[0][i]);
        line[1][i] = REAL_FMA(s->q_x[1][i], w->side_y[1][i], s->q_x[0][i] * w->side_y[0][i]);
        line[2][i] = REAL_FMA(p[1], w->side_x[1][i], p[0] * w->side_x[0][i]);
        line[3][i] = REAL_FMA(q[1], w->side_y[1][i], q[0] * w->side_y[0][i]);
    }
}

/* Among the last two gully lines: where along y, for each vector, the reach of cell SIDE's point
 * begins (END 0) or ends (END 1). No sample in the vector is within reach before or after. */
static inline REAL *REAL_NAME(gully_bounds)(REAL (*line)[KERNEL_CHUNK], int side, int end)
{
    return line[6 + end] + side * (KERNEL_CHUNK / KERNEL_LANES);
}

static void REAL_NAME(bound_gullies)(const struct REAL_NAME(octave) * s, int side,
                                     REAL (*line)[KERNEL_CHUNK])
{
    KERNEL_ALIGNED REAL low[KERNEL_CHUNK], high[KERNEL_CHUNK];
    const REAL *restrict x = line[side], *restrict y = line[side + 3];
    const REAL margin = (REAL)1e-6, beyond = 9; /* for rounding; more than any place */
    /* Narrower cells have nearly all points within a vector's reach, so bounds would spare nothing.
     */
    const bool wide = s->lattice.dense && KERNEL_LANES / 2 * s->lattice.count <= s->n;
    const int n = s->n;

    for (int i = 0; i < n; i++) {
        const REAL square = REAL_FMA(-x[i], x[i], 1);
        const REAL half = REAL_SQRT(square > 0 ? square : 0) + margin;
        low[i] = !wide ? -beyond : square > 0 ? y[i] - half : beyond;
        high[i] = !wide ? beyond : square > 0 ? y[i] + half : -beyond;
    }
    for (int step = KERNEL_LANES / 2; wide && step > 0; step /= 2)
        for (int i = 0; i + step < n; i++) {
            low[i] = low[i + step] < low[i] ? low[i + step] : low[i];
            high[i] = high[i + step] > high[i] ? high[i + step] : high[i];
        }
    for (int v = 0; v < n / KERNEL_LANES; v++) {
        REAL_NAME(gully_bounds)(line, side, 0)[v] = low[v * KERNEL_LANES];
        REAL_NAME(gully_bounds)(line, side, 1)[v] = high[v * KERNEL_LANES];
    }
}

/* Eight lines, for three cells' gully points: the way from the point along x, and its place along
 * y, in reaches; then the bounds for gully_bounds. */
static void REAL_NAME(gully_line)(const struct REAL_NAME(octave) * s,
                                  REAL (*restrict line)[KERNEL_CHUNK])
{
    const struct line_work *w = s->work;
    const REAL inverse = 1 / (REAL)GULLY_REACH;
    for (int side = 0; side < 3; side++)
        for (int i = 0; i < s->n; i++) {
            const REAL x = REAL_FMA((REAL)0.75, w->side_x[side][i], (REAL)0.125);
            const REAL y = REAL_FMA((REAL)0.75, w->side_y[side][i], (REAL)0.125);
            line[side][i] = ((REAL)s->columns.f[i] - (REAL)(side - 1) - x) * inverse;
            line[side + 3][i] = y * inverse;
        }
    for (int side = 0; side < 3; side++)
        REAL_NAME(bound_gullies)(s, side, line);
}

/* Six lines, for three cells' points: squared distance along x, and place along y. */
static void REAL_NAME(cellular_line)(const struct REAL_NAME(octave) * s,
                                     REAL (*restrict line)[KERNEL_CHUNK])
{
    const struct line_work *w = s->work;
    const int n = s->n;
    if (s->source.use == USE_GULLIES) {
        REAL_NAME(gully_line)(s, line);
        return;
    }
    for (int side = 0; side < 3; side++)
        for (int i = 0; i < n; i++) {
            const REAL d = (REAL)(side - 1) + w->side_x[side][i] - (REAL)s->columns.f[i];
            line[side][i] = d * d;
            line[side + 3][i] = w->side_y[side][i];
        }
}

/* Make the lines for lattice row ROW. */
static __attribute__((noinline)) void REAL_NAME(make_lines)(struct REAL_NAME(octave) * s,
                                                            int64_t row, REAL (*line)[KERNEL_CHUNK])
{
    const struct octave_source *source = &s->source;
#if REAL_IS_FLOAT
    const struct noise *noise = source->noise;
    if (source->basis == FARLANDS_PERLIN && noise->hash == FARLANDS_MIX64 && !s->lattice.dense &&
        source->use == USE_VALUES) {
        mix_perlin(&s->lattice, &noise->gradients, row_hash(source, row), s->p_x, s->q_x, s->n,
                   line[0], line[1]);
        return;
    }
#endif
    lattice_line(source, &s->lattice, row, s->n, s->work);
    if (source->use == USE_SLOPES) {
        REAL_NAME(slope_line)(s, line);
        return;
    }
    switch (source->basis) {
    case FARLANDS_PERLIN:
        REAL_NAME(perlin_line)(s, line[0], line[1]);
        break;
    case FARLANDS_CELLULAR:
        REAL_NAME(cellular_line)(s, line);
        break;
    case FARLANDS_VALUE:
        REAL_NAME(value_line)(s, line[0]);
        break;
    case FARLANDS_SIMPLEX: /* has no lines: see points_template.h */
        break;
    }
}

/* --- BASIS_LINES: sums of terms --- */

/* Make the lines for lattice row ROW in the slot with the oldest lines. Returns the slot. */
static inline int REAL_NAME(next_lines)(struct REAL_NAME(octave) * s, int64_t row)
{
    const int slot = s->slots.next;
    s->slots.next = slot + 1 < s->slots.count ? slot + 1 : 0;
    REAL_NAME(make_lines)(s, row, s->line + slot * slot_lines(&s->source));
    return slot;
}

/* Make the lines above and below lattice row ROW. Rows come in ascending order. */
static void REAL_NAME(advance_lines)(struct REAL_NAME(octave) * s, int64_t row)
{
    struct slots *slots = &s->slots;
    if (slots->known && row == slots->at + 1)
        slots->above = slots->below;
    else
        slots->above = REAL_NAME(next_lines)(s, row);
    slots->below = REAL_NAME(next_lines)(s, row + 1);
    slots->at = row;
    slots->known = true;
}

/* Set row R's terms from the lines above and below. */
static inline void REAL_NAME(set_terms)(struct REAL_NAME(terms) * t, int r,
                                        REAL (*above)[KERNEL_CHUNK], REAL (*below)[KERNEL_CHUNK])
{
    t->line[r][0] = above[0];
    t->line[r][1] = below[0];
    t->line[r][2] = above[1];
    t->line[r][3] = below[1];
}

/* The terms for rows J to J + ROWS - 1. */
static inline void REAL_NAME(find_terms)(struct REAL_NAME(octave) * s, int j, int rows,
                                         struct REAL_NAME(terms) * t)
{
    const int64_t *row = s->rows.cell + j;
    const int each = slot_lines(&s->source);
    t->weight = &s->weight[0][j];
    t->shared = row[0] == row[rows - 1];
    for (int r = 0; r < (t->shared ? 1 : rows); r++) {
        if (row[r] != s->slots.at || !s->slots.known)
            REAL_NAME(advance_lines)(s, row[r]);
        REAL(*above)[KERNEL_CHUNK] = s->line + s->slots.above * each;
        REAL_NAME(set_terms)(t, r, above, s->line + s->slots.below * each);
    }
}

/*
 * The innermost loop: on ROWS rows, for VECTORS vectors from sample I on, the sum over OCTAVES with
 * TERMS terms each. ROWS, TERMS and VECTORS are constants in each call, so that the sums stay in
 * registers while the octaves pass. A shared line is loaded once for all rows.
 */
static inline __attribute__((always_inline)) void
REAL_NAME(sum_block)(const struct REAL_NAME(terms) * t, int octaves, int rows, int terms,
                     int vectors, int i, REAL *const *sum)
{
    REAL_NAME(vector) a[KERNEL_SET_ROWS][KERNEL_BLOCK];
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            a[r][v] = (REAL_NAME(vector)){0};
    for (const struct REAL_NAME(terms) *end = t + octaves; t < end; t++) {
        if (t->shared)
            for (int k = 0; k < terms; k++) {
                const REAL *line = t->line[0][k] + i;
                REAL_NAME(vector) w[KERNEL_SET_ROWS];
                for (int r = 0; r < rows; r++)
                    w[r] = REAL_NAME(splat)(t->weight[k * KERNEL_CHUNK + r]);
                for (int v = 0; v < vectors; v++) {
                    const REAL_NAME(vector) x = REAL_NAME(load)(line + v * REAL_NAME(LANES));
                    for (int r = 0; r < rows; r++)
                        a[r][v] = REAL_NAME(multiply_add)(w[r], x, a[r][v]);
                }
            }
        else
            for (int k = 0; k < terms; k++)
                for (int r = 0; r < rows; r++) {
                    const REAL *line = t->line[r][k] + i;
                    const REAL_NAME(vector) w = REAL_NAME(splat)(t->weight[k * KERNEL_CHUNK + r]);
                    for (int v = 0; v < vectors; v++)
                        a[r][v] = REAL_NAME(multiply_add)(
                            w, REAL_NAME(load)(line + v * REAL_NAME(LANES)), a[r][v]);
                }
    }
    for (int r = 0; r < rows; r++)
        for (int v = 0; v < vectors; v++)
            REAL_NAME(store)(sum[r] + i + v * REAL_NAME(LANES), a[r][v]);
}

static inline __attribute__((always_inline)) void
REAL_NAME(sum_set)(const struct REAL_NAME(set) * set, int octaves, int terms, int vectors, int i)
{
    const struct REAL_NAME(terms) *t = set->terms;
    if (set->rows == KERNEL_SET_ROWS)
        REAL_NAME(sum_block)(t, octaves, KERNEL_SET_ROWS, terms, vectors, i, set->sum);
    else
        REAL_NAME(sum_block)(t, octaves, 1, terms, vectors, i, set->sum);
}

/* COUNT sets of rows, one below the other, block by block, so that lines stay in the level 1 cache.
 */
static inline __attribute__((always_inline)) void
REAL_NAME(sum_blocks)(const struct REAL_NAME(set) * sets, int count, int octaves, int terms, int n)
{
    enum { LANES = REAL_NAME(LANES) };
    int i = 0;
    for (; i + KERNEL_BLOCK * LANES <= n; i += KERNEL_BLOCK * LANES)
        for (int k = 0; k < count; k++)
            REAL_NAME(sum_set)(&sets[k], octaves, terms, KERNEL_BLOCK, i);
    for (; KERNEL_BLOCK > 2 && i + 2 * LANES <= n; i += 2 * LANES)
        for (int k = 0; k < count; k++)
            REAL_NAME(sum_set)(&sets[k], octaves, terms, 2, i);
    for (; i < n; i += LANES)
        for (int k = 0; k < count; k++)
            REAL_NAME(sum_set)(&sets[k], octaves, terms, 1, i);
}

/* A basis with one line has two terms, value above and below; one with two lines has four. */
static void REAL_NAME(sum_sets)(const struct REAL_NAME(set) * sets, int count, int octaves,
                                int lines, int n)
{
    if (lines == 1)
        REAL_NAME(sum_blocks)(sets, count, octaves, 2, n);
    else
        REAL_NAME(sum_blocks)(sets, count, octaves, 4, n);
}

/* --- BASIS_ROWS: a separate formula --- */

/* The lines for lattice row ROW, made if they are missing. They stay for three more rows. */
static inline REAL (*REAL_NAME(lines)(struct REAL_NAME(octave) * s, int64_t row))[KERNEL_CHUNK]
{
    bool known;
    const int slot = find_slot(&s->slots, row, 0, &known);
    REAL(*line)[KERNEL_CHUNK] = s->line + slot * slot_lines(&s->source);
    if (!known)
        REAL_NAME(make_lines)(s, row, line);
    return line;
}

static void REAL_NAME(cellular_row)(struct REAL_NAME(octave) * s, int j, REAL *restrict sum)
{
    KERNEL_ALIGNED REAL nearest[KERNEL_CHUNK];
    const REAL f = (REAL)s->rows.f[j];
    const int n = s->n;

    REAL_NAME(fill)(nearest, 1, n);
    for (int k = -1; k <= 1; k++) {
        REAL(*line)[KERNEL_CHUNK] = REAL_NAME(lines)(s, s->rows.cell[j] + k);
        for (int side = 0; side < 3; side++) {
            const REAL *restrict squared = line[side], *restrict y = line[side + 3];
            for (int i = 0; i < n; i++) {
                const REAL d = (REAL)k + y[i] - f;
                const REAL r = REAL_FMA(d, d, squared[i]);
                nearest[i] = r < nearest[i] ? r : nearest[i];
            }
        }
    }
    for (int i = 0; i < n; i++)
        sum[i] = REAL_FMA(s->amplitude, REAL_NAME(cellular)(nearest[i]), sum[i]);
}

/* Add the octave to row J. */
static void REAL_NAME(add_row)(struct REAL_NAME(octave) * s, int j, REAL *restrict sum)
{
    switch (s->source.basis) {
    case FARLANDS_CELLULAR:
        REAL_NAME(cellular_row)(s, j, sum);
        break;
    case FARLANDS_PERLIN:
    case FARLANDS_VALUE: /* sums of terms */
    case FARLANDS_SIMPLEX:
        break;
    }
}

/* --- With slopes --- */

/* Perlin noise on row J, and its derivatives along x and y, per cell. */
static void REAL_NAME(slope_row)(struct REAL_NAME(octave) * s, int j, float *restrict value,
                                 float *restrict dx, float *restrict dy)
{
    const REAL q0 = s->weight[0][j], q1 = s->weight[1][j];
    const REAL p0 = s->weight[2][j], p1 = s->weight[3][j];
    REAL p[2], q[2];
    REAL_NAME(corner_slopes)(s->source.noise->fade, s->rows.f[j], p, q);
    REAL(*above)[KERNEL_CHUNK] = REAL_NAME(lines)(s, s->rows.cell[j]);
    REAL(*below)[KERNEL_CHUNK] = REAL_NAME(lines)(s, s->rows.cell[j] + 1);
    for (int i = 0, n = s->n; i < n; i++) {
        const REAL along0 = above[0][i], along1 = below[0][i];
        const REAL across0 = above[1][i], across1 = below[1][i];
        const REAL v = REAL_FMA(q1, along1, q0 * along0);
        value[i] = (float)REAL_FMA(p1, across1, REAL_FMA(p0, across0, v));
        const REAL u = REAL_FMA(q[1], along1, q[0] * along0);
        dy[i] = (float)REAL_FMA(p[1], across1, REAL_FMA(p[0], across0, u));
        const REAL x = REAL_FMA(q1, below[2][i], q0 * above[2][i]);
        dx[i] = (float)REAL_FMA(p1, below[3][i], REAL_FMA(p0, above[3][i], x));
    }
}

/* --- Either --- */

/* The octave's noise on row J. */
static void REAL_NAME(octave_row)(struct REAL_NAME(octave) * s, int j, REAL *sum)
{
    struct REAL_NAME(set) set;
    if (basis_of(s->source.basis).method == BASIS_ROWS) {
        REAL_NAME(fill)(sum, 0, s->n);
        REAL_NAME(add_row)(s, j, sum);
        return;
    }
    set.rows = 1;
    set.sum[0] = sum;
    REAL_NAME(find_terms)(s, j, 1, &set.terms[0]);
    REAL_NAME(sum_sets)(&set, 1, 1, basis_of(s->source.basis).lines, s->n);
}
