/* Invalid parameters, the elevation curve, and the band limit of pictures. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_noise.h"
#include "tests/unit/support/reference_params.h"

enum field {
    NOTHING, /* no change */
    BASIS,
    GRADIENTS,
    FADE,
    HASH,
    OCTAVE_SALT,
    FRACTAL,
    WAVELENGTH,
    OCTAVES,
    PERSISTENCE,
    LACUNARITY,
    OFFSET,
    GAIN,
    WARP_AMPLITUDE,
    WARP_WAVELENGTH,
    PERIOD,
    KNOTS,
    FIRST_NOISE,
    SECOND_NOISE,
    FIRST_METRES,
    LAST_METRES,
};

static void set_field(struct farlands_params *params, enum field field, double value)
{
    switch (field) {
    case NOTHING:
        break;
    case BASIS:
        params->basis = (enum farlands_basis)(int)value;
        break;
    case GRADIENTS:
        params->gradients = (enum farlands_gradients)(int)value;
        break;
    case FADE:
        params->fade = (enum farlands_fade)(int)value;
        break;
    case HASH:
        params->hash = (enum farlands_hash)(int)value;
        break;
    case OCTAVE_SALT:
        params->octave_salt = value != 0;
        break;
    case FRACTAL:
        params->fractal = (enum farlands_fractal)(int)value;
        break;
    case WAVELENGTH:
        params->wavelength = (int64_t)value;
        break;
    case OCTAVES:
        params->octaves = (int)value;
        break;
    case PERSISTENCE:
        params->persistence = value;
        break;
    case LACUNARITY:
        params->lacunarity = value;
        break;
    case OFFSET:
        params->offset = value;
        break;
    case GAIN:
        params->gain = value;
        break;
    case WARP_AMPLITUDE:
        params->warp.amplitude = (int64_t)value;
        break;
    case WARP_WAVELENGTH:
        params->warp.wavelength = (int64_t)value;
        break;
    case PERIOD:
        params->period = (int64_t)value;
        break;
    case KNOTS:
        params->knots = (int)value;
        break;
    case FIRST_NOISE:
        params->elevation[0].noise = (float)value;
        break;
    case SECOND_NOISE:
        params->elevation[1].noise = (float)value;
        break;
    case FIRST_METRES:
        params->elevation[0].metres = (float)value;
        break;
    case LAST_METRES:
        params->elevation[2].metres = (float)value;
        break;
    }
}

