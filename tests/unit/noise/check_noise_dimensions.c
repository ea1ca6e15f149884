/* Noise in 1, 2, 3 and 4 dimensions, and boxes of three: against formulas, and bit for bit. */
#include <check.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_noise.h"
#include "tests/unit/support/reference_params.h"

#define EDGE (FARLANDS_LIMIT + FARLANDS_MAX_STEP)

/*
 * In double the quintic's bracket loses 12 * 2^-53, times differences of up to 6, on four axes:
 * below 2^-44.
 */
static const double exact = 0x1p-44;

/* Gradients with a root or a sine in them are floats: 2^-25 per axis. */
static double rounding(const struct farlands_params *params, int dimensions)
{
    bool irrational = params->gradients == FARLANDS_UNIT8 || params->gradients == FARLANDS_UNIT256;
    return dimensions == 2 && irrational ? 0x1p-25 : exact;
}

static double noise_in(const struct farlands_terrain *terrain, int dimensions,
                       const int64_t place[])
{
    switch (dimensions) {
    case 1:
        return terrain_noise1(terrain, place[0]);
    case 2:
        return terrain_noise2(terrain, place[0], place[1]);
    case 3:
        return terrain_noise3(terrain, place[0], place[1], place[2]);
    default:
        return terrain_noise4(terrain, place[0], place[1], place[2], place[3]);
    }
}

/* Ken Perlin's reference implementation, 2002; P is his table, twice. */
static double fade(double t)
{
    return t * t * t * (t * (t * 6 - 15) + 10);
}

static double lerp(double t, double a, double b)
{
    return a + t * (b - a);
}

static double grad(int hash, double x, double y, double z)
{
    int h = hash & 15;
    double u = h < 8 ? x : y, v = h < 4 ? y : h == 12 || h == 14 ? x : z;
    return ((h & 1) == 0 ? u : -u) + ((h & 2) == 0 ? v : -v);
}

static int p(int i)
{
    return reference_permutation[i & 255];
}

static double improved(double x, double y, double z)
{
    int X = (int)floor(x) & 255, Y = (int)floor(y) & 255, Z = (int)floor(z) & 255;
    x -= floor(x);
    y -= floor(y);
    z -= floor(z);
    double u = fade(x), v = fade(y), w = fade(z);
    int A = p(X) + Y, AA = p(A) + Z, AB = p(A + 1) + Z;
    int B = p(X + 1) + Y, BA = p(B) + Z, BB = p(B + 1) + Z;
    return lerp(
        w,
        lerp(v, lerp(u, grad(p(AA), x, y, z), grad(p(BA), x - 1, y, z)),
             lerp(u, grad(p(AB), x, y - 1, z), grad(p(BB), x - 1, y - 1, z))),
        lerp(v, lerp(u, grad(p(AA + 1), x, y, z - 1), grad(p(BA + 1), x - 1, y, z - 1)),
             lerp(u, grad(p(AB + 1), x, y - 1, z - 1), grad(p(BB + 1), x - 1, y - 1, z - 1))));
}

/* One octave of the published noise, WAVELENGTH units per cell. */
static struct farlands_params published(int64_t wavelength)
{
    struct farlands_params params = reference_single(FARLANDS_PERMUTATION, wavelength);
    params.seed = 0;
    return params;
}

/* noise(3.14, 42, 7) as printed by the reference implementation. With 50 units per cell 3.14 is
 * exact. */
START_TEST(published_value)
{
    const double printed = 0.13691995878400012;
    struct farlands_params params = published(50);
    struct farlands_terrain *terrain = reference_terrain(&params);
    REQUIRE(fabs(improved(3.14, 42, 7) - printed) <= 0x1p-52, "transcription: %.17g",
            improved(3.14, 42, 7));
    double noise = terrain_noise3(terrain, 157, 42 * 50, 7 * 50);
    REQUIRE(fabs(noise - printed) <= exact, "%.17g, published %.17g", noise, printed);
    terrain_free(terrain);
}
END_TEST

/* Near, negative and far. */
static const int64_t middles[] = {
    0,
    -BLOCKS(98765) - 432,
    BLOCKS(INT64_C(1) << 31) + 5,
    -BLOCKS(INT64_C(1) << 40) - 700,
    FARLANDS_LIMIT - BLOCKS(12345) - 1,
    -FARLANDS_LIMIT,
};

