/* Heights do not depend on the host's floating-point mode, and the library leaves it as it is. */
#include <check.h>
#include <fenv.h>
#include <stdlib.h>

#include "noise/exact/arithmetic.h"
#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"
#include "tests/unit/support/reference_params.h"

/* Modes that hosts set. */
static const struct mode {
    const char *name;
    int rounding;
    bool flush; /* subnormal numbers are 0 */
    bool trap;  /* exceptions raise SIGFPE */
} modes[] = {
    {"upward", FE_UPWARD, false, false},          {"downward", FE_DOWNWARD, false, false},
    {"toward zero", FE_TOWARDZERO, false, false}, {"flush", FE_TONEAREST, true, false},
    {"upward and flush", FE_UPWARD, true, false}, {"trap", FE_TONEAREST, false, true},
};

#if defined __SSE_MATH__
/* Without the flags of exceptions that happened. */
static uint64_t machine_mode(void)
{
    return _mm_getcsr() & ~0x3fu;
}

static void flush_subnormals(void)
{
    _mm_setcsr(_mm_getcsr() | 0x8040); /* results, and operands */
}
#elif defined __aarch64__
static uint64_t machine_mode(void)
{
    uint64_t mode;
    __asm__ volatile("mrs %0, fpcr" : "=r"(mode));
    return mode;
}

static void flush_subnormals(void)
{
    arithmetic_set(machine_mode() | UINT64_C(1) << 24);
}
#endif

static void set_mode(const struct mode *mode)
{
    fesetround(mode->rounding);
    if (mode->flush)
        flush_subnormals();
    if (mode->trap)
        feenableexcept(FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INEXACT);
}

/* All that a terrain computes around a place. */
struct results {
    float heights[3][40], density[2][3][9], volume[2][3][9], height, density_at;
    double noise[4];
    int err[3];
};

static void compute(struct results *out, const struct farlands_params *params,
                    struct farlands_scratch *scratch, int64_t x, int64_t y)
{
    struct farlands_terrain *terrain = NULL;
    const struct farlands_grid grid = {x, y, 777, 40, 3, false};
    ck_assert_int_eq(terrain_new_noise(&terrain, params), 0);
    out->err[0] = terrain_heights(terrain, scratch, &grid, out->heights[0], 40);
    out->height = terrain_height(terrain, x, y);
    const struct farlands_box box = {x, y, -5000, 999, 9, 3, 2};
    out->err[1] = terrain_density(terrain, scratch, &box, out->density[0][0]);
    out->err[2] = terrain_volume(terrain, scratch, &box, out->volume[0][0]);
    out->density_at = terrain_density_at(terrain, x, y, box.z);
    out->noise[0] = terrain_noise1(terrain, x);
    out->noise[1] = terrain_noise2(terrain, x, y);
    out->noise[2] = terrain_noise3(terrain, x, y, 12345);
    out->noise[3] = terrain_noise4(terrain, x, y, 12345, 54321);
    terrain_free(terrain);
}

static struct farlands_params plain(void)
{
    return reference_params();
}

/* The second octave's amplitude is subnormal. The first is 0 at its corners. */
static struct farlands_params subnormal(void)
{
    struct farlands_params params = reference_params();
    params.hash = FARLANDS_PERMUTATION;
    params.wavelength = BLOCKS(16);
    params.octaves = 2;
    params.lacunarity = 1.6;
    params.persistence = 1e-42;
    params.elevation[0] = (struct farlands_knot){0, 0};
    params.elevation[1] = (struct farlands_knot){1, 1};
    params.knots = 2;
    return params;
}

static struct farlands_params hollow(void)
{
    struct farlands_params params = reference_params();
    const struct farlands_space_noise noise = {BLOCKS(50), 3, 0.4, 1.9, 1.5};
    params.basis = FARLANDS_CELLULAR;
    params.fractal = FARLANDS_RIDGED;
    params.lacunarity = 1.7;
    params.persistence = 0.7;
    params.warp.amplitude = BLOCKS(30);
    params.warp.wavelength = BLOCKS(300);
    params.volume = (struct farlands_volume_params){
        .overhangs = {BLOCKS(20), 0.1, noise},
        .caverns = {0.5, BLOCKS(3), noise},
        .tunnels = {BLOCKS(5), 0, noise},
    };
    return params;
}

