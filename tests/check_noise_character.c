/*
 * None of the faults that noise is known for: seams, a world that repeats or
 * mirrors itself, seeds or octaves alike, ground that changes far from the origin.
 */
#include <check.h>
#include <stdlib.h>

#include "noise/farlands.h"
#include "noise/lattice.h"
#include "tests/fixtures.h"
#include "tests/reference_params.h"

/* Independent places: thousands of cells apart from each other. */
enum { SAMPLES = 4000 };

static double correlation(const double *a, const double *b, int count)
{
    double ma = 0, mb = 0, aa = 0, bb = 0, ab = 0;
    for (int i = 0; i < count; i++) {
        ma += a[i] / count;
        mb += b[i] / count;
    }
    for (int i = 0; i < count; i++) {
        aa += (a[i] - ma) * (a[i] - ma);
        bb += (b[i] - mb) * (b[i] - mb);
        ab += (a[i] - ma) * (b[i] - mb);
    }
    return ab / sqrt(aa * bb);
}

/* The terrain at SAMPLES places, each turned by the signs and the exchange, and moved. */
struct motion {
    const char *name;
    int64_t sign_x, sign_y;
    bool exchange;
    int64_t move_x, move_y; /* cells of 64 blocks */
};

static void sample(const struct farlands_params *params, const struct motion *motion,
                   double out[SAMPLES])
{
    struct farlands_terrain *terrain = reference_terrain(params);
    struct draws draws = {800, 0};
    for (int i = 0; i < SAMPLES; i++) {
        int64_t x = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t y = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t u = motion->exchange ? y : x, v = motion->exchange ? x : y;
        out[i] = farlands_height(terrain, motion->sign_x * u + motion->move_x * BLOCKS(64),
                                 motion->sign_y * v + motion->move_y * BLOCKS(64));
    }
    farlands_terrain_free(terrain);
}

static const struct motion still = {"still", 1, 1, false, 0, 0};

/* Neighbouring cells share two corners: unlike are places two cells apart. */
static const struct motion motions[] = {
    {"west is east", -1, 1, false, 0, 0},
    {"north is south", 1, -1, false, 0, 0},
    {"turned by half", -1, -1, false, 0, 0},
    {"rows are columns", 1, 1, true, 0, 0},
    {"turned by a quarter", -1, 1, true, 0, 0},
    {"2 cells east", 1, 1, false, 2, 0},
    {"2 cells south", 1, 1, false, 0, 2},
    {"2 cells along the diagonal", 1, 1, false, 2, 2},
    {"2 cells along the other diagonal", 1, 1, false, 2, -2},
    {"254 cells east", 1, 1, false, 254, 0},
    {"256 cells east", 1, 1, false, 256, 0},
    {"256 cells south", 1, 1, false, 0, 256},
    {"256 cells west and south", 1, 1, false, -256, 256},
    {"1024 cells east", 1, 1, false, 1024, 0},
    {"65536 cells north", 1, 1, false, 0, -65536},
    {"2^32 cells east", 1, 1, false, INT64_C(1) << 32, 0},
    {"2^32 cells south", 1, 1, false, 0, INT64_C(1) << 32},
    {"2^45 cells east", 1, 1, false, INT64_C(1) << 45, 0},
};

/* 4000 independent pairs correlate by 0.016 (one standard deviation). */
START_TEST(mix64_never_repeats)
{
    static double here[SAMPLES], there[SAMPLES];
    struct farlands_params params = reference_single(FARLANDS_MIX64, BLOCKS(64));
    sample(&params, &still, here);
    sample(&params, &motions[_i], there);
    double r = correlation(here, there, SAMPLES);
    REQUIRE(fabs(r) < 0.1, "%s: correlation %g", motions[_i].name, r);
}
END_TEST

START_TEST(permutation_repeats_after_256_cells)
{
    static double here[SAMPLES], there[SAMPLES];
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, BLOCKS(64));
    const struct motion *motion = &motions[_i];
    bool repeats = motion->sign_x == 1 && motion->sign_y == 1 && !motion->exchange &&
                   motion->move_x % 256 == 0 && motion->move_y % 256 == 0;
    sample(&params, &still, here);
    sample(&params, motion, there);
    if (repeats) {
        for (int i = 0; i < SAMPLES; i++)
            REQUIRE(here[i] == there[i], "%s: %g is not %g", motion->name, there[i], here[i]);
    } else {
        double r = correlation(here, there, SAMPLES);
        REQUIRE(fabs(r) < 0.1, "%s: correlation %g", motion->name, r);
    }
}
END_TEST

