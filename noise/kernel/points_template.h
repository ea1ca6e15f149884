/*
 * One octave at scattered points, each with lattice corners of its own: every basis if the terrain
 * is warped, BASIS_POINTS always, and single heights. The operations and their order are those of
 * lines_template.h. Part of octave_template.h, which lists the parameters.
 */
#if !defined REAL || !defined KERNEL_LANES
#error "points_template.h: include octave_template.h instead"
#endif

/* --- One formula for each basis: add AMPLITUDE times the octave at N points to SUM --- */

static void REAL_NAME(perlin_points)(const struct octave_source *source,
                                     const struct point_corners *c, REAL amplitude,
                                     const struct points *x, const struct points *y, int n,
                                     REAL *restrict sum)
{
    REAL px[2][KERNEL_CHUNK], qx[2][KERNEL_CHUNK], py[2][KERNEL_CHUNK], qy[2][KERNEL_CHUNK];
    REAL_NAME(weights)(source->noise->fade, x->f, n, 1, px, qx);
    REAL_NAME(weights)(source->noise->fade, y->f, n, amplitude, py, qy);
    for (int i = 0; i < n; i++) {
        const REAL p0 = px[0][i], p1 = px[1][i], q0 = qx[0][i], q1 = qx[1][i];
        const REAL along0 = REAL_FMA(p1, c->x[0][1][i], p0 * c->x[0][0][i]);
        const REAL along1 = REAL_FMA(p1, c->x[1][1][i], p0 * c->x[1][0][i]);
        const REAL across0 = REAL_FMA(q1, c->y[0][1][i], q0 * c->y[0][0][i]);
        const REAL across1 = REAL_FMA(q1, c->y[1][1][i], q0 * c->y[1][0][i]);
        const REAL n0 = REAL_FMA(qy[1][i], along1, REAL_FMA(qy[0][i], along0, sum[i]));
        sum[i] = REAL_FMA(py[1][i], across1, REAL_FMA(py[0][i], across0, n0));
    }
}

static void REAL_NAME(value_points)(const struct octave_source *source,
                                    const struct point_corners *c, REAL amplitude,
                                    const struct points *x, const struct points *y, int n,
                                    REAL *restrict sum)
{
    REAL px[2][KERNEL_CHUNK], qx[2][KERNEL_CHUNK], py[2][KERNEL_CHUNK], qy[2][KERNEL_CHUNK];
    REAL_NAME(weights)(source->noise->fade, x->f, n, 1, px, qx);
    REAL_NAME(weights)(source->noise->fade, y->f, n, amplitude, py, qy);
    for (int i = 0; i < n; i++) {
        const REAL above = REAL_FMA(qx[1][i], c->y[0][1][i], qx[0][i] * c->y[0][0][i]);
        const REAL below = REAL_FMA(qx[1][i], c->y[1][1][i], qx[0][i] * c->y[1][0][i]);
        sum[i] = REAL_FMA(qy[1][i], below, REAL_FMA(qy[0][i], above, sum[i]));
    }
}

static void REAL_NAME(cellular_points)(const struct point_corners *c, REAL amplitude,
                                       const struct points *x, const struct points *y, int n,
                                       REAL *restrict sum)
{
    for (int i = 0; i < n; i++) {
        REAL nearest = 1;
        for (int k = 0; k < 3; k++)
            for (int side = 0; side < 3; side++) {
                const REAL dx = (REAL)(side - 1) + c->x[k][side][i] - (REAL)x->f[i];
                const REAL dy = (REAL)(k - 1) + c->y[k][side][i] - (REAL)y->f[i];
                const REAL r = REAL_FMA(dy, dy, dx * dx);
                nearest = r < nearest ? r : nearest;
            }
        sum[i] = REAL_FMA(amplitude, REAL_NAME(cellular)(nearest), sum[i]);
    }
}

/* One corner's part of simplex noise, (X, Y) away from the point. */
static inline REAL REAL_NAME(simplex_corner)(REAL x, REAL y, float gx, float gy)
{
    REAL t = REAL_FMA(-y, y, REAL_FMA(-x, x, (REAL)0.5));
    t = t > 0 ? t : 0;
    t *= t;
    return t * t * REAL_FMA(y, gy, x * gx);
}

static void REAL_NAME(simplex_points)(const struct octave_source *source, REAL amplitude,
                                      const struct points *x, const struct points *y, int n,
                                      REAL *restrict sum)
{
    const double unskew = 0x1.b0cb174df99c7p-3; /* (3 - sqrt 3) / 6 */
    struct point_hashes column, row;
    int64_t ci[KERNEL_POINTS], cj[KERNEL_POINTS];
    uint32_t middle[2][2][KERNEL_POINTS];
    REAL fx[KERNEL_POINTS], fy[KERNEL_POINTS];
    int32_t east[KERNEL_POINTS];
    KERNEL_ALIGNED uint32_t index[KERNEL_POINTS];
    KERNEL_ALIGNED float gx[3][KERNEL_POINTS], gy[3][KERNEL_POINTS];

    ci[0] = cj[0] = 0; /* gcc does not know that n is not 0 */
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
    hash_points(source, AXIS_X, ci, range_of(ci, n), n, &column);
    hash_points(source, AXIS_Y, cj, range_of(cj, n), n, &row);
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
        point_indices(source->noise, columns[k], rows[k], n, index);
        corners_at(source, index, n, gx[k], gy[k]);
    }
    for (int i = 0; i < n; i++) {
        const REAL g = (REAL)unskew, e = (REAL)east[i];
        const REAL n0 = REAL_NAME(simplex_corner)(fx[i], fy[i], gx[0][i], gy[0][i]);
        const REAL n1 =
            REAL_NAME(simplex_corner)(fx[i] - e + g, fy[i] - (1 - e) + g, gx[1][i], gy[1][i]);
        const REAL n2 =
            REAL_NAME(simplex_corner)(fx[i] - 1 + 2 * g, fy[i] - 1 + 2 * g, gx[2][i], gy[2][i]);
        sum[i] = REAL_FMA(70 * amplitude, n0 + n1 + n2, sum[i]);
    }
}

/* --- All bases --- */

/* TABLE: see corners_around. */
static void REAL_NAME(add_points)(const struct octave_source *source, struct corner_table *table,
                                  REAL amplitude, const struct points *x, const struct points *y,
                                  int n, REAL *restrict sum)
{
    struct point_corners c;
    if (source->basis != FARLANDS_SIMPLEX) /* whose corners are those of a triangle */
        corners_around(source, table, x, y, n, &c);
    switch (source->basis) {
    case FARLANDS_PERLIN:
        REAL_NAME(perlin_points)(source, &c, amplitude, x, y, n, sum);
        break;
    case FARLANDS_SIMPLEX:
        REAL_NAME(simplex_points)(source, amplitude, x, y, n, sum);
        break;
    case FARLANDS_CELLULAR:
        REAL_NAME(cellular_points)(&c, amplitude, x, y, n, sum);
        break;
    case FARLANDS_VALUE:
        REAL_NAME(value_points)(source, &c, amplitude, x, y, n, sum);
        break;
    }
}

/* The warp's NOISE along one axis as a displacement in units. */
static void REAL_NAME(displace)(const struct noise *noise, const REAL *restrict value, int n,
                                struct displacement *d)
{
    for (int i = 0; i < n; i++) {
        const double units = noise->warp * (double)value[i];
        const double whole = floor(units);
        d->whole[i] = whole;
        d->fraction[i] = units - whole;
    }
}
