/* Heights against a plain transcription of the published formulas, and against values computed by
 * hand. */
#include <check.h>
#include <stdlib.h>

#include "noise/exact/permutation.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_noise.h"
#include "tests/unit/support/reference_params.h"

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

/* A curve through 0 that gives the noise itself up to its ends, END, a power of two. */
static void take_curve(struct farlands_params *params, float end)
{
    params->elevation[0] = (struct farlands_knot){-end, -end};
    params->elevation[1] = (struct farlands_knot){0, 0};
    params->elevation[2] = (struct farlands_knot){end, end};
    params->knots = 3;
}

/*
 * How far a height may be from the formula's. The noise's error; if octaves were added in float,
 * one rounding of the noise, and for the curve two of numbers up to its end, times STEEPNESS, in
 * metres per noise. If all octaves are broad, noise and height are computed in double and
 * rounded once each.
 */
static double tolerance(const struct reference_noise *reference, struct reference_value noise,
                        double steepness)
{
    const struct farlands_params *params = &reference->params;
    double end = params->elevation[params->knots - 1].metres;
    if (reference_any_float(reference))
        return steepness * (noise.error + 0x1p-25 * fabs(noise.n)) + 0x1p-23 * end;
    return steepness * (noise.error + 0x1p-24 * fabs(noise.n));
}

static void compare_at(const char *name, const struct farlands_terrain *terrain,
                       const struct reference_noise *reference, int64_t x, int64_t y)
{
    const struct farlands_params *params = &reference->params;
    const struct farlands_knot *last = &params->elevation[params->knots - 1];
    double height = terrain_height(terrain, x, y);
    struct reference_value noise = reference_noise_at(reference, x, y);
    double expected = reference_elevation(params, noise.n);
    double accepted = tolerance(reference, noise, (double)last->metres / (double)last->noise);
    REQUIRE(fabs(height - expected) <= accepted,
            "%s (%s): at (%" PRId64 ", %" PRId64 ") %.9g, formula %.9g, off by %.3g of %.3g", name,
            reference_params_text(params), x, y, height, expected, fabs(height - expected),
            accepted);
}

