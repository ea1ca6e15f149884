/*
 * Coordinates, corner hashes, and gradients, points and values of corners, as loops over arrays.
 * Part of kernel_template.h, which lists the parameters. Callers round counts up to whole
 * KERNEL_STEPs.
 */
#if !defined KERNEL || !defined KERNEL_LANES
#error "lattice_template.h: include kernel_template.h instead"
#endif

/* N rounded up to whole vectors. */
static inline int whole_vectors(int n)
{
    return (n + KERNEL_LANES - 1) & -KERNEL_LANES;
}

/* Exact for 0 <= n < 2^52: n becomes the low bits of a double. Unlike a plain conversion, every
 * instruction set can do this in vectors. */
static inline double exact_double(int64_t n)
{
    const uint64_t bits = UINT64_C(0x4330000000000000) + (uint64_t)n;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d - 0x1p52;
}

/* The inverse, exact for whole numbers up to 2^51 in size. */
static inline int64_t exact_integer(double d)
{
    uint64_t bits;
    d += 0x1.8p52;
    memcpy(&bits, &d, sizeof bits);
    return (int64_t)(bits - UINT64_C(0x4338000000000000));
}

/* --- Coordinates --- */

/* N coordinates of a narrow octave: FIRST + i * ONE. No iteration depends on the one before. */
static void narrow_places(const struct octave *octave, struct lattice_place first,
                          struct lattice_place one, int n, struct places *p)
{
    const double wavelength = (double)octave->wavelength, inverse = octave->inverse;
    const double start = (double)first.rest, step = (double)one.rest;
    for (int i = 0; i < n; i++) {
        /* Exact: below 2^24 * KERNEL_CHUNK. The quotient may be one off, which LEFT shows. */
        const double at = fma((double)i, step, start);
        double cells = floor(at * inverse);
        const double left = fma(-cells, wavelength, at);
        cells += left < 0 ? -1.0 : left >= wavelength ? 1.0 : 0.0;
        const double rest = fma(-cells, wavelength, at);
        p->f[i] = rest * inverse;
        p->rest[i] = (int32_t)rest;
        p->cell[i] = first.cell + i * one.cell + (int32_t)cells;
    }
}

/* N coordinates. */
static void places_along(const struct octave *octave, enum axis axis, struct coordinates along,
                         int n, struct places *p)
{
    const int64_t wavelength = octave->wavelength;
    const struct lattice_place one = lattice_place(along.step, wavelength);
    struct lattice_place place = octave_place(octave, axis, along.first);

    if (!along.at && !octave_is_broad(octave)) {
        narrow_places(octave, place, one, n, p);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (along.at)
            place = octave_place(octave, axis, along.at[i]);
        p->cell[i] = place.cell;
        p->rest[i] = place.rest;
        p->f[i] = exact_double(place.rest) * octave->inverse;
        lattice_advance(&place, one, wavelength);
    }
}

/*
 * The skew of simplex noise, (sqrt 3 - 1) / 2 times a coordinate. The factor has 64 bits of
 * fraction, so that whole cells are multiplied without loss at any distance.
 */
static void skew_places(const int64_t *restrict cell, const double *restrict f, int n,
                        int64_t *restrict skew, double *restrict skew_f)
{
    const uint64_t skew_bits = UINT64_C(0x5db3d742c265539e);
    for (int i = 0; i < n; i++) {
        const __int128 product = (__int128)cell[i] * skew_bits;
        const int64_t fraction = (int64_t)((uint64_t)product >> 12);
        skew[i] = (int64_t)(product >> 64);
        skew_f[i] = fma(f[i], (double)skew_bits * 0x1p-64, exact_double(fraction) * 0x1p-52);
    }
}

