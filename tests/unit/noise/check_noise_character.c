/*
 * Noise is free of the well-known faults: seams, repeating or mirrored worlds, similar seeds or
 * octaves, ground that changes far from the origin.
 */
#include <check.h>
#include <stdlib.h>

#include "noise/exact/lattice.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

/* Independent places: thousands of cells apart. */
enum { SAMPLES = 4000 };

/* Terrains of every kind, with cells of 64 blocks. None of these properties may depend on place,
 * seed or distance. */
static const struct kind {
    const char *name;
    enum farlands_basis basis;
    enum farlands_fractal fractal;
    int hashing; /* row of hashings: 0 is mix64 */
    bool warped;
} kinds[] = {
    {"perlin", FARLANDS_PERLIN, FARLANDS_NONE, 0, false},
    {"simplex", FARLANDS_SIMPLEX, FARLANDS_NONE, 0, false},
    {"cellular", FARLANDS_CELLULAR, FARLANDS_NONE, 0, false},
    {"value", FARLANDS_VALUE, FARLANDS_NONE, 0, false},
    {"perlin fbm", FARLANDS_PERLIN, FARLANDS_FBM, 0, false},
    {"perlin billow", FARLANDS_PERLIN, FARLANDS_BILLOW, 0, false},
    {"perlin ridged", FARLANDS_PERLIN, FARLANDS_RIDGED, 0, false},
    {"perlin hybrid", FARLANDS_PERLIN, FARLANDS_HYBRID, 0, false},
    {"simplex ridged", FARLANDS_SIMPLEX, FARLANDS_RIDGED, 0, false},
    {"cellular hybrid", FARLANDS_CELLULAR, FARLANDS_HYBRID, 0, false},
    {"value fbm", FARLANDS_VALUE, FARLANDS_FBM, 0, false},
    {"perlin fbm, warped", FARLANDS_PERLIN, FARLANDS_FBM, 0, true},
    {"cellular, warped", FARLANDS_CELLULAR, FARLANDS_NONE, 0, true},
    {"perlin fbm, permutation", FARLANDS_PERLIN, FARLANDS_FBM, 1, false},
    {"simplex fbm, permutation", FARLANDS_SIMPLEX, FARLANDS_FBM, 1, false},
    {"value ridged, octave_salt", FARLANDS_VALUE, FARLANDS_RIDGED, 2, false},
    {"perlin hybrid, octave_salt", FARLANDS_PERLIN, FARLANDS_HYBRID, 2, true},
};

static struct farlands_params kind_params(const struct kind *kind, int octaves)
{
    struct farlands_params params = reference_params();
    params.basis = kind->basis;
    params.fractal = kind->fractal;
    params.hash = hashings[kind->hashing].hash;
    params.octave_salt = hashings[kind->hashing].octave_salt;
    params.wavelength = BLOCKS(64);
    params.octaves = octaves;
    params.offset = kind->fractal == FARLANDS_HYBRID ? 0.7 : 1;
    params.gain = 2;
    if (kind->warped) {
        params.warp.amplitude = BLOCKS(30);
        params.warp.wavelength = BLOCKS(100);
    }
    return params;
}

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

/* Heights at SAMPLES places, each mirrored, exchanged and moved as given. */
struct motion {
    const char *name;
    int64_t sign_x, sign_y;
    bool exchange;
    int64_t move_x, move_y; /* cells of 64 blocks */
};

/* Like move_x, but each place is moved by a number of cells of its own. */
#define ANY_CELL INT64_MAX

static void sample(const struct farlands_params *params, const struct motion *motion,
                   double out[SAMPLES])
{
    struct farlands_terrain *terrain = reference_terrain(params);
    struct draws draws = {800, 0}, moves = {801, 0};
    for (int i = 0; i < SAMPLES; i++) {
        int64_t x = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t y = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        int64_t u = motion->exchange ? y : x, v = motion->exchange ? x : y;
        int64_t move_x = motion->move_x, move_y = motion->move_y;
        if (move_x == ANY_CELL) {
            move_x = draw_between(&moves, -1000000, 1000000);
            move_y = -move_x; /* the skewed lattice of simplex is such a case, too */
        }
        out[i] = terrain_height(terrain, motion->sign_x * u + move_x * BLOCKS(64),
                                motion->sign_y * v + move_y * BLOCKS(64));
    }
    terrain_free(terrain);
}