/* At all pairs of places, and at COUNT random places within a few cells of them. */
static void compare(const char *name, const struct farlands_params *params, int count)
{
    struct farlands_terrain *terrain = reference_terrain(params);
    static struct reference_noise reference;
    reference_noise_make(&reference, params);
    for (int i = 0; i < LENGTH(places); i++)
        for (int j = 0; j < LENGTH(places); j++)
            compare_at(name, terrain, &reference, places[i], places[j]);
    struct draws draws = {900, 0};
    int64_t around = 4 * params->wavelength;
    for (int n = 0; n < count; n++) {
        int64_t x = places[draw_between(&draws, 0, LENGTH(places) - 1)] / 2;
        int64_t y = places[draw_between(&draws, 0, LENGTH(places) - 1)] / 2;
        x += draw_between(&draws, -around, around);
        y += draw_between(&draws, -around, around);
        compare_at(name, terrain, &reference, x, y);
    }
    terrain_free(terrain);
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

static const uint64_t seeds[] = {0, 1, UINT64_MAX};

/* Option number CHOICE of all bases, gradients, fades and hashings, with each seed in turn. */
enum { CHOICES = FARLANDS_BASES * FARLANDS_GRADIENT_SETS * FARLANDS_FADES * LENGTH(hashings) };

static void take_choice(struct farlands_params *params, int choice, int turn)
{
    const struct hashing *hashing = &hashings[choice % LENGTH(hashings)];
    params->hash = hashing->hash;
    params->octave_salt = hashing->octave_salt;
    choice /= LENGTH(hashings);
    params->fade = (enum farlands_fade)(choice % FARLANDS_FADES);
    choice /= FARLANDS_FADES;
    params->gradients = (enum farlands_gradients)(choice % FARLANDS_GRADIENT_SETS);
    choice /= FARLANDS_GRADIENT_SETS;
    params->basis = (enum farlands_basis)choice;
    params->seed = seeds[turn % LENGTH(seeds)];
}

/* The rows of a table take turns: seven rows cover all choices, and each row every option of any
 * kind. */
enum { TURNS = 7 };

START_TEST(every_option_follows_its_formula)
{
    for (int choice = 0; choice < CHOICES; choice++) {
        struct farlands_params params = reference_params();
        /* The row is part of the turn, so that each choice meets each seed. */
        take_choice(&params, choice, choice / LENGTH(hashings) + _i);
        take_shape(&params, &shapes[_i]);
        compare("options", &params, 50);
    }
}
END_TEST

/* Fractals and their parameters. END of the curve is above their maximum. */
static const struct {
    struct shape shape;
    double offset, gain;
    float end;
} fractals[] = {
    {{FARLANDS_BILLOW, BLOCKS(400), 1, 0.5, 2}, 1, 2, 2},
    {{FARLANDS_BILLOW, BLOCKS(400), 14, 0.5, 1.9}, 1, 2, 2},
    {{FARLANDS_BILLOW, BLOCKS(1 << 20), 6, 0.7, 2}, 1, 2, 2},
    {{FARLANDS_BILLOW, FARLANDS_MAX_WAVELENGTH, 40, 1, 2}, 0, 0, 2},
    {{FARLANDS_RIDGED, BLOCKS(400), 1, 0.5, 2}, 1, 2, 2},
    {{FARLANDS_RIDGED, BLOCKS(400), 14, 0.5, 1.9}, 1, 2, 2},
    {{FARLANDS_RIDGED, BLOCKS(1 << 20), 6, 0.5, 2}, 1, 2, 2},
    {{FARLANDS_RIDGED, BLOCKS(65536), 14, 0.5, 2}, 0.7, 1.5, 2},
    {{FARLANDS_RIDGED, BLOCKS(65536), 8, 0.9, 2}, 0, 16, 2},
    {{FARLANDS_RIDGED, BLOCKS(65536), 14, 0.5, 2}, 1, 0, 2},
    {{FARLANDS_RIDGED, BLOCKS(65536), 6, 1, 3}, 0.5, FARLANDS_MAX_GAIN, 4},
    {{FARLANDS_RIDGED, BLOCKS(65536), 6, 0.5, 2}, FARLANDS_MAX_OFFSET, 2, 512},
    {{FARLANDS_HYBRID, BLOCKS(400), 1, 0.5, 2}, 1, 2, 4},
    {{FARLANDS_HYBRID, BLOCKS(400), 14, 0.5, 1.9}, 0.7, 0, 4},
    {{FARLANDS_HYBRID, BLOCKS(1 << 20), 6, 0.5, 2}, 1, 2, 4},
    {{FARLANDS_HYBRID, BLOCKS(65536), 14, 0.9, 2}, 1, 2, 4},
    {{FARLANDS_HYBRID, BLOCKS(65536), 10, 1, 2}, 0, 2, 4},
    {{FARLANDS_HYBRID, FARLANDS_MAX_WAVELENGTH, 14, 0.75, 4}, 0.7, 2, 4},
    {{FARLANDS_HYBRID, BLOCKS(65536), 6, 0.5, 2}, FARLANDS_MAX_OFFSET, 0, 32},
};

START_TEST(fractals_follow_their_formulas)
{
    for (int choice = _i % TURNS; choice < CHOICES; choice += TURNS) {
        struct farlands_params params = reference_params();
        take_choice(&params, choice, choice / LENGTH(hashings) + _i);
        take_shape(&params, &fractals[_i].shape);
        params.offset = fractals[_i].offset;
        params.gain = fractals[_i].gain;
        take_curve(&params, fractals[_i].end);
        compare("fractal", &params, 50);
    }
}
END_TEST

/*
 * Places moved by small and large parts of a cell, by more than a cell, and so far that
 * neighbors become distant.
 */
static const struct {
    int64_t amplitude, wavelength;
    struct shape shape;
} warps[] = {
    {1, BLOCKS(100), {FARLANDS_NONE, BLOCKS(400), 1, 0.5, 2}},
    {BLOCKS(40), BLOCKS(100), {FARLANDS_NONE, BLOCKS(400), 1, 0.5, 2}},
    {BLOCKS(3000), BLOCKS(2000), {FARLANDS_NONE, BLOCKS(400), 1, 0.5, 2}},
    {BLOCKS(300.7), FARLANDS_MIN_WAVELENGTH, {FARLANDS_FBM, BLOCKS(400), 6, 0.5, 2}},
    {BLOCKS(100), BLOCKS(500), {FARLANDS_FBM, BLOCKS(1000), 8, 0.5, 1.9}},
    {BLOCKS(1000), BLOCKS(1 << 16), {FARLANDS_RIDGED, BLOCKS(1000), 6, 0.5, 2}},
    {BLOCKS(500), BLOCKS(3000), {FARLANDS_BILLOW, BLOCKS(1000), 6, 0.5, 2}},
    {BLOCKS(100), BLOCKS(3000), {FARLANDS_HYBRID, BLOCKS(1000), 6, 0.5, 2}},
    {BLOCKS(1 << 16), BLOCKS(1 << 18), {FARLANDS_NONE, BLOCKS(1 << 16), 1, 0.5, 2}},
    {BLOCKS(1 << 16) + 7, BLOCKS(1 << 18), {FARLANDS_FBM, BLOCKS(1 << 20), 6, 0.5, 2}},
    {BLOCKS(1 << 24), BLOCKS(1 << 24), {FARLANDS_NONE, BLOCKS(1 << 16), 1, 0.5, 2}},
    {FARLANDS_MAX_WAVELENGTH,
     FARLANDS_MAX_WAVELENGTH,
     {FARLANDS_FBM, FARLANDS_MAX_WAVELENGTH, 20, 0.5, 2}},
};

START_TEST(warp_moves_the_place)
{
    for (int choice = _i % TURNS; choice < CHOICES; choice += TURNS) {
        struct farlands_params params = reference_params();
        take_choice(&params, choice, choice / LENGTH(hashings) + _i);
        take_shape(&params, &warps[_i].shape);
        params.warp.amplitude = warps[_i].amplitude;
        params.warp.wavelength = warps[_i].wavelength;
        compare("warp", &params, 50);
    }
}
END_TEST

/* Periods of one cell, a few and many, with cells that are no power of two, and with a warp. */
static const struct {
    int64_t period;
    int64_t warp_amplitude, warp_wavelength;
    struct shape shape;
} periods[] = {
    {BLOCKS(400), 0, 0, {FARLANDS_NONE, BLOCKS(400), 1, 0.5, 2}},
    {BLOCKS(800), 0, 0, {FARLANDS_FBM, BLOCKS(400), 6, 0.5, 2}},
    {BLOCKS(2100), 0, 0, {FARLANDS_NONE, BLOCKS(10.5), 1, 0.5, 2}},
    {BLOCKS(2100), BLOCKS(30), BLOCKS(105), {FARLANDS_NONE, BLOCKS(10.5), 1, 0.5, 2}},
    {BLOCKS(1 << 24), 0, 0, {FARLANDS_FBM, BLOCKS(65536), 16, 0.5, 2}},
    {BLOCKS(1 << 24), BLOCKS(300), BLOCKS(512), {FARLANDS_RIDGED, BLOCKS(65536), 6, 0.5, 2}},
    {BLOCKS(1 << 24), BLOCKS(65536), BLOCKS(1 << 18), {FARLANDS_FBM, BLOCKS(1 << 20), 6, 0.5, 2}},
    {FARLANDS_LIMIT, 0, 0, {FARLANDS_FBM, FARLANDS_MAX_WAVELENGTH, 20, 0.5, 2}},
};

START_TEST(period_reduces_the_cells)
{
    for (int choice = _i % TURNS; choice < CHOICES; choice += TURNS) {
        struct farlands_params params = reference_params();
        take_choice(&params, choice, choice / LENGTH(hashings) + _i);
        take_shape(&params, &periods[_i].shape);
        params.period = periods[_i].period;
        params.warp.amplitude = periods[_i].warp_amplitude;
        params.warp.wavelength = periods[_i].warp_wavelength;
        if (params.basis != FARLANDS_SIMPLEX)
            compare("period", &params, 50);
    }
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
    static const uint64_t drawn[] = {0, 1, 2, 3, 1000, UINT64_C(1) << 32, UINT64_MAX};
    uint8_t tables[LENGTH(drawn)][256];
    for (int s = 0; s < LENGTH(drawn); s++) {
        bool seen[256] = {false};
        permutation_make(tables[s], drawn[s]);
        for (int i = 0; i < 256; i++) {
            REQUIRE(!seen[tables[s][i]], "seed %" PRIu64 ": %d twice", drawn[s], tables[s][i]);
            seen[tables[s][i]] = true;
        }
        for (int t = 0; t < s; t++) {
            /* Two random permutations agree in one place on average; in 10 with odds of 1 : 10^7.
             * */
            int same = 0;
            for (int i = 0; i < 256; i++)
                same += tables[s][i] == tables[t][i];
            REQUIRE(same < 10, "seeds %" PRIu64 " and %" PRIu64 ": %d equal entries", drawn[s],
                    drawn[t], same);
        }
    }
}
END_TEST

/*
 * By hand, with seed 0, wavelength 1 block. Cell (0, 0): P[0] = 151, P[1] = 160, so the corners'
 * indices are P[151] = 17, P[152] = 182 above and P[160] = 119, P[161] = 248 below. At (1/4,
 * 1/2) with integer8 these are (-1,1), (0,1), (0,-1), (1,1): products 1/4, 1/2, 1/2, -5/4.
 * Linear: 5/16 above, 1/16 below, 3/16 in the middle. Cell (-1, -1): P[255] = 180, P[179] = 253,
 * P[180] = 19 above, P[150] = 58, P[151] = 17 below.
 *
 * Value: 17, 182, 119 and 248 of 255, mixed 3 : 1 and 1 : 1. Cellular: the point of index 17 is
 * at (35, 159 * 17 mod 256 * 2 + 1 = 287) / 512, which is a whole unit; 64 units, a 16th of a
 * cell, east of it the noise is 1/8 more. Simplex: corners (0, 0), (0, 1) and (1, 1); vectors
 * from them (0.25, 0.5), (0.4613249, -0.2886751) and (-0.3273503, -0.0773503); 1/2 - r^2 to the
 * fourth 0.0012360, 0.0017267 and 0.0223981; products 1/4, 0.2886751 and -0.4047006.
 */
static const struct {
    enum farlands_basis basis;
    enum farlands_gradients gradients;
    enum farlands_fade fade;
    int64_t x, y;
    double noise;
} by_hand[] = {
    {FARLANDS_PERLIN, FARLANDS_INTEGER8, FARLANDS_LINEAR, 256, 512, 0.1875},
    {FARLANDS_PERLIN, FARLANDS_INTEGER8, FARLANDS_CUBIC, 256, 512, 0.2578125},
    {FARLANDS_PERLIN, FARLANDS_INTEGER8, FARLANDS_QUINTIC, 256, 512, 0.29736328125},
    {FARLANDS_PERLIN, FARLANDS_AXIS4, FARLANDS_LINEAR, 256, 512, 0.0625},
    {FARLANDS_PERLIN, FARLANDS_UNIT8, FARLANDS_LINEAR, 256, 512,
     0.25 - 0.0625 * 0.70710678118654752},
    {FARLANDS_PERLIN, FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 - 1024, 512 - 1024, -0.375},
    {FARLANDS_PERLIN, FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 + 255 * 1024, 512 - 1024, -0.375},
    {FARLANDS_PERLIN, FARLANDS_DIAGONAL4, FARLANDS_LINEAR, 256 - 1024, 512 + 255 * 1024, -0.375},
    {FARLANDS_VALUE, FARLANDS_UNIT256, FARLANDS_LINEAR, 0, 0, 2 * 17 / 255.0 - 1},
    {FARLANDS_VALUE, FARLANDS_UNIT256, FARLANDS_QUINTIC, 1024, 1024, 2 * 248 / 255.0 - 1},
    {FARLANDS_VALUE, FARLANDS_UNIT256, FARLANDS_LINEAR, 256, 512,
     (3 * 17 + 182 + 3 * 119 + 248) / (4 * 255.0) - 1},
    {FARLANDS_CELLULAR, FARLANDS_UNIT256, FARLANDS_QUINTIC, 70, 574, -1},
    {FARLANDS_CELLULAR, FARLANDS_UNIT256, FARLANDS_QUINTIC, 134, 574, -0.875},
    {FARLANDS_SIMPLEX, FARLANDS_INTEGER8, FARLANDS_QUINTIC, 0, 0, 0},
    {FARLANDS_SIMPLEX, FARLANDS_INTEGER8, FARLANDS_QUINTIC, 256, 512, -0.577993787978837},
};

START_TEST(values_by_hand)
{
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, BLOCKS(1));
    params.seed = 0;
    params.basis = by_hand[_i].basis;
    params.gradients = by_hand[_i].gradients;
    params.fade = by_hand[_i].fade;
    struct farlands_terrain *terrain = reference_terrain(&params);
    float height = terrain_height(terrain, by_hand[_i].x, by_hand[_i].y);
    REQUIRE(fabs(height - by_hand[_i].noise) <= 0x1p-22,
            "%s: at (%" PRId64 ", %" PRId64 ") %.9g, by hand %.9g", reference_params_text(&params),
            by_hand[_i].x, by_hand[_i].y, (double)height, by_hand[_i].noise);
    terrain_free(terrain);
}
END_TEST

