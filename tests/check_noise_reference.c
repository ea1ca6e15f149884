/* Heights against a plain transcription of the published formulas, and against values by hand. */
#include <check.h>
#include <stdlib.h>

#include "noise/farlands.h"
#include "noise/permutation.h"
#include "tests/fixtures.h"
#include "tests/reference_noise.h"
#include "tests/reference_params.h"

/*
 * How far a float32 height may lie from the double-precision one. An octave
 * rounds about ten times (fraction, fade, four dots, two interpolations), each
 * by at most 2^-24 of values up to 2; weighted means of octaves keep that
 * bound, adding them and the elevation's shift by 2 add a few more. 2^-18 is
 * far below what a wrong gradient, fade or corner would cost (over 0.01).
 */
static const double tolerance = 0x1p-18;

/*
 * Where every cell is broader than 2^24 units, a float could not tell two units
 * apart: the sum is promised in double, and only gradients and the height itself
 * are rounded, by 2^-25 each.
 */
static const double broad_tolerance = 0x1p-23;

/* Units: the origin, both sides of 0, fractions of a block, and far away. */
static const int64_t places[] = {
    0,
    1,
    -1,
    FARLANDS_UNIT / 2,
    -FARLANDS_UNIT / 2,
    BLOCKS(10.5),
    BLOCKS(-10.5),
    38400 + 77,
    -BLOCKS(399) - 1023,
    BLOCKS(1234) + 567,
    -BLOCKS(98765) - 432,
    BLOCKS(INT64_C(1) << 31) + 5,
    -BLOCKS(INT64_C(1) << 31) + 517,
    BLOCKS(INT64_C(1) << 40) - 3,
    -BLOCKS(INT64_C(1) << 40) - 700,
    FARLANDS_LIMIT - BLOCKS(12345) - 1,
    -FARLANDS_LIMIT + BLOCKS(54321) + 345,
    FARLANDS_LIMIT,
    -FARLANDS_LIMIT,
};

static void compare(const char *name, const struct farlands_params *params, double tolerance_metres)
{
    struct farlands_terrain *terrain = reference_terrain(params);
    static struct reference_noise reference;
    reference_noise_make(&reference, params);
    for (int i = 0; i < LENGTH(places); i++) {
        for (int j = 0; j < LENGTH(places); j++) {
            float height = farlands_height(terrain, places[i], places[j]);
            double expected = reference_height_at(&reference, places[i], places[j]);
            REQUIRE(fabs(height - expected) <= tolerance_metres,
                    "%s (%s): at (%" PRId64 ", %" PRId64 ") %.9g, formula %.9g", name,
                    reference_params_text(params), places[i], places[j], (double)height, expected);
        }
    }
    farlands_terrain_free(terrain);
}

static const struct shape {
    enum farlands_fractal fractal;
    int64_t wavelength;
    int octaves;
    double persistence, lacunarity;
} shapes[] = {
    {FARLANDS_NONE, BLOCKS(400), 1, 0.5, 2},
    {FARLANDS_NONE, BLOCKS(10.5), 14, 0.5, 2}, /* octaves are ignored */
    {FARLANDS_NONE, FARLANDS_MIN_WAVELENGTH, 1, 0.5, 2},
    {FARLANDS_NONE, FARLANDS_MAX_WAVELENGTH, 1, 0.5, 2},
    {FARLANDS_NONE, 1 << 24, 1, 0.5, 2},
    {FARLANDS_NONE, (1 << 24) + 1, 1, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(400), 1, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(400), 5, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(400), 5, 0.71, 1.9},
    {FARLANDS_FBM, BLOCKS(10.5), 5, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(10.5), 5, 1, 3.3},
    {FARLANDS_FBM, BLOCKS(400), 14, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(400), 14, 0.5, 1.9},
    {FARLANDS_FBM, BLOCKS(10.5), 14, 0.65, 1.9},
    {FARLANDS_FBM, BLOCKS(65536), 14, 0.5, 2},
    {FARLANDS_FBM, BLOCKS(1 << 20), 21, 0.55, 2},
    {FARLANDS_FBM, BLOCKS(1 << 20), 6, 0.55, 2},
    {FARLANDS_FBM, FARLANDS_MAX_WAVELENGTH, 14, 1, 3.3},
    {FARLANDS_FBM, FARLANDS_MAX_WAVELENGTH, FARLANDS_MAX_OCTAVES, 0.97, 1.5},
};

static void take_shape(struct farlands_params *params, const struct shape *shape)
{
    params->fractal = shape->fractal;
    params->wavelength = shape->wavelength;
    params->octaves = shape->octaves;
    params->persistence = shape->persistence;
    params->lacunarity = shape->lacunarity;
}