/* Valid parameters (14 octaves from 65536 blocks, three knots) with one or two changed. */
static const struct {
    const char *key; /* the parameter named; NULL: no fault */
    struct {
        enum field field;
        double value;
    } set[2];
} changes[] = {
    {NULL, {{BASIS, FARLANDS_SIMPLEX}}},
    {NULL, {{BASIS, FARLANDS_CELLULAR}}},
    {NULL, {{BASIS, FARLANDS_VALUE}}},
    {"basis", {{BASIS, FARLANDS_BASES}}},
    {"basis", {{BASIS, -1}}},
    {NULL, {{GRADIENTS, FARLANDS_UNIT256}}},
    {"gradients", {{GRADIENTS, FARLANDS_GRADIENT_SETS}}},
    {"gradients", {{GRADIENTS, -1}}},
    {NULL, {{FADE, FARLANDS_QUINTIC}}},
    {"fade", {{FADE, FARLANDS_FADES}}},
    {"fade", {{FADE, -1}}},
    {NULL, {{HASH, FARLANDS_PERMUTATION}}},
    {"hash", {{HASH, FARLANDS_HASHES}}},
    {"hash", {{HASH, -1}}},
    {NULL, {{FRACTAL, FARLANDS_NONE}}},
    {NULL, {{FRACTAL, FARLANDS_BILLOW}}},
    {NULL, {{FRACTAL, FARLANDS_RIDGED}}},
    {NULL, {{FRACTAL, FARLANDS_HYBRID}}},
    {"fractal", {{FRACTAL, FARLANDS_FRACTALS}}},
    {"fractal", {{FRACTAL, -1}}},
    {"octave_salt", {{OCTAVE_SALT, true}}}, /* the hash is mix64 */
    {NULL, {{WAVELENGTH, FARLANDS_MAX_WAVELENGTH}}},
    {NULL, {{WAVELENGTH, 16384}}}, /* the last of 14 octaves has 2 units */
    {"octaves", {{WAVELENGTH, 12287}}},
    {"octaves", {{WAVELENGTH, FARLANDS_MIN_WAVELENGTH}}},
    {"wavelength", {{WAVELENGTH, FARLANDS_MIN_WAVELENGTH - 1}}},
    {"wavelength", {{WAVELENGTH, 0}}},
    {"wavelength", {{WAVELENGTH, -1024}}},
    {"wavelength", {{WAVELENGTH, FARLANDS_MAX_WAVELENGTH + 1}}},
    {NULL, {{OCTAVES, 1}}},
    {NULL, {{OCTAVES, 26}}}, /* 2^26 units, halved 25 times: 2 units */
    {"octaves", {{OCTAVES, 27}}},
    {"octaves", {{OCTAVES, FARLANDS_MAX_OCTAVES}}},
    {"octaves", {{OCTAVES, FARLANDS_MAX_OCTAVES + 1}}},
    {"octaves", {{OCTAVES, 0}}},
    {"octaves", {{OCTAVES, -1}}},
    {NULL, {{PERSISTENCE, 1}}},
    {NULL, {{PERSISTENCE, 0.001}}},
    {"persistence", {{PERSISTENCE, 0}}},
    {"persistence", {{PERSISTENCE, -0.5}}},
    {"persistence", {{PERSISTENCE, 1.0001}}},
    {"persistence", {{PERSISTENCE, NAN}}},
    {"persistence", {{PERSISTENCE, INFINITY}}},
    {NULL, {{LACUNARITY, 1.5}}},
    {"octaves", {{LACUNARITY, 1}}}, /* the same octave 14 times */
    {"octaves", {{LACUNARITY, FARLANDS_MAX_LACUNARITY}}},
    {"lacunarity", {{LACUNARITY, 0.999}}},
    {"lacunarity", {{LACUNARITY, 0}}},
    {"lacunarity", {{LACUNARITY, -2}}},
    {"lacunarity", {{LACUNARITY, FARLANDS_MAX_LACUNARITY + 0.5}}},
    {"lacunarity", {{LACUNARITY, NAN}}},
    {"lacunarity", {{LACUNARITY, INFINITY}}},
    {NULL, {{LACUNARITY, 1}, {OCTAVES, 1}}},
    {"octaves", {{LACUNARITY, 1}, {OCTAVES, 2}}},
    {NULL, {{OFFSET, 0}}},
    {NULL, {{OFFSET, FARLANDS_MAX_OFFSET}, {FRACTAL, FARLANDS_RIDGED}}},
    {"offset", {{OFFSET, FARLANDS_MAX_OFFSET + 0.01}, {FRACTAL, FARLANDS_RIDGED}}},
    {"offset", {{OFFSET, -0.01}, {FRACTAL, FARLANDS_HYBRID}}},
    {"offset", {{OFFSET, NAN}, {FRACTAL, FARLANDS_HYBRID}}},
    {"offset", {{OFFSET, INFINITY}, {FRACTAL, FARLANDS_HYBRID}}},
    {NULL, {{GAIN, 0}}},
    {NULL, {{GAIN, FARLANDS_MAX_GAIN}, {FRACTAL, FARLANDS_RIDGED}}},
    {"gain", {{GAIN, FARLANDS_MAX_GAIN + 0.5}, {FRACTAL, FARLANDS_RIDGED}}},
    {"gain", {{GAIN, -0.01}, {FRACTAL, FARLANDS_RIDGED}}},
    {"gain", {{GAIN, NAN}, {FRACTAL, FARLANDS_RIDGED}}},
    {"gain", {{GAIN, -INFINITY}, {FRACTAL, FARLANDS_RIDGED}}},
    {NULL, {{WARP_AMPLITUDE, 1}, {WARP_WAVELENGTH, FARLANDS_MIN_WAVELENGTH}}},
    {NULL, {{WARP_AMPLITUDE, FARLANDS_MAX_WAVELENGTH}, {WARP_WAVELENGTH, FARLANDS_MAX_WAVELENGTH}}},
    {NULL, {{WARP_AMPLITUDE, 0}, {WARP_WAVELENGTH, 4096}}},
    {"warp.amplitude", {{WARP_AMPLITUDE, -1}, {WARP_WAVELENGTH, 4096}}},
    {"warp.amplitude", {{WARP_AMPLITUDE, FARLANDS_MAX_WAVELENGTH + 1}, {WARP_WAVELENGTH, 4096}}},
    {"warp.wavelength", {{WARP_AMPLITUDE, 1}}}, /* and without a wavelength */
    {"warp.wavelength", {{WARP_AMPLITUDE, 4096}, {WARP_WAVELENGTH, FARLANDS_MIN_WAVELENGTH - 1}}},
    {"warp.wavelength", {{WARP_AMPLITUDE, 4096}, {WARP_WAVELENGTH, -4096}}},
    {"warp.wavelength", {{WARP_AMPLITUDE, 4096}, {WARP_WAVELENGTH, FARLANDS_MAX_WAVELENGTH + 1}}},
    {"warp.wavelength", {{WARP_WAVELENGTH, 1}}}, /* and without an amplitude */
    {"warp.wavelength", {{WARP_WAVELENGTH, -1}}},
    {NULL, {{PERIOD, BLOCKS(65536)}}},
    {NULL, {{PERIOD, BLOCKS(65536)}, {BASIS, FARLANDS_CELLULAR}}},
    {NULL, {{PERIOD, BLOCKS(65536 * 3)}, {HASH, FARLANDS_PERMUTATION}}},
    {NULL, {{PERIOD, FARLANDS_LIMIT}}},
    {"period", {{PERIOD, -BLOCKS(65536)}}},
    {"period", {{PERIOD, FARLANDS_LIMIT * 2.0 - 1e6}}},
    {"period", {{PERIOD, 1}}},
    {"period", {{PERIOD, BLOCKS(65535)}}},
    {"period", {{PERIOD, BLOCKS(65536 + 32768)}}}, /* of every octave but the first */
    {"period", {{PERIOD, BLOCKS(65536)}, {BASIS, FARLANDS_SIMPLEX}}},
    {"period", {{PERIOD, BLOCKS(65536)}, {LACUNARITY, 1.9}}},
    {NULL, {{PERIOD, BLOCKS(65536)}, {FRACTAL, FARLANDS_NONE}}},
    {NULL, {{KNOTS, 2}}},
    {"elevation", {{KNOTS, 1}}},
    {"elevation", {{KNOTS, 0}}},
    {"elevation", {{KNOTS, -1}}},
    {"elevation", {{KNOTS, FARLANDS_MAX_KNOTS + 1}}},
    {NULL, {{FIRST_NOISE, -1000}}},
    {"elevation", {{FIRST_NOISE, -1001}}},
    {"elevation", {{FIRST_NOISE, 0}}}, /* as the second one */
    {"elevation", {{FIRST_NOISE, 0.5}}},
    {"elevation", {{FIRST_NOISE, NAN}}},
    {"elevation", {{FIRST_NOISE, -INFINITY}}},
    {"elevation", {{SECOND_NOISE, NAN}}},
    {"elevation", {{SECOND_NOISE, 3}}},
    {NULL, {{LAST_METRES, 1e6}}},
    {NULL, {{LAST_METRES, -1e6}}},
    {"elevation", {{LAST_METRES, 1000001}}},
    {"elevation", {{LAST_METRES, NAN}}},
    {"elevation", {{FIRST_METRES, NAN}}},
    {"elevation", {{FIRST_METRES, -INFINITY}}},
};

