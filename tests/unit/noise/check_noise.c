/*
 * Random terrains: the same bits from a point, a grid, any part of it, any zoom and any kernel;
 * and no byte written outside the caller's buffer.
 */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

static float *floats(size_t count)
{
    float *f = malloc(count * sizeof *f);
    ck_assert_ptr_nonnull(f);
    return f;
}

static const char *grid_text(const struct farlands_grid *grid)
{
    static char text[160];
    snprintf(text, sizeof text, "%dx%d at (%" PRId64 ", %" PRId64 ") step %" PRId64 "%s",
             grid->width, grid->height, grid->x, grid->y, grid->step,
             grid->band_limit ? ", band-limited" : "");
    return text;
}

/* The grid's heights without padding. The caller frees them. */
static float *heights(const struct farlands_terrain *terrain, const struct farlands_grid *grid)
{
    static struct farlands_scratch *scratch;
    if (!scratch)
        scratch = reference_scratch();
    float *out = floats((size_t)grid->width * (size_t)grid->height);
    int err = terrain_heights(terrain, scratch, grid, out, (size_t)grid->width);
    REQUIRE(err == 0, "%s: %d", grid_text(grid), err);
    return out;
}

static void assert_same(float a, float b, const struct farlands_params *params,
                        const struct farlands_grid *grid, int i, int j, const char *what)
{
    REQUIRE(float_bits(a) == float_bits(b), "%s; %s; sample (%d, %d): %.9g, %s %.9g",
            reference_params_text(params), grid_text(grid), i, j, (double)a, what, (double)b);
}

/* A random terrain: any basis, fractal and hash, with or without a warp and a period. */
static struct farlands_params random_params(struct draws *draws)
{
    static const double lacunarities[] = {2, 1.9, 3, 1.37};
    /* On both sides of 2^24 units, where float ends and double begins. */
    static const int64_t wavelengths[] = {
        12345, BLOCKS(10.5), BLOCKS(400), 1 << 24, (1 << 24) + 1, BLOCKS(1 << 20), INT64_C(1) << 50,
    };
    /* Less than a cell, and many cells. */
    static const int64_t amplitudes[] = {
        1, BLOCKS(3.7), BLOCKS(400), BLOCKS(1 << 20), FARLANDS_MAX_WAVELENGTH,
    };
    static const int64_t cells[] = {1, 2, 3, 7, 256, 1000};
    const struct hashing *hashing = &hashings[draw_between(draws, 0, LENGTH(hashings) - 1)];
    struct farlands_params params = reference_params();
    params.seed = draw(draws);
    params.basis = (enum farlands_basis)draw_between(draws, 0, FARLANDS_BASES - 1);
    params.fractal = (enum farlands_fractal)draw_between(draws, 0, FARLANDS_FRACTALS - 1);
    params.offset = (double)draw_between(draws, 0, 12) / 10;
    params.gain = (double)draw_between(draws, 0, 30) / 10;
    params.gradients = (enum farlands_gradients)draw_between(draws, 0, FARLANDS_GRADIENT_SETS - 1);
    params.fade = (enum farlands_fade)draw_between(draws, 0, FARLANDS_FADES - 1);
    params.hash = hashing->hash;
    params.octave_salt = hashing->octave_salt;
    params.wavelength = wavelengths[draw_between(draws, 0, LENGTH(wavelengths) - 1)];
    params.lacunarity = lacunarities[draw_between(draws, 0, LENGTH(lacunarities) - 1)];
    params.octaves = (int)draw_between(draws, 1, 14);
    params.persistence = (double)draw_between(draws, 1, 100) / 100;
    if (draw_between(draws, 0, 2) == 0) {
        params.warp.amplitude = amplitudes[draw_between(draws, 0, LENGTH(amplitudes) - 1)];
        params.warp.wavelength = wavelengths[draw_between(draws, 0, LENGTH(wavelengths) - 1)];
    }
    if (params.basis != FARLANDS_SIMPLEX && draw_between(draws, 0, 2) == 0) {
        params.period = params.wavelength * cells[draw_between(draws, 0, LENGTH(cells) - 1)];
        if (params.warp.amplitude > 0)
            params.warp.wavelength = params.wavelength;
    }
    while (params_fault(&params, NULL)) {
        params.octaves--;
        REQUIRE(params.octaves > 0, "%s: %s", reference_params_text(&params),
                params_fault(&params, NULL));
    }
    params.volume = draw_volume(draws, params);
    return params;
}

