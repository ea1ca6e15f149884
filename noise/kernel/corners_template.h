/*
 * Corners of lattice cells: hashes, indices, and the gradients, points or values that an index
 * stands for, as loops over arrays. Included by kernel_template.h, which lists the parameters.
 * Callers round counts up to whole KERNEL_STEPs.
 */
#if !defined KERNEL || !defined KERNEL_LANES
#error "corners_template.h: include kernel_template.h instead"
#endif

/* --- Hashes --- */

/* CELL in a lattice that repeats after PERIOD cells, within 0 .. PERIOD - 1. */
static inline int64_t wrapped(int64_t cell, int64_t period)
{
    const int64_t rest = cell % period;
    return rest < 0 ? rest + period : rest;
}

/* Hashes for N lattice columns or rows, each CELL plus MORE, under KEY. EACH: every one has another
 * key. */
static inline __attribute__((always_inline)) void mix_hashes(const int64_t *cell, int64_t more,
                                                             const uint64_t *key, bool each, int n,
                                                             struct axis_hash hash)
{
    uint32_t *restrict low = hash.low, *restrict high = hash.high;
    for (int i = 0; i < n; i++) {
        const uint64_t at = (uint64_t)cell[i] + (uint64_t)more, k = key[each ? i : 0];
        const uint32_t lower = (uint32_t)at ^ (uint32_t)k;
        const uint32_t upper = lattice_axis_upper((uint32_t)(at >> 32), (uint32_t)(k >> 32));
        low[i] = lattice_axis_low(lower, upper);
        high[i] = lattice_axis_high(lower, upper);
    }
}

/* The same under SOURCE's keys, whichever hash it uses. */
static void axis_hashes(const struct octave_source *source, enum axis axis, const int64_t *cell,
                        int64_t more, int n, struct axis_hash hash)
{
    uint32_t *restrict low = hash.low;
    int64_t reduced[KERNEL_CHUNK + KERNEL_STEP];
    if (source->octave->cells) { /* in one octave or in all */
        for (int i = 0; i < n; i++)
            reduced[i] = wrapped(cell[i] + more, octave_of(source, i)->cells);
        cell = reduced;
        more = 0;
    }
    if (source->noise->hash == FARLANDS_MIX64 && KERNEL_PLACES && source->lanes) {
        mix_hashes(cell, more, source->noise->key[axis], true, n, hash);
    } else if (source->noise->hash == FARLANDS_MIX64) {
        mix_hashes(cell, more, &source->octave->key[axis], false, n, hash);
    } else if (axis == AXIS_X) {
        for (int i = 0; i < n; i++)
            low[i] = (uint32_t)(cell[i] + more);
    } else {
        for (int i = 0; i < n; i++)
            low[i] =
                source->noise->permutation[(cell[i] + more) & 255] + octave_of(source, i)->salt;
    }
}

/* A single lattice row's hash. */
struct row_hash {
    uint32_t low, high;
};

static struct row_hash row_hash(const struct octave_source *source, int64_t cell)
{
    struct row_hash hash = {0, 0};
    axis_hashes(source, AXIS_Y, &cell, 0, 1, (struct axis_hash){&hash.low, &hash.high});
    return hash;
}

/* The indices of N corners in one lattice row ... */
static inline void row_indices(const struct noise *noise, struct axis_hash column,
                               struct row_hash row, int n, uint32_t *restrict index)
{
    const uint32_t *restrict low = column.low, *restrict high = column.high;
    if (noise->hash == FARLANDS_MIX64)
        for (int i = 0; i < n; i++)
            index[i] = (low[i] + row.low) * (high[i] + row.high) >> 24;
    else
        for (int i = 0; i < n; i++)
            index[i] = noise->permutation[(low[i] + row.low) & 255];
}

/* ... and of N corners in different rows. */
static inline void point_indices(const struct noise *noise, struct axis_hash column,
                                 struct axis_hash row, int n, uint32_t *restrict index)
{
    if (noise->hash == FARLANDS_MIX64)
        for (int i = 0; i < n; i++)
            index[i] = (column.low[i] + row.low[i]) * (column.high[i] + row.high[i]) >> 24;
    else
        for (int i = 0; i < n; i++)
            index[i] = noise->permutation[(column.low[i] + row.low[i]) & 255];
}

/* COUNT cells, from FIRST to the east or south. */
struct cell_range {
    int64_t first, count;
};

static struct cell_range range_of(const int64_t *cell, int n)
{
    int64_t lowest = cell[0], highest = cell[0];
    for (int i = 0; i < n; i++) {
        lowest = cell[i] < lowest ? cell[i] : lowest;
        highest = cell[i] > highest ? cell[i] : highest;
    }
    /* The cells of padding may be anywhere, so a count that does not fit is cut off. */
    const uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    return (struct cell_range){lowest, span < INT32_MAX ? (int64_t)span + 1 : INT32_MAX};
}

/* Hashes for N points' lattice columns, or rows, and for the corners beside them. The points lie in
 * RANGE. */
