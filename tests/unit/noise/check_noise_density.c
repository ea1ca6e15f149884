/* Density: against its formula; bit for bit from boxes, slabs and points; and by its looks. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>

#include "config/daemon/config.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_density.h"
#include "tests/unit/support/reference_graph.h"
#include "tests/unit/support/reference_noise.h"
#include "tests/unit/support/reference_params.h"

#define EDGE (FARLANDS_LIMIT + FARLANDS_MAX_STEP)

static const char *box_text(const struct farlands_box *box)
{
    static char text[200];
    snprintf(text, sizeof text, "%dx%dx%d at (%" PRId64 ", %" PRId64 ", %" PRId64 ") step %" PRId64,
             box->width, box->height, box->depth, box->x, box->y, box->z, box->step);
    return text;
}

/* The densities of BOX. The caller frees them. */
static float *density(const struct farlands_terrain *terrain, const struct farlands_box *box)
{
    static struct farlands_scratch *scratch;
    if (!scratch)
        scratch = reference_scratch();
    float *out =
        malloc((size_t)box->width * (size_t)box->height * (size_t)box->depth * sizeof *out);
    ck_assert_ptr_nonnull(out);
    int err = terrain_density(terrain, scratch, box, out);
    REQUIRE(err == 0, "%s: %d", box_text(box), err);
    return out;
}

/* Mountains and seas of a few hundred blocks, with random overhangs and caves. */
static struct farlands_params drawn(struct draws *draws)
{
    const struct hashing *hashing = &hashings[draw_between(draws, 0, LENGTH(hashings) - 1)];
    struct farlands_params params = reference_params();
    params.seed = draw(draws);
    params.hash = hashing->hash;
    params.octave_salt = hashing->octave_salt;
    params.fade = (enum farlands_fade)draw_between(draws, 0, FARLANDS_FADES - 1);
    params.wavelength = BLOCKS(1024);
    params.octaves = (int)draw_between(draws, 1, 6);
    params.period = draw_between(draws, 0, 2) ? 0 : BLOCKS(16384);
    params.elevation[0] = (struct farlands_knot){-1, -400};
    params.elevation[2] = (struct farlands_knot){1, 700};
    params.volume = draw_volume(draws, params);
    return params;
}

/* Generator 2 in even rounds, 3 in odd ones. */
static struct farlands_terrain *terrain_of(const struct farlands_params *params, int round)
{
    return round % 2 ? reference_graph(params) : reference_terrain(params);
}

/* The world of the defaults. */
static struct farlands_params default_world(void)
{
    static const struct config_layer none[] = {{0}};
    struct config *config = NULL;
    struct config_error error;
    ck_assert_int_eq(config_load(&config, FRACTAL_WORLD, none, &error), 0);
    const struct farlands_params params = config->worlds[0].terrain;
    config_free(config);
    return params;
}

/* --- The formula --- */

START_TEST(density_follows_its_formula)
{
    struct draws draws = {1000 + (uint64_t)_i, 0};
    for (int round = 0; round < 30; round++) {
        const struct farlands_params params = drawn(&draws);
        struct farlands_terrain *terrain = terrain_of(&params, round);
        static struct reference_noise reference;
        reference_noise_make(&reference, &params);
        for (int n = 0; n < 300; n++) {
            int64_t at[3];
            for (int axis = 0; axis < 2; axis++)
                at[axis] = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
            const float height = terrain_height(terrain, at[0], at[1]);
            at[2] = (int64_t)(height * 1024) + draw_between(&draws, -BLOCKS(150), BLOCKS(60));
            const float found = terrain_density_at(terrain, at[0], at[1], at[2]);
            const struct reference_value expected =
                round % 2 ? reference_ledge_density(&reference, terrain, height, at)
                          : reference_density(&reference, height, at);
            REQUIRE(fabs(found - expected.n) <= expected.error,
                    "%s; %s: at (%" PRId64 ", %" PRId64 ", %" PRId64
                    ") under height %.9g: %.9g, formula %.9g, off by %.3g of %.3g",
                    reference_params_text(&params), reference_volume_text(&params.volume), at[0],
                    at[1], at[2], (double)height, (double)found, expected.n,
                    fabs(found - expected.n), expected.error);
        }
        terrain_free(terrain);
    }
}
END_TEST

