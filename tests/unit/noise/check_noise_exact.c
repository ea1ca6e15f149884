/*
 * Numbers are exact, for every kind of terrain: tile, region and point have the same bits under
 * every kernel, and so have common samples of two zooms, and places one period apart.
 */
#include <check.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

/* Every case that kernels distinguish. Wavelengths in units: cells wider than 2^24 are computed in
 * double, narrower ones in float. */
enum hashing_row { MIX64, PERMUTATION, OCTAVE_SALT };

static const struct kind {
    const char *name;
    enum farlands_basis basis;
    enum farlands_fractal fractal;
    enum hashing_row hashing;
    int64_t wavelength;
    int octaves;
    double lacunarity;
    int64_t warp_amplitude, warp_wavelength;
    int64_t period;
} kinds[] = {
    {"perlin", FARLANDS_PERLIN, FARLANDS_NONE, MIX64, 12345, 1, 2, 0, 0, 0},
    {"perlin, broad", FARLANDS_PERLIN, FARLANDS_NONE, MIX64, INT64_C(1) << 50, 1, 2, 0, 0, 0},
    {"perlin fbm", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"perlin billow", FARLANDS_PERLIN, FARLANDS_BILLOW, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"perlin ridged", FARLANDS_PERLIN, FARLANDS_RIDGED, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"perlin hybrid", FARLANDS_PERLIN, FARLANDS_HYBRID, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"simplex, broad", FARLANDS_SIMPLEX, FARLANDS_NONE, MIX64, INT64_C(1) << 50, 1, 2, 0, 0, 0},
    {"simplex fbm", FARLANDS_SIMPLEX, FARLANDS_FBM, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"simplex ridged", FARLANDS_SIMPLEX, FARLANDS_RIDGED, PERMUTATION, BLOCKS(65536), 9, 1.9, 0, 0,
     0},
    {"cellular, broad", FARLANDS_CELLULAR, FARLANDS_NONE, MIX64, INT64_C(1) << 50, 1, 2, 0, 0, 0},
    {"cellular fbm", FARLANDS_CELLULAR, FARLANDS_FBM, MIX64, BLOCKS(65536), 10, 2, 0, 0, 0},
    {"cellular billow", FARLANDS_CELLULAR, FARLANDS_BILLOW, OCTAVE_SALT, BLOCKS(65536), 6, 3, 0, 0,
     0},
    {"value, broad", FARLANDS_VALUE, FARLANDS_NONE, MIX64, INT64_C(1) << 50, 1, 2, 0, 0, 0},
    {"value fbm", FARLANDS_VALUE, FARLANDS_FBM, MIX64, BLOCKS(65536), 14, 2, 0, 0, 0},
    {"value hybrid", FARLANDS_VALUE, FARLANDS_HYBRID, PERMUTATION, BLOCKS(65536), 9, 1.9, 0, 0, 0},
    {"perlin, lacunarity 1.9", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(65536), 14, 1.9, 0, 0,
     0},
    {"perlin, octave_salt", FARLANDS_PERLIN, FARLANDS_FBM, OCTAVE_SALT, BLOCKS(400), 9, 2, 0, 0, 0},
    {"perlin, warped", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(400), 9, 2, BLOCKS(100),
     BLOCKS(1000), 0},
    {"simplex, warped by a unit", FARLANDS_SIMPLEX, FARLANDS_RIDGED, MIX64, BLOCKS(400), 9, 2, 1,
     777, 0},
    {"cellular, warped by cells", FARLANDS_CELLULAR, FARLANDS_FBM, MIX64, BLOCKS(65536), 7, 2,
     BLOCKS(300000), BLOCKS(500000), 0},
    {"value, warped as far as can be", FARLANDS_VALUE, FARLANDS_BILLOW, OCTAVE_SALT, BLOCKS(65536),
     7, 2, FARLANDS_MAX_WAVELENGTH, FARLANDS_MAX_WAVELENGTH, 0},
};