static const struct motion still = {"still", 1, 1, false, 0, 0};

/* A cell depends on its neighbors; cellular noise on a point in each. Places three cells apart
 * have nothing in common. */
static const struct motion motions[] = {
    {"west is east", -1, 1, false, 0, 0},
    {"north is south", 1, -1, false, 0, 0},
    {"turned by half", -1, -1, false, 0, 0},
    {"rows are columns", 1, 1, true, 0, 0},
    {"turned by a quarter", -1, 1, true, 0, 0},
    {"3 cells east", 1, 1, false, 3, 0},
    {"3 cells south", 1, 1, false, 0, 3},
    {"3 cells along the diagonal", 1, 1, false, 3, 3},
    {"3 cells along the other diagonal", 1, 1, false, 3, -3},
    {"254 cells east", 1, 1, false, 254, 0},
    {"256 cells east", 1, 1, false, 256, 0},
    {"256 cells south", 1, 1, false, 0, 256},
    {"256 cells along the diagonal", 1, 1, false, 256, 256},
    {"256 cells west and south", 1, 1, false, -256, 256},
    {"289 cells east", 1, 1, false, 289, 0},
    {"289 cells south", 1, 1, false, 0, 289},
    {"289 cells along the diagonal", 1, 1, false, 289, 289},
    {"289 cells along the other diagonal", 1, 1, false, 289, -289},
    {"1024 cells east", 1, 1, false, 1024, 0},
    {"65536 cells east", 1, 1, false, 65536, 0},
    {"65536 cells north", 1, 1, false, 0, -65536},
    {"65536 cells along the diagonal", 1, 1, false, 65536, 65536},
    {"65536 cells along the other diagonal", 1, 1, false, 65536, -65536},
    {"2^32 cells east", 1, 1, false, INT64_C(1) << 32, 0},
    {"2^32 cells south", 1, 1, false, 0, INT64_C(1) << 32},
    {"2^45 cells east", 1, 1, false, INT64_C(1) << 45, 0},
};

/*
 * 4000 independent pairs correlate by 0.016 (one standard deviation). But |n| is small near the
 * lattice points of any cell, so billow and ridged correlate as soon as two places have the same
 * fraction, even if their cells are random.
 */
START_TEST(mix64_never_repeats)
{
    static double here[SAMPLES], there[SAMPLES];
    static const struct motion elsewhere = {"elsewhere", 1, 1, false, ANY_CELL, 0};
    const struct kind *kind = &kinds[_i];
    if (hashings[kind->hashing].hash != FARLANDS_MIX64)
        return;
    const bool folded = kind->fractal == FARLANDS_BILLOW || kind->fractal == FARLANDS_RIDGED;
    struct farlands_params params = kind_params(kind, 3);
    sample(&params, &still, here);
    sample(&params, &elsewhere, there);
    const double common = folded ? correlation(here, there, SAMPLES) : 0;
    for (int m = 0; m < LENGTH(motions); m++) {
        sample(&params, &motions[m], there);
        double r = correlation(here, there, SAMPLES);
        REQUIRE(r > -0.1 && r < common + 0.1, "%s, %s: correlation %g (%g for the fraction)",
                kind->name, motions[m].name, r, common);
    }
}
END_TEST