/* Finer than the finest octave, coarser than the coarsest, and in between. */
static const int64_t steps[] = {
    1,
    7,
    64,
    1000,
    FARLANDS_UNIT,
    FARLANDS_UNIT * 3 / 2,
    BLOCKS(4),
    BLOCKS(37) + 11,
    BLOCKS(256),
    BLOCKS(10000) + 1,
    BLOCKS(65536),
    BLOCKS(INT64_C(1) << 24),
    BLOCKS(INT64_C(1) << 36) + 12345,
    FARLANDS_MAX_STEP,
};

static const int64_t centers[] = {
    0,
    -12345,
    BLOCKS(1000000) + 333,
    -BLOCKS(INT64_C(1) << 31) + 1,
    BLOCKS(INT64_C(1) << 40) + 5,
    -FARLANDS_LIMIT / 2 - 17,
};

/* Places all over the world and at its ends, in noises of up to all octaves: a point's octaves fill
 * several vectors, the last one in part. */
START_TEST(far_points_equal_grids)
{
    struct draws draws = {2000 + (uint64_t)_i, 0};
    for (int round = 0; round < 8; round++) {
        struct farlands_params params = random_params(&draws);
        params.lacunarity = 1.2;
        params.octaves = (int)draw_between(&draws, 1, FARLANDS_MAX_OCTAVES);
        params.period = 0;
        while (params_fault(&params, NULL))
            params.octaves--;
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int n = 0; n < 100; n++) {
            struct farlands_grid grid = {.step = 1, .width = 20, .height = 1};
            int64_t at[2];
            for (int axis = 0; axis < 2; axis++) {
                at[axis] = (int64_t)(draw(&draws) >> draw_between(&draws, 2, 60));
                at[axis] = n % 10 == axis ? FARLANDS_LIMIT : at[axis];
                at[axis] *= n % 3 == axis ? -1 : 1;
            }
            grid.x = at[0];
            grid.y = at[1];
            float *out = heights(terrain, &grid);
            for (int i = 0; i < grid.width; i += 19)
                assert_same(out[i], terrain_height(terrain, grid.x + i, grid.y), &params, &grid, i,
                            0, "as a point");
            free(out);
        }
        terrain_free(terrain);
    }
}
END_TEST

START_TEST(grid_equals_points)
{
    struct draws draws = {100 + (uint64_t)_i, 0};
    for (int round = 0; round < 4; round++) {
        struct farlands_params params = random_params(&draws);
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int s = 0; s < LENGTH(steps); s++) {
            struct farlands_grid grid = {
                .x = centers[draw_between(&draws, 0, LENGTH(centers) - 1)] - steps[s] * 20,
                .y = centers[draw_between(&draws, 0, LENGTH(centers) - 1)] - steps[s],
                .step = steps[s],
                .width = (int)draw_between(&draws, 1, 300),
                .height = 3,
            };
            float *out = heights(terrain, &grid);
            for (int k = 0; k < grid.width * grid.height; k++) {
                int i = k % grid.width, j = k / grid.width;
                float point =
                    terrain_height(terrain, grid.x + i * grid.step, grid.y + j * grid.step);
                assert_same(out[k], point, &params, &grid, i, j, "as a point");
            }
            free(out);
        }
        terrain_free(terrain);
    }
}
END_TEST

/* Around the kernels' vectors and chunks; a tile, a tile with a border, a 2x tile with a border. */
static const int widths[] = {1,   2,   3,   15,  16,  17,  255, 256,
                             257, 258, 271, 272, 273, 514, 545, 1000};