/* Up to the limit, and deeper than any cave. */
static const int64_t altitudes[] = {
    0,     1,    -1, BLOCKS(300) + 7, -BLOCKS(100000) - 1, (INT64_C(1) << 53) + 1, -FARLANDS_LIMIT,
    -EDGE, EDGE,
};

START_TEST(without_volume_it_is_the_height_less_the_altitude)
{
    struct draws draws = {1010, 0};
    struct farlands_params params = reference_params();
    params.elevation[2].metres = 3000;
    struct farlands_terrain *terrain = reference_terrain(&params);
    for (int n = 0; n < 2000; n++) {
        const int64_t x = draw_between(&draws, -FARLANDS_LIMIT, FARLANDS_LIMIT), y = -x / 3;
        const int64_t z = altitudes[n % LENGTH(altitudes)];
        const float expected =
            (float)((double)terrain_height(terrain, x, y) - (double)z / FARLANDS_UNIT);
        const float found = terrain_density_at(terrain, x, y, z);
        REQUIRE(float_bits(found) == float_bits(expected), "%" PRId64 ": %.9g, not %.9g", z,
                (double)found, (double)expected);
    }
    terrain_free(terrain);
}
END_TEST

START_TEST(volumes_change_no_height)
{
    struct draws draws = {1020, 0};
    for (int round = 0; round < 100; round++) {
        struct farlands_params params = drawn(&draws);
        struct farlands_terrain *with = reference_terrain(&params);
        memset(&params.volume, 0, sizeof params.volume);
        struct farlands_terrain *without = reference_terrain(&params);
        for (int n = 0; n < 100; n++) {
            const int64_t x = draw_between(&draws, -BLOCKS(9999), BLOCKS(9999)), y = n * x;
            REQUIRE(float_bits(terrain_height(with, x, y)) ==
                            float_bits(terrain_height(without, x, y)) &&
                        terrain_noise3(with, x, y, n) == terrain_noise3(without, x, y, n),
                    "(%" PRId64 ", %" PRId64 ")", x, y);
        }
        terrain_free(with);
        terrain_free(without);
    }
}
END_TEST

START_TEST(volumes_repeat_with_their_world)
{
    struct draws draws = {1030 + (uint64_t)_i, 0};
    struct farlands_params params = default_world();
    params.period = BLOCKS(1 << 24);
    struct farlands_terrain *terrain = terrain_of(&params, _i);
    for (int n = 0; n < 2000; n++) {
        const int64_t x = draw_between(&draws, -BLOCKS(1 << 25), BLOCKS(1 << 25)), y = x * 3 + n;
        const int64_t z = (int64_t)(terrain_height(terrain, x, y) * 1024) - n * 100;
        const float here = terrain_density_at(terrain, x, y, z);
        const float there =
            terrain_density_at(terrain, x + 5 * params.period, y - params.period, z);
        REQUIRE(float_bits(here) == float_bits(there), "(%" PRId64 ", %" PRId64 ", %" PRId64 ")", x,
                y, z);
    }
    terrain_free(terrain);
}
END_TEST

/* A valid volume with one number changed. */
enum kind { UNITS, COUNT, REAL };
#define AT(member) offsetof(struct farlands_params, volume.member)