/* Move N coordinates by WHOLE units and a FRACTION of one: new cells and fractions. */
static void move_places(const struct octave *octave, const int64_t *cell, const int64_t *rest,
                        const double *restrict whole, const double *restrict fraction, int n,
                        int64_t *new_cell, double *restrict f)
{
    const double wavelength = (double)octave->wavelength, inverse = octave->inverse;
    for (int i = 0; i < n; i++) {
        /* Exact, below 2^52 in size, except the quotient: if AT is a multiple of the wavelength it
         * may be one less, and f is 1 instead of 0, which gives the same noise. */
        const double at = exact_double(rest[i]) + whole[i];
        const double cells = floor(at * inverse);
        new_cell[i] = cell[i] + exact_integer(cells);
        f[i] = (fma(-cells, wavelength, at) + fraction[i]) * inverse;
    }
}

/* --- Points --- */

/* The octave of point I. */
static inline const struct octave *octave_of(const struct octave_source *source, int i)
{
    return source->octave + (KERNEL_PLACES && i < source->lanes ? i : 0);
}

/* The columns of a chunk from FIRST on, in place. */
static struct points points_of(const struct places *places, int first)
{
    return (struct points){places->cell + first, places->rest + first, places->f + first,
                           places->skew + first, places->skew_f + first};
}

/* One row, COUNT times. */
static struct points points_repeat(const struct places *places, int row, int count,
                                   struct point_room *room)
{
    for (int i = 0; i < count; i++) {
        room->cell[i] = places->cell[row];
        room->rest[i] = places->rest[row];
        room->f[i] = places->f[row];
        room->skew[i] = places->skew[row];
        room->skew_f[i] = places->skew_f[row];
    }
    return (struct points){room->cell, room->rest, room->f, room->skew, room->skew_f};
}

/* Take the samples of CHUNK, not moved. */
static void take_samples(const struct chunk *chunk, struct few_samples *few)
{
    few->chunk = chunk;
    few->moved = NULL;
    few->count = 0;
    for (int j = 0; j < chunk->height; j++)
        for (int i = 0; i < chunk->width; i++) {
            few->number[AXIS_X][few->count] = (uint8_t)i;
            few->number[AXIS_Y][few->count++] = (uint8_t)j;
        }
    for (; few->count % KERNEL_LANES != 0; few->count++)
        for (int axis = 0; axis < 2; axis++)
            few->number[axis][few->count] = few->number[axis][few->count - 1];
}

/* AT, the coordinate of a single place along AXIS, in each octave of SOURCE: N points, with those
 * beyond the octaves. MOVED: as of few_samples. */
static struct points points_at(const struct octave_source *source, enum axis axis, int64_t at,
                               const struct displacement *moved, int n, struct point_room *room)
{
    for (int i = 0; i < source->lanes; i++) {
        const struct octave *octave = &source->octave[i];
        const struct lattice_place place = octave_place(octave, axis, at);
        room->cell[i] = place.cell;
        room->rest[i] = place.rest;
        room->f[i] = exact_double(place.rest) * octave->inverse;
    }
    for (int i = 0; moved && i < source->lanes; i++)
        move_places(&source->octave[i], &room->cell[i], &room->rest[i], moved[axis].whole,
                    moved[axis].fraction, 1, &room->cell[i], &room->f[i]);
    for (int i = source->lanes; i < n; i++) {
        room->cell[i] = room->cell[0];
        room->f[i] = room->f[0];
    }
    if (source->basis == FARLANDS_SIMPLEX)
        skew_places(room->cell, room->f, n, room->skew, room->skew_f);
    return (struct points){room->cell, room->rest, room->f, room->skew, room->skew_f};
}

/* Coordinates of COUNT samples along AXIS. */
static struct points points_among(const struct octave_source *source, enum axis axis,
                                  const struct few_samples *few, int count, struct point_room *room)
{
    const struct octave *octave = source->octave;
    const struct coordinates along = axis == AXIS_X ? few->chunk->x : few->chunk->y;
    const int n = axis == AXIS_X ? few->chunk->width : few->chunk->height;
    struct lattice_place place[KERNEL_POINTS];
    for (int i = 0; i < n; i++) {
        const int64_t at = along.at ? along.at[i] : along.first + i * along.step;
        place[i] = octave_place(octave, axis, at);
    }
    for (int i = 0; i < count; i++) {
        const struct lattice_place *p = &place[few->number[axis][i]];
        room->cell[i] = p->cell;
        room->rest[i] = p->rest;
        room->f[i] = exact_double(p->rest) * octave->inverse;
    }
    if (source->basis == FARLANDS_SIMPLEX)
        skew_places(room->cell, room->f, count, room->skew, room->skew_f);
    return (struct points){room->cell, room->rest, room->f, room->skew, room->skew_f};
}