START_TEST(grid_equals_its_parts)
{
    struct draws draws = {200 + (uint64_t)_i, 0};
    for (int s = 0; s < LENGTH(steps); s++) {
        struct farlands_params params = random_params(&draws);
        struct farlands_terrain *terrain = reference_terrain(&params);
        struct farlands_grid whole = {
            .x = -500 * steps[s] + draw_between(&draws, -100000, 100000),
            .y = -2 * steps[s] + draw_between(&draws, -100000, 100000),
            .step = steps[s],
            .width = 1000,
            .height = 5,
            .band_limit = s % 2 == 1,
        };
        float *out = heights(terrain, &whole);
        for (int part = 0; part < 4; part++) {
            int left = (int)draw_between(&draws, 0, whole.width - widths[_i]);
            int top = (int)draw_between(&draws, 0, whole.height - 1);
            struct farlands_grid grid = whole;
            grid.x += left * grid.step;
            grid.y += top * grid.step;
            grid.width = widths[_i];
            grid.height = (int)draw_between(&draws, 1, whole.height - top);
            float *cut = heights(terrain, &grid);
            for (int k = 0; k < grid.width * grid.height; k++) {
                int i = k % grid.width, j = k / grid.width;
                assert_same(cut[k], out[(top + j) * whole.width + left + i], &params, &grid, i, j,
                            "in the whole");
            }
            free(cut);
        }
        free(out);
        terrain_free(terrain);
    }
}
END_TEST

/* Numbers are exact: every other sample of a zoom is a sample of the coarser one. */
START_TEST(zooms_agree)
{
    struct draws draws = {300 + (uint64_t)_i, 0};
    for (int64_t step = steps[_i]; step <= FARLANDS_MAX_STEP / 2; step *= 64) {
        struct farlands_params params = random_params(&draws);
        struct farlands_terrain *terrain = reference_terrain(&params);
        struct farlands_grid fine = {
            .x = -256 * step, .y = -8 * step, .step = step, .width = 514, .height = 16};
        struct farlands_grid coarse = fine;
        coarse.step = 2 * step;
        coarse.width /= 2;
        coarse.height /= 2;
        float *a = heights(terrain, &fine), *b = heights(terrain, &coarse);
        for (int k = 0; k < coarse.width * coarse.height; k++) {
            int i = k % coarse.width, j = k / coarse.width;
            assert_same(b[k], a[2 * j * fine.width + 2 * i], &params, &coarse, i, j, "finer");
        }
        free(a);
        free(b);
        terrain_free(terrain);
    }
}
END_TEST

static const char *box_text(const struct farlands_box *box)
{
    static char text[160];
    snprintf(text, sizeof text, "%dx%dx%d at (%" PRId64 ", %" PRId64 ", %" PRId64 ") step %" PRId64,
             box->width, box->height, box->depth, box->x, box->y, box->z, box->step);
    return text;
}

/* One scratch serves terrains, grids and boxes in any order, and no result depends on the one
 * before. */
START_TEST(scratch_has_no_memory)
{
    struct draws draws = {400, 0};
    struct farlands_scratch *old = reference_scratch();
    for (int round = 0; round < 500; round++) {
        struct farlands_params params = random_params(&draws);
        struct farlands_terrain *terrain = reference_terrain(&params);
        struct farlands_grid grid = {
            .x = draw_between(&draws, -100000, 100000),
            .y = draw_between(&draws, -100000, 100000),
            .step = steps[draw_between(&draws, 0, LENGTH(steps) - 1)],
            .width = (int)draw_between(&draws, 1, 300),
            .height = (int)draw_between(&draws, 1, 3),
            .band_limit = draw_between(&draws, 0, 1),
        };
        struct farlands_scratch *fresh = reference_scratch();
        const size_t count = (size_t)(grid.width * grid.height);
        float *used = floats(count), *out = floats(count);
        ck_assert_int_eq(terrain_heights(terrain, old, &grid, used, (size_t)grid.width), 0);
        ck_assert_int_eq(terrain_heights(terrain, fresh, &grid, out, (size_t)grid.width), 0);
        for (int k = 0; k < grid.width * grid.height; k++)
            assert_same(used[k], out[k], &params, &grid, k % grid.width, k / grid.width,
                        "with a fresh scratch");
        /* Sometimes a box with the grid's samples as well. */
        const struct farlands_box box = {.x = grid.x,
                                         .y = grid.y,
                                         .z = -grid.x,
                                         .step = grid.step,
                                         .width = grid.width,
                                         .height = grid.height,
                                         .depth = 1};
        if (round % 3 == 0) {
            ck_assert_int_eq(terrain_volume(terrain, old, &box, used), 0);
            ck_assert_int_eq(terrain_volume(terrain, fresh, &box, out), 0);
            REQUIRE(memcmp(used, out, count * sizeof *out) == 0,
                    "%s; %s: not as with a fresh scratch", reference_params_text(&params),
                    box_text(&box));
            ck_assert_int_eq(terrain_density(terrain, old, &box, used), 0);
            ck_assert_int_eq(terrain_density(terrain, fresh, &box, out), 0);
            REQUIRE(memcmp(used, out, count * sizeof *out) == 0,
                    "%s; %s: density not as with a fresh scratch", reference_params_text(&params),
                    box_text(&box));
        }
        free(used);
        free(out);
        farlands_scratch_free(fresh);
        terrain_free(terrain);
    }
    farlands_scratch_free(old);
}
END_TEST

