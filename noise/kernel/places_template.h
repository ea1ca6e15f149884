/*
 * Coordinates in an octave's lattice: along a chunk's columns and rows, or at scattered points.
 * Included by kernel_template.h, which lists the parameters. Callers round counts up to whole
 * KERNEL_STEPs.
 */
#if !defined KERNEL || !defined KERNEL_LANES
#error "places_template.h: include kernel_template.h instead"
#endif

/* N rounded up to whole vectors. */
static inline int whole_vectors(int n)
{
    return (n + KERNEL_LANES - 1) & -KERNEL_LANES;
}

/* Exact for 0 <= n < 2^52: n becomes the low bits in a double. Unlike a plain conversion, every
 * instruction set can do this in vectors. */
static inline double exact_double(int64_t n)
{
    const uint64_t bits = UINT64_C(0x4330000000000000) + (uint64_t)n;
    double d;
    memcpy(&d, &bits, sizeof d);
    return d - 0x1p52;
}

/* The inverse of exact_double, exact for whole numbers up to 2^51 in size. */
static inline int64_t exact_integer(double d)
{
    uint64_t bits;
    d += 0x1.8p52;
    memcpy(&bits, &d, sizeof bits);
    return (int64_t)(bits - UINT64_C(0x4338000000000000));
}

/* --- Coordinates --- */

/* N coordinates in a narrow octave: FIRST + i * ONE. Every iteration is independent, so that the
 * loop can be vectorized. */
static void narrow_places(const struct octave *octave, struct lattice_place first,
                          struct lattice_place one, int n, struct places *p)
{
    const double wavelength = (double)octave->wavelength, inverse = octave->inverse;
    const double start = (double)first.rest, step = (double)one.rest;
    for (int i = 0; i < n; i++) {
        /* Exact: below 2^24 * KERNEL_CHUNK. The quotient may be one off, and LEFT shows whether it
         * is. */
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

/* N coordinates in any octave. */
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
 * The skew for simplex noise, (sqrt 3 - 1) / 2 times a coordinate. The factor has a fraction of 64
 * bits, so that whole cells are multiplied without loss at any distance.
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

/* Move N coordinates by WHOLE units and a FRACTION: new cells and fractions. */
static void move_places(const struct octave *octave, const int64_t *cell, const int64_t *rest,
                        const double *restrict whole, const double *restrict fraction, int n,
                        int64_t *new_cell, double *restrict f)
{
    const double wavelength = (double)octave->wavelength, inverse = octave->inverse;
    for (int i = 0; i < n; i++) {
        /* Exact, below 2^52 in size, except for the quotient: if AT is a multiple of the
         * wavelength, the quotient may be one less, and f is 1 instead of 0, which gives the same
         * noise. */
        const double at = exact_double(rest[i]) + whole[i];
        const double cells = floor(at * inverse);
        new_cell[i] = cell[i] + exact_integer(cells);
        f[i] = (fma(-cells, wavelength, at) + fraction[i]) * inverse;
    }
}

/* --- Points --- */

/* Point I's octave. */
static inline const struct octave *octave_of(const struct octave_source *source, int i)
{
    return source->octave + (KERNEL_PLACES && i < source->lanes ? i : 0);
}

/* A chunk's columns from FIRST on, without a copy. */
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

/* Make FEW from CHUNK's samples, not moved. */
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

/* A single place as N points, one per octave in SOURCE, and padding: its coordinate AT along AXIS
 * in each octave's lattice. MOVED: as in few_samples. */
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

/* The coordinates that COUNT samples have along AXIS. */
static struct points points_among(const struct octave_source *source, enum axis axis,
                                  const struct few_samples *few, int count, struct point_room *room)
{
    const struct octave *octave = source->octave;
    const struct coordinates along = axis == AXIS_X ? few->chunk->x : few->chunk->y;
    const int n = axis == AXIS_X ? few->chunk->width : few->chunk->height;
    struct lattice_place place[KERNEL_POINTS];
    for (int i = 0; i < n; i++)
        place[i] = octave_place(octave, axis, coordinate_at(along, i));
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

/* COUNT points, FROM displaced by D's elements from FIRST on. ROOM may be FROM's memory. */
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