/* Other rows are shifts of one sequence of 256, whose correlation with itself is 1/16 (one standard
 * deviation). */
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
        REQUIRE(fabs(r) < 0.25, "%s: correlation %g", motion->name, r);
    }
    static const enum farlands_basis square[] = {FARLANDS_CELLULAR, FARLANDS_VALUE};
    for (int b = 0; repeats && b < LENGTH(square); b++) {
        params.basis = square[b];
        sample(&params, &still, here);
        sample(&params, motion, there);
        for (int i = 0; i < SAMPLES; i++)
            REQUIRE(here[i] == there[i], "basis %d, %s: %g is not %g", (int)square[b], motion->name,
                    there[i], here[i]);
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
 * Many seeds at once. Each terrain at PLACES places, far apart, is a vector of mean 0 and length
 * 1, so that a correlation is a scalar product. For independent terrains it is normal with
 * standard deviation 1 / sqrt(PLACES) = 0.011. The largest of half a million is expected at
 * sqrt(2 ln 10^6) = 5.3 deviations, 0.058; 0.1 is 9 deviations and never happens.
 */
enum { SEEDS = 1002, PLACE_COLUMNS = 128, PLACES = PLACE_COLUMNS * 64 };

/* 1 .. 1000, 0 and the last one. */
static uint64_t seed_at(int i)
{
    return i < 1001 ? (uint64_t)i : UINT64_MAX;
}

static void sample_places(const struct farlands_params *params, struct farlands_scratch *scratch,
                          float out[PLACES])
{
    /* 2.6 cells of 64 blocks between columns: all fractions of a cell occur. */
    const struct farlands_grid grid = {.x = -BLOCKS(10000),
                                       .y = -BLOCKS(5000),
                                       .step = BLOCKS(167.3),
                                       .width = PLACE_COLUMNS,
                                       .height = PLACES / PLACE_COLUMNS};
    struct farlands_terrain *terrain = reference_terrain(params);
    ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, PLACE_COLUMNS), 0);
    terrain_free(terrain);
    double mean = 0, square = 0;
    for (int i = 0; i < PLACES; i++)
        mean += (double)out[i] / PLACES;
    for (int i = 0; i < PLACES; i++)
        square += (out[i] - mean) * (out[i] - mean);
    for (int i = 0; i < PLACES; i++)
        out[i] = (float)((out[i] - mean) / sqrt(square));
}

static float product(const float *restrict a, const float *restrict b)
{
    /* One sum for each lane of a vector, because half a million products of 8192 terms take a
     * while. */
    float lane[16] = {0}, sum = 0;
    for (int i = 0; i < PLACES; i += 16)
        for (int l = 0; l < 16; l++)
            lane[l] += a[i + l] * b[i + l];
    for (int l = 0; l < 16; l++)
        sum += lane[l];
    return sum;
}

static const struct {
    const char *name;
    enum farlands_basis basis;
    int hashing;
    int octaves;
} crowds[] = {
    {"perlin", FARLANDS_PERLIN, 0, 3},
    {"value, one octave", FARLANDS_VALUE, 0, 1},
    {"perlin, permutation", FARLANDS_PERLIN, 1, 3},
};

START_TEST(a_thousand_seeds_have_nothing_in_common)
{
    enum { BLOCK = 16 }; /* rows that fit in a level 2 cache */
    static float places[SEEDS][PLACES];
    struct farlands_params params = reference_params();
    params.basis = crowds[_i].basis;
    params.hash = hashings[crowds[_i].hashing].hash;
    params.wavelength = BLOCKS(64);
    params.octaves = crowds[_i].octaves;
    struct farlands_scratch *scratch = reference_scratch();
    for (int i = 0; i < SEEDS; i++) {
        params.seed = seed_at(i);
        sample_places(&params, scratch, places[i]);
    }
    farlands_scratch_free(scratch);
    REQUIRE(fabsf(product(places[7], places[7]) - 1) < 1e-3f, "a world is not like itself");
    for (int block = 0; block < SEEDS; block += BLOCK)
        for (int i = 0; i < block + BLOCK && i < SEEDS; i++)
            for (int j = i < block ? block : i + 1; j < block + BLOCK && j < SEEDS; j++) {
                float r = product(places[i], places[j]);
                REQUIRE(fabsf(r) < 0.1f,
                        "%s: correlation of seeds %" PRIu64 " and %" PRIu64 " is %g",
                        crowds[_i].name, seed_at(i), seed_at(j), (double)r);
            }
}
END_TEST

/*
 * The second of two octaves with equal shares, by subtraction, beside the first at half the
 * coordinates. If both octaves used one lattice, the pictures would be the same.
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
        first[i] = terrain_height(coarse, 2 * x, 2 * y);
        second[i] = 2.0 * terrain_height(sum, x, y) - terrain_height(coarse, x, y);
    }
    double r = correlation(first, second, SAMPLES);
    REQUIRE(octave_pairs[_i].same ? r > 0.999 : fabs(r) < 0.1, "%s: correlation %g", hashing->name,
            r);
    terrain_free(sum);
    terrain_free(coarse);
}
END_TEST

/* Heights at lattice points of octave OCTAVE of seed SEED. A few may be 0 by chance, as the
 * elevation curve rounds values below 0 to 2^-23. */