/* These have a period; PERMUTATION repeats after 256 cells even without one. */
static const struct kind periodic[] = {
    {"perlin, 1 cell", FARLANDS_PERLIN, FARLANDS_NONE, MIX64, 12345, 1, 2, 0, 0, 12345},
    {"perlin, 3 cells", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(65536), 14, 2, 0, 0,
     BLOCKS(3 * 65536)},
    {"perlin, lacunarity 3", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(59049), 10, 3, 0, 0,
     BLOCKS(7 * 59049)},
    {"perlin, broad", FARLANDS_PERLIN, FARLANDS_RIDGED, MIX64, INT64_C(1) << 50, 14, 2, 0, 0,
     FARLANDS_LIMIT},
    {"perlin, permutation", FARLANDS_PERLIN, FARLANDS_BILLOW, PERMUTATION, BLOCKS(64), 7, 2, 0, 0,
     BLOCKS(100 * 64)},
    {"perlin, octave_salt", FARLANDS_PERLIN, FARLANDS_HYBRID, OCTAVE_SALT, BLOCKS(64), 7, 2, 0, 0,
     BLOCKS(200 * 64)},
    {"cellular, 1 cell", FARLANDS_CELLULAR, FARLANDS_NONE, MIX64, 12345, 1, 2, 0, 0, 12345},
    {"cellular, 2 cells", FARLANDS_CELLULAR, FARLANDS_FBM, MIX64, BLOCKS(64), 5, 2, 0, 0,
     BLOCKS(2 * 64)},
    {"cellular, broad", FARLANDS_CELLULAR, FARLANDS_RIDGED, MIX64, BLOCKS(1 << 20), 8, 2, 0, 0,
     BLOCKS(1000 * (INT64_C(1) << 20))},
    {"value, permutation", FARLANDS_VALUE, FARLANDS_FBM, PERMUTATION, BLOCKS(64), 7, 2, 0, 0,
     BLOCKS(33 * 64)},
    {"perlin, warped", FARLANDS_PERLIN, FARLANDS_FBM, MIX64, BLOCKS(400), 7, 2, BLOCKS(130),
     BLOCKS(1000), BLOCKS(10000)},
    {"cellular, warped by cells", FARLANDS_CELLULAR, FARLANDS_BILLOW, MIX64, BLOCKS(400), 5, 2,
     BLOCKS(12345.6), BLOCKS(2000), BLOCKS(10000)},
    {"value, warped and salted", FARLANDS_VALUE, FARLANDS_HYBRID, OCTAVE_SALT, BLOCKS(65536), 9, 2,
     BLOCKS(1 << 20), BLOCKS(1 << 20), BLOCKS(5 << 20)},
};

enum { KINDS = LENGTH(kinds) + LENGTH(periodic) };

static const struct kind *kind_at(int i)
{
    return i < LENGTH(kinds) ? &kinds[i] : &periodic[i - LENGTH(kinds)];
}

static struct farlands_params kind_params(const struct kind *kind)
{
    struct farlands_params params = reference_params();
    params.basis = kind->basis;
    params.fractal = kind->fractal;
    params.hash = hashings[kind->hashing].hash;
    params.octave_salt = hashings[kind->hashing].octave_salt;
    params.wavelength = kind->wavelength;
    params.octaves = kind->octaves;
    params.lacunarity = kind->lacunarity;
    params.persistence = 0.6;
    params.offset = kind->fractal == FARLANDS_HYBRID ? 0.7 : 1;
    params.gain = 2;
    params.warp.amplitude = kind->warp_amplitude;
    params.warp.wavelength = kind->warp_wavelength;
    params.period = kind->period;
    return params;
}

/* A grid's heights without padding. The caller frees them. */
static float *heights(const struct farlands_terrain *terrain, const struct farlands_grid *grid)
{
    static struct farlands_scratch *scratch;
    if (!scratch)
        scratch = reference_scratch();
    float *out = malloc((size_t)grid->width * (size_t)grid->height * sizeof *out);
    ck_assert_ptr_nonnull(out);
    ck_assert_int_eq(terrain_heights(terrain, scratch, grid, out, (size_t)grid->width), 0);
    return out;
}

static const char *const kernels[] = {"scalar", "avx2", "avx512", "neon"};

static const int64_t centers[] = {
    0,
    -BLOCKS(777) - 1,
    BLOCKS(INT64_C(1) << 31),
    -BLOCKS(INT64_C(1) << 40) + 5,
    FARLANDS_LIMIT / 2 + 17,
};

enum { WHOLE_WIDTH = 620, WHOLE_HEIGHT = 71 };

/* Compare PART with the whole grid, whose sample (LEFT, TOP) is its first. Name one row that
 * differs. */