static void draw_place(struct draws *draws, int64_t around, int64_t place[4])
{
    for (int axis = 0; axis < 4; axis++)
        place[axis] = middles[draw_between(draws, 0, LENGTH(middles) - 1)] +
                      draw_between(draws, -around, around);
}

/* The table repeats after 256 cells, so a double is exact at any place. */
static double in_table(int64_t units)
{
    int64_t rest = units % (256 * FARLANDS_UNIT);
    return (double)(rest < 0 ? rest + 256 * FARLANDS_UNIT : rest) / (double)FARLANDS_UNIT;
}

START_TEST(improved_noise_is_reproduced)
{
    struct farlands_params params = published(FARLANDS_UNIT);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {970, 0};
    for (int n = 0; n < 200000; n++) {
        int64_t at[4];
        draw_place(&draws, BLOCKS(300), at);
        double noise = terrain_noise3(terrain, at[0], at[1], at[2]);
        double expected = improved(in_table(at[0]), in_table(at[1]), in_table(at[2]));
        REQUIRE(fabs(noise - expected) <= exact,
                "at (%" PRId64 ", %" PRId64 ", %" PRId64 ") %.17g, published %.17g", at[0], at[1],
                at[2], noise, expected);
    }
    terrain_free(terrain);
}
END_TEST

static const struct shape {
    enum farlands_fractal fractal;
    int64_t wavelength;
    int octaves;
    double persistence, lacunarity, offset, gain;
    int64_t period; /* in x and y */
} shapes[] = {
    {FARLANDS_NONE, FARLANDS_MIN_WAVELENGTH, 1, 0.5, 2, 1, 2, 0},
    {FARLANDS_NONE, BLOCKS(10.5), 5, 0.5, 2, 1, 2, 0}, /* octaves are ignored */
    {FARLANDS_NONE, 10, 1, 0.5, 2, 1, 2, 0},           /* sums cancel, so that the last bits show */
    {FARLANDS_NONE, (1 << 24) + 1, 1, 0.5, 2, 1, 2, 0},
    {FARLANDS_NONE, FARLANDS_MAX_WAVELENGTH, 1, 0.5, 2, 1, 2, 0},
    {FARLANDS_FBM, BLOCKS(400), 14, 0.65, 1.9, 1, 2, 0},
    {FARLANDS_FBM, FARLANDS_MAX_WAVELENGTH, FARLANDS_MAX_OCTAVES, 0.97, 1.5, 1, 2, 0},
    {FARLANDS_BILLOW, BLOCKS(400), 8, 0.5, 2, 1, 2, 0},
    {FARLANDS_RIDGED, BLOCKS(400), 8, 0.5, 2, 1, 2, 0},
    {FARLANDS_RIDGED, BLOCKS(65536), 8, 0.5, 2, 0.6, 16, 0},
    {FARLANDS_HYBRID, BLOCKS(400), 8, 0.5, 2, 0.7, 2, 0},
    {FARLANDS_HYBRID, BLOCKS(65536), 14, 0.9, 2, 1, 2, 0},
    {FARLANDS_FBM, BLOCKS(400), 4, 0.5, 2, 1, 2, BLOCKS(1200)},
    {FARLANDS_RIDGED, BLOCKS(10.5), 2, 0.5, 2, 1, 2, BLOCKS(10.5)},
};

static struct farlands_params shaped(const struct shape *shape)
{
    struct farlands_params params = reference_params();
    params.fractal = shape->fractal;
    params.wavelength = shape->wavelength;
    params.octaves = shape->octaves;
    params.persistence = shape->persistence;
    params.lacunarity = shape->lacunarity;
    params.offset = shape->offset;
    params.gain = shape->gain;
    params.period = shape->period;
    return params;
}