/* The row Y = 0 of the table contains all 256 indices: -1 to 1, both ends exactly, nothing beyond.
 * */
START_TEST(values_end_at_1)
{
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, BLOCKS(1));
    params.seed = 0;
    params.basis = FARLANDS_VALUE;
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int x = 0; x < 256; x++) {
        int index = reference_permutation[(x + reference_permutation[0]) & 255];
        float height = terrain_height(terrain, BLOCKS(x), 0);
        REQUIRE(fabsf(height) <= 1, "index %d: %.9g", index, (double)height);
        REQUIRE((index != 0 || height == -1) && (index != 255 || height == 1), "index %d: %.9g",
                index, (double)height);
    }
    terrain_free(terrain);
}
END_TEST

/* At a corner the vector from it is (0, 0), and so is its product. */
START_TEST(zero_at_lattice_points)
{
    static const int64_t wavelengths[] = {2, 1024, BLOCKS(10.5), BLOCKS(400), BLOCKS(1) + 1};
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, wavelengths[_i]);
    for (int g = 0; g < FARLANDS_GRADIENT_SETS * FARLANDS_FADES; g++) {
        params.gradients = (enum farlands_gradients)(g % FARLANDS_GRADIENT_SETS);
        params.fade = (enum farlands_fade)(g / FARLANDS_GRADIENT_SETS);
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int i = 0; i < LENGTH(places); i++) {
            for (int j = 0; j < LENGTH(places); j++) {
                int64_t x = places[i] / params.wavelength * params.wavelength;
                int64_t y = places[j] / params.wavelength * params.wavelength;
                float height = terrain_height(terrain, x, y);
                REQUIRE(height == 0, "%s: at (%" PRId64 ", %" PRId64 ") %g",
                        reference_params_text(&params), x, y, (double)height);
            }
        }
        terrain_free(terrain);
    }
}
END_TEST