static void assert_part(const char *name, const struct farlands_terrain *terrain,
                        const struct farlands_grid *whole, const float *expected, int left, int top,
                        int width, int height)
{
    struct farlands_grid part = *whole;
    part.x += left * part.step;
    part.y += top * part.step;
    part.width = width;
    part.height = height;
    float *out = heights(terrain, &part);
    for (int j = 0; j < height; j++) {
        const float *row = out + j * width, *wanted = expected + (top + j) * whole->width + left;
        for (int i = 0; memcmp(row, wanted, (size_t)width * sizeof *row) != 0 && i < width; i++)
            REQUIRE(float_bits(row[i]) == float_bits(wanted[i]),
                    "%s under %s, step %" PRId64 "%s, from (%" PRId64 ", %" PRId64
                    "): (%d, %d) is %.9g, in the part %dx%d from (%d, %d) %.9g",
                    name, terrain_kernel(terrain), part.step,
                    part.band_limit ? ", band-limited" : "", whole->x, whole->y, left + i, top + j,
                    (double)wanted[i], width, height, left, top, (double)row[i]);
    }
    free(out);
}

/* Tiles, regions and points agree: a large grid, parts of it of every width 1 .. 600 (over all
 * kinds), and points of it. */
static void assert_cuts(const struct kind *kind, const struct farlands_terrain *terrain,
                        const struct farlands_grid *whole, const float *expected, int first)
{
    struct draws draws = {(uint64_t)first, 0};
    for (int width = 1 + first % 59; width <= 600; width += 59) {
        int height = (int)draw_between(&draws, 1, 70);
        /* Most parts are low: a row costs the same, and errors at cuts show in the first rows. */
        if (width % 4)
            height = height % 9 + 1;
        assert_part(kind->name, terrain, whole, expected,
                    (int)draw_between(&draws, 0, whole->width - width),
                    (int)draw_between(&draws, 0, whole->height - height), width, height);
    }
    for (int k = first % 61; !whole->band_limit && k < whole->width * whole->height; k += 61) {
        int i = k % whole->width, j = k / whole->width;
        float point =
            terrain_height(terrain, whole->x + i * whole->step, whole->y + j * whole->step);
        REQUIRE(float_bits(point) == float_bits(expected[k]),
                "%s under %s, step %" PRId64 ", from (%" PRId64 ", %" PRId64
                "): (%d, %d) is %.9g, as a point %.9g",
                kind->name, terrain_kernel(terrain), whole->step, whole->x, whole->y, i, j,
                (double)expected[k], (double)point);
    }
}

START_TEST(tile_region_and_point_agree_under_every_kernel)
{
    const struct kind *kind = kind_at(_i);
    struct farlands_params params = kind_params(kind);
    struct draws draws = {1100 + (uint64_t)_i, 0};
    int64_t finest = params_wavelength(&params, params.octaves - 1);
    /* Samples finer than the finest cell, coarser, and in between. */
    const int64_t steps[] = {finest / 21 + 1, finest * 3 + 1, params.wavelength / 3};
    for (int s = 0; s < 2 * LENGTH(steps); s++) {
        struct farlands_grid whole = {
            .x = centers[draw_between(&draws, 0, LENGTH(centers) - 1)],
            .y = centers[draw_between(&draws, 0, LENGTH(centers) - 1)],
            .step = steps[s / 2] < FARLANDS_MAX_STEP ? steps[s / 2] : FARLANDS_MAX_STEP,
            .width = WHOLE_WIDTH,
            .height = WHOLE_HEIGHT,
            .band_limit = s % 2,
        };
        whole.x -= 300 * whole.step;
        whole.y -= 35 * whole.step;
        float *expected = NULL;
        for (int k = 0; k < LENGTH(kernels); k++) {
            setenv("FARLANDS_KERNEL", kernels[k], 1);
            if (terrain_kernel_fault()) /* not on this machine */
                continue;
            struct farlands_terrain *terrain = reference_terrain(&params);
            if (expected)
                assert_part(kind->name, terrain, &whole, expected, 0, 0, whole.width, whole.height);
            else
                expected = heights(terrain, &whole);
            assert_cuts(kind, terrain, &whole, expected, _i + KINDS * s);
            terrain_free(terrain);
        }
        ck_assert_ptr_nonnull(expected); /* the scalar kernel runs on any machine */
        free(expected);
    }
}
END_TEST

/* From one unit to the largest step: every other sample of a zoom is a sample of the coarser one.
 * */