enum { LATTICE_POINTS = 32 * 32, CHANCE_ZEROS = 3 };

struct lattice_heights {
    double rms;
    int zeros; /* exactly 0 */
};

static struct lattice_heights at_lattice_points(const struct farlands_terrain *terrain,
                                                enum farlands_hash hash, uint64_t seed, int octave,
                                                int64_t wavelength)
{
    struct lattice_heights heights = {0, 0};
    int64_t x = 0, y = 0;
    if (hash == FARLANDS_MIX64) {
        x = (int64_t)(lattice_random(seed, 4 * (uint64_t)octave + 2) % (uint64_t)wavelength);
        y = (int64_t)(lattice_random(seed, 4 * (uint64_t)octave + 3) % (uint64_t)wavelength);
    }
    for (int i = 0; i < LATTICE_POINTS; i++) {
        double height = terrain_height(terrain, (i % 32 * 5 - 80) * wavelength - x,
                                       (i / 32 * 5 - 80) * wavelength - y);
        heights.rms += height * height / LATTICE_POINTS;
        heights.zeros += height == 0;
    }
    heights.rms = sqrt(heights.rms);
    return heights;
}

/* Every Perlin octave is 0 at its lattice points. No two seeds may have the same ones. */
START_TEST(zeros_of_seeds_do_not_coincide)
{
    const int64_t wavelength = BLOCKS(400);
    struct farlands_params params = reference_single(FARLANDS_MIX64, wavelength);
    params.seed = (uint64_t)_i;
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (uint64_t seed = 0; seed < 30; seed++) {
        struct lattice_heights there =
            at_lattice_points(terrain, FARLANDS_MIX64, seed, 0, wavelength);
        REQUIRE(seed == params.seed ? there.zeros == LATTICE_POINTS
                                    : there.zeros <= CHANCE_ZEROS && there.rms > 0.001,
                "seed %d at lattice points of seed %" PRIu64 ": %g, %d zeros", _i, seed, there.rms,
                there.zeros);
    }
    terrain_free(terrain);
}
END_TEST

/*
 * Nor may two octaves. Where octave k of K is 0, the sum is 0 only if the others are. Without
 * shifts, under permutation, the lattice points of the coarsest octave are those of all, and the
 * sum is 0 at all of them.
 */
START_TEST(zeros_of_octaves_do_not_coincide)
{
    const int64_t wavelength = BLOCKS(400);
    for (int h = 0; h < LENGTH(hashings); h++) {
        const bool shifted = hashings[h].hash == FARLANDS_MIX64;
        struct farlands_params params = reference_single(hashings[h].hash, wavelength);
        params.octave_salt = hashings[h].octave_salt;
        params.seed = (uint64_t)_i;
        params.fractal = FARLANDS_FBM;
        for (params.octaves = 2; params.octaves <= 5; params.octaves++) {
            struct farlands_terrain *terrain = reference_terrain(&params);
            for (int k = 0; k < params.octaves; k++) {
                /* the octave's shift, and the common origin without shifts */
                struct lattice_heights own =
                    at_lattice_points(terrain, params.hash, params.seed, k, wavelength >> k);
                struct lattice_heights plain = at_lattice_points(terrain, FARLANDS_PERMUTATION,
                                                                 params.seed, k, wavelength >> k);
                if (shifted)
                    REQUIRE(own.zeros + plain.zeros <= CHANCE_ZEROS && own.rms > 0.001 &&
                                plain.rms > 0.001,
                            "seed %d, %d octaves at lattice points of octave %d: %g, %d zeros; "
                            "unshifted: %g, %d zeros",
                            _i, params.octaves, k, own.rms, own.zeros, plain.rms, plain.zeros);
                else if (k == 0)
                    REQUIRE(own.zeros == LATTICE_POINTS, "%s, %d octaves: %d zeros",
                            hashings[h].name, params.octaves, own.zeros);
            }
            terrain_free(terrain);
        }
    }
}
END_TEST