static const struct {
    const char *key; /* the parameter named; NULL: no fault */
    size_t offset;
    enum kind kind;
    double value;
} changes[] = {
    {NULL, AT(overhangs.amplitude), UNITS, 1 << 24},
    {"volume.overhangs.amplitude", AT(overhangs.amplitude), UNITS, (1 << 24) + 1},
    {"volume.overhangs.amplitude", AT(overhangs.amplitude), UNITS, -1},
    {NULL, AT(overhangs.threshold), REAL, 1},
    {"volume.overhangs.threshold", AT(overhangs.threshold), REAL, 1.01},
    {"volume.overhangs.threshold", AT(overhangs.threshold), REAL, NAN},
    {NULL, AT(caverns.size), REAL, 1},
    {"volume.caverns.size", AT(caverns.size), REAL, 1.01},
    {"volume.caverns.size", AT(caverns.size), REAL, -0.01},
    {"volume.caverns.size", AT(caverns.size), REAL, NAN},
    {"volume.caverns.cover", AT(caverns.cover), UNITS, -1},
    {"volume.caverns.cover", AT(caverns.cover), UNITS, (1 << 24) + 1},
    {NULL, AT(tunnels.radius), UNITS, 1 << 24},
    {"volume.tunnels.radius", AT(tunnels.radius), UNITS, -1},
    {"volume.tunnels.radius", AT(tunnels.radius), UNITS, (1 << 24) + 1},
    {"volume.tunnels.cover", AT(tunnels.cover), UNITS, -1},
    {"volume.tunnels.cover", AT(tunnels.cover), UNITS, (1 << 24) + 1},
    {NULL, AT(overhangs.noise.wavelength), UNITS, 1 << 24},
    {NULL, AT(overhangs.noise.wavelength), UNITS, 8}, /* the last of 2 octaves is 2 units high */
    {"volume.overhangs.octaves", AT(overhangs.noise.wavelength), UNITS, 4},
    {"volume.overhangs.wavelength", AT(overhangs.noise.wavelength), UNITS, 1},
    {"volume.caverns.wavelength", AT(caverns.noise.wavelength), UNITS, (1 << 24) + 1},
    {"volume.tunnels.wavelength", AT(tunnels.noise.wavelength), UNITS, 0},
    {"volume.tunnels.wavelength", AT(tunnels.noise.wavelength), UNITS, -1024},
    {"volume.overhangs.octaves", AT(overhangs.noise.octaves), COUNT, 0},
    {"volume.caverns.octaves", AT(caverns.noise.octaves), COUNT, -1},
    {"volume.tunnels.octaves", AT(tunnels.noise.octaves), COUNT, 17},
    {NULL, AT(tunnels.noise.octaves), COUNT, 15},
    {"volume.tunnels.octaves", AT(tunnels.noise.octaves), COUNT, 16}, /* 1 unit high */
    {"volume.overhangs.persistence", AT(overhangs.noise.persistence), REAL, 0},
    {"volume.caverns.persistence", AT(caverns.noise.persistence), REAL, 1.01},
    {"volume.tunnels.persistence", AT(tunnels.noise.persistence), REAL, NAN},
    {"volume.overhangs.lacunarity", AT(overhangs.noise.lacunarity), REAL, 0.99},
    {"volume.caverns.lacunarity", AT(caverns.noise.lacunarity), REAL, 1024.5},
    {"volume.tunnels.octaves", AT(tunnels.noise.lacunarity), REAL, 1}, /* the same octave twice */
    {NULL, AT(overhangs.noise.squash), REAL, 16},
    {NULL, AT(overhangs.noise.squash), REAL, 0.0625},
    {"volume.overhangs.squash", AT(overhangs.noise.squash), REAL, 0.06},
    {"volume.caverns.squash", AT(caverns.noise.squash), REAL, 16.5},
    {"volume.tunnels.squash", AT(tunnels.noise.squash), REAL, NAN},
    {NULL, offsetof(struct farlands_params, period), UNITS, BLOCKS(3 << 16)},
    /* A multiple of the heights' wavelength, but not of the volume's. */
    {"volume.overhangs.wavelength", offsetof(struct farlands_params, period), UNITS, BLOCKS(3)},
};

