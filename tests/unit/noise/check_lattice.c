/* The integer lattice: floor division, steps without division, and hashes without patterns. */
#include <check.h>
#include <stdlib.h>

#include "noise/exact/lattice.h"
#include "noise/fractal/octave.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

static const struct {
    int64_t units, wavelength, cell, rest;
} places[] = {
    {0, 10, 0, 0},
    {9, 10, 0, 9},
    {10, 10, 1, 0},
    {-1, 10, -1, 9},
    {-9, 10, -1, 1},
    {-10, 10, -1, 0},
    {-11, 10, -2, 9},
    {1, 2, 0, 1},
    {-1, 2, -1, 1},
    {-2, 2, -1, 0},
    {-1, INT64_C(1) << 50, -1, (INT64_C(1) << 50) - 1},
    {INT64_C(1) << 62, 1024, INT64_C(1) << 52, 0},
    {-(INT64_C(1) << 62) - 1, 1024, -(INT64_C(1) << 52) - 1, 1023},
    {INT64_MAX, 1, INT64_MAX, 0},
    {INT64_MIN, 1, INT64_MIN, 0},
    {INT64_MAX, 2, (INT64_C(1) << 62) - 1, 1},
    {INT64_MIN, 2, -(INT64_C(1) << 62), 0},
    {INT64_MIN + 1, 2, -(INT64_C(1) << 62), 1},
    {INT64_MAX, 3, INT64_C(3074457345618258602), 1},
    {INT64_MIN, 3, INT64_C(-3074457345618258603), 1},
    {INT64_MAX, INT64_MAX, 1, 0},
    {INT64_MIN, INT64_MAX, -2, INT64_MAX - 1},
};

START_TEST(places_are_floors)
{
    struct lattice_place place = lattice_place(places[_i].units, places[_i].wavelength);
    REQUIRE(place.cell == places[_i].cell && place.rest == places[_i].rest,
            "%" PRId64 " / %" PRId64 ": cell %" PRId64 ", rest %" PRId64, places[_i].units,
            places[_i].wavelength, place.cell, place.rest);
}
END_TEST

/* Any magnitude is as likely as any other. */
static int64_t any_size(struct draws *draws, int bits)
{
    return (int64_t)(draw(draws) >> (64 - draw_between(draws, 1, bits)));
}

START_TEST(places_add_up)
{
    struct draws draws = {1, 0};
    for (int n = 0; n < 1000000; n++) {
        int64_t wavelength = 1 + any_size(&draws, 51);
        int64_t units = any_size(&draws, 63) * (n % 2 ? 1 : -1);
        struct lattice_place place = lattice_place(units, wavelength);
        bool inside = place.rest >= 0 && place.rest < wavelength;
        __int128 sum = (__int128)place.cell * wavelength + place.rest;
        REQUIRE(inside && sum == units,
                "%" PRId64 " / %" PRId64 ": cell %" PRId64 ", rest %" PRId64, units, wavelength,
                place.cell, place.rest);
    }
}
END_TEST

START_TEST(advance_is_place)
{
    struct draws draws = {2, 0};
    for (int walk = 0; walk < 5000; walk++) {
        int64_t wavelength = 2 + any_size(&draws, 50), step = 1 + any_size(&draws, 52);
        int64_t units = any_size(&draws, 62) * (walk % 2 ? 1 : -1);
        if (walk % 5 == 0) /* a step close to a multiple of the wavelength */
            step = wavelength * draw_between(&draws, 1, 3) + draw_between(&draws, -1, 1);
        const struct lattice_place stride = lattice_place(step, wavelength);
        struct lattice_place place = lattice_place(units, wavelength);
        for (int i = 0; i < 300; i++) {
            struct lattice_place expected = lattice_place(units, wavelength);
            REQUIRE(place.cell == expected.cell && place.rest == expected.rest,
                    "%" PRId64 " / %" PRId64 " after %d steps of %" PRId64 ": cell %" PRId64
                    ", rest %" PRId64,
                    units, wavelength, i, step, place.cell, place.rest);
            units += step;
            lattice_advance(&place, stride, wavelength);
        }
    }
}
END_TEST