/* COUNT points FROM displaced by D, from its element FIRST on. ROOM may be FROM's own. */
static struct points points_moved(const struct octave_source *source, struct points from,
                                  const struct displacement *d, int first, int count,
                                  struct point_room *room)
{
    move_places(source->octave, from.cell, from.rest, d->whole + first, d->fraction + first, count,
                room->cell, room->f);
    if (source->basis == FARLANDS_SIMPLEX)
        skew_places(room->cell, room->f, count, room->skew, room->skew_f);
    return (struct points){room->cell, from.rest, room->f, room->skew, room->skew_f};
}

/* --- Hashes --- */

/* CELL of a lattice that repeats after PERIOD cells, within 0 .. PERIOD - 1. */
static inline int64_t wrapped(int64_t cell, int64_t period)
{
    const int64_t rest = cell % period;
    return rest < 0 ? rest + period : rest;
}

/* Hashes of N lattice columns or rows under KEYs, each CELL plus MORE. EACH: they have a key each.
 */
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

/* The same under the keys of SOURCE, whichever its hash is. */
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

/* The hash of a single lattice row. */
struct row_hash {
    uint32_t low, high;
};

static struct row_hash row_hash(const struct octave_source *source, int64_t cell)
{
    struct row_hash hash = {0, 0};
    axis_hashes(source, AXIS_Y, &cell, 0, 1, (struct axis_hash){&hash.low, &hash.high});
    return hash;
}

/* Indices of N corners in one lattice row ... */
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

/* ... and of N corners with a row each. */
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

/* Cells from FIRST on, COUNT - 1 of them east or south of it. */
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
    /* Far apart is far enough: the cells of padding may be anywhere. */
    const uint64_t span = (uint64_t)highest - (uint64_t)lowest;
    return (struct cell_range){lowest, span < INT32_MAX ? (int64_t)span + 1 : INT32_MAX};
}

/* Hashes of N points' lattice columns, or rows, and of the corners beside them. The points lie in
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
    /* Most neighbouring points lie within 32 cells. If a lookup is one instruction, hash these. */
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

/* Gradients of a vector of corners in one lattice row under mix64: all in registers. */
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

/* The point of a cellular cell: one of 256 evenly spread places, a lattice rule whose generator,
 * 159, is about 256 times the golden ratio. */
static inline void features_at(const uint32_t *restrict index, int n, float *restrict x,
                               float *restrict y)
{
    for (int i = 0; i < n; i++) {
        x[i] = ((float)(int32_t)index[i] + 0.5f) * 0x1p-8f;
        y[i] = ((float)(int32_t)(index[i] * 159 & 255) + 0.5f) * 0x1p-8f;
    }
}

/* (2 i - 255) / 255, rounded to the nearest: 1 / 255 in two parts. */
static inline void values_at(const uint32_t *restrict index, int n, float *restrict value)
{
    const float part = 1 / 255.0f, rest = (float)(1 / 255.0 - (double)(1 / 255.0f));
    for (int i = 0; i < n; i++) {
        const float v = (float)(2 * (int32_t)index[i] - 255);
        value[i] = fmaf(v, part, v * rest);
    }
}

/* The gradients, points or values of N corners with these indices. A value is Y; X is not set. */
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

/* True if TABLE has the corners of all cells in columns X and rows Y. CORNERS: of a cell along an
 * axis. */