START_TEST(stride_leaves_the_padding)
{
    static const int strides[] = {0, 1, 13, 1000};   /* more than the width */
    const uint32_t untouched = UINT32_C(0x7fc0beef); /* a NaN that no kernel computes */
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    struct farlands_grid grid = {
        .x = -700, .y = 900, .step = 999, .width = widths[_i], .height = 4};
    float *packed = heights(terrain, &grid);
    for (int s = 0; s < LENGTH(strides); s++) {
        int stride = grid.width + strides[s], count = stride * (grid.height + 1);
        float *out = floats((size_t)count);
        for (int k = 0; k < count; k++)
            memcpy(&out[k], &untouched, sizeof untouched);
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, (size_t)stride), 0);
        for (int k = 0; k < count; k++) {
            int i = k % stride, j = k / stride;
            if (i < grid.width && j < grid.height)
                assert_same(out[k], packed[j * grid.width + i], &params, &grid, i, j, "packed");
            else
                REQUIRE(float_bits(out[k]) == untouched, "%s, stride %d: (%d, %d) written",
                        grid_text(&grid), stride, i, j);
        }
        free(out);
    }
    free(packed);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* A terrain on kernel NAME, or NULL if this machine does not support it. */
static struct farlands_terrain *on_kernel(const struct farlands_params *params, const char *name)
{
    struct farlands_terrain *terrain = NULL;
    ck_assert_int_eq(setenv("FARLANDS_KERNEL", name, 1), 0);
    if (!terrain_kernel_fault()) {
        terrain = reference_terrain(params);
        ck_assert_str_eq(terrain_kernel(terrain), name);
    }
    unsetenv("FARLANDS_KERNEL");
    return terrain;
}

static bool machine_has(const char *kernel)
{
    const struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = on_kernel(&params, kernel);
    terrain_free(terrain);
    return terrain != NULL;
}

static const char *const kernels[] = {"scalar", "avx2", "avx512", "neon"};

/* Floats between two inaccessible pages: an access outside crashes. */
struct fenced {
    char *map;
    size_t length;
    float *first, *end;
};

static void fenced_new(struct fenced *fenced)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), body = 16 * page;
    fenced->length = body + 2 * page;
    fenced->map = mmap(NULL, fenced->length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(fenced->map, MAP_FAILED);
    ck_assert_int_eq(mprotect(fenced->map + page, body, PROT_READ | PROT_WRITE), 0);
    fenced->first = (float *)(fenced->map + page);
    fenced->end = (float *)(fenced->map + page + body);
}

static void fenced_free(struct fenced *fenced)
{
    munmap(fenced->map, fenced->length);
}