/* A grid's coordinates, at multiples of the wavelength and next to them, at both ends and between.
 */
START_TEST(octave_places_are_places)
{
    static const int64_t ends[] = {0, FARLANDS_LIMIT + FARLANDS_MAX_STEP};
    struct draws draws = {3, 0};
    for (int n = 0; n < 1000000; n++) {
        const struct farlands_params params = {.period = 0};
        const int64_t wavelength = n % 7 == 0 ? INT64_C(2) << n / 7 % 50 : 2 + any_size(&draws, 49);
        struct octave octave = octave_make(&params, wavelength);
        octave_randomize(&octave, (uint64_t)n, 0, AXIS_X);
        const int64_t shift = octave.shift[AXIS_X];
        int64_t at = n % 3 == 0 ? any_size(&draws, 62) : ends[n % 2] - any_size(&draws, 52);
        if (n % 5 == 0)
            at = (at + shift) / wavelength * wavelength + draw_between(&draws, -1, 1) - shift;
        at = n % 4 < 2 ? at : -at;
        const struct lattice_place place = octave_place(&octave, AXIS_X, at);
        const struct lattice_place expected = lattice_place(at + shift, wavelength);
        REQUIRE(place.cell == expected.cell && place.rest == expected.rest,
                "%" PRId64 " + %" PRId64 " / %" PRId64 ": cell %" PRId64 ", rest %" PRId64, at,
                shift, wavelength, place.cell, place.rest);
    }
}
END_TEST

/* SplitMix64 from state 0, as printed by its reference implementation. */
static const uint64_t splitmix[] = {
    UINT64_C(0xe220a8397b1dcdaf),
    UINT64_C(0x6e789e6aa1b965f4),
    UINT64_C(0x06c45d188009454f),
    UINT64_C(0xf88bb8a8724c81ec),
};

START_TEST(mix_is_splitmix64)
{
    const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);
    for (int i = 0; i < LENGTH(splitmix); i++)
        ck_assert_uint_eq(lattice_mix((uint64_t)(i + 1) * golden), splitmix[i]);
    /* A seed's random numbers are SplitMix64 from the state mix(seed + golden). */
    for (int i = 0; i < LENGTH(splitmix); i++)
        ck_assert_uint_eq(lattice_random(0 - golden, (uint64_t)i), splitmix[i]);
}
END_TEST

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* 4 random numbers for each of 64 octaves of 1000 seeds: all keys differ. */
START_TEST(draws_never_coincide)
{
    enum { SEEDS = 1000, DRAWS = 256 };
    uint64_t *keys = malloc(sizeof *keys * SEEDS * DRAWS);
    ck_assert_ptr_nonnull(keys);
    for (uint64_t i = 0; i < SEEDS * DRAWS; i++)
        keys[i] = lattice_random(i / DRAWS - SEEDS / 2, i % DRAWS);
    qsort(keys, SEEDS * DRAWS, sizeof *keys, ascending);
    for (int i = 1; i < SEEDS * DRAWS; i++)
        REQUIRE(keys[i] != keys[i - 1], "%016" PRIx64 " is drawn twice", keys[i]);
    free(keys);
}
END_TEST

/* A region of the lattice: COLUMNS x ROWS corners, STEP cells apart, from (X, Y). */
static const struct region {
    const char *name;
    int64_t x, y, step;
    int columns, rows;
} regions[] = {
    {"a row", 0, 0, 1, 1 << 18, 1},
    {"a column", 0, 0, 1, 1, 1 << 18},
    {"a row west of 0", -(1 << 18), -1, 1, 1 << 18, 1},
    {"a column north of 0", -1, -(1 << 18), 1, 1, 1 << 18},
    {"around the origin", -256, -256, 1, 512, 512},
    {"every 256th", 0, 0, 256, 512, 512},
    {"every 2^32nd", 0, 0, INT64_C(1) << 32, 512, 512},
    {"every 3^30th", 0, 0, INT64_C(205891132094649), 512, 512},
    {"2^31 out", INT64_C(1) << 31, -(INT64_C(1) << 31), 1, 512, 512},
    {"2^61 out", -(INT64_C(1) << 61), INT64_C(1) << 61, 1, 512, 512},
};