/*
 * From one unit to the next along a line, noise changes by at most its slope per wavelength.
 * Perlin: the gradient's length (at most 1.5) plus the steepest fade (1.875) times the
 * difference of two corners' products (at most 3): below 8. Simplex: for each of three corners,
 * with t = 1/2 - r^2, 70 times the gradient's length (1.42) times 8 t^3 r^2 + t^4, which is
 * below 0.079: 24. Cellular: a distance changes no faster than the place, twice: 2. Value: the
 * steepest fade times the difference of two values: 3.75. Rounding to float adds some ulps of
 * the sum of products. A seam would be as large as the noise itself. A warp makes the place move
 * faster than the line: by its amplitude times Perlin's slope, in x and in y.
 */
static const struct {
    enum farlands_basis basis;
    float slope;
} slopes[] = {
    {FARLANDS_PERLIN, 8}, {FARLANDS_SIMPLEX, 24}, {FARLANDS_CELLULAR, 2}, {FARLANDS_VALUE, 3.75f}};

static void assert_no_seam(const struct farlands_params *params, const char *name, int64_t start,
                           int64_t count, float most)
{
    enum { LINE = 4096 };
    static float line[LINE];
    struct farlands_terrain *terrain = reference_terrain(params);
    struct farlands_scratch *scratch = reference_scratch();
    for (int along_y = 0; along_y < 2; along_y++) {
        float before = NAN;
        for (int64_t done = 0; done < count; done += LINE) {
            struct farlands_grid grid = {start + done, BLOCKS(-3.3), 1, LINE, 1, false};
            if (along_y)
                grid = (struct farlands_grid){BLOCKS(-3.3), start + done, 1, 1, LINE, false};
            ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, line, (size_t)grid.width), 0);
            for (int i = 0; i < LINE; i++) {
                REQUIRE(!(fabsf(line[i] - before) > most), "%s; %s: from %g to %g at %s = %" PRId64,
                        name, reference_params_text(params), (double)before, (double)line[i],
                        along_y ? "y" : "x", start + done + i);
                before = line[i];
            }
        }
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}

START_TEST(no_seams)
{
    static const int64_t starts[] = {-BLOCKS(16), -BLOCKS(INT64_C(1) << 31),
                                     FARLANDS_LIMIT - BLOCKS(64)};
    const int64_t wavelength = BLOCKS(10.5);
    const struct hashing *hashing = &hashings[_i];
    for (int b = 0; b < LENGTH(slopes); b++) {
        /* Only Perlin noise has both gradients and a fade. */
        for (int g = 0; g < FARLANDS_GRADIENT_SETS * FARLANDS_FADES; g++) {
            struct farlands_params params = reference_single(hashing->hash, wavelength);
            params.octave_salt = hashing->octave_salt;
            params.basis = slopes[b].basis;
            params.gradients = (enum farlands_gradients)(g % FARLANDS_GRADIENT_SETS);
            params.fade = (enum farlands_fade)(g / FARLANDS_GRADIENT_SETS);
            if (b > 0 && (int)params.gradients % FARLANDS_FADES != (int)params.fade)
                continue;
            const float most = slopes[b].slope / (float)wavelength + 2e-6f;
            for (int n = 0; n < LENGTH(starts); n++)
                assert_no_seam(&params, "plain", starts[n], BLOCKS(32), most);
            if (g % 4 == 0) {
                params.warp.amplitude = BLOCKS(5);
                params.warp.wavelength = BLOCKS(21);
                assert_no_seam(&params, "warped", -BLOCKS(25), BLOCKS(50),
                               slopes[b].slope * (1 + 2 * 8 * 5 / 21.0f) / (float)wavelength +
                                   2e-6f);
                params.warp.amplitude = 0;
            }
            if (params.basis != FARLANDS_SIMPLEX && g % 4 == 0) {
                /* Twice the period contains one beginning, wherever it is. */
                params.period = 3 * wavelength;
                assert_no_seam(&params, "periodic", -params.period, 2 * params.period, most);
            }
        }
    }
}
END_TEST

/* The last one puts the outermost places at the limit. */
enum { AROUND = 1 << 18 }; /* blocks: 67 million cells of 64 */
static const int64_t far_away[] = {
    BLOCKS(INT64_C(1) << 31),
    BLOCKS(INT64_C(1) << 40),
    FARLANDS_LIMIT - BLOCKS(AROUND),
};

static int ascending(const void *a, const void *b)
{
    const double *p = a, *q = b;
    return (*p > *q) - (*p < *q);
}

/* Changes over STEP units in x and y at SAMPLES places around (X, Y), sorted, and how many of them
 * are 0. */