START_TEST(grids_end_at_a_guard_page)
{
    if (!machine_has(kernels[_i]))
        return;
    struct draws draws = {550, 0};
    struct fenced fenced;
    fenced_new(&fenced);
    struct farlands_scratch *scratch = reference_scratch();
    for (int w = 0; w < LENGTH(widths); w++) {
        for (int s = 0; s < LENGTH(steps); s++) {
            struct farlands_params params = random_params(&draws);
            struct farlands_terrain *terrain = on_kernel(&params, kernels[_i]);
            for (int padding = 0; padding < 10; padding += 9) {
                struct farlands_grid grid = {
                    .x = -5 * steps[s] - 3, .step = steps[s], .width = widths[w], .height = 3};
                size_t stride = (size_t)(grid.width + padding);
                size_t count = stride * (size_t)(grid.height - 1) + (size_t)grid.width;
                float *late = fenced.end - count;
                ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, fenced.first, stride), 0);
                ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, late, stride), 0);
                float last =
                    terrain_height(terrain, grid.x + (grid.width - 1) * grid.step, 2 * grid.step);
                assert_same(fenced.end[-1], last, &params, &grid, grid.width - 1, 2, "as a point");
            }
            terrain_free(terrain);
        }
    }
    farlands_scratch_free(scratch);
    fenced_free(&fenced);
}
END_TEST

START_TEST(volumes_end_at_a_guard_page)
{
    if (!machine_has(kernels[_i]))
        return;
    struct draws draws = {560, 0};
    struct fenced fenced;
    fenced_new(&fenced);
    struct farlands_scratch *scratch = reference_scratch();
    for (int w = 0; w < LENGTH(widths); w++) {
        for (int s = 0; s < LENGTH(steps); s++) {
            struct farlands_params params = random_params(&draws);
            struct farlands_terrain *terrain = on_kernel(&params, kernels[_i]);
            const struct farlands_box box = {.x = -5 * steps[s] - 3,
                                             .y = 12345,
                                             .z = -steps[s],
                                             .step = steps[s],
                                             .width = widths[w],
                                             .height = (int)draw_between(&draws, 1, 4),
                                             .depth = (int)draw_between(&draws, 1, 4)};
            float *late = fenced.end - (size_t)box.width * (size_t)(box.height * box.depth);
            ck_assert_int_eq(terrain_volume(terrain, scratch, &box, fenced.first), 0);
            ck_assert_int_eq(terrain_volume(terrain, scratch, &box, late), 0);
            float last = (float)terrain_noise3(terrain, box.x + (box.width - 1) * box.step,
                                               box.y + (box.height - 1) * box.step,
                                               box.z + (box.depth - 1) * box.step);
            REQUIRE(float_bits(fenced.end[-1]) == float_bits(last),
                    "%s; %s: ends with %.9g, as a point %.9g", reference_params_text(&params),
                    box_text(&box), (double)fenced.end[-1], (double)last);
            ck_assert_int_eq(terrain_density(terrain, scratch, &box, fenced.first), 0);
            ck_assert_int_eq(terrain_density(terrain, scratch, &box, late), 0);
            last = terrain_density_at(terrain, box.x + (box.width - 1) * box.step,
                                      box.y + (box.height - 1) * box.step,
                                      box.z + (box.depth - 1) * box.step);
            REQUIRE(float_bits(fenced.end[-1]) == float_bits(last),
                    "%s; %s: density ends with %.9g, as a point %.9g",
                    reference_params_text(&params), box_text(&box), (double)fenced.end[-1],
                    (double)last);
            terrain_free(terrain);
        }
    }
    farlands_scratch_free(scratch);
    fenced_free(&fenced);
}
END_TEST

START_TEST(kernels_agree)
{
    struct draws draws = {500 + (uint64_t)_i, 0};
    for (int round = 0; round < 5; round++) {
        struct farlands_params params = random_params(&draws);
        for (int s = 0; s < 2 * LENGTH(steps); s++) {
            struct farlands_grid grid = {
                .x = centers[draw_between(&draws, 0, LENGTH(centers) - 1)],
                .y = centers[draw_between(&draws, 0, LENGTH(centers) - 1)],
                .step = steps[s / 2],
                .width = widths[draw_between(&draws, 0, LENGTH(widths) - 1)],
                .height = 3,
                .band_limit = s % 2 == 1,
            };
            float *expected = NULL;
            for (int k = 0; k < LENGTH(kernels); k++) {
                struct farlands_terrain *terrain = on_kernel(&params, kernels[k]);
                if (!terrain)
                    continue;
                float *out = heights(terrain, &grid);
                for (int n = 0; expected && n < grid.width * grid.height; n++)
                    assert_same(expected[n], out[n], &params, &grid, n % grid.width, n / grid.width,
                                kernels[k]);
                float point = terrain_height(terrain, grid.x, grid.y);
                if (!grid.band_limit)
                    assert_same(out[0], point, &params, &grid, 0, 0, "as a point");
                if (expected)
                    free(out);
                else
                    expected = out;
                terrain_free(terrain);
            }
            free(expected);
        }
    }
}
END_TEST