START_TEST(every_dimension_follows_its_formula)
{
    static const uint64_t seeds[] = {0, 1, UINT64_MAX};
    struct draws draws = {971, 0};
    for (int choice = 0; choice < FARLANDS_GRADIENT_SETS * FARLANDS_FADES * LENGTH(hashings);
         choice++) {
        const struct hashing *hashing = &hashings[choice % LENGTH(hashings)];
        struct farlands_params params = shaped(&shapes[_i]);
        params.hash = hashing->hash;
        params.octave_salt = hashing->octave_salt;
        params.fade = (enum farlands_fade)(choice / LENGTH(hashings) % FARLANDS_FADES);
        params.gradients = (enum farlands_gradients)(choice / LENGTH(hashings) / FARLANDS_FADES);
        params.seed = seeds[(choice / LENGTH(hashings) + _i) % LENGTH(seeds)];
        struct farlands_terrain *terrain = reference_terrain(&params);
        static struct reference_noise reference;
        reference_noise_make(&reference, &params);
        for (int n = 0; n < 100; n++) {
            int64_t at[4];
            draw_place(&draws, 3 * params.wavelength, at);
            for (int dimensions = 1; dimensions <= 4; dimensions++) {
                double noise = noise_in(terrain, dimensions, at);
                struct reference_value expected =
                    reference_noise_in(&reference, dimensions, at, rounding(&params, dimensions));
                REQUIRE(fabs(noise - expected.n) <= expected.error,
                        "%s: %d-D at (%" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                        ") %.17g, formula %.17g, off by %.3g of %.3g",
                        reference_params_text(&params), dimensions, at[0], at[1], at[2], at[3],
                        noise, expected.n, fabs(noise - expected.n), expected.error);
            }
        }
        terrain_free(terrain);
    }
}
END_TEST

/*
 * By hand: seed 0, linear fade, a quarter of a cell from corner 0. 1-D: P[0] = 151 is odd and
 * P[1] = 160 even: -1/4 from the left, -3/4 from the right. 4-D, on the axis of w: P[0] = 151,
 * P[151] = 17, P[17] = 36, so w = 0 has P[36] = 0, an edge without w, and w = 1 has P[37] = 26,
 * an edge without x with w positive: -3/4 of a quarter.
 */
START_TEST(values_by_hand)
{
    struct farlands_params params = published(4);
    params.fade = FARLANDS_LINEAR;
    struct farlands_terrain *terrain = reference_terrain(&params);
    double one = terrain_noise1(terrain, 1), west = terrain_noise1(terrain, 1 - 4 * 256);
    double four = terrain_noise4(terrain, 0, 0, 0, 1);
    REQUIRE(one == -0.375 && west == -0.375, "1-D: %.17g and %.17g", one, west);
    REQUIRE(four == -0.1875, "4-D: %.17g", four);
    terrain_free(terrain);
}
END_TEST

/* Basis, warp and elevation apply to heights alone; heights without them are noise in 2-D. */
START_TEST(map_options_do_not_apply)
{
    struct farlands_params params = reference_params();
    struct farlands_terrain *plain = reference_terrain(&params);
    params.basis = FARLANDS_CELLULAR;
    params.warp.amplitude = BLOCKS(500);
    params.warp.wavelength = BLOCKS(1000);
    params.elevation[0].metres = -4000;
    struct farlands_terrain *changed = reference_terrain(&params);
    struct draws draws = {972, 0};
    for (int n = 0; n < 2000; n++) {
        int64_t at[4];
        draw_place(&draws, BLOCKS(100000), at);
        for (int dimensions = 1; dimensions <= 4; dimensions++)
            REQUIRE(noise_in(plain, dimensions, at) == noise_in(changed, dimensions, at),
                    "%d-D at (%" PRId64 ", ...)", dimensions, at[0]);
        double height = terrain_height(plain, at[0], at[1]);
        double noise = terrain_noise2(plain, at[0], at[1]);
        /* 2^-18 per octave in float, as in reference_noise.h, and 2^-22 for the curve. */
        REQUIRE(fabs(height - noise) <= 0x1p-18 + 0x1p-22,
                "at (%" PRId64 ", %" PRId64 ") height %.9g, noise %.9g", at[0], at[1], height,
                noise);
    }
    terrain_free(changed);
    terrain_free(plain);
}
END_TEST

START_TEST(nothing_beyond_the_limit)
{
    static const int64_t inside[] = {EDGE, -EDGE},
                         outside[] = {EDGE + 1, -EDGE - 1, INT64_MAX, INT64_MIN};
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int dimensions = 1; dimensions <= 4; dimensions++) {
        for (int axis = 0; axis < dimensions; axis++) {
            int64_t at[4] = {-EDGE, EDGE, EDGE, -EDGE};
            for (int i = 0; i < LENGTH(inside); i++) {
                at[axis] = inside[i];
                REQUIRE(isfinite(noise_in(terrain, dimensions, at)), "%d-D, axis %d at %" PRId64,
                        dimensions, axis, inside[i]);
            }
            for (int i = 0; i < LENGTH(outside); i++) {
                at[axis] = outside[i];
                REQUIRE(isnan(noise_in(terrain, dimensions, at)), "%d-D, axis %d at %" PRId64,
                        dimensions, axis, outside[i]);
            }
        }
    }
    terrain_free(terrain);
}
END_TEST