START_TEST(every_option_follows_its_formula)
{
    const struct shape *shape = &shapes[_i];
    static const uint64_t seeds[] = {0, 1, UINT64_MAX};
    for (int combination = 0; combination < GRADIENT_SETS * FADES * LENGTH(hashings);
         combination++) {
        const struct hashing *hashing = &hashings[combination % LENGTH(hashings)];
        struct farlands_params params = reference_params();
        params.gradients = (enum farlands_gradients)(combination / LENGTH(hashings) / FADES);
        params.fade = (enum farlands_fade)(combination / LENGTH(hashings) % FADES);
        params.hash = hashing->hash;
        params.octave_salt = hashing->octave_salt;
        take_shape(&params, shape);
        /* The shape joins the choice, so that each combination meets each seed. */
        params.seed = seeds[(combination / LENGTH(hashings) + _i) % LENGTH(seeds)];
        double last = (double)params.wavelength / pow(params.lacunarity, params.octaves - 1);
        if (params.fractal == FARLANDS_NONE)
            last = (double)params.wavelength;
        compare("options", &params, last > 1 << 24 ? broad_tolerance : tolerance);
    }
}
END_TEST

static const struct options {
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    enum farlands_hash hash;
    bool octave_salt;
} tutorial = {FARLANDS_UNIT8, FARLANDS_CUBIC, FARLANDS_PERMUTATION, false},
  improved = {FARLANDS_INTEGER8, FARLANDS_QUINTIC, FARLANDS_PERMUTATION, true},
  four_axes = {FARLANDS_AXIS4, FARLANDS_QUINTIC, FARLANDS_MIX64, false},
  angles = {FARLANDS_UNIT256, FARLANDS_CUBIC, FARLANDS_MIX64, false};

/*
 * Published descriptions of Perlin noise, as terrains. The elevation's ends are
 * the last two numbers: noise -N..N becomes -METRES..METRES, clamped.
 */
static const struct {
    const char *name;
    uint64_t seed;
    const struct options *options;
    struct shape shape;
    float n, metres;
} systems[] = {
    {"10 pixels a cell, 100 n", 0, &tutorial, {FARLANDS_NONE, BLOCKS(10), 1, 1, 1}, 1, 100},
    {"100 pixels a cell", 0, &tutorial, {FARLANDS_NONE, BLOCKS(100), 1, 1, 1}, 1, 1},
    {"500 pixels a cell", 0, &tutorial, {FARLANDS_NONE, BLOCKS(500), 1, 1, 1}, 1, 1},
    {"improved noise, salted", 0, &improved, {FARLANDS_FBM, BLOCKS(128), 8, 0.5, 2}, 1, 1},
    {"the same, seed 2002", 2002, &improved, {FARLANDS_FBM, BLOCKS(128), 8, 0.5, 2}, 1, 1},
    {"four axes", 3, &four_axes, {FARLANDS_FBM, BLOCKS(64), 8, 0.5, 2}, 1, 1},
    {"hashed angles", 5, &angles, {FARLANDS_FBM, BLOCKS(400), 12, 0.5, 2}, 1, 1},
    {"the same, contrast 1.2", 5, &angles, {FARLANDS_FBM, BLOCKS(400), 12, 0.5, 2}, 1 / 1.2f, 1},
};

START_TEST(published_systems_are_reproduced)
{
    const struct options *options = systems[_i].options;
    const float n = systems[_i].n, metres = systems[_i].metres;
    struct farlands_params params = {
        .seed = systems[_i].seed,
        .gradients = options->gradients,
        .fade = options->fade,
        .hash = options->hash,
        .octave_salt = options->octave_salt,
        .elevation = {{-n, -metres}, {n, metres}},
        .knots = 2,
    };
    take_shape(&params, &systems[_i].shape);
    compare(systems[_i].name, &params, tolerance * metres / n);
}
END_TEST

START_TEST(seed_0_is_the_published_permutation)
{
    uint8_t table[256];
    permutation_make(table, 0);
    for (int i = 0; i < 256; i++)
        REQUIRE(table[i] == reference_permutation[i], "entry %d: %d, published %d", i, table[i],
                reference_permutation[i]);
}
END_TEST

START_TEST(other_seeds_shuffle_it)
{
    static const uint64_t seeds[] = {0, 1, 2, 3, 1000, UINT64_C(1) << 32, UINT64_MAX};
    uint8_t tables[LENGTH(seeds)][256];
    for (int s = 0; s < LENGTH(seeds); s++) {
        bool seen[256] = {false};
        permutation_make(tables[s], seeds[s]);
        for (int i = 0; i < 256; i++) {
            REQUIRE(!seen[tables[s][i]], "seed %" PRIu64 ": %d twice", seeds[s], tables[s][i]);
            seen[tables[s][i]] = true;
        }
        for (int t = 0; t < s; t++) {
            /* Two random permutations share one place on average; 10 has odds of 1 : 10^7. */
            int same = 0;
            for (int i = 0; i < 256; i++)
                same += tables[s][i] == tables[t][i];
            REQUIRE(same < 10, "seeds %" PRIu64 " and %" PRIu64 ": %d equal entries", seeds[s],
                    seeds[t], same);
        }
    }
}
END_TEST