/* Combinations of the hashes a b / c d of a rectangle's corners: 8 bits that should be random. */
enum combination { ALONE, EAST, SOUTH, DIAGONAL, TURN, XOR, SUM, PRODUCT, COMBINATIONS };

static const char *const combination_names[] = {
    "a",
    "half of a, half of b",
    "half of a, half of c",
    "half of a, half of d",
    "half of b, half of c",
    "a ^ b ^ c ^ d",
    "a - b - c + d",
    "d - b * c / a",
};

static uint32_t combine(enum combination combination, uint32_t a, uint32_t b, uint32_t c,
                        uint32_t d)
{
    switch (combination) {
    case ALONE:
        return a;
    case EAST:
        return (a >> 4) << 4 | b >> 4;
    case SOUTH:
        return (a & 15) << 4 | (c & 15);
    case DIAGONAL:
        return (a & 15) << 4 | (d & 15);
    case TURN:
        return (b >> 4) << 4 | c >> 4;
    case XOR:
        return a ^ b ^ c ^ d;
    case SUM:
        return (a - b - c + d) & 255;
    case PRODUCT:
        return (d - b * c / (a + 1)) & 255;
    case COMBINATIONS:
        break;
    }
    return 0;
}

/*
 * Chi-square with 255 degrees of freedom has mean 255 and deviation 22.6. Random hashes exceed
 * 400 once in 10^8; a pattern gives thousands.
 */
static void assert_uniform(const int count[256], int total, const char *what, const char *where,
                           uint64_t seed)
{
    double expected = total / 256.0, chi = 0;
    for (int i = 0; i < 256; i++)
        chi += (count[i] - expected) * (count[i] - expected) / expected;
    REQUIRE(chi < 400, "%s, %s, seed %" PRIu64 ": chi-square %g", where, what, seed, chi);
}

/* The corners of each rectangle from (i, j) to (i + 1, j + 1) of the region. */
START_TEST(corners_are_uniform)
{
    const struct region *region = &regions[_i];
    for (uint64_t seed = 0; seed < 4; seed++) {
        const uint64_t key_x = lattice_random(seed, 0), key_y = lattice_random(seed, 1);
        static int count[COMBINATIONS][256];
        memset(count, 0, sizeof count);
        for (int j = 0; j < region->rows; j++) {
            uint64_t y0 = lattice_axis(region->y + j * region->step, key_y);
            uint64_t y1 = lattice_axis(region->y + (j + 1) * region->step, key_y);
            for (int i = 0; i < region->columns; i++) {
                uint64_t x0 = lattice_axis(region->x + i * region->step, key_x);
                uint64_t x1 = lattice_axis(region->x + (i + 1) * region->step, key_x);
                uint32_t a = lattice_corner(x0, y0), b = lattice_corner(x1, y0);
                uint32_t c = lattice_corner(x0, y1), d = lattice_corner(x1, y1);
                REQUIRE((a | b | c | d) < 256, "more than 8 bits");
                for (int k = 0; k < COMBINATIONS; k++)
                    count[k][combine((enum combination)k, a, b, c, d)]++;
            }
        }
        for (int k = 0; k < COMBINATIONS; k++)
            if (k < XOR || (region->columns > 1 && region->rows > 1))
                assert_uniform(count[k], region->columns * region->rows, combination_names[k],
                               region->name, seed);
    }
}
END_TEST