static bool has_corners(const struct corner_table *table, struct cell_range x, struct cell_range y,
                        int corners)
{
    return table->columns > 0 && x.first >= table->west &&
           x.first - table->west + x.count + corners - 1 <= table->columns &&
           y.first >= table->north && y.first - table->north + y.count + corners - 1 <= table->rows;
}

/* Make TABLE of cells from the first of X and Y on, with room for as many rows as there can be: the
 * next points lie south of these. */
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
    for (int j = 0; j < rows; j++) /* what is beyond its columns, the next row overwrites */
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

/* The square of corners around each point. If a lookup is one instruction, those that points share
 * are taken from TABLE, which is made if it does not have them; NULL: none. */
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

/* The same for any basis; corners of simplex noise are those of a triangle. */
static void points_corners(const struct octave_source *source, struct corner_table *table,
                           const struct points *x, const struct points *y, int n,
                           struct point_corners *c)
{
    if (source->basis != FARLANDS_SIMPLEX)
        corners_around(source, table, x, y, n, c);
}

/* --- A row of corners --- */

/* Prepare the lattice columns of a chunk: N samples, UNITS apart. */
static void lattice_begin(const struct octave_source *source, const struct places *places,
                          int64_t units, int n, struct lattice *lattice)
{
    const struct basis basis = basis_of(source->basis);
    const struct axis_hash hash = {lattice->low, lattice->high};
    /* A vector of samples, and the column after them, lie within a vector of columns. */
    lattice->dense = units * (KERNEL_LANES - 1) <= source->octave->wavelength * (KERNEL_LANES - 2);
    if (!lattice->dense) {
        for (int side = 0; side < basis.corners; side++)
            axis_hashes(source, AXIS_X, places->cell, basis.first + side, n,
                        (struct axis_hash){hash.low + side * KERNEL_CHUNK,
                                           hash.high + side * KERNEL_CHUNK});
        return;
    }
    const int64_t first = places->cell[0];
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const int64_t base = places->cell[i];
        lattice->group[i / KERNEL_LANES] = (int32_t)(base - first);
        for (int l = 0; l < KERNEL_LANES; l++)
            lattice->near[i + l] = (uint32_t)(places->cell[i + l] - base);
    }
    /* The last group may read beyond its cells. */
    lattice->count = (int)(places->cell[n - 1] - first) + basis.corners;
    int64_t cell[KERNEL_CHUNK + KERNEL_STEP];
    cell[0] = first;
    for (int i = 1; i < whole_steps(lattice->count); i++)
        cell[i] = first + i;
    axis_hashes(source, AXIS_X, cell, basis.first, whole_steps(lattice->count), hash);
}

/* OUT[i] = VALUE of the lattice column SIDE columns east of sample i's first corner. */
static inline void expand(const struct lattice *lattice, const float *value, int side, int n,
                          float *out)
{
    for (int i = 0; i < n; i += KERNEL_LANES)
        narrow_store(out + i,
                     lookup_lanes(narrow_load(value + lattice->group[i / KERNEL_LANES] + side),
                                  integer_load(lattice->near + i)));
}

/* The corners of lattice row ROW at each of N samples: work->side_x, side_y. If the lattice is
 * dense and the basis FARLANDS_PERLIN, work->x, y of lattice columns instead, not yet expanded. */
static void lattice_line(const struct octave_source *source, const struct lattice *lattice,
                         int64_t row, int n, struct line_work *work)
{
    const struct noise *noise = source->noise;
    const struct basis basis = basis_of(source->basis);
    const struct row_hash hash = row_hash(source, row);
    struct axis_hash columns = {(uint32_t *)lattice->low, (uint32_t *)lattice->high};

    if (!lattice->dense) {
        for (int side = 0; side < basis.corners; side++) {
            row_indices(noise, columns, hash, n, work->index);
            corners_at(source, work->index, n, work->side_x[side], work->side_y[side]);
            columns.low += KERNEL_CHUNK;
            columns.high += KERNEL_CHUNK;
        }
        return;
    }
    const int count = whole_steps(lattice->count);
    if (source->basis == FARLANDS_PERLIN && noise->hash == FARLANDS_MIX64) {
        for (int i = 0; i < count; i += KERNEL_LANES) {
            narrow_vector x, y;
            mixed_gradients(&noise->gradients, columns.low + i, columns.high + i, hash, &x, &y);
            narrow_store(work->x + i, x);
            narrow_store(work->y + i, y);
        }
        return;
    }
    row_indices(noise, columns, hash, count, work->index);
    corners_at(source, work->index, count, work->x, work->y);
    if (source->basis == FARLANDS_PERLIN)
        return;
    for (int side = 0; side < basis.corners; side++) {
        if (basis.corner != BASIS_VALUE)
            expand(lattice, work->x, side, n, work->side_x[side]);
        expand(lattice, work->y, side, n, work->side_y[side]);
    }
}