START_TEST(bad_parameters_are_named)
{
    struct farlands_params params = reference_params();
    for (int n = 0; n < LENGTH(changes[_i].set); n++)
        set_field(&params, changes[_i].set[n].field, changes[_i].set[n].value);
    const char *key = NULL;
    const char *fault = params_fault(&params, &key);
    struct farlands_terrain *const untouched = (struct farlands_terrain *)&params;
    struct farlands_terrain *terrain = untouched;
    int err = terrain_new_noise(&terrain, &params);
    if (changes[_i].key) {
        REQUIRE(fault && *fault, "row %d (%s): accepted", _i, changes[_i].key);
        ck_assert_str_eq(key, changes[_i].key);
        ck_assert_ptr_nonnull(params_fault(&params, NULL));
        ck_assert_int_eq(err, -EINVAL);
        ck_assert_ptr_eq(terrain, untouched);
        /* Messages about invalid octaves compute their wavelengths. */
        for (int k = 0; k < 2 * FARLANDS_MAX_OCTAVES; k++)
            params_wavelength(&params, k);
    } else {
        REQUIRE(!fault, "row %d: %s: %s", _i, key, fault);
        ck_assert_int_eq(err, 0);
        ck_assert(!isnan(terrain_height(terrain, 12345, -6789)));
        terrain_free(terrain);
    }
}
END_TEST