static const char *box_text(const struct farlands_box *box)
{
    static char text[200];
    snprintf(text, sizeof text, "%dx%dx%d at (%" PRId64 ", %" PRId64 ", %" PRId64 ") step %" PRId64,
             box->width, box->height, box->depth, box->x, box->y, box->z, box->step);
    return text;
}

/* The samples of BOX. The caller frees them. */
static float *volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_box *box)
{
    size_t samples = (size_t)box->width * (size_t)box->height * (size_t)box->depth;
    float *out = malloc(samples * sizeof *out);
    ck_assert_ptr_nonnull(out);
    int err = terrain_volume(terrain, scratch, box, out);
    REQUIRE(err == 0, "%s: %d", box_text(box), err);
    return out;
}

static void assert_points(const struct farlands_params *params,
                          const struct farlands_terrain *terrain, const struct farlands_box *box,
                          const float *out)
{
    for (int k = 0; k < box->depth; k++) {
        for (int j = 0; j < box->height; j++) {
            for (int i = 0; i < box->width; i++, out++) {
                float point = (float)terrain_noise3(terrain, box->x + i * box->step,
                                                    box->y + j * box->step, box->z + k * box->step);
                REQUIRE(float_bits(*out) == float_bits(point),
                        "%s; %s: sample (%d, %d, %d) %.9g, as a point %.9g",
                        reference_params_text(params), box_text(box), i, j, k, (double)*out,
                        (double)point);
            }
        }
    }
}

/* Long and flat, thin and deep, a single sample, odd numbers, a game's chunk with a border. */
static const int sizes[][3] = {
    {1, 1, 1},   {600, 2, 1}, {1, 70, 3},  {2, 1, 90}, {17, 17, 17}, {33, 5, 29},
    {273, 3, 3}, {16, 16, 2}, {64, 13, 1}, {3, 40, 7}, {2, 300, 2},  {2, 1, 300},
};

/* Finer than the finest octave, coarser than the coarsest, and in between. */
static const int64_t steps[] = {
    1,
    7,
    FARLANDS_UNIT,
    FARLANDS_UNIT * 3 / 2,
    BLOCKS(37) + 11,
    BLOCKS(10000) + 1,
    BLOCKS(INT64_C(1) << 36) + 12345,
    FARLANDS_MAX_STEP,
};

START_TEST(volumes_are_points)
{
    struct draws draws = {980 + (uint64_t)_i, 0};
    struct farlands_scratch *scratch = reference_scratch();
    for (int h = 0; h < LENGTH(hashings); h++) {
        struct farlands_params params = shaped(&shapes[_i]);
        params.hash = hashings[h].hash;
        params.octave_salt = hashings[h].octave_salt;
        params.fade = (enum farlands_fade)((h + _i) % FARLANDS_FADES);
        params.seed = draw(&draws);
        struct farlands_terrain *terrain = reference_terrain(&params);
        for (int s = 0; s < LENGTH(steps); s++) {
            for (int turn = 0; turn < 3; turn++) {
                const int *size = sizes[draw_between(&draws, 0, LENGTH(sizes) - 1)];
                int64_t at[4];
                draw_place(&draws, 3 * params.wavelength, at);
                /* A quarter of the distance to the limit: the longest box ends before it. */
                struct farlands_box box = {
                    .x = at[0] / 4,
                    .y = at[1] / 4,
                    .z = at[2] / 4,
                    .step = steps[s],
                    .width = size[0],
                    .height = size[1],
                    .depth = size[2],
                };
                float *out = volume(terrain, scratch, &box);
                assert_points(&params, terrain, &box, out);
                free(out);
            }
        }
        terrain_free(terrain);
    }
    farlands_scratch_free(scratch);
}
END_TEST