static struct farlands_params good_volume(void)
{
    const struct farlands_space_noise noise = {BLOCKS(64), 2, 0.5, 2, 2};
    struct farlands_params params = reference_params();
    params.wavelength = BLOCKS(1);
    params.octaves = 1;
    params.volume = (struct farlands_volume_params){
        .overhangs = {BLOCKS(30), 0.05, noise},
        .caverns = {0.75, BLOCKS(10), noise},
        .tunnels = {BLOCKS(5), 0, noise},
    };
    return params;
}

START_TEST(bad_parameters_are_named)
{
    struct farlands_params params = good_volume();
    const double value = changes[_i].value;
    void *place = (char *)&params + changes[_i].offset;
    if (changes[_i].kind == UNITS)
        *(int64_t *)place = (int64_t)value;
    else if (changes[_i].kind == COUNT)
        *(int *)place = (int)value;
    else
        *(double *)place = value;
    const char *key = NULL, *fault = params_fault(&params, &key);
    struct farlands_terrain *terrain = NULL;
    const int err = terrain_new_noise(&terrain, &params);
    if (changes[_i].key) {
        REQUIRE(fault && strcmp(key, changes[_i].key) == 0 && err == -EINVAL,
                "row %d (%s = %g): %s, %s", _i, changes[_i].key, value, fault ? key : "accepted",
                fault ? fault : "");
        return;
    }
    REQUIRE(!fault && err == 0, "row %d: %s: %s", _i, key, fault);
    ck_assert(!isnan(terrain_density_at(terrain, 12345, -6789, -30000)));
    terrain_free(terrain);
}
END_TEST

/* The noise of a part that is off is not checked. */
START_TEST(noises_that_are_off_may_be_anything)
{
    struct farlands_params params = good_volume();
    const struct farlands_space_noise bad = {-1, -1, NAN, -1, 0};
    params.volume.overhangs.amplitude = 0;
    params.volume.caverns.size = 0;
    params.volume.tunnels.radius = 0;
    params.volume.overhangs.noise = params.volume.caverns.noise = params.volume.tunnels.noise = bad;
    struct farlands_terrain *terrain = reference_terrain(&params);
    ck_assert_float_eq(terrain_density_at(terrain, 0, 0, 0), terrain_height(terrain, 0, 0));
    terrain_free(terrain);
}
END_TEST

/* --- The same bits --- */

/* 1/1024 block to 2^20 blocks, and the longest. */
static const int64_t steps[] = {
    1,
    7,
    FARLANDS_UNIT / 2,
    FARLANDS_UNIT,
    BLOCKS(1.5),
    BLOCKS(4),
    BLOCKS(37),
    BLOCKS(300) + 1,
    BLOCKS(8192),
    BLOCKS(1 << 20),
    FARLANDS_MAX_STEP,
};

static const int sizes[][3] = {
    {1, 1, 1}, {17, 17, 17}, {300, 3, 5}, {2, 70, 3}, {33, 5, 40}, {16, 66, 2}, {64, 4, 9},
};

/* Across 0, near the limit, and in between. */
static const int64_t middles[] = {0, -BLOCKS(98765), BLOCKS(INT64_C(1) << 40) + 5,
                                  -FARLANDS_LIMIT + BLOCKS(5), FARLANDS_LIMIT - BLOCKS(5)};

/* A box that begins below the surface, or anywhere, and ends within the limits. */
static struct farlands_box draw_box(struct draws *draws, const struct farlands_terrain *terrain,
                                    int64_t step, const int size[3])
{
    struct farlands_box box = {.step = step, .width = size[0], .height = size[1], .depth = size[2]};
    int64_t *first[] = {&box.x, &box.y, &box.z};
    for (int axis = 0; axis < 3; axis++) {
        const int64_t span = step * size[axis];
        *first[axis] = middles[draw_between(draws, 0, LENGTH(middles) - 1)];
        *first[axis] -= draw_between(draws, 0, span < BLOCKS(3000) ? span : BLOCKS(3000));
        if (*first[axis] > FARLANDS_LIMIT - span)
            *first[axis] = FARLANDS_LIMIT - span;
        if (*first[axis] < -EDGE)
            *first[axis] = -EDGE;
    }
    if (draw_between(draws, 0, 4))
        box.z = (int64_t)(terrain_height(terrain, box.x, box.y) * 1024) - step * size[2] / 2;
    return box;
}