START_TEST(no_mode_changes_a_bit)
{
    static const struct row {
        const char *name;
        struct farlands_params (*params)(void);
        int64_t x, y;
    } rows[] = {
        {"plain", plain, 1234567, -7654321},
        {"far", plain, FARLANDS_LIMIT - 987654321, INT64_C(-1234567890123)},
        {"subnormal", subnormal, BLOCKS(16), BLOCKS(32)},
        {"hollow", hollow, 1234567, -7654321},
    };
    const struct mode *mode = &modes[_i];
    struct farlands_scratch *scratch = reference_scratch();
    for (int i = 0; i < LENGTH(rows); i++) {
        const struct farlands_params params = rows[i].params();
        struct results expected = {0}, results = {0};
        compute(&expected, &params, scratch, rows[i].x, rows[i].y);
        set_mode(mode);
        const uint64_t before = machine_mode();
        compute(&results, &params, scratch, rows[i].x, rows[i].y);
        const uint64_t after = machine_mode();
        const int rounding = fegetround();
        fesetenv(FE_DFL_ENV);
        must(before == after && rounding == mode->rounding, "%s: the mode was not restored: %s",
             rows[i].name, mode->name);
        must(memcmp(&results, &expected, sizeof results) == 0, "%s: other bits: %s, %.9g, %.9g",
             rows[i].name, mode->name, (double)results.height, (double)expected.height);
    }
    farlands_scratch_free(scratch);
}
END_TEST

static void graph_values(const struct random_graph *random, float out[3][50], float *point)
{
    const struct graph_field height = {"height", random->count - 1};
    const struct graph graph = {random->node, random->count, &height, 1, 0};
    const struct farlands_params params = reference_params();
    const struct farlands_grid grid = {-123456, 7654321, 5000, 50, 3, true};
    float *const outs[] = {out[0]};
    struct graph_fault fault;
    struct farlands_terrain *terrain = NULL;
    struct farlands_scratch *scratch = reference_scratch();
    ck_assert_int_eq(terrain_new(&terrain, &graph, &params, &fault), 0);
    ck_assert_int_eq(terrain_fields(terrain, scratch, &grid, &(int){0}, 1, outs, 50), 0);
    *point = terrain_field_at(terrain, NULL, 0, 1234567, 1);
    terrain_free(terrain);
    farlands_scratch_free(scratch);
}

START_TEST(no_mode_changes_a_graph)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        struct draws draws = {.seed = 9500 + seed};
        struct random_graph *graph = draw_graph(&draws);
        float expected[3][50], values[3][50], point, other;
        graph_values(graph, expected, &point);
        set_mode(&modes[_i]);
        graph_values(graph, values, &other);
        fesetenv(FE_DFL_ENV);
        must(memcmp(values, expected, sizeof values) == 0 && float_bits(point) == float_bits(other),
             "%s: %s: other bits", graph_text(graph), modes[_i].name);
        free(graph);
    }
}
END_TEST

/* The second octave alone is left at the corners of the first. */
START_TEST(subnormal_numbers_count)
{
    const struct farlands_params params = subnormal();
    struct farlands_terrain *terrain = reference_terrain(&params);
    const float height = terrain_height(terrain, BLOCKS(16), BLOCKS(32));
    must(height > 0 && height < FLT_MIN, "height %g; expected more than 0, less than %g",
         (double)height, (double)FLT_MIN);
    terrain_free(terrain);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("arithmetic");
    TCase *tcase = suite_case(suite, "modes");
    tcase_add_loop_test(tcase, no_mode_changes_a_bit, 0, LENGTH(modes));
    tcase_add_loop_test(tcase, no_mode_changes_a_graph, 0, LENGTH(modes));
    tcase_add_test(tcase, subnormal_numbers_count);
    return suite_run(suite);
}