static const struct {
    uint64_t a, b;
} seed_pairs[] = {
    {0, 1},
    {0, 2},
    {1, 2},
    {0, UINT64_MAX},
    {1, UINT64_MAX},
    {2, UINT64_MAX},
    {1, UINT64_C(1) << 32},
    {0, UINT64_C(1) << 63},
    {3, 3 + (UINT64_C(1) << 32)},
    {0, UINT64_C(0x9e3779b97f4a7c15)},
};

static void assert_unlike(const struct farlands_params *params, uint64_t a, uint64_t b)
{
    static double first[SAMPLES], second[SAMPLES];
    struct farlands_params changed = *params;
    changed.seed = a;
    sample(&changed, &still, first);
    changed.seed = b;
    sample(&changed, &still, second);
    double r = correlation(first, second, SAMPLES);
    REQUIRE(fabs(r) < 0.1, "%s: correlation with seed %" PRIu64 " is %g",
            reference_params_text(&changed), a, r);
}

START_TEST(seeds_have_nothing_in_common)
{
    for (int h = 0; h < LENGTH(hashings); h++) {
        struct farlands_params params = reference_params();
        params.hash = hashings[h].hash;
        params.octave_salt = hashings[h].octave_salt;
        params.wavelength = BLOCKS(64);
        params.octaves = 3;
        if (_i < LENGTH(seed_pairs))
            assert_unlike(&params, seed_pairs[_i].a, seed_pairs[_i].b);
        else
            assert_unlike(&params, (uint64_t)_i, (uint64_t)_i + 1);
    }
}
END_TEST

/*
 * The second of two octaves with equal shares, by subtraction, beside the first
 * at half the coordinates: the same picture, if both octaves use one lattice.
 */
static const struct {
    int hashing;
    bool same;
} octave_pairs[] = {{0, false}, {1, true}, {2, false}};

START_TEST(octaves_are_not_copies)
{
    static double first[SAMPLES], second[SAMPLES];
    const struct hashing *hashing = &hashings[octave_pairs[_i].hashing];
    struct farlands_params both = reference_params();
    both.hash = hashing->hash;
    both.octave_salt = hashing->octave_salt;
    both.wavelength = BLOCKS(64);
    both.octaves = 2;
    both.persistence = 1;
    struct farlands_params one = both;
    one.octaves = 1;
    struct farlands_terrain *sum = reference_terrain(&both), *coarse = reference_terrain(&one);
    struct draws draws = {900, 0};
    for (int i = 0; i < SAMPLES; i++) {
        int64_t x = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t y = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        first[i] = farlands_height(coarse, 2 * x, 2 * y);
        second[i] = 2.0 * farlands_height(sum, x, y) - farlands_height(coarse, x, y);
    }
    double r = correlation(first, second, SAMPLES);
    REQUIRE(octave_pairs[_i].same ? r > 0.999 : fabs(r) < 0.1, "%s: correlation %g", hashing->name,
            r);
    farlands_terrain_free(sum);
    farlands_terrain_free(coarse);
}
END_TEST

/* Root mean square of heights at the lattice points of octave OCTAVE of seed SEED. */
static double at_lattice_points(const struct farlands_terrain *terrain, uint64_t seed, int octave,
                                int64_t wavelength)
{
    int64_t x = (int64_t)(lattice_draw(seed, 4 * (uint64_t)octave + 2) % (uint64_t)wavelength);
    int64_t y = (int64_t)(lattice_draw(seed, 4 * (uint64_t)octave + 3) % (uint64_t)wavelength);
    double square = 0;
    for (int i = 0; i < 64; i++) {
        double height = farlands_height(terrain, (i % 8 * 5 - 20) * wavelength - x,
                                        (i / 8 * 5 - 20) * wavelength - y);
        square += height * height / 64;
    }
    return sqrt(square);
}

/* Every Perlin octave is 0 at its lattice points; no two lattices may share them. */
START_TEST(zeros_do_not_coincide)
{
    const int64_t wavelength = BLOCKS(400);
    struct farlands_params params = reference_single(FARLANDS_MIX64, wavelength);
    params.seed = (uint64_t)_i;
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (uint64_t seed = 0; seed < 30; seed++) {
        double square = at_lattice_points(terrain, seed, 0, wavelength);
        REQUIRE(seed == params.seed ? square == 0 : square > 0.001,
                "seed %d at lattice points of seed %" PRIu64 ": %g", _i, seed, square);
    }
    farlands_terrain_free(terrain);

    params.fractal = FARLANDS_FBM;
    params.octaves = 5;
    terrain = reference_terrain(&params);
    for (int k = 0; k < params.octaves; k++) {
        double square = at_lattice_points(terrain, params.seed, k, wavelength >> k);
        REQUIRE(square > 0.001, "seed %d, five octaves at lattice points of octave %d: %g", _i, k,
                square);
    }
    farlands_terrain_free(terrain);
}
END_TEST