static void assert_points(const struct farlands_params *params,
                          const struct farlands_terrain *terrain, const struct farlands_box *box,
                          const float *out)
{
    for (int k = 0; k < box->depth; k++)
        for (int j = 0; j < box->height; j++)
            for (int i = 0; i < box->width; i++, out++) {
                const float point =
                    terrain_density_at(terrain, box->x + i * box->step, box->y + j * box->step,
                                       box->z + k * box->step);
                REQUIRE(float_bits(*out) == float_bits(point),
                        "%s; %s; %s: sample (%d, %d, %d) %.9g, as a point %.9g",
                        reference_params_text(params), reference_volume_text(&params->volume),
                        box_text(box), i, j, k, (double)*out, (double)point);
            }
}

START_TEST(boxes_are_points)
{
    struct draws draws = {1100 + (uint64_t)_i, 0};
    for (int round = 0; round < 12; round++) {
        const struct farlands_params params = drawn(&draws);
        struct farlands_terrain *terrain = terrain_of(&params, round);
        const int *size = sizes[draw_between(&draws, 0, LENGTH(sizes) - 1)];
        const struct farlands_box box = draw_box(&draws, terrain, steps[_i], size);
        float *out = density(terrain, &box);
        assert_points(&params, terrain, &box, out);
        free(out);
        terrain_free(terrain);
    }
}
END_TEST

/* A box cut along one axis into parts of LENGTH samples. */
static void assert_slabs(const struct farlands_terrain *terrain, const struct farlands_box *box,
                         const float *whole, int axis, int length)
{
    const int size[] = {box->width, box->height, box->depth};
    for (int first = 0; first < size[axis]; first += length) {
        struct farlands_box slab = *box;
        const int count = size[axis] - first < length ? size[axis] - first : length;
        *(axis == 0 ? &slab.x : axis == 1 ? &slab.y : &slab.z) += first * box->step;
        *(axis == 0 ? &slab.width : axis == 1 ? &slab.height : &slab.depth) = count;
        float *part = density(terrain, &slab), *sample = part;
        for (int k = 0; k < slab.depth; k++)
            for (int j = 0; j < slab.height; j++)
                for (int i = 0; i < slab.width; i++, sample++) {
                    const int at[] = {i + (axis == 0) * first, j + (axis == 1) * first,
                                      k + (axis == 2) * first};
                    const float there = whole[(at[2] * size[1] + at[1]) * size[0] + at[0]];
                    REQUIRE(float_bits(*sample) == float_bits(there),
                            "%s: sample (%d, %d, %d) %.9g, in a box %.9g", box_text(&slab), i, j, k,
                            (double)*sample, (double)there);
                }
        free(part);
    }
}

START_TEST(slabs_are_boxes)
{
    static const int sliced[][3] = {{40, 37, 33}, {290, 9, 3}, {5, 130, 4}};
    struct draws draws = {1200 + (uint64_t)_i, 0};
    for (int round = 0; round < 6; round++) {
        const struct farlands_params params = drawn(&draws);
        struct farlands_terrain *terrain = terrain_of(&params, round);
        const struct farlands_box box =
            draw_box(&draws, terrain, steps[_i], sliced[round % LENGTH(sliced)]);
        float *whole = density(terrain, &box);
        for (int axis = 0; axis < 3; axis++)
            assert_slabs(terrain, &box, whole, axis, (int)draw_between(&draws, 1, 9));
        free(whole);
        terrain_free(terrain);
    }
}
END_TEST