START_TEST(kernel_is_chosen_by_name)
{
    struct farlands_params params = reference_params();
    unsetenv("FARLANDS_KERNEL"); /* the test itself may run under a forced kernel */
    struct farlands_terrain *best = reference_terrain(&params);
    struct farlands_terrain *scalar = on_kernel(&params, "scalar");
    ck_assert_ptr_nonnull(scalar);
    setenv("FARLANDS_KERNEL", "", 1);
    struct farlands_terrain *any = reference_terrain(&params);
    ck_assert_str_eq(terrain_kernel(any), terrain_kernel(best));
    terrain_free(best);
    terrain_free(scalar);
    terrain_free(any);
}
END_TEST

START_TEST(unknown_kernels_are_refused)
{
    static const char *const names[] = {"abacus", "AVX2", "avx", "scalar ", "avx2,scalar"};
    struct farlands_params params = reference_params();
    for (int i = 0; i < LENGTH(names); i++) {
        struct farlands_terrain *terrain = NULL;
        setenv("FARLANDS_KERNEL", names[i], 1);
        const char *fault = terrain_kernel_fault();
        REQUIRE(fault && strstr(fault, "scalar"), "%s: %s", names[i], fault);
        ck_assert_int_eq(terrain_new_noise(&terrain, &params), -EINVAL);
        ck_assert_ptr_null(terrain);
    }
}
END_TEST

#define EDGE (FARLANDS_LIMIT + FARLANDS_MAX_STEP)
static const struct {
    int error;
    struct farlands_grid grid;
} bounds[] = {
    {0, {EDGE, EDGE, 1, 1, 1, false}},
    {0, {-EDGE, -EDGE, 1, 1, 1, false}},
    {0, {-EDGE, -EDGE, FARLANDS_MAX_STEP, 64, 64, false}},
    {0, {EDGE - 63, EDGE - 63, 1, 64, 64, false}},
    {0, {EDGE - 62 * 7, -EDGE, 7, 63, 64, true}},
    {-EINVAL, {0, 0, 0, 4, 4, false}},
    {-EINVAL, {0, 0, -1, 4, 4, false}},
    {-EINVAL, {0, 0, INT64_MIN, 4, 4, false}},
    {-EINVAL, {0, 0, FARLANDS_MAX_STEP + 1, 4, 4, false}},
    {-EINVAL, {0, 0, INT64_MAX, 4, 4, false}},
    {-EINVAL, {0, 0, 1, 0, 4, false}},
    {-EINVAL, {0, 0, 1, 4, 0, false}},
    {-EINVAL, {0, 0, 1, -4, 4, false}},
    {-EINVAL, {0, 0, 1, 4, -4, false}},
    {-EINVAL, {0, 0, 1, INT_MIN, 4, false}},
    {-EINVAL, {0, 0, FARLANDS_MAX_STEP, INT_MAX, 1, false}},
    {-EINVAL, {0, 0, FARLANDS_MAX_STEP, 1, INT_MAX, false}},
    {-EINVAL, {EDGE + 1, 0, 1, 1, 1, false}},
    {-EINVAL, {0, EDGE + 1, 1, 1, 1, false}},
    {-EINVAL, {-EDGE - 1, 0, 1, 4, 4, false}},
    {-EINVAL, {0, -EDGE - 1, 1, 4, 4, false}},
    {-EINVAL, {EDGE - 62, 0, 1, 64, 1, false}},
    {-EINVAL, {0, EDGE - 62, 1, 1, 64, true}},
    {-EINVAL, {INT64_MAX, 0, 1, 2, 1, false}},
    {-EINVAL, {0, INT64_MAX, FARLANDS_MAX_STEP, 1, 2, false}},
    {-EINVAL, {INT64_MIN, INT64_MIN, 1, 1, 1, true}},
};

