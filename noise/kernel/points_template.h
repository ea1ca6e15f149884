/*
 * One octave at scattered points, each with a lattice of its own around it: any
 * basis where places are warped, and simplex noise. Part of octave_template.h.
 */

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
