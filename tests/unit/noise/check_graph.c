/*
 * Random graphs of fields: the same bits from a point, a grid, any part of it, alone or beside
 * other fields, and on any kernel; values within their bounds, and close to a plain evaluation in
 * double.
 */
#include <check.h>

#include "noise/evaluate.h"
#include "noise/lattice.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"

/* Graphs of a test, and grids of a graph. */
enum { GRAPHS = 20, ROUNDS = 8 };

static const int64_t steps[] = {
    1,
    1000,
    FARLANDS_UNIT,
    BLOCKS(4),
    BLOCKS(37) + 11,
    BLOCKS(256),
    BLOCKS(65536),
    BLOCKS(INT64_C(1) << 24),
    FARLANDS_MAX_STEP,
};

static const int64_t centres[] = {
    0, -12345, BLOCKS(1000000) + 333, -BLOCKS(INT64_C(1) << 31) + 1, FARLANDS_LIMIT / 2 + 17,
};

static struct farlands_scratch *scratch;

/* CHECK random graphs, the first of which SEED determines. */
static void each_graph(uint64_t seed,
                       void (*check)(struct draws *draws, const struct random_graph *graph,
                                     const struct program *program))
{
    for (int i = 0; i < GRAPHS; i++) {
        struct draws draws = {seed + (uint64_t)i, 0};
        struct random_graph *graph = draw_graph(&draws);
        struct program *program = graph_program(graph);
        scratch = reference_scratch();
        check(&draws, graph, program);
        farlands_scratch_free(scratch);
        program_free(program);
        free(graph);
    }
}

static float *values(const struct program *program, const struct kernel *kernel,
                     const struct farlands_grid *grid, int operation)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    float *out = malloc(count * sizeof *out);
    const struct output output = {operation, out};
    ck_assert_ptr_nonnull(out);
    const int err = evaluate(program, kernel, scratch, grid, &output, 1, (size_t)grid->width);
    must(err == 0, "%d", err);
    return out;
}

static struct farlands_grid draw_grid(struct draws *draws)
{
    const int64_t step = DRAW_ONE(draws, steps);
    return (struct farlands_grid){
        .x = DRAW_ONE(draws, centres) - step * 20,
        .y = DRAW_ONE(draws, centres) - step,
        .step = step,
        .width = (int)draw_between(draws, 1, 100),
        .height = (int)draw_between(draws, 1, 40),
        .band_limit = draw_between(draws, 0, 3) == 0,
    };
}

static struct farlands_grid sub_grid(const struct farlands_grid *grid, int i, int j, int width,
                                     int height)
{
    return (struct farlands_grid){
        grid->x + i * grid->step, grid->y + j * grid->step, grid->step, width, height,
        grid->band_limit};
}

static void grid_equals_its_parts_of(struct draws *draws, const struct random_graph *graph,
                                     const struct program *program)
{
    for (int round = 0; round < ROUNDS; round++) {
        const struct farlands_grid grid = draw_grid(draws);
        const int last = program->count - 1;
        float *whole = values(program, kernel_choose(), &grid, last);
        for (int k = 0; k < 8; k++) {
            const int i = (int)draw_between(draws, 0, grid.width - 1);
            const int j = (int)draw_between(draws, 0, grid.height - 1);
            const bool point = k < 5;
            const struct farlands_grid part =
                sub_grid(&grid, i, j, point ? 1 : (int)draw_between(draws, 1, grid.width - i),
                         point ? 1 : (int)draw_between(draws, 1, grid.height - j));
            float *some = values(program, kernel_choose(), &part, last);
            for (int s = 0; s < part.width * part.height; s++) {
                const float expected =
                    whole[(j + s / part.width) * grid.width + i + s % part.width];
                must(float_bits(some[s]) == float_bits(expected),
                     "%s; step %" PRId64 "%s, sample (%d, %d) of %d x %d from (%d, %d): %.9g, "
                     "whole %.9g",
                     graph_text(graph), grid.step, grid.band_limit ? ", band-limited" : "",
                     s % part.width, s / part.width, part.width, part.height, i, j, (double)some[s],
                     (double)expected);
            }
            free(some);
        }
        free(whole);
    }
}