START_TEST(strides_below_the_width_are_refused)
{
    static const struct {
        int width, height;
        size_t stride;
        int error;
    } rows[] = {{8, 8, 8, 0},
                {8, 8, 7, -EINVAL},
                {8, 8, 0, -EINVAL},
                {8, 1, 7, -EINVAL},
                {1, 8, 0, -EINVAL}};
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    for (int i = 0; i < LENGTH(rows); i++) {
        const struct farlands_grid grid = {
            .step = FARLANDS_UNIT, .width = rows[i].width, .height = rows[i].height};
        float out[64] = {-12345.5f};
        int err = terrain_heights(terrain, scratch, &grid, out, rows[i].stride);
        REQUIRE(err == rows[i].error && (out[0] == -12345.5f) == (err != 0), "%s, stride %zu: %d",
                grid_text(&grid), rows[i].stride, err);
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

START_TEST(out_of_bounds_is_refused)
{
    static float out[64 * 64];
    const struct farlands_grid *grid = &bounds[_i].grid;
    const float untouched = -12345.5f;
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    for (int k = 0; k < LENGTH(out); k++)
        out[k] = untouched;
    int err = terrain_heights(terrain, scratch, grid, out, 64);
    REQUIRE(err == bounds[_i].error, "%s: %d", grid_text(grid), err);
    for (int k = 0; k < LENGTH(out); k++) {
        bool inside = err == 0 && k % 64 < grid->width && k / 64 < grid->height;
        REQUIRE(inside ? fabsf(out[k]) <= 2 : out[k] == untouched, "%s: (%d, %d) is %g",
                grid_text(grid), k % 64, k / 64, (double)out[k]);
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

static const struct {
    int error;
    struct farlands_box box;
} box_bounds[] = {
    {0, {EDGE, EDGE, EDGE, 1, 1, 1, 1}},
    {0, {-EDGE, -EDGE, -EDGE, 1, 8, 8, 8}},
    {0, {-EDGE, EDGE - 7 * 9, 0, 9, 8, 8, 8}},
    {0, {0, -EDGE, EDGE - 7 * FARLANDS_MAX_STEP, FARLANDS_MAX_STEP, 8, 8, 8}},
    {-EINVAL, {0, 0, 0, 0, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, -1, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, INT64_MIN, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP + 1, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, INT64_MAX, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, 1, 0, 4, 4}},
    {-EINVAL, {0, 0, 0, 1, 4, 0, 4}},
    {-EINVAL, {0, 0, 0, 1, 4, 4, 0}},
    {-EINVAL, {0, 0, 0, 1, -4, 4, 4}},
    {-EINVAL, {0, 0, 0, 1, 4, -4, 4}},
    {-EINVAL, {0, 0, 0, 1, 4, 4, INT_MIN}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP, INT_MAX, 1, 1}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP, 1, INT_MAX, 1}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP, 1, 1, INT_MAX}},
    {-EINVAL, {EDGE + 1, 0, 0, 1, 1, 1, 1}},
    {-EINVAL, {0, EDGE + 1, 0, 1, 1, 1, 1}},
    {-EINVAL, {0, 0, EDGE + 1, 1, 1, 1, 1}},
    {-EINVAL, {-EDGE - 1, 0, 0, 1, 4, 4, 4}},
    {-EINVAL, {0, -EDGE - 1, 0, 1, 4, 4, 4}},
    {-EINVAL, {0, 0, -EDGE - 1, 1, 4, 4, 4}},
    {-EINVAL, {EDGE - 6, 0, 0, 1, 8, 1, 1}},
    {-EINVAL, {0, EDGE - 6, 0, 1, 1, 8, 1}},
    {-EINVAL, {0, 0, EDGE - 6, 1, 1, 1, 8}},
    {-EINVAL, {0, 0, INT64_MAX, FARLANDS_MAX_STEP, 1, 1, 2}},
    {-EINVAL, {INT64_MIN, INT64_MIN, INT64_MIN, 1, 1, 1, 1}},
};

START_TEST(boxes_out_of_bounds_are_refused)
{
    static float out[8 * 8 * 8 + 1];
    const struct farlands_box *box = &box_bounds[_i].box;
    const float untouched = -12345.5f;
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    for (int k = 0; k < LENGTH(out); k++)
        out[k] = untouched;
    int err = terrain_volume(terrain, scratch, box, out);
    REQUIRE(err == box_bounds[_i].error, "%s: %d", box_text(box), err);
    int count = err ? 0 : box->width * box->height * box->depth;
    for (int k = 0; k < LENGTH(out); k++)
        REQUIRE(k < count ? fabsf(out[k]) <= 2 : out[k] == untouched, "%s: number %d is %g",
                box_text(box), k, (double)out[k]);
    for (int k = 0; k < LENGTH(out); k++)
        out[k] = untouched;
    err = terrain_density(terrain, scratch, box, out);
    REQUIRE(err == box_bounds[_i].error, "%s: %d for density", box_text(box), err);
    for (int k = 0; k < LENGTH(out); k++)
        REQUIRE(k < count ? isfinite(out[k]) : out[k] == untouched,
                "%s: number %d is %g of density", box_text(box), k, (double)out[k]);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

static const struct {
    int64_t x, y;
    bool exists;
} ends[] = {
    {FARLANDS_LIMIT, FARLANDS_LIMIT, true},
    {-FARLANDS_LIMIT, -FARLANDS_LIMIT, true},
    {EDGE + 1, 0, false},
    {0, EDGE + 1, false},
    {-EDGE - 1, 0, false},
    {0, -EDGE - 1, false},
    {INT64_MAX, INT64_MAX, false},
    {INT64_MIN, INT64_MIN, false},
};

START_TEST(points_end_at_the_limit)
{
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    float height = terrain_height(terrain, ends[_i].x, ends[_i].y);
    REQUIRE(ends[_i].exists ? fabsf(height) <= 2 : isnan(height), "(%" PRId64 ", %" PRId64 "): %g",
            ends[_i].x, ends[_i].y, (double)height);
    terrain_free(terrain);
}
END_TEST

START_TEST(freeing_nothing_is_allowed)
{
    terrain_free(NULL);
    farlands_scratch_free(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise");
    TCase *exact = tcase_create("same bits"), *memory = tcase_create("buffers and bounds");
    tcase_set_timeout(exact, 120);
    tcase_add_loop_test(exact, grid_equals_points, 0, 10);
    tcase_add_loop_test(exact, far_points_equal_grids, 0, 10);
    tcase_add_loop_test(exact, grid_equals_its_parts, 0, LENGTH(widths));
    tcase_add_loop_test(exact, zooms_agree, 0, LENGTH(steps));
    tcase_add_test(exact, scratch_has_no_memory);
    tcase_add_loop_test(exact, kernels_agree, 0, 20);
    tcase_add_test(exact, kernel_is_chosen_by_name);
    tcase_add_test(exact, unknown_kernels_are_refused);
    tcase_add_test(exact, strides_below_the_width_are_refused);
    suite_add_tcase(suite, exact);
    tcase_set_timeout(memory, 120);
    tcase_add_loop_test(memory, stride_leaves_the_padding, 0, LENGTH(widths));
    tcase_add_loop_test(memory, grids_end_at_a_guard_page, 0, LENGTH(kernels));
    tcase_add_loop_test(memory, volumes_end_at_a_guard_page, 0, LENGTH(kernels));
    tcase_add_loop_test(memory, out_of_bounds_is_refused, 0, LENGTH(bounds));
    tcase_add_loop_test(memory, boxes_out_of_bounds_are_refused, 0, LENGTH(box_bounds));
    tcase_add_loop_test(memory, points_end_at_the_limit, 0, LENGTH(ends));
    tcase_add_test(memory, freeing_nothing_is_allowed);
    suite_add_tcase(suite, memory);

    return suite_run(suite);
}