START_TEST(zooms_agree)
{
    enum { WIDTH = 64, HEIGHT = 3 };
    const struct kind *kind = kind_at(_i);
    struct farlands_params params = kind_params(kind);
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int c = 0; c < LENGTH(centers); c++) {
        const int64_t x = centers[c], y = centers[(c + 2) % LENGTH(centers)];
        for (int64_t step = 1; step < FARLANDS_MAX_STEP; step *= 2) {
            const struct farlands_grid fine = {
                .x = x, .y = y, .step = step, .width = 2 * WIDTH, .height = 2 * HEIGHT};
            const struct farlands_grid coarse = {
                .x = x, .y = y, .step = 2 * step, .width = WIDTH, .height = HEIGHT};
            float *a = heights(terrain, &fine), *b = heights(terrain, &coarse);
            for (int k = 0; k < WIDTH * HEIGHT; k++) {
                int i = k % WIDTH, j = k / WIDTH;
                REQUIRE(float_bits(b[k]) == float_bits(a[2 * j * fine.width + 2 * i]),
                        "%s at (%" PRId64 ", %" PRId64 "), step %" PRId64
                        ": (%d, %d) is %.9g, one zoom finer %.9g",
                        kind->name, x, y, 2 * step, i, j, (double)b[k],
                        (double)a[2 * j * fine.width + 2 * i]);
            }
            free(a);
            free(b);
        }
    }
    terrain_free(terrain);
}
END_TEST

/* Any place, near or far, that has a neighbor one period away. */
static int64_t place_before(struct draws *draws, int64_t period)
{
    const int64_t low = -FARLANDS_LIMIT + 1, high = FARLANDS_LIMIT - period;
    if (draw_between(draws, 0, 1) == 0)
        return draw_between(draws, low, high);
    const int64_t near = period < FARLANDS_LIMIT / 8 ? 2 * period : FARLANDS_LIMIT / 8;
    const int64_t place = draw_between(draws, -near, near);
    return place < high ? place : -place;
}

START_TEST(period_repeats_bit_for_bit)
{
    const struct kind *kind = &periodic[_i];
    const int64_t period = kind->period;
    struct farlands_params params = kind_params(kind);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {1200 + (uint64_t)_i, 0};
    for (int n = 0; n < 5000; n++) {
        const int64_t x = place_before(&draws, period), y = place_before(&draws, period);
        const int64_t on_x = draw_between(&draws, 1, (FARLANDS_LIMIT - x) / period) * period;
        const int64_t on_y = draw_between(&draws, 1, (FARLANDS_LIMIT - y) / period) * period;
        const int64_t moves[][2] = {{period, 0}, {0, period}, {on_x, 0}, {0, on_y}, {on_x, on_y}};
        const float here = terrain_height(terrain, x, y);
        const double here_3d = n % 16 == 0 ? terrain_noise3(terrain, x, y, on_x / 3) : 0;
        for (int m = 0; m < LENGTH(moves); m++) {
            float there = terrain_height(terrain, x + moves[m][0], y + moves[m][1]);
            double there_3d =
                n % 16 == 0 ? terrain_noise3(terrain, x + moves[m][0], y + moves[m][1], on_x / 3)
                            : here_3d;
            REQUIRE(here_3d == there_3d, "%s: in 3-D %.17g at (%" PRId64 ", %" PRId64 "), %.17g on",
                    kind->name, here_3d, x, y, there_3d);
            REQUIRE(float_bits(here) == float_bits(there),
                    "%s: %.9g at (%" PRId64 ", %" PRId64 "), %.9g %" PRId64 ", %" PRId64
                    " units on",
                    kind->name, (double)here, x, y, (double)there, moves[m][0], moves[m][1]);
        }
    }
    terrain_free(terrain);
}
END_TEST