START_TEST(grid_equals_its_parts)
{
    each_graph(500 + (uint64_t)_i * GRAPHS, grid_equals_its_parts_of);
}
END_TEST

static void fields_together_equal_fields_alone_of(struct draws *draws,
                                                  const struct random_graph *graph,
                                                  const struct program *program)
{
    for (int round = 0; round < ROUNDS; round++) {
        const struct farlands_grid grid = draw_grid(draws);
        const size_t samples = (size_t)grid.width * (size_t)grid.height;
        const int count = (int)draw_between(draws, 1, PLAN_MAX_OUTPUTS);
        float *all = malloc(samples * (size_t)count * sizeof *all);
        struct output outputs[PLAN_MAX_OUTPUTS];
        for (int k = 0; k < count; k++)
            outputs[k] = (struct output){(int)draw_between(draws, 0, program->count - 1),
                                         all + (size_t)k * samples};
        ck_assert_int_eq(
            evaluate(program, kernel_choose(), scratch, &grid, outputs, count, (size_t)grid.width),
            0);
        for (int k = 0; k < count; k++) {
            const int operation = outputs[k].operation;
            float *alone = values(program, kernel_choose(), &grid, operation);
            for (size_t s = 0; s < samples; s++)
                must(float_bits(alone[s]) == float_bits(outputs[k].out[s]),
                     "%s; operation %d, output %d: %.9g, alone %.9g", graph_text(graph), operation,
                     k, (double)outputs[k].out[s], (double)alone[s]);
            free(alone);
        }
        free(all);
    }
}

START_TEST(fields_together_equal_fields_alone)
{
    each_graph(1500 + (uint64_t)_i * GRAPHS, fields_together_equal_fields_alone_of);
}
END_TEST

static void kernels_agree_of(struct draws *draws, const struct random_graph *graph,
                             const struct program *program)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "scalar"};
    for (int round = 0; round < ROUNDS; round++) {
        const struct farlands_grid grid = draw_grid(draws);
        float *first = NULL;
        for (int n = 0; n < LENGTH(names); n++) {
            setenv("FARLANDS_KERNEL", names[n], 1);
            const struct kernel *kernel = kernel_choose();
            farlands_scratch_free(scratch);
            scratch = reference_scratch();
            if (!kernel)
                continue;
            float *these = values(program, kernel, &grid, program->count - 1);
            for (int s = 0; first && s < grid.width * grid.height; s++)
                must(float_bits(these[s]) == float_bits(first[s]),
                     "%s; step %" PRId64 ", sample %d of rows of %d: %s %.9g, other %.9g",
                     graph_text(graph), grid.step, s, grid.width, names[n], (double)these[s],
                     (double)first[s]);
            if (first)
                free(these);
            else
                first = these;
        }
        free(first);
    }
}

START_TEST(kernels_agree)
{
    each_graph(2500 + (uint64_t)_i * GRAPHS, kernels_agree_of);
}
END_TEST

/* A band limit leaves lattices as they are, unless samples are as far apart as their nodes. */
static void lattices_are_not_filtered_of(struct draws *draws, const struct random_graph *graph,
                                         const struct program *program)
{
    for (int k = 0; k < program->count; k++) {
        struct farlands_grid grid = draw_grid(draws);
        grid.step = draw_between(draws, 1, FARLANDS_UNIT - 1);
        if (program->operation[k].kind != GRAPH_LATTICE)
            continue;
        grid.band_limit = false;
        float *whole = values(program, kernel_choose(), &grid, k);
        farlands_scratch_free(scratch); /* and the nodes that it keeps */
        scratch = reference_scratch();
        grid.band_limit = true;
        float *filtered = values(program, kernel_choose(), &grid, k);
        for (int s = 0; s < grid.width * grid.height; s++)
            must(float_bits(whole[s]) == float_bits(filtered[s]),
                 "%s; operation %d: %.9g, filtered %.9g", graph_text(graph), k, (double)whole[s],
                 (double)filtered[s]);
        free(whole);
        free(filtered);
    }
}