/* Chunks of a game's world, each with the first samples of its neighbors as a border. */
START_TEST(neighbors_share_their_faces)
{
    enum { SIZE = 16, SIDE = SIZE + 1 };
    static const int size[] = {SIDE, SIDE, SIDE};
    const struct farlands_params params = default_world();
    struct farlands_terrain *terrain = terrain_of(&params, _i);
    struct draws draws = {1300 + (uint64_t)_i, 0};
    for (int n = 0; n < 20 && steps[_i] < FARLANDS_MAX_STEP; n++) {
        struct farlands_box box = draw_box(&draws, terrain, steps[_i], size);
        for (int64_t *first = &box.x; first <= &box.z; first++) /* room for the neighbor */
            if (*first > FARLANDS_LIMIT - 2 * SIDE * box.step)
                *first = FARLANDS_LIMIT - 2 * SIDE * box.step;
        float *here = density(terrain, &box);
        for (int axis = 0; axis < 3; axis++) {
            struct farlands_box next = box;
            *(axis == 0 ? &next.x : axis == 1 ? &next.y : &next.z) += SIZE * box.step;
            float *there = density(terrain, &next);
            const int stride = axis == 0 ? 1 : axis == 1 ? SIDE : SIDE * SIDE;
            for (int sample = 0; sample < SIDE * SIDE * SIDE; sample++) {
                if (sample / stride % SIDE != 0)
                    continue;
                const float last = here[sample + SIZE * stride];
                REQUIRE(float_bits(there[sample]) == float_bits(last),
                        "%s, axis %d, sample %d: %.9g, next box %.9g", box_text(&box), axis, sample,
                        (double)last, (double)there[sample]);
            }
            free(there);
        }
        free(here);
    }
    terrain_free(terrain);
}
END_TEST

/* A terrain on kernel NAME, or NULL if this machine does not support it. */
static struct farlands_terrain *on_kernel(const struct farlands_params *params, int round,
                                          const char *name)
{
    const char *forced = getenv("FARLANDS_KERNEL");
    char *before = forced ? strdup(forced) : NULL;
    ck_assert_int_eq(setenv("FARLANDS_KERNEL", name, 1), 0);
    struct farlands_terrain *terrain = terrain_kernel_fault() ? NULL : terrain_of(params, round);
    if (before)
        setenv("FARLANDS_KERNEL", before, 1);
    else
        unsetenv("FARLANDS_KERNEL");
    free(before);
    return terrain;
}

START_TEST(kernels_agree)
{
    static const char *const kernels[] = {"avx512", "avx2", "neon"};
    struct draws draws = {1400 + (uint64_t)_i, 0};
    for (int round = 0; round < 8; round++) {
        const struct farlands_params params = drawn(&draws);
        struct farlands_terrain *scalar = on_kernel(&params, round, "scalar");
        ck_assert_ptr_nonnull(scalar);
        const int *size = sizes[draw_between(&draws, 0, LENGTH(sizes) - 1)];
        const struct farlands_box box = draw_box(&draws, scalar, steps[_i], size);
        float *expected = density(scalar, &box);
        for (int k = 0; k < LENGTH(kernels); k++) {
            struct farlands_terrain *terrain = on_kernel(&params, round, kernels[k]);
            if (!terrain)
                continue;
            float *out = density(terrain, &box);
            for (int n = 0; n < box.width * box.height * box.depth; n++)
                REQUIRE(float_bits(out[n]) == float_bits(expected[n]),
                        "%s; %s; %s: number %d is %.9g by %s, %.9g by scalar",
                        reference_params_text(&params), reference_volume_text(&params.volume),
                        box_text(&box), n, (double)out[n], kernels[k], (double)expected[n]);
            free(out);
            terrain_free(terrain);
        }
        free(expected);
        terrain_free(scalar);
    }
}
END_TEST

static const struct {
    int64_t x, y, z;
    bool exists;
} ends[] = {
    {EDGE, -EDGE, EDGE, true},        {-EDGE, EDGE, -EDGE, true},       {0, 0, EDGE + 1, false},
    {0, 0, -EDGE - 1, false},         {EDGE + 1, 0, 0, false},          {0, -EDGE - 1, 0, false},
    {INT64_MIN, 0, INT64_MAX, false}, {0, INT64_MAX, INT64_MIN, false},
};