static void hash_points(const struct octave_source *source, enum axis axis, const int64_t *cell,
                        struct cell_range range, int n, struct point_hashes *hashes)
{
    const struct basis basis = basis_of(source->basis);

    if (KERNEL_LANES < 16 || source->lanes || range.count > 33 - basis.corners) {
        for (int side = 0; side < basis.corners; side++)
            axis_hashes(source, axis, cell, basis.first + side, n,
                        (struct axis_hash){hashes->low[side], hashes->high[side]});
        return;
    }
    /* Most neighboring points lie within 32 cells. If a lookup is one instruction, hash those
     * cells once. */
    KERNEL_ALIGNED int64_t wanted[32];
    KERNEL_ALIGNED uint32_t low[32], high[32] = {0}, index[KERNEL_POINTS];
    KERNEL_ALIGNED float low_bits[32], high_bits[32];
    for (int i = 0; i < 32; i++)
        wanted[i] = range.first + i;
    axis_hashes(source, axis, wanted, basis.first, 32, (struct axis_hash){low, high});
    memcpy(low_bits, low, sizeof low);
    memcpy(high_bits, high, sizeof high);
    for (int i = 0; i < n; i++)
        index[i] = (uint32_t)(cell[i] - range.first);
    for (int side = 0; side < basis.corners; side++)
        for (int i = 0; i < n; i += KERNEL_LANES) {
            const integer_vector at = integer_load(index + i) + (uint32_t)side;
            const narrow_vector a = lookup_32(low_bits, at), b = lookup_32(high_bits, at);
            memcpy(hashes->low[side] + i, &a, sizeof a);
            memcpy(hashes->high[side] + i, &b, sizeof b);
        }
}

/* --- From indices to gradients, points and values --- */

/* gradients.h explains the table and the bits. */
static inline void gradients_of(const struct gradient_set *set, integer_vector index,
                                narrow_vector *x, narrow_vector *y)
{
    integer_vector gx = (integer_vector)lookup_32(set->x, index & 31);
    integer_vector gy = (integer_vector)lookup_32(set->y, index & 31);
    const integer_vector exchange = (gx ^ gy) & -(index >> 5 & 1) & set->exchange;
    gx ^= exchange;
    gy ^= exchange;
    *x = (narrow_vector)(gx ^ (index << 25 & set->sign));
    *y = (narrow_vector)(gy ^ (index << 24 & set->sign));
}

static inline void gradients_at(const struct gradient_set *set, const uint32_t *index, int n,
                                float *x, float *y)
{
    for (int i = 0; i < n; i += KERNEL_LANES) {
        narrow_vector gx, gy;
        gradients_of(set, integer_load(index + i), &gx, &gy);
        narrow_store(x + i, gx);
        narrow_store(y + i, gy);
    }
}

/* Gradients at a vector of corners in one lattice row under mix64: all in registers. */
static inline void mixed_gradients(const struct gradient_set *set, const uint32_t *low,
                                   const uint32_t *high, struct row_hash row, narrow_vector *x,
                                   narrow_vector *y)
{
    const integer_vector index =
        (integer_load(low) + row.low) * (integer_load(high) + row.high) >> 24;
    gradients_of(set, index, x, y);
}

static void gradients_3d_at(const uint32_t *index, int n, float *x, float *y, float *z)
{
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const integer_vector h = integer_load(index + i) & 31;
        narrow_store(x + i, lookup_32(gradients_3d[AXIS_X], h));
        narrow_store(y + i, lookup_32(gradients_3d[AXIS_Y], h));
        narrow_store(z + i, lookup_32(gradients_3d[AXIS_Z], h));
    }
}

/* A cellular cell's point: one of 256 evenly spread places. They form a lattice rule with the
 * generator 159, which is about 256 times the golden ratio. */
static inline void features_at(const uint32_t *restrict index, int n, float *restrict x,
                               float *restrict y)
{
    for (int i = 0; i < n; i++) {
        x[i] = ((float)(int32_t)index[i] + 0.5f) * 0x1p-8f;
        y[i] = ((float)(int32_t)(index[i] * 159 & 255) + 0.5f) * 0x1p-8f;
    }
}

/* (2 i - 255) / 255, rounded to nearest: 1 / 255 in two parts. */
static inline void values_at(const uint32_t *restrict index, int n, float *restrict value)
{
    const float part = 1 / 255.0f, rest = (float)(1 / 255.0 - (double)(1 / 255.0f));
    for (int i = 0; i < n; i++) {
        const float v = (float)(2 * (int32_t)index[i] - 255);
        value[i] = fmaf(v, part, v * rest);
    }
}

/* The gradients, points or values at N corners with these indices. A value is in Y, and then X is
 * not set. */
static inline void corners_at(const struct octave_source *source, const uint32_t *index, int n,
                              float *x, float *y)
{
    switch (basis_of(source->basis).corner) {
    case BASIS_GRADIENT:
        gradients_at(&source->noise->gradients, index, n, x, y);
        break;
    case BASIS_FEATURE:
        features_at(index, n, x, y);
        break;
    case BASIS_VALUE:
        values_at(index, n, y);
        break;
    }
}