/*
 * Neighboring places: unit by unit around lattice points of broad cells, where the noise is 0,
 * each height is right to a small part of one step.
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
        double height = terrain_height(terrain, x, y);
        double expected = reference_noise_at(&reference, x, y).n;
        REQUIRE(fabs(height - expected) <= 0.01 / (double)params.wavelength,
                "%s: at (%" PRId64 ", %" PRId64 ") %.9g, formula %.9g",
                reference_params_text(&params), x, y, height, expected);
    }
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_reference");
    TCase *formula = tcase_create("formula"), *known = tcase_create("known values");
    tcase_set_timeout(formula, 120);
    tcase_add_loop_test(formula, every_option_follows_its_formula, 0, LENGTH(shapes));
    tcase_add_loop_test(formula, fractals_follow_their_formulas, 0, LENGTH(fractals));
    tcase_add_loop_test(formula, warp_moves_the_place, 0, LENGTH(warps));
    tcase_add_loop_test(formula, period_reduces_the_cells, 0, LENGTH(periods));
    tcase_add_loop_test(formula, broad_cells_have_no_steps, 0, 3);
    suite_add_tcase(suite, formula);
    tcase_add_test(known, seed_0_is_the_published_permutation);
    tcase_add_test(known, other_seeds_shuffle_it);
    tcase_add_loop_test(known, values_by_hand, 0, LENGTH(by_hand));
    tcase_add_test(known, values_end_at_1);
    tcase_add_loop_test(known, zero_at_lattice_points, 0, 5);
    suite_add_tcase(suite, known);

    return suite_run(suite);
}