/* A period that is a multiple of each octave, but not of the warp. */
START_TEST(period_holds_the_warp)
{
    const char *key = NULL;
    struct farlands_params params = reference_params();
    params.period = 3 * params.wavelength;
    params.warp.amplitude = BLOCKS(100);
    params.warp.wavelength = params.period / 2 + 1;
    ck_assert_ptr_nonnull(params_fault(&params, &key));
    ck_assert_str_eq(key, "period");
    params.warp.wavelength = params.period / 5 * 2;
    ck_assert_ptr_nonnull(params_fault(&params, &key));
    ck_assert_str_eq(key, "period");
    params.warp.wavelength = params.period / 2;
    ck_assert_ptr_null(params_fault(&params, NULL));
    params.warp.wavelength = BLOCKS(1.5);
    ck_assert_ptr_null(params_fault(&params, NULL));
}
END_TEST

static const struct curve {
    const char *name;
    struct farlands_knot knots[FARLANDS_MAX_KNOTS];
    int count;
    float min, max;
} curves[] = {
    {"default", {{-1, -4000}, {0, 0}, {1, 4000}}, 3, -4000, 4000},
    {"all clamped", {{-0.001f, -10}, {0.001f, 10}}, 2, -10, 10},
    {"falling", {{-0.2f, 300}, {0.3f, -100}}, 2, -100, 300},
    {"up and down", {{-1, 100}, {-0.1f, -50}, {0, 30}, {0.15f, -300}, {1, 0}}, 5, -300, 100},
    {"bent back", {{-0.2f, 0}, {-0.1f, -100}, {0.1f, 100}, {0.2f, 0}}, 4, -100, 100},
    /* Ends at which slope times run misses the difference by an ulp, outwards. */
    {"falling to 0", {{-0.30f, 1e6f}, {0.01f, 0}}, 2, 0, 1e6f},
    {"rising to 0", {{-0.30f, -1e6f}, {0.01f, 0}}, 2, -1e6f, 0},
    {"flat", {{-1, 7}, {1, 7}}, 2, 7, 7},
    {"cliff", {{-1, 0}, {0, 0}, {0.00001f, 1000}, {1, 1000}}, 4, 0, 1000},
    {"beyond the noise", {{5, 10}, {6, 20}}, 2, 10, 20},
    {"below the noise", {{-6, 10}, {-5, 20}}, 2, 10, 20},
    {"far ends", {{-1000, -1e6f}, {1000, 1e6f}}, 2, -1e6f, 1e6f},
    {"steepest", {{-1e-30f, -1e6f}, {1e-30f, 1e6f}}, 2, -1e6f, 1e6f},
    {"overflowing", {{0, 0}, {1e-40f, 1000}}, 2, 0, 1000},
};

START_TEST(elevation_follows_its_knots)
{
    const struct curve *curve = &curves[_i];
    struct draws draws = {600, 0};
    /* Lattice points are among the places; there this noise is exactly 0. */
    struct farlands_params plain = reference_single(FARLANDS_PERMUTATION, BLOCKS(10));
    struct farlands_params curved = plain;
    memcpy(curved.elevation, curve->knots, sizeof curved.elevation);
    curved.knots = curve->count;
    struct farlands_terrain *noise = reference_terrain(&plain);
    struct farlands_terrain *terrain = reference_terrain(&curved);

    float min = 0, max = 0;
    terrain_range(terrain, &min, &max);
    REQUIRE(min == curve->min && max == curve->max, "%s: range %g..%g", curve->name, (double)min,
            (double)max);
    for (int n = 0; n < 20000; n++) {
        int64_t x = draw_between(&draws, -BLOCKS(1000), BLOCKS(1000));
        int64_t y = draw_between(&draws, -BLOCKS(1000), BLOCKS(1000));
        if (n % 100 == 0) {
            x -= x % BLOCKS(10);
            y -= y % BLOCKS(10);
        }
        float value = terrain_height(noise, x, y), height = terrain_height(terrain, x, y);
        REQUIRE(height >= min && height <= max, "%s: noise %g becomes %g", curve->name,
                (double)value, (double)height);
        /* The noise is known to 2^-23; the curve may take any of its values in that interval. */
        double a = reference_elevation(&curved, (double)value - 0x1p-23);
        double b = reference_elevation(&curved, value);
        double c = reference_elevation(&curved, (double)value + 0x1p-23);
        double slack = 1e-6 * fmax(fabsf(min), fabsf(max));
        REQUIRE(height >= fmin(fmin(a, b), c) - slack && height <= fmax(fmax(a, b), c) + slack,
                "%s: noise %.9g becomes %.9g, the curve says %.9g", curve->name, (double)value,
                (double)height, b);
    }
    terrain_free(noise);
    terrain_free(terrain);
}
END_TEST