/* Whole grids, pictures too. */
START_TEST(period_repeats_in_pictures)
{
    const struct kind *kind = &periodic[_i];
    struct farlands_params params = kind_params(kind);
    struct farlands_terrain *terrain = reference_terrain(&params);
    int64_t finest = terrain_finest(terrain);
    const int64_t steps[] = {finest / 9 + 1, finest / 3, kind->wavelength / 3, kind->wavelength};
    for (int s = 0; s < 2 * LENGTH(steps); s++) {
        const int64_t step = steps[s / 2];
        struct farlands_grid grid = {.x = -kind->period / 2 - 150 * step,
                                     .y = -kind->period / 2 - 5 * step,
                                     .step = step,
                                     .width = 300,
                                     .height = 10,
                                     .band_limit = s % 2};
        float *here = heights(terrain, &grid);
        for (int way = 1; way < 4; way++) {
            struct farlands_grid moved = grid;
            moved.x += way & 1 ? kind->period : 0;
            moved.y += way & 2 ? kind->period : 0;
            float *there = heights(terrain, &moved);
            for (int k = 0; k < grid.width * grid.height; k++)
                REQUIRE(float_bits(here[k]) == float_bits(there[k]),
                        "%s, step %" PRId64 "%s: (%d, %d) is %.9g, a period on %.9g", kind->name,
                        step, grid.band_limit ? ", band-limited" : "", k % grid.width,
                        k / grid.width, (double)here[k], (double)there[k]);
            free(there);
        }
        free(here);
    }
    terrain_free(terrain);
}
END_TEST

/* The period is the one given, and no fraction of it. */
START_TEST(period_is_not_shorter)
{
    const struct kind *kind = &periodic[_i];
    struct farlands_params params = kind_params(kind);
    struct farlands_terrain *terrain = reference_terrain(&params);
    const int64_t parts[] = {kind->period / 2, kind->period / 3, kind->period / 5,
                             kind->period - kind->wavelength};
    for (int p = 0; p < LENGTH(parts); p++) {
        struct draws draws = {1300 + (uint64_t)_i, 0};
        int same_x = 0, same_y = 0;
        for (int n = 0; n < 1000 && parts[p] > 0; n++) {
            const int64_t x = place_before(&draws, kind->period);
            const int64_t y = place_before(&draws, kind->period);
            const float here = terrain_height(terrain, x, y);
            same_x += terrain_height(terrain, x + parts[p], y) == here;
            same_y += terrain_height(terrain, x, y + parts[p]) == here;
        }
        REQUIRE(same_x < 20 && same_y < 20,
                "%s: %d and %d of 1000 places are the same %" PRId64
                " units on, the period is %" PRId64,
                kind->name, same_x, same_y, parts[p], kind->period);
    }
    terrain_free(terrain);
}
END_TEST

/* A curve narrower than the noise: heights stop at its ends. */
START_TEST(heights_stay_within_the_range)
{
    const struct kind *kind = kind_at(_i);
    struct farlands_params params = kind_params(kind);
    params.elevation[0] = (struct farlands_knot){-0.06f, 333.3f};
    params.elevation[1] = (struct farlands_knot){0.01f, -77.7f};
    params.elevation[2] = (struct farlands_knot){0.07f, 1234.5f};
    struct farlands_terrain *terrain = reference_terrain(&params);
    float min, max;
    terrain_range(terrain, &min, &max);
    ck_assert(min == -77.7f && max == 1234.5f);
    const int64_t start = terrain_finest(terrain) / 9 + 1;
    int top = 0;
    for (int64_t step = start; step < FARLANDS_MAX_STEP / 3; step *= 3) {
        for (int limited = 0; limited < 2; limited++) {
            struct farlands_grid grid = {.x = -150 * step + 5,
                                         .y = 7 * step,
                                         .step = step,
                                         .width = 300,
                                         .height = 20,
                                         .band_limit = limited};
            float *out = heights(terrain, &grid);
            for (int k = 0; k < grid.width * grid.height; k++) {
                REQUIRE(out[k] >= min && out[k] <= max, "%s, step %" PRId64 "%s: %.9g", kind->name,
                        step, limited ? ", band-limited" : "", (double)out[k]);
                top += out[k] == max || out[k] == params.elevation[0].metres;
            }
            free(out);
        }
    }
    REQUIRE(top > 0, "%s: the curve's ends are never met", kind->name);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_exact");
    TCase *exact = tcase_create("every kind of world");
    tcase_set_timeout(exact, 120);
    tcase_add_loop_test(exact, tile_region_and_point_agree_under_every_kernel, 0, KINDS);
    tcase_add_loop_test(exact, zooms_agree, 0, KINDS);
    tcase_add_loop_test(exact, heights_stay_within_the_range, 0, KINDS);
    tcase_add_loop_test(exact, period_repeats_bit_for_bit, 0, LENGTH(periodic));
    tcase_add_loop_test(exact, period_repeats_in_pictures, 0, LENGTH(periodic));
    tcase_add_loop_test(exact, period_is_not_shorter, 0, LENGTH(periodic));
    suite_add_tcase(suite, exact);

    return suite_run(suite);
}
