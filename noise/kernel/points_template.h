/*
 * One octave at scattered points, each with separate lattice corners: for every basis if the
 * terrain is warped, for BASIS_POINTS always, and for single heights. The operations and their
 * order are the same as in lines_template.h. Included by octave_template.h, which lists the
 * parameters.
 */
#if !defined REAL || !defined KERNEL_LANES
#error "points_template.h: include octave_template.h instead"
#endif

/*
 * An octave's noise at a point is a sum of up to four terms, WEIGHT times LINE, as on a set's rows
 * (struct terms). Terms are added to sums at once, or kept.
 */
struct REAL_NAME(point_terms) {
    int count;
    KERNEL_ALIGNED REAL weight[4][KERNEL_POINTS], line[4][KERNEL_POINTS];
};

/* Where terms go: they are added to SUM, or kept if KEEP is not NULL. */
struct REAL_NAME(point_use) {
    const REAL *amplitude; /* one for all points; if terms are kept, one per point */
    REAL *sum;
    struct REAL_NAME(point_terms) * keep;
};

static inline REAL REAL_NAME(amplitude_of)(const struct REAL_NAME(point_use) * use, int i)
{
    return use->amplitude[KERNEL_PLACES && use->keep ? i : 0];
}

/* N points' weights along y. */
static inline __attribute__((always_inline)) void
REAL_NAME(point_weights)(const struct octave_source *source, const struct points *y, int n,
                         const struct REAL_NAME(point_use) * use, REAL (*p)[KERNEL_CHUNK],
                         REAL (*q)[KERNEL_CHUNK])
{
    if (KERNEL_PLACES && use->keep)
        REAL_NAME(weights_of)(source->noise->fade, y->f, n, use->amplitude, true, p, q);
    else
        REAL_NAME(weights)(source->noise->fade, y->f, n, *use->amplitude, p, q);
}

/* Give COUNT terms for point I. */
static inline __attribute__((always_inline)) void
REAL_NAME(give_terms)(const struct REAL_NAME(point_use) * use, int i, int count, const REAL *weight,
                      const REAL *line)
{
    const bool keep = KERNEL_PLACES && use->keep;
    REAL sum = keep ? 0 : use->sum[i];
    for (int k = 0; k < count; k++)
        if (keep) {
            use->keep->weight[k][i] = weight[k];
            use->keep->line[k][i] = line[k];
        } else {
            sum = REAL_FMA(weight[k], line[k], sum);
        }
    if (!keep)
        use->sum[i] = sum;
}

/* --- One formula for each basis: an octave at N points --- */

static inline void REAL_NAME(perlin_points)(const struct octave_source *source,
                                            const struct point_corners *c, const struct points *x,
                                            const struct points *y, int n,
                                            struct REAL_NAME(point_use) use)
{
    REAL px[2][KERNEL_CHUNK], qx[2][KERNEL_CHUNK], py[2][KERNEL_CHUNK], qy[2][KERNEL_CHUNK];
    REAL_NAME(weights)(source->noise->fade, x->f, n, 1, px, qx);
    REAL_NAME(point_weights)(source, y, n, &use, py, qy);
    for (int i = 0; i < n; i++) {
        const REAL p0 = px[0][i], p1 = px[1][i], q0 = qx[0][i], q1 = qx[1][i];
        const REAL weight[4] = {qy[0][i], qy[1][i], py[0][i], py[1][i]};
        const REAL line[4] = {
            REAL_FMA(p1, c->x[0][1][i], p0 * c->x[0][0][i]),
            REAL_FMA(p1, c->x[1][1][i], p0 * c->x[1][0][i]),
            REAL_FMA(q1, c->y[0][1][i], q0 * c->y[0][0][i]),
            REAL_FMA(q1, c->y[1][1][i], q0 * c->y[1][0][i]),
        };
        REAL_NAME(give_terms)(&use, i, 4, weight, line);
    }
}

static inline void REAL_NAME(value_points)(const struct octave_source *source,
                                           const struct point_corners *c, const struct points *x,
                                           const struct points *y, int n,
                                           struct REAL_NAME(point_use) use)
{
    REAL px[2][KERNEL_CHUNK], qx[2][KERNEL_CHUNK], py[2][KERNEL_CHUNK], qy[2][KERNEL_CHUNK];
    REAL_NAME(weights)(source->noise->fade, x->f, n, 1, px, qx);
    REAL_NAME(point_weights)(source, y, n, &use, py, qy);
    for (int i = 0; i < n; i++) {
        const REAL weight[2] = {qy[0][i], qy[1][i]};
        const REAL line[2] = {
            REAL_FMA(qx[1][i], c->y[0][1][i], qx[0][i] * c->y[0][0][i]),
            REAL_FMA(qx[1][i], c->y[1][1][i], qx[0][i] * c->y[1][0][i]),
        };
        REAL_NAME(give_terms)(&use, i, 2, weight, line);
    }
}

static inline void REAL_NAME(cellular_points)(const struct point_corners *c, const struct points *x,
                                              const struct points *y, int n,
                                              struct REAL_NAME(point_use) use)
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
        const REAL amplitude = REAL_NAME(amplitude_of)(&use, i);
        const REAL noise = REAL_NAME(cellular)(nearest);
        REAL_NAME(give_terms)(&use, i, 1, &amplitude, &noise);
    }
}

/* One corner's part in simplex noise, (X, Y) away from the point. */
static inline REAL REAL_NAME(simplex_corner)(REAL x, REAL y, float gx, float gy)
{
    REAL t = REAL_FMA(-y, y, REAL_FMA(-x, x, (REAL)0.5));
    t = t > 0 ? t : 0;
    t *= t;
    return t * t * REAL_FMA(y, gy, x * gx);
}

static KERNEL_INLINE void REAL_NAME(simplex_points)(const struct octave_source *source,
                                                    const struct points *x, const struct points *y,
                                                    int n, struct REAL_NAME(point_use) use)
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
        const REAL amplitude = 70 * REAL_NAME(amplitude_of)(&use, i), noise = n0 + n1 + n2;
        REAL_NAME(give_terms)(&use, i, 1, &amplitude, &noise);
    }
}

/* --- All bases --- */

static inline void REAL_NAME(use_points)(const struct octave_source *source,
                                         const struct point_corners *c, const struct points *x,
                                         const struct points *y, int n,
                                         struct REAL_NAME(point_use) use)
{
    switch (source->basis) {
    case FARLANDS_PERLIN:
        REAL_NAME(perlin_points)(source, c, x, y, n, use);
        break;
    case FARLANDS_SIMPLEX:
        REAL_NAME(simplex_points)(source, x, y, n, use);
        break;
    case FARLANDS_CELLULAR:
        REAL_NAME(cellular_points)(c, x, y, n, use);
        break;
    case FARLANDS_VALUE:
        REAL_NAME(value_points)(source, c, x, y, n, use);
        break;
    }
}

/* Add AMPLITUDE times the octave at N points to SUM. TABLE: see corners_around. */
static void REAL_NAME(add_points)(const struct octave_source *source, struct corner_table *table,
                                  REAL amplitude, const struct points *x, const struct points *y,
                                  int n, REAL *restrict sum)
{
    struct point_corners c;
    points_corners(source, table, x, y, n, &c);
    REAL_NAME(use_points)
    (source, &c, x, y, n, (struct REAL_NAME(point_use)){&amplitude, sum, NULL});
}

/* The warp's noise along one axis becomes a displacement in units. */
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