/* Chunks of a game's world, each with the first samples of its neighbors as a border. */
START_TEST(neighbors_share_their_faces)
{
    enum { SIZE = 16, SIDE = SIZE + 1 };
    struct farlands_params params = shaped(&shapes[4]);
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    struct draws draws = {990, 0};
    for (int n = 0; n < 100; n++) {
        int64_t at[4], step = steps[draw_between(&draws, 0, LENGTH(steps) - 3)];
        draw_place(&draws, BLOCKS(10000), at);
        struct farlands_box box = {at[0] / 2, at[1] / 2, at[2] / 2, step, SIDE, SIDE, SIDE};
        float *here = volume(terrain, scratch, &box);
        for (int axis = 0; axis < 3; axis++) {
            struct farlands_box next = box;
            *(axis == 0 ? &next.x : axis == 1 ? &next.y : &next.z) += SIZE * step;
            float *there = volume(terrain, scratch, &next);
            int stride = axis == 0 ? 1 : axis == 1 ? SIDE : SIDE * SIDE;
            for (int sample = 0; sample < SIDE * SIDE * SIDE; sample++) {
                if (sample / stride % SIDE != 0)
                    continue;
                float last = here[sample + SIZE * stride];
                REQUIRE(float_bits(there[sample]) == float_bits(last),
                        "%s, axis %d, sample %d: %.9g, next box %.9g", box_text(&box), axis, sample,
                        (double)last, (double)there[sample]);
            }
            free(there);
        }
        free(here);
    }
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* Boxes with a sample at the limit, or one step beyond it. */
static const struct {
    int error;
    struct farlands_box box;
} bounds[] = {
    {0, {EDGE, EDGE, EDGE, 1, 1, 1, 1}},
    {0, {-EDGE, EDGE - 3 * 7, 0, 7, 4, 4, 4}},
    {0, {EDGE - 3 * FARLANDS_MAX_STEP, 0, -EDGE, FARLANDS_MAX_STEP, 4, 4, 4}},
    {-EINVAL, {EDGE + 1, 0, 0, 1, 1, 1, 1}},
    {-EINVAL, {0, -EDGE - 1, 0, 1, 4, 4, 4}},
    {-EINVAL, {0, 0, EDGE - 2, 1, 1, 1, 4}},
    {-EINVAL, {0, EDGE - 3 * 7 + 1, 0, 7, 4, 4, 4}},
    {-EINVAL, {INT64_MAX, 0, INT64_MIN, FARLANDS_MAX_STEP, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP, INT_MAX, 1, 1}},
    {-EINVAL, {0, 0, 0, 0, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, -1, 4, 4, 4}},
    {-EINVAL, {0, 0, 0, FARLANDS_MAX_STEP + 1, 1, 1, 1}},
    {-EINVAL, {0, 0, 0, 1, 4, 0, 4}},
    {-EINVAL, {0, 0, 0, 1, 4, 4, -4}},
};

START_TEST(boxes_end_at_the_limit)
{
    const struct farlands_box *box = &bounds[_i].box;
    struct farlands_params params = reference_params();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    float out[64];
    for (int i = 0; i < LENGTH(out); i++)
        out[i] = 12345;
    int err = terrain_volume(terrain, scratch, box, out);
    REQUIRE(err == bounds[_i].error, "%s: %d", box_text(box), err);
    for (int i = 0; err && i < LENGTH(out); i++)
        REQUIRE(out[i] == 12345, "%s: refused, but sample %d is %g", box_text(box), i,
                (double)out[i]);
    if (!err)
        assert_points(&params, terrain, box, out);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_dimensions");
    TCase *formula = suite_case(suite, "formula"), *boxes = suite_case(suite, "boxes");
    tcase_add_test(formula, published_value);
    tcase_add_test(formula, improved_noise_is_reproduced);
    tcase_add_loop_test(formula, every_dimension_follows_its_formula, 0, LENGTH(shapes));
    tcase_add_test(formula, values_by_hand);
    tcase_add_test(formula, map_options_do_not_apply);
    tcase_add_test(formula, nothing_beyond_the_limit);
    tcase_add_loop_test(boxes, volumes_are_points, 0, LENGTH(shapes));
    tcase_add_test(boxes, neighbors_share_their_faces);
    tcase_add_loop_test(boxes, boxes_end_at_the_limit, 0, LENGTH(bounds));

    return suite_run(suite);
}