/* A region in three or four dimensions: SIDE cells along an axis, STEP cells apart. */
static const struct {
    const char *name;
    int dimensions, side;
    int64_t from[4], step;
} boxes[] = {
    {"around the origin", 3, 64, {-32, -32, -32, 0}, 1},
    {"every 256th", 3, 64, {0, 0, 0, 0}, 256},
    {"every 2^32nd", 3, 64, {0, 0, 0, 0}, INT64_C(1) << 32},
    {"2^31 out", 3, 64, {INT64_C(1) << 31, -(INT64_C(1) << 31), INT64_C(1) << 31, 0}, 1},
    {"2^61 out", 3, 64, {-(INT64_C(1) << 61), INT64_C(1) << 61, INT64_C(1) << 61, 0}, 1},
    {"every 3^30th", 3, 64, {0, 0, 0, 0}, INT64_C(205891132094649)},
    {"around the origin in 4-D", 4, 22, {-11, -11, -11, -11}, 1},
    {"every 256th in 4-D", 4, 22, {0, 0, 0, 0}, 256},
    {"2^61 out in 4-D", 4, 22, {-(INT64_C(1) << 61), 0, INT64_C(1) << 61, -77}, 1},
};

/* Hashed as the noise does it: the last axes are joined first. */
static uint32_t joined_corner(int dimensions, const uint64_t axis[4])
{
    uint64_t others = dimensions == 4 ? lattice_join(axis[2], axis[3]) : axis[2];
    return lattice_corner(axis[0], lattice_join(axis[1], others));
}

/*
 * Exclusive or and alternating sum of the corners of each edge, rectangle, box and hypercube,
 * one for each set of axes. An empty set is a single corner.
 */
START_TEST(boxes_are_uniform)
{
    enum { SETS = 16, MOST = 23 * 23 * 23 * 23 };
    const int dimensions = boxes[_i].dimensions, side = boxes[_i].side;
    static uint8_t index[MOST];
    for (uint64_t seed = 0; seed < 4; seed++) {
        int stride[4], corners = 1;
        for (int axis = 0; axis < dimensions; axis++, corners *= side + 1)
            stride[axis] = corners;
        REQUIRE(corners <= LENGTH(index), "no room for %d corners", corners);
        for (int n = 0; n < corners; n++) {
            uint64_t mixed[4];
            for (int axis = 0; axis < dimensions; axis++) {
                uint64_t number = axis < 2 ? (uint64_t)axis : 254 + (uint64_t)axis;
                int64_t cell = n / stride[axis] % (side + 1) * boxes[_i].step;
                mixed[axis] =
                    lattice_axis(boxes[_i].from[axis] + cell, lattice_random(seed, number));
            }
            index[n] = (uint8_t)joined_corner(dimensions, mixed);
        }
        static int either[SETS][256], sum[SETS][256];
        int total = 0;
        memset(either, 0, sizeof either);
        memset(sum, 0, sizeof sum);
        for (int n = 0; n < corners; n++) {
            bool last = false;
            for (int axis = 0; axis < dimensions; axis++)
                last |= n / stride[axis] % (side + 1) == side;
            if (last)
                continue;
            total++;
            for (unsigned set = 0; set < 1U << dimensions; set++) {
                uint32_t x = 0, s = 0;
                for (unsigned corner = set;; corner = (corner - 1) & set) {
                    int at = n;
                    for (int axis = 0; axis < dimensions; axis++)
                        at += corner >> axis & 1 ? stride[axis] : 0;
                    x ^= index[at];
                    s += __builtin_parity(corner) ? 0U - index[at] : index[at];
                    if (corner == 0)
                        break;
                }
                either[set][x]++;
                sum[set][s & 255]++;
            }
        }
        for (unsigned set = 0; set < 1U << dimensions; set++) {
            char what[64];
            snprintf(what, sizeof what, "axes of 0x%x", set);
            assert_uniform(either[set], total, what, boxes[_i].name, seed);
            assert_uniform(sum[set], total, what, boxes[_i].name, seed);
        }
    }
}
END_TEST