static const struct {
    enum farlands_fractal fractal;
    int octaves;
    double lacunarity;
    int64_t finest;
} finest[] = {
    {FARLANDS_NONE, 14, 2, BLOCKS(65536)}, {FARLANDS_FBM, 1, 2, BLOCKS(65536)},
    {FARLANDS_RIDGED, 14, 2, BLOCKS(8)},   {FARLANDS_FBM, 2, 2, BLOCKS(32768)},
    {FARLANDS_FBM, 14, 2, BLOCKS(8)},      {FARLANDS_FBM, 26, 2, 2},
    {FARLANDS_FBM, 3, 3, 7456540},    /* 2^26 / 9 = 7456540.4 */
    {FARLANDS_FBM, 2, 1.9, 35320455}, /* 2^26 / 1.9 = 35320454.7 */
};

START_TEST(finest_is_the_last_octave)
{
    struct farlands_params params = reference_params();
    params.fractal = finest[_i].fractal;
    params.octaves = finest[_i].octaves;
    params.lacunarity = finest[_i].lacunarity;
    struct farlands_terrain *terrain = reference_terrain(&params);
    int64_t wavelength = terrain_finest(terrain);
    REQUIRE(wavelength == finest[_i].finest, "%s: %" PRId64, reference_params_text(&params),
            wavelength);
    int last = params.fractal == FARLANDS_NONE ? 0 : params.octaves - 1;
    wavelength = params_wavelength(&params, last);
    REQUIRE(wavelength == finest[_i].finest, "%s: octave %d has %" PRId64,
            reference_params_text(&params), last, wavelength);
    terrain_free(terrain);
}
END_TEST

START_TEST(elevation_is_exact_at_knots)
{
    struct draws draws = {700, 0};
    struct farlands_params plain = reference_params();
    struct farlands_terrain *noise = reference_terrain(&plain);
    for (int n = 0; n < 500; n++) {
        int64_t x = draw_between(&draws, -FARLANDS_LIMIT, FARLANDS_LIMIT);
        int64_t y = draw_between(&draws, -FARLANDS_LIMIT, FARLANDS_LIMIT);
        float value = terrain_height(noise, x, y);
        /* Places whose noise is that of a knot: an inner one, the first and the last. */
        const struct {
            struct farlands_knot knots[3];
        } rows[] = {
            {{{value - 0.3f, -100}, {value, 77}, {value + 0.4f, 250}}},
            {{{value, 77}, {value + 0.1f, 250}, {value + 0.4f, 300}}},
            {{{value - 0.3f, -100}, {value - 0.1f, -90}, {value, 77}}},
        };
        for (int r = 0; r < LENGTH(rows); r++) {
            struct farlands_params params = plain;
            memcpy(params.elevation, rows[r].knots, sizeof rows[r].knots);
            struct farlands_terrain *terrain = reference_terrain(&params);
            float height = terrain_height(terrain, x, y);
            REQUIRE(fabsf(height - 77) <= 1e-4f, "knot %d at noise %.9g: %.9g, not 77", r,
                    (double)value, (double)height);
            terrain_free(terrain);
        }
    }
    terrain_free(noise);
}
END_TEST

static void one_row(const struct farlands_terrain *terrain, int64_t step, bool band_limit,
                    float out[256])
{
    struct farlands_scratch *scratch = reference_scratch();
    struct farlands_grid grid = {
        .x = -77, .y = 1234, .step = step, .width = 256, .height = 1, .band_limit = band_limit};
    ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, 256), 0);
    farlands_scratch_free(scratch);
}