START_TEST(density_ends_at_the_limit)
{
    const struct farlands_params params = default_world();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct farlands_scratch *scratch = reference_scratch();
    const float at = terrain_density_at(terrain, ends[_i].x, ends[_i].y, ends[_i].z);
    const struct farlands_box box = {ends[_i].x, ends[_i].y, ends[_i].z, 1, 1, 1, 1};
    float sample = 12345;
    const int err = terrain_density(terrain, scratch, &box, &sample);
    REQUIRE(isnan(at) == !ends[_i].exists && err == (ends[_i].exists ? 0 : -EINVAL), "%s: %g, %d",
            box_text(&box), (double)at, err);
    REQUIRE(ends[_i].exists ? float_bits(sample) == float_bits(at) : sample == 12345,
            "%s: %g as a box", box_text(&box), (double)sample);
    farlands_scratch_free(scratch);
    terrain_free(terrain);
}
END_TEST

/* --- What it looks like --- */

/* Columns of the default world, at samples one block apart. */
struct columns {
    int count;
    int folded;           /* columns that cross the surface more than once */
    int moved;            /* columns whose surface differs from the height's */
    double below, hollow; /* samples 80 to 250 blocks below the height, and those of them in air */
    double cover, mouths; /* the same 2 to 20 blocks below */
    float lowest_above;   /* greatest density above the reach of overhangs */
    float most_below;     /* least density deep down */
};

/* 64 x 64 columns of 320 blocks, around the height of the first. */
static void count_columns(const struct farlands_terrain *terrain, int64_t x, int64_t y,
                          struct columns *c)
{
    enum { SIDE = 64, ABOVE = 60, DEPTH = 320 };
    const int64_t top = (int64_t)floorf(terrain_height(terrain, x, y)) + ABOVE;
    const struct farlands_box box = {x,    y,    BLOCKS(top - DEPTH + 1), FARLANDS_UNIT, SIDE,
                                     SIDE, DEPTH};
    float *out = density(terrain, &box);
    for (int column = 0; column < SIDE * SIDE; column++) {
        const float height =
            terrain_height(terrain, x + BLOCKS(column % SIDE), y + BLOCKS(column / SIDE));
        int crossings = 0;
        bool moved = false;
        for (int k = 0; k < DEPTH; k++) {
            const double depth = (double)height - (double)(top - DEPTH + 1 + k);
            const float d = out[k * SIDE * SIDE + column];
            const bool air = d < 0;
            c->below += depth >= 80 && depth < 250;
            c->hollow += depth >= 80 && depth < 250 && air;
            c->cover += depth >= 2 && depth < 20;
            c->mouths += depth >= 2 && depth < 20 && air;
            moved = moved || (fabs(depth) > 1 && fabs(depth) < 12 && air != (depth < 0));
            crossings +=
                k > 0 && fabs(depth) < 20 && air != (out[(k - 1) * SIDE * SIDE + column] < 0);
            if (depth < -20) /* half of the amplitude */
                c->lowest_above = fmaxf(c->lowest_above, d);
        }
        c->count++;
        c->folded += crossings > 1;
        c->moved += moved;
    }
    free(out);
}

START_TEST(default_world_has_overhangs_and_caves)
{
    const struct farlands_params params = default_world();
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {1500, 0};
    struct columns c = {.lowest_above = -INFINITY};
    for (int n = 0; n < 60; n++)
        count_columns(terrain, BLOCKS(draw_between(&draws, -10000000, 10000000)),
                      BLOCKS(draw_between(&draws, -10000000, 10000000)), &c);
    const double folded = (double)c.folded / c.count, moved = (double)c.moved / c.count;
    const double hollow = c.hollow / c.below, mouths = c.mouths / c.cover;
    REQUIRE(folded > 0.01 && folded < 0.15, "%g of the columns are folded", folded);
    REQUIRE(moved > 0.05 && moved < 0.45, "%g of the columns' surfaces have moved", moved);
    REQUIRE(hollow > 0.02 && hollow < 0.12, "%g of the deep ground is hollow", hollow);
    REQUIRE(mouths > 0.002 && mouths < 0.08, "%g of the ground near the surface is hollow", mouths);
    REQUIRE(c.lowest_above < 0, "%g above all overhangs", (double)c.lowest_above);
    terrain_free(terrain);
}
END_TEST