/*
 * By hand, with seed 0, wavelength 1 block. Cell (0, 0): P[0] = 151, P[1] = 160,
 * so the corners' hashes are P[151] = 17, P[152] = 182 above and P[160] = 119,
 * P[161] = 248 below. At (1/4, 1/2) with integer8 these are (-1,1), (0,1),
 * (0,-1), (1,1): products 1/4, 1/2, 1/2, -5/4. Linear: 5/16 above, 1/16 below,
 * 3/16 in the middle. Cell (-1, -1): P[255] = 180, P[179] = 253, P[180] = 19
 * above, P[150] = 58, P[151] = 17 below.
 */
static const struct {
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    int64_t x, y;
    double noise;
} by_hand[] = {
    {FARLANDS_INTEGER8, FARLANDS_LINEAR, 256, 512, 0.1875},
    {FARLANDS_INTEGER8, FARLANDS_CUBIC, 256, 512, 0.2578125},
    {FARLANDS_INTEGER8, FARLANDS_QUINTIC, 256, 512, 0.29736328125},
    {FARLANDS_AXIS4, FARLANDS_LINEAR, 256, 512, 0.0625},
    {FARLANDS_UNIT8, FARLANDS_LINEAR, 256, 512, 0.25 - 0.0625 * 0.70710678118654752},
    {FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 - 1024, 512 - 1024, -0.375},
    {FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 + 255 * 1024, 512 - 1024, -0.375},
    {FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 - 1024, 512 + 255 * 1024, -0.375},
};

START_TEST(values_by_hand)
{
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, BLOCKS(1));
    params.seed = 0;
    params.gradients = by_hand[_i].gradients;
    params.fade = by_hand[_i].fade;
    struct farlands_terrain *terrain = reference_terrain(&params);
    float height = farlands_height(terrain, by_hand[_i].x, by_hand[_i].y);
    REQUIRE(fabs(height - by_hand[_i].noise) <= 0x1p-22,
            "%s: at (%" PRId64 ", %" PRId64 ") %.9g, by hand %.9g", reference_params_text(&params),
            by_hand[_i].x, by_hand[_i].y, (double)height, by_hand[_i].noise);
    farlands_terrain_free(terrain);
}
END_TEST

/* Every corner's own product is with (0, 0) there. */
START_TEST(zero_at_lattice_points)
{
    static const int64_t wavelengths[] = {2, 1024, BLOCKS(10.5), BLOCKS(400), BLOCKS(1) + 1};
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, wavelengths[_i]);
    for (int g = 0; g < GRADIENT_SETS * FADES; g++) {
        params.gradients = (enum farlands_gradients)(g % GRADIENT_SETS);
        params.fade = (enum farlands_fade)(g / GRADIENT_SETS);
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int i = 0; i < LENGTH(places); i++) {
            for (int j = 0; j < LENGTH(places); j++) {
                int64_t x = places[i] / params.wavelength * params.wavelength;
                int64_t y = places[j] / params.wavelength * params.wavelength;
                float height = farlands_height(terrain, x, y);
                REQUIRE(height == 0, "%s: at (%" PRId64 ", %" PRId64 ") %g",
                        reference_params_text(&params), x, y, (double)height);
            }
        }
        farlands_terrain_free(terrain);
    }
}
END_TEST

/*
 * The ground close by: unit by unit around lattice points of broad cells, where
 * the noise begins at 0, each height is right to a small part of one step.
 */
START_TEST(broad_cells_have_no_steps)
{
    static const int64_t wavelengths[] = {(1 << 24) + 1, 1 << 26, (1 << 30) + 12345};
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, wavelengths[_i]);
    params.seed = 0;
    params.gradients = FARLANDS_INTEGER8;
    struct farlands_terrain *terrain = reference_terrain(&params);
    static struct reference_noise reference;
    reference_noise_make(&reference, &params);
    for (int n = 0; n < 64 * 64; n++) {
        int64_t x = (n % 64 - 32) * (params.wavelength + 1);
        int64_t y = (n / 64 - 32) * (params.wavelength + 1);
        double height = farlands_height(terrain, x, y);
        double expected = reference_height_at(&reference, x, y);
        REQUIRE(fabs(height - expected) <= 0.01 / (double)params.wavelength,
                "%s: at (%" PRId64 ", %" PRId64 ") %.9g, formula %.9g",
                reference_params_text(&params), x, y, height, expected);
    }
    farlands_terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_reference");
    TCase *formula = tcase_create("formula"), *known = tcase_create("known values");
    tcase_set_timeout(formula, 120);
    tcase_add_loop_test(formula, every_option_follows_its_formula, 0, LENGTH(shapes));
    tcase_add_loop_test(formula, published_systems_are_reproduced, 0, LENGTH(systems));
    tcase_add_loop_test(formula, broad_cells_have_no_steps, 0, 3);
    suite_add_tcase(suite, formula);
    tcase_add_test(known, seed_0_is_the_published_permutation);
    tcase_add_test(known, other_seeds_shuffle_it);
    tcase_add_loop_test(known, values_by_hand, 0, LENGTH(by_hand));
    tcase_add_loop_test(known, zero_at_lattice_points, 0, 5);
    suite_add_tcase(suite, known);

    return suite_run(suite);
}