static const char *const bases[] = {"perlin", "simplex", "cellular", "value"};
static const char *const fractals[] = {"none", "fbm", "billow", "ridged", "hybrid"};

/* The height of a picture in which every octave has faded out: the same everywhere. */
static double plain_of(const struct farlands_terrain *terrain, int64_t wavelength)
{
    float row[256];
    one_row(terrain, wavelength, true, row);
    return row[0];
}

/* Distances of samples, in thousandths of the wavelength, and the octave's weight there. */
static const struct {
    int64_t thousandths;
    double weight; /* 1 - smoothstep(1/4, 1/2, spacing / wavelength) */
} limits[] = {
    {1, 1},       {100, 1},     {250, 1}, {275, 0.972}, {300, 0.896}, {375, 0.5},
    {450, 0.104}, {475, 0.028}, {500, 0}, {501, 0},     {1000, 0},    {1000000, 0},
};

/* An octave fades into its mean, which is 0 except for cellular noise. */
START_TEST(band_limit_fades_an_octave)
{
    const double weight = limits[_i].weight;
    for (int b = 0; b < LENGTH(bases); b++) {
        struct farlands_params params = reference_single(FARLANDS_MIX64, 1000 * 8);
        params.basis = (enum farlands_basis)b;
        struct farlands_terrain *terrain = reference_terrain(&params);
        const double mean = plain_of(terrain, params.wavelength);
        REQUIRE(b == FARLANDS_CELLULAR || fabs(mean) <= 1e-3, "%s: mean %g", bases[b], mean);
        float exact[256], limited[256];
        one_row(terrain, limits[_i].thousandths * 8, false, exact);
        one_row(terrain, limits[_i].thousandths * 8, true, limited);
        for (int i = 0; i < 256; i++) {
            REQUIRE(weight < 1 || float_bits(limited[i]) == float_bits(exact[i]),
                    "%s, %" PRId64 " thousandths: %.9g, exactly %.9g", bases[b],
                    limits[_i].thousandths, (double)limited[i], (double)exact[i]);
            REQUIRE(fabs(limited[i] - mean - weight * (exact[i] - mean)) <= 1e-6,
                    "%s, %" PRId64 " thousandths: %.9g is not %g of %.9g (mean %g)", bases[b],
                    limits[_i].thousandths, (double)limited[i], weight, (double)exact[i], mean);
        }
        terrain_free(terrain);
    }
}
END_TEST

START_TEST(band_limit_leaves_a_plain)
{
    struct farlands_params params = reference_params();
    params.elevation[1] = (struct farlands_knot){-0.5f, 40};
    params.elevation[2] = (struct farlands_knot){0.5f, 140}; /* 90 metres at noise 0 */
    struct farlands_terrain *terrain = reference_terrain(&params);
    float row[256];
    for (int64_t step = params.wavelength / 2; step <= FARLANDS_MAX_STEP; step *= 2) {
        one_row(terrain, step, true, row);
        for (int i = 0; i < 256; i++)
            REQUIRE(row[i] == 90, "step %" PRId64 ": %g", step, (double)row[i]);
    }
    one_row(terrain, params.wavelength / 4, true, row);
    int level = 0;
    for (int i = 0; i < 256; i++)
        level += row[i] == 90;
    ck_assert_int_lt(level, 10);
    terrain_free(terrain);
}
END_TEST

/* The band limit removes only octaves finer than two samples. */
START_TEST(band_limit_keeps_coarse_octaves)
{
    struct farlands_params all = reference_params();
    all.basis = (enum farlands_basis)(_i % LENGTH(bases));
    all.fractal = _i < LENGTH(bases) ? FARLANDS_FBM : FARLANDS_BILLOW;
    struct farlands_terrain *terrain = reference_terrain(&all);
    const double mean = plain_of(terrain, all.wavelength);
    for (int coarse = 1; coarse < all.octaves; coarse++) {
        /* Octave `coarse` is two samples wide and vanishes; the one before it is four samples wide.
         * */
        int64_t step = (all.wavelength >> coarse) / 2;
        struct farlands_params few = all;
        few.octaves = coarse;
        struct farlands_terrain *expected = reference_terrain(&few);
        const double share =
            (1 - pow(all.persistence, coarse)) / (1 - pow(all.persistence, all.octaves));
        float limited[256], exact[256];
        one_row(terrain, step, true, limited);
        one_row(expected, step, false, exact);
        for (int i = 0; i < 256; i++)
            REQUIRE(fabs(limited[i] - mean - share * (exact[i] - mean)) <= 1e-6,
                    "%s %s, %d octaves at step %" PRId64 ": %.9g, not %.9g", bases[all.basis],
                    fractals[all.fractal], coarse, step, (double)limited[i],
                    mean + share * (exact[i] - mean));
        terrain_free(expected);
    }
    terrain_free(terrain);
}
END_TEST