/*
 * From unit to unit along a line, noise moves by its slope: at most the
 * gradient's length (1.5 at most) plus the steepest fade (1.875) times the
 * difference of two corners' products (3 at most), a wavelength; float's
 * rounding comes on top. A seam would be as large as the noise itself.
 */
START_TEST(no_seams)
{
    static const int64_t starts[] = {-BLOCKS(16), -BLOCKS(INT64_C(1) << 31),
                                     FARLANDS_LIMIT - BLOCKS(64)};
    const int64_t wavelength = BLOCKS(10.5);
    const float most = 8.0f / BLOCKS(10.5) + 2e-6f;
    const struct hashing *hashing = &hashings[_i];
    for (int g = 0; g < GRADIENT_SETS * FADES; g++) {
        struct farlands_params params = reference_single(hashing->hash, wavelength);
        params.octave_salt = hashing->octave_salt;
        params.gradients = (enum farlands_gradients)(g % GRADIENT_SETS);
        params.fade = (enum farlands_fade)(g / GRADIENT_SETS);
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int n = 0; n < 2 * LENGTH(starts); n++) {
            int64_t start = starts[n / 2];
            float before = NAN;
            for (int64_t i = 0; i < BLOCKS(32); i++) {
                float height = n % 2 ? farlands_height(terrain, BLOCKS(-3.3), start + i)
                                     : farlands_height(terrain, start + i, BLOCKS(-3.3));
                REQUIRE(!(fabsf(height - before) > most), "%s: from %g to %g at %s = %" PRId64,
                        reference_params_text(&params), (double)before, (double)height,
                        n % 2 ? "y" : "x", start + i);
                before = height;
            }
        }
        farlands_terrain_free(terrain);
    }
}
END_TEST

static const int64_t far_away[] = {
    BLOCKS(INT64_C(1) << 24),
    BLOCKS(INT64_C(1) << 31),
    BLOCKS(INT64_C(1) << 40),
    FARLANDS_LIMIT - BLOCKS(1 << 22),
};

/* Root mean square of the change over STEP units around (X, Y), and how often there was none. */
static double roughness(const struct farlands_terrain *terrain, int64_t x, int64_t y, int64_t step,
                        int *level)
{
    struct draws draws = {1000, 0};
    double square = 0;
    *level = 0;
    for (int i = 0; i < SAMPLES; i++) {
        int64_t u = x + draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t v = y + draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        double here = farlands_height(terrain, u, v);
        double change = i % 2 ? farlands_height(terrain, u + step, v) - here
                              : farlands_height(terrain, u, v + step) - here;
        square += change * change / SAMPLES;
        *level += change == 0;
    }
    return sqrt(square);
}

START_TEST(far_away_is_like_here)
{
    const int64_t far = far_away[_i];
    for (int h = 0; h < LENGTH(hashings); h++) {
        for (int64_t step = 16; step <= FARLANDS_UNIT; step *= 64) {
            struct farlands_params params = reference_params();
            params.hash = hashings[h].hash;
            params.octave_salt = hashings[h].octave_salt;
            params.wavelength = BLOCKS(64);
            params.octaves = 8;
            struct farlands_terrain *terrain = reference_terrain(&params);
            int level_here, level_there;
            double here = roughness(terrain, 0, 0, step, &level_here);
            for (int corner = 0; corner < 4; corner++) {
                double there = roughness(terrain, corner & 1 ? far : -far, corner & 2 ? far : -far,
                                         step, &level_there);
                REQUIRE(fabs(there / here - 1) < 0.2,
                        "%s, %s: %d units change %g at %" PRId64 ", %g at home", hashings[h].name,
                        corner & 1 ? "east" : "west", (int)step, there, far, here);
                REQUIRE(level_there <= level_here + SAMPLES / 100,
                        "%s: %d of %d steps are level at %" PRId64 ", %d at home", hashings[h].name,
                        level_there, SAMPLES, far, level_here);
            }
            farlands_terrain_free(terrain);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_character");
    TCase *character = tcase_create("character");
    tcase_set_timeout(character, 120);
    tcase_add_loop_test(character, mix64_never_repeats, 0, LENGTH(motions));
    tcase_add_loop_test(character, permutation_repeats_after_256_cells, 0, LENGTH(motions));
    tcase_add_loop_test(character, seeds_have_nothing_in_common, 0, LENGTH(seed_pairs) + 30);
    tcase_add_loop_test(character, octaves_are_not_copies, 0, LENGTH(octave_pairs));
    tcase_add_loop_test(character, zeros_do_not_coincide, 0, 30);
    tcase_add_loop_test(character, no_seams, 0, LENGTH(hashings));
    tcase_add_loop_test(character, far_away_is_like_here, 0, LENGTH(far_away));
    suite_add_tcase(suite, character);

    return suite_run(suite);
}