struct changes {
    double along[2][SAMPLES];
    int level;
};

static void changes_around(const struct farlands_terrain *terrain, int64_t x, int64_t y,
                           int64_t step, struct changes *changes)
{
    struct farlands_scratch *scratch = reference_scratch();
    struct draws draws = {1000, 0};
    changes->level = 0;
    for (int i = 0; i < SAMPLES; i++) {
        float out[4];
        const struct farlands_grid grid = {
            .x = x + draw_between(&draws, -BLOCKS(AROUND), BLOCKS(AROUND)),
            .y = y + draw_between(&draws, -BLOCKS(AROUND), BLOCKS(AROUND)),
            .step = step,
            .width = 2,
            .height = 2};
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, 2), 0);
        for (int axis = 0; axis < 2; axis++) {
            changes->along[axis][i] = (double)out[1 + axis] - (double)out[0];
            changes->level += out[1 + axis] == out[0];
        }
    }
    qsort(changes->along[0], SAMPLES, sizeof(double), ascending);
    qsort(changes->along[1], SAMPLES, sizeof(double), ascending);
    farlands_scratch_free(scratch);
}

/* Kolmogorov-Smirnov distance of two sorted samples: the largest difference between their shares
 * below any value. */
static double distribution_distance(const double a[SAMPLES], const double b[SAMPLES])
{
    double distance = 0;
    for (int i = 0, j = 0; i < SAMPLES && j < SAMPLES;) {
        const double value = fmin(a[i], b[j]);
        while (i < SAMPLES && a[i] <= value)
            i++;
        while (j < SAMPLES && b[j] <= value)
            j++;
        distance = fmax(distance, fabs((double)(i - j)) / SAMPLES);
    }
    return distance;
}

/*
 * Two samples of n from one distribution are further apart than sqrt(ln(2 / p) / n) with
 * probability p: 0.06 for n = 4000 and p = 10^-6, so a thousand comparisons stay below it. If
 * places were floats, whose fraction is lost at 2^31 blocks, the distance would be 1/2 or 1.
 */
START_TEST(far_away_is_like_here)
{
    static struct changes here, there;
    const struct kind *kind = &kinds[_i];
    const double bound = sqrt(log(2e6) / SAMPLES);
    struct farlands_params params = kind_params(kind, 6);
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int64_t step = 16; step <= FARLANDS_UNIT; step *= 64) {
        changes_around(terrain, 0, 0, step, &here);
        for (int f = 0; f < 4 * LENGTH(far_away); f++) {
            const int64_t far = far_away[f / 4];
            changes_around(terrain, f & 1 ? far : -far, f & 2 ? far : -far, step, &there);
            for (int axis = 0; axis < 2; axis++) {
                double distance = distribution_distance(here.along[axis], there.along[axis]);
                REQUIRE(distance < bound && there.level <= here.level + SAMPLES / 100,
                        "%s, %s %s, %" PRId64 " blocks: changes over %d units in %s are %g apart "
                        "from those at home, %d level for %d",
                        kind->name, f & 2 ? "south" : "north", f & 1 ? "east" : "west",
                        far / FARLANDS_UNIT, (int)step, axis ? "y" : "x", distance, there.level,
                        here.level);
            }
        }
    }
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_character");
    TCase *character = tcase_create("character");
    tcase_set_timeout(character, 120);
    tcase_add_loop_test(character, mix64_never_repeats, 0, LENGTH(kinds));
    tcase_add_loop_test(character, permutation_repeats_after_256_cells, 0, LENGTH(motions));
    tcase_add_loop_test(character, seeds_have_nothing_in_common, 0, LENGTH(seed_pairs) + 30);
    tcase_add_loop_test(character, a_thousand_seeds_have_nothing_in_common, 0, LENGTH(crowds));
    tcase_add_loop_test(character, octaves_are_not_copies, 0, LENGTH(octave_pairs));
    tcase_add_loop_test(character, zeros_of_seeds_do_not_coincide, 0, 30);
    tcase_add_loop_test(character, zeros_of_octaves_do_not_coincide, 0, 15);
    tcase_add_loop_test(character, no_seams, 0, LENGTH(hashings));
    tcase_add_loop_test(character, far_away_is_like_here, 0, LENGTH(kinds));
    suite_add_tcase(suite, character);

    return suite_run(suite);
}