/* Four octaves of equal amplitude: 64, 32, 16 and 8 blocks. */
static struct farlands_params four_octaves(int row)
{
    struct farlands_params params = reference_params();
    params.basis = (enum farlands_basis)(row % LENGTH(bases));
    params.fractal = (enum farlands_fractal)(row / LENGTH(bases));
    params.wavelength = BLOCKS(64);
    params.octaves = params.fractal == FARLANDS_NONE ? 1 : 4;
    params.persistence = 1;
    params.offset = params.fractal == FARLANDS_HYBRID ? 0.7 : 1;
    params.gain = 2;
    return params;
}

struct spread {
    double mean, least, most;
};

/* Places of a grid with samples STEP units apart, with and without the band limit. */
static void spreads(const struct farlands_terrain *terrain, int64_t step, struct spread *exact,
                    struct spread *limited)
{
    enum { SIDE = 256, COUNT = SIDE * SIDE };
    static float out[COUNT];
    struct farlands_scratch *scratch = reference_scratch();
    struct farlands_grid grid = {
        .x = BLOCKS(1000), .y = -BLOCKS(77777), .step = step, .width = SIDE, .height = SIDE};
    for (int n = 0; n < 2; n++) {
        struct spread *spread = n ? limited : exact;
        grid.band_limit = n;
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, SIDE), 0);
        *spread = (struct spread){0, out[0], out[0]};
        for (int k = 0; k < COUNT; k++) {
            spread->mean += (double)out[k] / COUNT;
            spread->least = fmin(spread->least, out[k]);
            spread->most = fmax(spread->most, out[k]);
        }
    }
    farlands_scratch_free(scratch);
}

/*
 * However coarse a picture is, its mean height is right within MEAN_SHARE of its range: |n|
 * fades into its mean, not into 0.
 */
#define MEAN_SHARE 0.03

START_TEST(pictures_keep_their_mean)
{
    struct farlands_params params = four_octaves(_i);
    struct farlands_terrain *terrain = reference_terrain(&params);
    /* In hundredths of an octave's wavelength: fading begins, is half done, is done. */
    static const int64_t hundredths[] = {28, 34, 40, 48, 60};
    for (int k = params.octaves - 1; k >= 0; k--) {
        for (int h = 0; h < LENGTH(hundredths); h++) {
            struct spread exact, limited;
            const int64_t step = params_wavelength(&params, k) * hundredths[h] / 100;
            spreads(terrain, step, &exact, &limited);
            const double range = exact.most - exact.least;
            REQUIRE(fabs(limited.mean - exact.mean) <= MEAN_SHARE * range,
                    "%s %s, step %g blocks: mean %g, limited %g; range %g", bases[params.basis],
                    fractals[params.fractal], (double)step / FARLANDS_UNIT, exact.mean,
                    limited.mean, range);
            REQUIRE(limited.least >= exact.least - 0.1 * range &&
                        limited.most <= exact.most + 0.1 * range,
                    "%s %s, step %g blocks: from %g to %g, limited from %g to %g",
                    bases[params.basis], fractals[params.fractal], (double)step / FARLANDS_UNIT,
                    exact.least, exact.most, limited.least, limited.most);
            if (k == 0 && hundredths[h] >= 50)
                REQUIRE(limited.most == limited.least, "%s %s: not a plain, but %g to %g",
                        bases[params.basis], fractals[params.fractal], limited.least, limited.most);
        }
    }
    terrain_free(terrain);
}
END_TEST

/* Weights of ridged octaves stay within 0 .. 1 for any gain: faded octaves must not make them grow.
 * */