/*
 * Perlin noise, narrow octaves: both components of both corners at once, interpolated along x as in
 * perlin_line. Fine octaves spend most of their time here. First if samples share cells ...
 */
static inline void expand_perlin(const struct lattice *lattice, const struct line_work *w,
                                 const float (*p)[KERNEL_CHUNK], const float (*q)[KERNEL_CHUNK],
                                 int n, float *restrict along, float *restrict across)
{
    for (int i = 0; i < n; i += KERNEL_LANES) {
        const int base = lattice->group[i / KERNEL_LANES];
        const integer_vector west = integer_load(lattice->near + i), east = west + 1;
        const narrow_vector x = narrow_load(w->x + base), y = narrow_load(w->y + base);
        const narrow_vector x0 = lookup_lanes(x, west), x1 = lookup_lanes(x, east);
        const narrow_vector y0 = lookup_lanes(y, west), y1 = lookup_lanes(y, east);
        narrow_store(along + i,
                     narrow_multiply_add(narrow_load(p[1] + i), x1, narrow_load(p[0] + i) * x0));
        narrow_store(across + i,
                     narrow_multiply_add(narrow_load(q[1] + i), y1, narrow_load(q[0] + i) * y0));
    }
}

/* ... then if cells are finer than samples, under mix64. */
static inline void mix_perlin(const struct lattice *lattice, const struct gradient_set *set,
                              struct row_hash row, const float (*p)[KERNEL_CHUNK],
                              const float (*q)[KERNEL_CHUNK], int n, float *restrict along,
                              float *restrict across)
{
    const uint32_t *low = lattice->low, *high = lattice->high;
    for (int i = 0; i < n; i += KERNEL_LANES) {
        narrow_vector x0, y0, x1, y1;
        mixed_gradients(set, low + i, high + i, row, &x0, &y0);
        mixed_gradients(set, low + KERNEL_CHUNK + i, high + KERNEL_CHUNK + i, row, &x1, &y1);
        narrow_store(along + i,
                     narrow_multiply_add(narrow_load(p[1] + i), x1, narrow_load(p[0] + i) * x0));
        narrow_store(across + i,
                     narrow_multiply_add(narrow_load(q[1] + i), y1, narrow_load(q[0] + i) * y0));
    }
}

/* Indices of N corners in space: lattice row ROW of lattice slice SLICE. */
static void space_indices(const struct octave_source *source, struct axis_hash column, int64_t row,
                          int64_t slice, int n, uint32_t *restrict index)
{
    const struct noise *noise = source->noise;
    const struct octave *octave = source->octave;
    const uint32_t *restrict p = noise->permutation;
    if (noise->hash == FARLANDS_MIX64) {
        const uint64_t joined = lattice_join(lattice_axis(row, octave->key[AXIS_Y]),
                                             lattice_axis(slice, octave->key[AXIS_Z]));
        row_indices(noise, column, (struct row_hash){(uint32_t)joined, (uint32_t)(joined >> 32)}, n,
                    index);
        return;
    }
    const uint32_t y = (uint32_t)row, z = (uint32_t)slice + octave->salt;
    for (int i = 0; i < n; i++)
        index[i] = p[(p[(p[column.low[i] & 255] + y) & 255] + z) & 255];
}