/* True if TABLE has the corners around all cells in columns X and rows Y. A cell has CORNERS along
 * an axis. */
static bool has_corners(const struct corner_table *table, struct cell_range x, struct cell_range y,
                        int corners)
{
    return table->columns > 0 && x.first >= table->west &&
           x.first - table->west + x.count + corners - 1 <= table->columns &&
           y.first >= table->north && y.first - table->north + y.count + corners - 1 <= table->rows;
}

/* Fill TABLE from cell (X, Y) on, with as many rows as it has room for, because the next points lie
 * to the south. */
static void make_table(const struct octave_source *source, int64_t x, int64_t y, int columns,
                       struct corner_table *table)
{
    KERNEL_ALIGNED int64_t cell[2][KERNEL_TABLE];
    KERNEL_ALIGNED uint32_t low[2][KERNEL_TABLE], high[2][KERNEL_TABLE] = {{0}};
    KERNEL_ALIGNED uint32_t index[2 * KERNEL_TABLE] = {0};
    const int first = basis_of(source->basis).first, rows = KERNEL_TABLE / columns;

    for (int i = 0; i < KERNEL_TABLE; i++) {
        cell[AXIS_X][i] = x + i;
        cell[AXIS_Y][i] = y + i;
    }
    for (enum axis axis = AXIS_X; axis <= AXIS_Y; axis++)
        axis_hashes(source, axis, cell[axis], first, whole_steps(axis == AXIS_X ? columns : rows),
                    (struct axis_hash){low[axis], high[axis]});
    for (int j = 0; j < rows; j++) /* the next row overwrites what lies beyond the columns */
        row_indices(source->noise, (struct axis_hash){low[AXIS_X], high[AXIS_X]},
                    (struct row_hash){low[AXIS_Y][j], high[AXIS_Y][j]}, whole_steps(columns),
                    index + j * columns);
    corners_at(source, index, KERNEL_TABLE, table->x, table->y);
    table->west = x;
    table->north = y;
    table->columns = columns;
    table->rows = rows;
}

/* Look up the corners around N points. */
static void corners_from(const struct corner_table *table, const struct points *x,
                         const struct points *y, int corners, int n, struct point_corners *c)
{
    KERNEL_ALIGNED uint32_t index[KERNEL_POINTS];
    const int64_t west = table->west, north = table->north;
    const uint32_t columns = (uint32_t)table->columns;
    for (int i = 0; i < n; i++)
        index[i] = (uint32_t)(y->cell[i] - north) * columns + (uint32_t)(x->cell[i] - west);
    for (int k = 0; k < corners; k++)
        for (int side = 0; side < corners; side++)
            for (int i = 0; i < n; i += KERNEL_LANES) {
                const integer_vector at =
                    integer_load(index + i) + (uint32_t)k * columns + (uint32_t)side;
                narrow_store(c->x[k][side] + i, lookup_32(table->x, at));
                narrow_store(c->y[k][side] + i, lookup_32(table->y, at));
            }
}

static bool fits_table(struct cell_range columns, struct cell_range rows, int corners)
{
    const int64_t wide = columns.count + corners - 1, high = rows.count + corners - 1;
    return wide <= KERNEL_TABLE && high <= KERNEL_TABLE / wide;
}

/* The square of corners around each point. If a lookup is one instruction and TABLE is not NULL,
 * points that share corners look them up in TABLE, which is filled first if it lacks some. */
static void corners_around(const struct octave_source *source, struct corner_table *table,
                           const struct points *x, const struct points *y, int n,
                           struct point_corners *c)
{
    struct point_hashes column, row;
    KERNEL_ALIGNED uint32_t index[KERNEL_POINTS];
    const int corners = basis_of(source->basis).corners;
    const int range = KERNEL_PLACES && source->lanes ? 1 : n;
    const struct cell_range columns = range_of(x->cell, range), rows = range_of(y->cell, range);

    if (KERNEL_LANES == 16 && table && fits_table(columns, rows, corners)) {
        if (!has_corners(table, columns, rows, corners))
            make_table(source, columns.first, rows.first, (int)columns.count + corners - 1, table);
        corners_from(table, x, y, corners, n, c);
        return;
    }
    hash_points(source, AXIS_X, x->cell, columns, n, &column);
    hash_points(source, AXIS_Y, y->cell, rows, n, &row);
    for (int k = 0; k < corners; k++)
        for (int side = 0; side < corners; side++) {
            point_indices(source->noise, (struct axis_hash){column.low[side], column.high[side]},
                          (struct axis_hash){row.low[k], row.high[k]}, n, index);
            corners_at(source, index, n, c->x[k][side], c->y[k][side]);
        }
}

/* The same for any basis. Simplex noise finds its triangles by itself. */
static void points_corners(const struct octave_source *source, struct corner_table *table,
                           const struct points *x, const struct points *y, int n,
                           struct point_corners *c)
{
    if (source->basis != FARLANDS_SIMPLEX)
        corners_around(source, table, x, y, n, c);
}