START_TEST(faded_ridges_stay_ridges)
{
    static const double offsets[] = {0, 0.1, 0.5, 2}, gains[] = {2, 50, FARLANDS_MAX_GAIN};
    struct farlands_scratch *scratch = reference_scratch();
    for (int k = 0; k < LENGTH(offsets) * LENGTH(gains); k++) {
        struct farlands_params params = reference_params();
        params.basis = (enum farlands_basis)_i;
        params.fractal = FARLANDS_RIDGED;
        params.wavelength = BLOCKS(4096);
        params.octaves = 12;
        params.persistence = 0.9;
        params.offset = offsets[k % LENGTH(offsets)];
        params.gain = gains[k / LENGTH(offsets)];
        params.elevation[0] = (struct farlands_knot){-1000, -1000};
        params.elevation[1] = (struct farlands_knot){1000, 1000};
        params.knots = 2;
        struct farlands_terrain *terrain = reference_terrain(&params);
        struct farlands_grid grid = {0, 0, BLOCKS(717), 64, 64, true};
        static float heights[64 * 64];
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, heights, 64), 0);
        for (int i = 0; i < LENGTH(heights); i++)
            REQUIRE(heights[i] >= 0, "%s: %g", reference_params_text(&params), (double)heights[i]);
        terrain_free(terrain);
    }
    farlands_scratch_free(scratch);
}
END_TEST

/*
 * If the step grows by a thousandth, a height changes little. An octave's weight changes by 6
 * (the steepest smoothstep, 3/2, over a quarter) times 3/8 of a thousandth, 0.0023. It acts on
 * its own share, a quarter, and through Musgrave's weights on the octaves below it, on each at
 * most twice as much as on the one before: 15 quarters, below 1 % of a height. An octave that
 * vanished at once would take a quarter with it.
 */
START_TEST(pictures_fade_without_a_jump)
{
    enum { PLACES = 6 };
    struct farlands_params params = four_octaves(_i);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    struct draws draws = {710, 0};
    const int64_t first = params_wavelength(&params, params.octaves - 1) / 5;
    for (int n = 0; n < PLACES; n++) {
        const int64_t x = draw_between(&draws, -BLOCKS(10000), BLOCKS(10000));
        const int64_t y = draw_between(&draws, -BLOCKS(10000), BLOCKS(10000));
        const float exact = terrain_height(terrain, x, y);
        float before = exact;
        double exactly = (double)first;
        for (int64_t step = first; step < params.wavelength * 3 / 5; step = (int64_t)exactly) {
            struct farlands_grid grid = {
                .x = x, .y = y, .step = step, .width = 1, .height = 1, .band_limit = true};
            float height;
            ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, &height, 1), 0);
            REQUIRE(fabsf(height - before) <= 0.01f,
                    "%s %s at (%" PRId64 ", %" PRId64 "): from %g to %g at step %" PRId64,
                    bases[params.basis], fractals[params.fractal], x, y, (double)before,
                    (double)height, step);
            REQUIRE(4 * step > 5 * first || float_bits(height) == float_bits(exact),
                    "%s %s at (%" PRId64 ", %" PRId64 "), step %" PRId64 ": %.9g, exactly %.9g",
                    bases[params.basis], fractals[params.fractal], x, y, step, (double)height,
                    (double)exact);
            before = height;
            exactly *= 1.001;
        }
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_terrain");
    TCase *options = tcase_create("options"), *picture = tcase_create("band limit");
    tcase_add_loop_test(options, bad_parameters_are_named, 0, LENGTH(changes));
    tcase_add_test(options, period_holds_the_warp);
    tcase_add_loop_test(options, elevation_follows_its_knots, 0, LENGTH(curves));
    tcase_add_test(options, elevation_is_exact_at_knots);
    tcase_add_loop_test(options, finest_is_the_last_octave, 0, LENGTH(finest));
    suite_add_tcase(suite, options);
    tcase_add_loop_test(picture, band_limit_fades_an_octave, 0, LENGTH(limits));
    tcase_add_test(picture, band_limit_leaves_a_plain);
    tcase_add_loop_test(picture, band_limit_keeps_coarse_octaves, 0, 2 * LENGTH(bases));
    tcase_add_loop_test(picture, pictures_keep_their_mean, 0, LENGTH(bases) * LENGTH(fractals));
    tcase_add_loop_test(picture, faded_ridges_stay_ridges, 0, FARLANDS_BASES);
    tcase_add_loop_test(picture, pictures_fade_without_a_jump, 0, LENGTH(bases) * LENGTH(fractals));
    suite_add_tcase(suite, picture);

    return suite_run(suite);
}