/* Out of reach of overhangs and caves: in the sky, and deep down without caves. */
START_TEST(far_from_the_surface_all_is_air_or_ground)
{
    struct farlands_params params = default_world();
    params.volume.caverns.size = 0;
    params.volume.tunnels.radius = 0;
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {1510, 0};
    for (int n = 0; n < 3000; n++) {
        const int64_t x = draw_between(&draws, -FARLANDS_LIMIT, FARLANDS_LIMIT);
        const int64_t y = draw_between(&draws, -BLOCKS(1000000), BLOCKS(1000000));
        const int64_t away = draw_between(&draws, BLOCKS(20), BLOCKS(100));
        const int64_t height = (int64_t)(terrain_height(terrain, x, y) * 1024);
        const float above = terrain_density_at(terrain, x, y, height + away);
        const float below = terrain_density_at(terrain, x, y, height - away);
        REQUIRE(above < 0 && below > 0, "%" PRId64 " units from (%" PRId64 ", %" PRId64 "): %g, %g",
                away, x, y, (double)above, (double)below);
    }
    terrain_free(terrain);
}
END_TEST

/* Below their cover no caves break through the surface. */
START_TEST(cover_holds)
{
    struct farlands_params params = default_world();
    params.volume.overhangs.amplitude = 0;
    params.volume.tunnels.cover = BLOCKS(10);
    params.volume.caverns.size = 0.9;
    struct farlands_terrain *terrain = reference_terrain(&params);
    struct draws draws = {1520, 0};
    int hollow = 0;
    for (int n = 0; n < 100000; n++) {
        const int64_t x = draw_between(&draws, -BLOCKS(1000000), BLOCKS(1000000)), y = x / 7 * n;
        const int64_t height = (int64_t)(terrain_height(terrain, x, y) * 1024);
        const float just_below = terrain_density_at(terrain, x, y, height - 100);
        REQUIRE(just_below > 0, "(%" PRId64 ", %" PRId64 "): %g", x, y, (double)just_below);
        hollow += terrain_density_at(terrain, x, y, height - BLOCKS(60)) < 0;
    }
    ck_assert_int_gt(hollow, 5000);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("noise_density");
    TCase *formula = suite_case(suite, "formula"), *exact = suite_case(suite, "same bits"),
          *looks = suite_case(suite, "looks");
    tcase_add_loop_test(formula, density_follows_its_formula, 0, 10);
    tcase_add_test(formula, without_volume_it_is_the_height_less_the_altitude);
    tcase_add_test(formula, volumes_change_no_height);
    tcase_add_loop_test(formula, volumes_repeat_with_their_world, 0, 2);
    tcase_add_loop_test(formula, bad_parameters_are_named, 0, LENGTH(changes));
    tcase_add_test(formula, noises_that_are_off_may_be_anything);
    tcase_add_loop_test(exact, boxes_are_points, 0, LENGTH(steps));
    tcase_add_loop_test(exact, slabs_are_boxes, 0, LENGTH(steps));
    tcase_add_loop_test(exact, neighbors_share_their_faces, 0, LENGTH(steps));
    tcase_add_loop_test(exact, kernels_agree, 0, LENGTH(steps));
    tcase_add_loop_test(exact, density_ends_at_the_limit, 0, LENGTH(ends));
    tcase_add_test(looks, default_world_has_overhangs_and_caves);
    tcase_add_test(looks, far_from_the_surface_all_is_air_or_ground);
    tcase_add_test(looks, cover_holds);
    return suite_run(suite);
}