/* y and z are not mirror images, and a volume is not one plane repeated. */
START_TEST(joined_axes_differ)
{
    const uint64_t key_y = lattice_random(7, 1), key_z = lattice_random(7, 256);
    int exchanged[256] = {0}, moved[256] = {0}, joined[256] = {0};
    const uint64_t x = lattice_axis(5, lattice_random(7, 0));
    for (int64_t j = -256; j < 256; j++) {
        for (int64_t k = -256; k < 256; k++) {
            uint64_t y = lattice_axis(j, key_y), z = lattice_axis(k, key_z);
            uint32_t here = lattice_corner(x, lattice_join(y, z));
            uint32_t mirrored =
                lattice_corner(x, lattice_join(lattice_axis(k, key_y), lattice_axis(j, key_z)));
            uint32_t turned = lattice_corner(x, lattice_join(z, y));
            uint32_t flat = lattice_corner(x, y);
            if (j != k)
                exchanged[(here - mirrored) & 255]++;
            moved[(here - turned) & 255]++;
            joined[(here - flat) & 255]++;
        }
    }
    assert_uniform(exchanged, 512 * 511, "y and z exchanged", "a plane", 7);
    assert_uniform(moved, 512 * 512, "joined the other way", "a plane", 7);
    assert_uniform(joined, 512 * 512, "joined or not", "a plane", 7);
}
END_TEST

/* Corners of the same cell under the keys of two octaves, or of two seeds. */
static const struct {
    const char *name;
    uint64_t seed_a, octave_a, seed_b, octave_b;
} keyings[] = {
    {"octaves 0 and 1", 1, 0, 1, 1},
    {"seeds 0 and 1", 0, 0, 1, 0},
    {"seeds 1 and 2", 1, 0, 2, 0},
    {"seeds 0 and 2^64 - 1", 0, 0, UINT64_MAX, 0},
    {"octave 1 of seed 0, octave 0 of seed 1", 0, 1, 1, 0},
};

START_TEST(keys_are_independent)
{
    uint64_t seed_a = keyings[_i].seed_a, seed_b = keyings[_i].seed_b;
    uint64_t a = 4 * keyings[_i].octave_a, b = 4 * keyings[_i].octave_b;
    const uint64_t ax = lattice_random(seed_a, a), ay = lattice_random(seed_a, a + 1);
    const uint64_t bx = lattice_random(seed_b, b), by = lattice_random(seed_b, b + 1);
    int both[256] = {0}, difference[256] = {0};
    for (int64_t y = -256; y < 256; y++) {
        for (int64_t x = -256; x < 256; x++) {
            uint32_t first = lattice_corner(lattice_axis(x, ax), lattice_axis(y, ay));
            uint32_t second = lattice_corner(lattice_axis(x, bx), lattice_axis(y, by));
            both[(first >> 4) << 4 | second >> 4]++;
            difference[(first - second) & 255]++;
        }
    }
    assert_uniform(both, 512 * 512, "halves", keyings[_i].name, seed_a);
    assert_uniform(difference, 512 * 512, "difference", keyings[_i].name, seed_a);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("lattice");
    TCase *place = tcase_create("places"), *hash = tcase_create("hashes");
    tcase_set_timeout(place, 60);
    tcase_add_loop_test(place, places_are_floors, 0, LENGTH(places));
    tcase_add_test(place, places_add_up);
    tcase_add_test(place, advance_is_place);
    tcase_add_test(place, octave_places_are_places);
    suite_add_tcase(suite, place);
    tcase_set_timeout(hash, 60);
    tcase_add_test(hash, mix_is_splitmix64);
    tcase_add_test(hash, draws_never_coincide);
    tcase_add_loop_test(hash, corners_are_uniform, 0, LENGTH(regions));
    tcase_add_loop_test(hash, boxes_are_uniform, 0, LENGTH(boxes));
    tcase_add_test(hash, joined_axes_differ);
    tcase_add_loop_test(hash, keys_are_independent, 0, LENGTH(keyings));
    suite_add_tcase(suite, hash);

    return suite_run(suite);
}
