/*
 * One octave of Perlin noise over a grid, row by row, and at a point. Part of
 * kernel_template.h, which includes it once for narrow cells (REAL float) and
 * once for broad ones (REAL double); NAME(x) tells the two apart.
 */

static inline REAL NAME(fade)(enum farlands_fade kind, REAL t)
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

static inline REAL NAME(fraction)(struct lattice_place place, const struct octave *octave)
{
    return (REAL)((double)place.rest * octave->inverse);
}

static inline REAL NAME(lerp)(REAL t, REAL a, REAL b)
{
    return FMA(t, b - a, a);
}

/* The chunk's columns, the first at X units. */
static void NAME(begin_chunk)(const struct farlands_terrain *terrain, struct SCRATCH *s, int64_t x,
                              int64_t step, int width)
{
    const struct octave *octave = s->columns.octave;
    const struct lattice_place stride = lattice_place(step, octave->wavelength);
    struct lattice_place place = lattice_place(x + octave->shift_x, octave->wavelength);

    begin_columns(terrain, &s->columns, place, stride, width);
    for (int i = 0; i < width; i++) {
        s->f[i] = NAME(fraction)(place, octave);
        lattice_advance(&place, stride, octave->wavelength);
    }
    for (int i = 0; i < width; i++) {
        s->u[i] = NAME(fade)(terrain->fade, s->f[i]);
        s->fu[i] = s->f[i] * s->u[i];
    }
}

static void NAME(lattice_row)(const struct farlands_terrain *terrain, const struct columns *columns,
                              int64_t y, REAL *restrict gx, REAL *restrict gy)
{
    const uint64_t row = row_hash(terrain, columns->octave, y);
    const REAL amplitude = (REAL)columns->amplitude;
    for (int c = 0; c < columns->count; c++) {
        uint32_t h = corner(terrain, columns->hash[c], row);
        gx[c] = amplitude * terrain->gradients.x[h];
        gy[c] = amplitude * terrain->gradients.y[h];
    }
}

/* Fold the row at Y units into the cells' four coefficients. */
static void NAME(begin_row)(const struct farlands_terrain *terrain, struct SCRATCH *s, int64_t y)
{
    struct columns *columns = &s->columns;
    const struct octave *octave = columns->octave;
    const struct lattice_place place = lattice_place(y + octave->shift_y, octave->wavelength);
    const REAL fy = NAME(fraction)(place, octave), v = NAME(fade)(terrain->fade, fy);

    if (!columns->row_known || columns->row != place.cell) {
        NAME(lattice_row)(terrain, columns, place.cell, s->above_x, s->above_y);
        NAME(lattice_row)(terrain, columns, place.cell + 1, s->below_x, s->below_y);
        columns->row = place.cell;
        columns->row_known = true;
    }
    for (int c = 0; c < columns->count; c++) {
        s->a[c] = NAME(lerp)(v, s->above_x[c], s->below_x[c]);
        s->b[c] = NAME(lerp)(v, s->above_y[c] * fy, s->below_y[c] * (fy - 1));
    }
    for (int c = 0; c < columns->cells; c++) {
        const REAL *a = s->a + c * columns->stride, *b = s->b + c * columns->stride;
        s->cell_a[c] = a[0];
        s->cell_b[c] = b[0];
        s->cell_d[c] = a[1] - a[0];
        s->cell_e[c] = (b[1] - a[1]) - b[0];
    }
}

/* Add the current row to SUM, and its b's to SUM_B. */
static inline void NAME(add_row)(const struct SCRATCH *s, int width, REAL *restrict sum,
                                 REAL *restrict sum_b)
{
    const struct columns *columns = &s->columns;
    const REAL *restrict f = s->f, *restrict u = s->u, *restrict fu = s->fu;

    if (columns->cells * WIDE_CELL <= width) {
        for (int c = 0; c < columns->cells; c++) {
            const REAL a = s->cell_a[c], b = s->cell_b[c], d = s->cell_d[c], e = s->cell_e[c];
            const int end = columns->begin[c + 1];
            for (int i = columns->begin[c]; i < end; i++) {
                sum[i] = FMA(a, f[i], FMA(e, u[i], FMA(d, fu[i], sum[i])));
                sum_b[i] += b;
            }
        }
    } else {
        for (int i = 0; i < width; i++) {
            const int c = columns->cell[i];
            sum[i] =
                FMA(s->cell_a[c], f[i], FMA(s->cell_e[c], u[i], FMA(s->cell_d[c], fu[i], sum[i])));
            sum_b[i] += s->cell_b[c];
        }
    }
}

/* The same at one place, in the same order. */
static void NAME(add_point)(const struct farlands_terrain *terrain, const struct octave *octave,
                            int64_t x, int64_t y, REAL *sum, REAL *sum_b)
{
    const struct lattice_place px = lattice_place(x + octave->shift_x, octave->wavelength);
    const struct lattice_place py = lattice_place(y + octave->shift_y, octave->wavelength);
    const uint64_t above = row_hash(terrain, octave, py.cell);
    const uint64_t below = row_hash(terrain, octave, py.cell + 1);
    const REAL fy = NAME(fraction)(py, octave), v = NAME(fade)(terrain->fade, fy);
    const REAL amplitude = (REAL)octave->amplitude;
    REAL a[2], b[2];

    for (int c = 0; c < 2; c++) {
        const uint64_t column = column_hash(terrain, octave, px.cell + c);
        const uint32_t g0 = corner(terrain, column, above), g1 = corner(terrain, column, below);
        a[c] = NAME(lerp)(v, amplitude * terrain->gradients.x[g0],
                          amplitude * terrain->gradients.x[g1]);
        b[c] = NAME(lerp)(v, amplitude * terrain->gradients.y[g0] * fy,
                          amplitude * terrain->gradients.y[g1] * (fy - 1));
    }
    const REAL f = NAME(fraction)(px, octave), u = NAME(fade)(terrain->fade, f);
    const REAL d = a[1] - a[0], e = (b[1] - a[1]) - b[0];
    *sum = FMA(a[0], f, FMA(e, u, FMA(d, f * u, *sum)));
    *sum_b += b[0];
}

#undef REAL
#undef FMA
#undef SCRATCH
#undef NAME