START_TEST(lattices_are_not_filtered)
{
    each_graph(7500 + (uint64_t)_i * GRAPHS, lattices_are_not_filtered_of);
}
END_TEST

static void values_are_within_their_bounds_of(struct draws *draws, const struct random_graph *graph,
                                              const struct program *program)
{
    for (int k = 0; k < program->count; k++) {
        const struct operation *o = &program->operation[k];
        const struct farlands_grid grid = draw_grid(draws);
        float *out = values(program, kernel_choose(), &grid, k);
        for (int s = 0; s < grid.width * grid.height; s++)
            must(out[s] >= o->low && out[s] <= o->high, "%s; operation %d: %.9g outside %g to %g",
                 graph_text(graph), k, (double)out[s], (double)o->low, (double)o->high);
        free(out);
    }
}

START_TEST(values_are_within_their_bounds)
{
    each_graph(3500 + (uint64_t)_i * GRAPHS, values_are_within_their_bounds_of);
}
END_TEST

/* --- A plain evaluation --- */

/* A value, and how far float may be off. */
struct estimate {
    double value, error;
};

static struct estimate plain_at(const struct program *program, int operation, int64_t x, int64_t y,
                                int64_t direct_below);

static double smoothstep(double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

static double smooth_min(double a, double b, double p)
{
    const double h = fmax(1 - fabs(a - b) / p, 0);
    return fmin(a, b) - h * h * p / 4;
}

/* The four weights of a uniform cubic B-spline at T. */
static void spline_weights(double t, double weight[4])
{
    weight[0] = (1 - t) * (1 - t) * (1 - t) / 6;
    weight[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    weight[2] = (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6;
    weight[3] = t * t * t / 6;
}

/* Their derivatives. */
static void slope_weights(double t, double weight[4])
{
    weight[0] = -(1 - t) * (1 - t) / 2;
    weight[1] = (9 * t * t - 12 * t) / 6;
    weight[2] = (-9 * t * t + 6 * t + 3) / 6;
    weight[3] = t * t / 2;
}

/* The value of lattice O, or its slope. */
static struct estimate plain_lattice(const struct program *program, const struct operation *o,
                                     enum graph_kind kind, int64_t x, int64_t y)
{
    const int64_t spacing = lattice_spacing(o);
    const double blocks = (double)spacing / FARLANDS_UNIT;
    const double per_block = kind == GRAPH_LATTICE ? 1 : 1 / blocks;
    const struct lattice_place px = lattice_place(x, spacing), py = lattice_place(y, spacing);
    double wx[4], wy[4];
    struct estimate sum = {0, 0};
    (kind == GRAPH_SLOPE_X ? slope_weights : spline_weights)((double)px.rest / (double)spacing, wx);
    (kind == GRAPH_SLOPE_Y ? slope_weights : spline_weights)((double)py.rest / (double)spacing, wy);
    for (int j = 0; j < 4; j++)
        for (int i = 0; i < 4; i++) {
            const struct estimate node = plain_at(program, o->input[0], (px.cell + i - 1) * spacing,
                                                  (py.cell + j - 1) * spacing, spacing);
            sum.value += wx[i] * wy[j] * node.value * per_block;
            sum.error = fmax(sum.error, node.error);
        }
    sum.error += 1e-6 * fmax(fabs((double)o->low), fabs((double)o->high));
    sum.error *= per_block;
    return sum;
}

/* The noise itself comes from the kernel, which check_noise_reference compares with a plain one: as
 * a program of its own, moved by constants. */
static struct estimate plain_noise(const struct operation *o, int64_t x, int64_t y, double dx,
                                   double dy)
{
    struct operation operations[3] = {{.kind = GRAPH_CONSTANT}, {.kind = GRAPH_CONSTANT}, *o};
    struct program program = {lattice_mix((uint64_t)(uintptr_t)o ^ (uint64_t)x), 3, operations,
                              NULL};
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    float value;
    const struct output output = {2, &value};
    operations[0].number[0] = (float)dx;
    operations[1].number[0] = (float)dy;
    operations[2].input[0] = 0;
    operations[2].input[1] = 1;
    program.id = lattice_mix(program.id ^ (uint64_t)y);
    program.id ^= float_bits((float)dx) * UINT64_C(0x9e3779b97f4a7c15) ^ float_bits((float)dy);
    ck_assert_int_eq(evaluate(&program, kernel_choose(), scratch, &grid, &output, 1, 1), 0);
    return (struct estimate){(double)value, 0};
}

/* Operations that are steep where their inputs are uncertain: nothing is claimed. */
static struct estimate unknown(double value)
{
    return (struct estimate){value, INFINITY};
}

static struct estimate plain_at(const struct program *program, int operation, int64_t x, int64_t y,
                                int64_t direct_below)
{
    const struct operation *o = &program->operation[operation];
    const double p = (double)o->number[0], q = (double)o->number[1];
    struct estimate in[GRAPH_MAX_INPUTS] = {{0, 0}};
    double slope = 1, value = 0;

    if (o->kind == GRAPH_LATTICE && lattice_spacing(o) >= direct_below)
        return plain_lattice(program, o, GRAPH_LATTICE, x, y);
    if (o->kind == GRAPH_SLOPE_X || o->kind == GRAPH_SLOPE_Y)
        return plain_lattice(program, &program->operation[o->input[0]], o->kind, x, y);
    double error = 0;
    for (int i = 0; i < o->inputs; i++) {
        in[i] = plain_at(program, o->input[i], x, y, direct_below);
        error += in[i].error;
    }
    const double a = in[0].value, b = in[1].value, c = in[2].value;
    switch (o->kind) {
    case GRAPH_NOISE:
        if (error > 0)
            return unknown(0);
        return plain_noise(o, x, y, a, b);
    case GRAPH_CONSTANT:
        return (struct estimate){p, 0};
    case GRAPH_LATTICE: /* direct */
        return in[0];
    case GRAPH_ADD:
        value = a + b;
        break;
    case GRAPH_SUBTRACT:
        value = a - b;
        break;
    case GRAPH_MULTIPLY:
        value = a * b;
        slope = fabs(a) + fabs(b) + error;
        break;
    case GRAPH_MIN:
        value = fmin(a, b);
        break;
    case GRAPH_MAX:
        value = fmax(a, b);
        break;
    case GRAPH_SMOOTH_MIN:
        value = smooth_min(a, b, p);
        break;
    case GRAPH_SMOOTH_MAX:
        value = -smooth_min(-a, -b, p);
        break;
    case GRAPH_ABS:
        value = fabs(a);
        break;
    case GRAPH_CLAMP:
        value = fmin(fmax(a, p), q);
        break;
    case GRAPH_MIX:
        value = a + c * (b - a);
        slope = 1 + fabs(c) + fabs(b - a) + error;
        break;
    case GRAPH_STEP:
        value = smoothstep((a - p) / (q - p));
        slope = 1.5 / fabs(q - p);
        break;
    case GRAPH_RIDGE:
        value = smoothstep(1 - fabs(a) / p);
        slope = 1.5 / p;
        break;
    case GRAPH_TERRACE:
        value = p * (floor(a / p) + smoothstep((a / p - floor(a / p) - 0.5) / q + 0.5));
        slope = 1.5 / q;
        break;
    case GRAPH_SPLINE:
    case GRAPH_DAMPED:
    case GRAPH_ERODE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        return unknown(0); /* they have tests of their own */
    }
    const double size = fabs(value) + fabs(a) + fabs(b);
    return (struct estimate){value, slope * (error + 4e-7 * size) + 1e-6 * (size + fabs(p))};
}

static void values_are_those_of_a_plain_evaluation_of(struct draws *draws,
                                                      const struct random_graph *graph,
                                                      const struct program *program)
{
    int compared = 0;
    for (int k = 0; k < program->count; k++) {
        struct farlands_grid grid = draw_grid(draws);
        grid.width = grid.height = 1;
        grid.band_limit = false;
        float *out = values(program, kernel_choose(), &grid, k);
        const struct estimate plain = plain_at(program, k, grid.x, grid.y, 0);
        if (isfinite(plain.error)) {
            compared++;
            must(fabs((double)out[0] - plain.value) <= plain.error,
                 "%s; operation %d: %.9g, plain %.9g within %g", graph_text(graph), k,
                 (double)out[0], plain.value, plain.error);
        }
        free(out);
    }
    ck_assert_int_gt(compared, 0);
}

START_TEST(values_are_those_of_a_plain_evaluation)
{
    each_graph(4500 + (uint64_t)_i * GRAPHS, values_are_those_of_a_plain_evaluation_of);
}
END_TEST

/* --- Noises that steer themselves --- */

static struct farlands_params steep_noise(enum farlands_basis basis, int octaves)
{
    struct farlands_params params = reference_params();
    params.basis = basis;
    params.wavelength = BLOCKS(100);
    params.octaves = octaves;
    params.knots = 0;
    return params;
}

static double value_at(const struct program *program, int operation, int64_t x, int64_t y)
{
    const struct farlands_grid grid = {x, y, 1, 1, 1, false};
    float value;
    const struct output output = {operation, &value};
    ck_assert_int_eq(evaluate(program, kernel_choose(), scratch, &grid, &output, 1, 1), 0);
    return (double)value;
}

/* With one octave n, a damped noise is n / (1 + damping |gradient of n per cell|^2). Gradients are
 * measured as differences. */
START_TEST(damping_follows_the_slope)
{
    const double damping = 0.7;
    struct draws draws = {5500 + (uint64_t)_i, 0};
    struct farlands_params params = steep_noise(FARLANDS_PERLIN, 1);
    params.fade = (enum farlands_fade)(_i % FARLANDS_FADES);
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, {0}, &params, NULL},
        {GRAPH_DAMPED, {-1, -1, -1}, {damping}, &params, NULL},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 2, &fault), 0);
    scratch = reference_scratch();
    for (int i = 0; i < 50; i++) {
        /* In the inside of a cell, because the slope of a linear fade jumps at its borders. */
        const int64_t shift_x = program->operation[0].noise->octave[0].shift[AXIS_X];
        const int64_t shift_y = program->operation[0].noise->octave[0].shift[AXIS_Y];
        const int64_t x = BLOCKS(100 * draw_between(&draws, -90, 90)) - shift_x +
                          draw_between(&draws, BLOCKS(3), BLOCKS(97));
        const int64_t y = BLOCKS(100 * draw_between(&draws, -90, 90)) - shift_y +
                          draw_between(&draws, BLOCKS(3), BLOCKS(97));
        const int64_t h = BLOCKS(0.5);
        const double n = value_at(program, 0, x, y);
        const double dx = (value_at(program, 0, x + h, y) - value_at(program, 0, x - h, y)) * 100;
        const double dy = (value_at(program, 0, x, y + h) - value_at(program, 0, x, y - h)) * 100;
        const double expected = n / (1 + damping * (dx * dx + dy * dy));
        const double damped = value_at(program, 1, x, y);
        must(fabs(damped - expected) < 1e-3, "(%" PRId64 ", %" PRId64 "): %g, expected %g", x, y,
             damped, expected);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

/* The formula of GRAPH_ERODE in double, with libm. */
static double plain_gullies(const struct operation *o, int64_t x, int64_t y, double a, double b,
                            double c)
{
    const double p = (double)o->number[0], q = (double)o->number[1];
    double result = 0;
    for (int k = 0; k < o->noise->octaves; k++) {
        const struct octave *octave = &o->noise->octave[k];
        const double blocks = (double)octave->wavelength / FARLANDS_UNIT;
        const struct lattice_place px =
            lattice_place(x + octave->shift[AXIS_X], octave->wavelength);
        const struct lattice_place py =
            lattice_place(y + octave->shift[AXIS_Y], octave->wavelength);
        const double g = sqrt(a * a + b * b), sx = -b / g, sy = a / g;
        double weight = 0.02, cosine = 0, sine = 0;
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++) {
                const uint32_t index =
                    lattice_corner(lattice_axis(px.cell + i, octave->key[AXIS_X]),
                                   lattice_axis(py.cell + j, octave->key[AXIS_Y]));
                const double fx = 0.125 + 0.75 * (index + 0.5) / 256;
                const double fy = 0.125 + 0.75 * ((index * 159 & 255) + 0.5) / 256;
                const double dx = (double)px.rest * octave->inverse - i - fx;
                const double dy = (double)py.rest * octave->inverse - j - fy;
                const double t = fmax(0, 1 - (dx * dx + dy * dy) / (81.0 / 64));
                const double phase = 2 * acos(-1) * (dx * sx + dy * sy);
                weight += t * t * t;
                cosine += t * t * t * cos(phase);
                sine += t * t * t * sin(phase);
            }
        const double depth = p * c * g / sqrt(g * g + q * q);
        result += blocks * depth * cosine / weight;
        a -= acos(-1) * depth * sine / weight * sx;
        b -= acos(-1) * depth * sine / weight * sy;
    }
    return result;
}

START_TEST(gullies_are_those_of_the_formula)
{
    struct draws draws = {6500 + (uint64_t)_i, 0};
    const struct farlands_params params = steep_noise(FARLANDS_CELLULAR, 4);
    const double a = (double)draw_between(&draws, -50, 50) / 64 + 1.0 / 128;
    const double b = (double)draw_between(&draws, -50, 50) / 64;
    const struct graph_node nodes[] = {
        {GRAPH_CONSTANT, {-1, -1, -1}, {a}, NULL, NULL},
        {GRAPH_CONSTANT, {-1, -1, -1}, {b}, NULL, NULL},
        {GRAPH_CONSTANT, {-1, -1, -1}, {0.75}, NULL, NULL},
        {GRAPH_ERODE, {0, 1, 2}, {0.125, 0.3}, &params, NULL},
    };
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 4, &fault), 0);
    scratch = reference_scratch();
    for (int i = 0; i < 200; i++) {
        const int64_t x = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
        const int64_t y = draw_between(&draws, -BLOCKS(100000), BLOCKS(100000));
        const double gullies = value_at(program, 3, x, y);
        const double plain = plain_gullies(&program->operation[3], x, y, a, b, 0.75);
        /* The polynomials are right to 3e-4, which steers finer octaves a little otherwise. */
        must(fabs(gullies - plain) < 0.02, "(%" PRId64 ", %" PRId64 ") on (%g, %g): %g, plain %g",
             x, y, a, b, gullies, plain);
    }
    farlands_scratch_free(scratch);
    program_free(program);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph");
    TCase *tests = suite_case(suite, "random graphs");
    const int count = patience() > 1 ? 5 : 25;
    tcase_add_loop_test(tests, grid_equals_its_parts, 0, count);
    tcase_add_loop_test(tests, fields_together_equal_fields_alone, 0, count);
    tcase_add_loop_test(tests, kernels_agree, 0, count);
    tcase_add_loop_test(tests, lattices_are_not_filtered, 0, count);
    tcase_add_loop_test(tests, values_are_within_their_bounds, 0, count);
    tcase_add_loop_test(tests, values_are_those_of_a_plain_evaluation, 0, count);
    tests = suite_case(suite, "noises that steer themselves");
    tcase_add_loop_test(tests, damping_follows_the_slope, 0, 6);
    tcase_add_loop_test(tests, gullies_are_those_of_the_formula, 0, 6);
    return suite_run(suite);
}
