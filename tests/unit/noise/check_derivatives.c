/*
 * Derivatives of random graphs: those of values nearby, and of formulas with known ones; the values
 * that they go with are those of the kernels.
 */
#include <check.h>

#include "config/fields/noise_keys.h"
#include "noise/evaluate/derivatives.h"
#include "noise/evaluate/evaluate.h"
#include "noise/evaluate/noise_dual.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"
#include "tests/unit/support/reference_params.h"

enum { SIDE = 5 };

static struct moved_place beside(int64_t x, int64_t y, double dx, double dy)
{
    return (struct moved_place){x, y, dual_of(dx), dual_of(dy)};
}

/* Noises are compared with differences over this many units: small beside any cell. */
static const double near = 1.0 / 64;

START_TEST(derivatives_of_noises_are_those_of_differences)
{
    struct draws draws = {8000 + (uint64_t)_i, 0};
    struct farlands_params params = draw_noise(&draws);
    params.wavelength = BLOCKS(draw_between(&draws, 100, 1 << 20));
    params.lacunarity = 2;
    params.octaves = (int)draw_between(&draws, 1, 5);
    params.persistence = 0.5;
    params.period = params.warp.amplitude = 0; /* the graphs below are warped */
    params.knots = 0;
    const struct graph_node node = {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params};
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, &node, 1, &fault), 0);
    const struct noise *noise = program->operation[0].noise;
    int kinks = 0;
    for (int i = 0; i < 200; i++) {
        const int64_t x = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        const int64_t y = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20));
        const struct dual here = noise_dual(noise, beside(x, y, 0, 0));
        double d[2], gap = 0;
        for (int axis = 0; axis < 2; axis++) {
            const double dx = axis ? 0 : near, dy = axis ? near : 0;
            const double east = noise_dual(noise, beside(x, y, dx, dy)).v;
            const double west = noise_dual(noise, beside(x, y, -dx, -dy)).v;
            d[axis] = (east - west) / (2 * near) * FARLANDS_UNIT;
            gap += fabs(east + west - 2 * here.v) / near * FARLANDS_UNIT;
        }
        /* By GAP the slope changes within these differences. */
        const double off = hypot(d[0] - here.x, d[1] - here.y);
        const bool close = off <= gap + 1e-6 * (1 + hypot(d[0], d[1]));
        must(close, "noise %d, basis %s: derivatives (%g, %g), differences (%g, %g), gap %g", _i,
             noise_bases[params.basis], here.x, here.y, d[0], d[1], gap);
        kinks += gap > 1e-3 * (1 + hypot(d[0], d[1]));
    }
    must(kinks < 60 || params.wavelength < BLOCKS(100),
         "noise %d, basis %s: %d places of 200 have a kink; expected less than 60", _i,
         noise_bases[params.basis], kinks);
    program_free(program);
}
END_TEST

/* A field's values at SIDE x SIDE places, and derivatives. */
struct field_sample {
    float value[SIDE * SIDE], dx[SIDE * SIDE], dy[SIDE * SIDE];
};

static struct field_sample sample(const struct program *program, int k,
                                  const struct farlands_grid *grid)
{
    struct field_sample sample;
    struct farlands_scratch *scratch = reference_scratch();
    const int err = evaluate_derivatives(program, kernel_choose(), scratch, grid, k, sample.value,
                                         sample.dx, sample.dy, SIDE);
    ck_assert_int_eq(err, 0);
    farlands_scratch_free(scratch);
    return sample;
}

/* Fields whose finest cells are many samples wide, so that differences of their floats tell their
 * slope. */
static void make_smooth(struct random_graph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        graph->noise[i].wavelength = BLOCKS(1 << 12);
        graph->noise[i].octaves = 1 + i % 2;
        graph->noise[i].persistence = 0.5;
        graph->noise[i].lacunarity = 2;
        graph->noise[i].warp.amplitude = graph->noise[i].warp.amplitude ? BLOCKS(500) : 0;
        graph->noise[i].warp.wavelength = BLOCKS(1 << 13);
        graph->noise[i].period = 0;
        if (graph->node[i].kind == GRAPH_LATTICE)
            graph->node[i].number[0] = (double)(FARLANDS_UNIT << 7);
        if (operation_kinds[graph->node[i].kind].family == FAMILY_WAVE)
            graph->node[i].number[0] = (double)(FARLANDS_UNIT << 13);
    }
}

/* How far floats may be off: operations that are steep raise the rounding of their input. */
static double rounding_of(const struct program *program, int k)
{
    const struct operation *o = &program->operation[k], *a = &program->operation[o->input[0]];
    const double p = (double)o->number[0], q = (double)o->number[1];
    const double steep = o->kind == GRAPH_TERRACE ? 2 / q
                         : o->kind == GRAPH_STEP  ? 2 / fabs(q - p)
                         : o->kind == GRAPH_RIDGE ? 2 / p
                                                  : 0;
    return 1e-6 * (fabs((double)o->high) + steep * fabs((double)a->high));
}

/* The share of places whose derivatives are those of the differences around them. */
static double share_right(const struct program *program, int k, struct draws *draws)
{
    int right = 0, count = 0;
    for (int i = 0; i < 10; i++) {
        const struct farlands_grid grid = {draw_between(draws, -BLOCKS(1 << 20), BLOCKS(1 << 20)),
                                           draw_between(draws, -BLOCKS(1 << 20), BLOCKS(1 << 20)),
                                           BLOCKS(8),
                                           SIDE,
                                           SIDE,
                                           false};
        const struct field_sample s = sample(program, k, &grid);
        const int at = SIDE / 2 * SIDE + SIDE / 2;
        double off = 0, size = 0;
        for (int axis = 0; axis < 2; axis++) {
            const int one = axis ? SIDE : 1;
            const float *v = &s.value[at];
            const double narrow = ((double)v[one] - (double)v[-one]) / 16;
            const double wide = ((double)v[2 * one] - (double)v[-2 * one]) / 32;
            const double slope = narrow + (narrow - wide) / 3; /* of fourth order */
            const double derivative = (double)(axis ? s.dy[at] : s.dx[at]);
            off += fabs(slope - derivative) - fabs(narrow - wide);
            size += fabs(slope);
        }
        count++;
        right += off <= 0.01 * size + rounding_of(program, k);
        must(isfinite(s.dx[at]) && isfinite(s.dy[at]), "%s: derivatives (%g, %g)",
             graph_kind_name(program->operation[k].kind), (double)s.dx[at], (double)s.dy[at]);
    }
    return (double)right / count;
}

START_TEST(derivatives_of_graphs_are_those_of_differences)
{
    struct draws draws = {8100, 0};
    double sum[GRAPH_KINDS] = {0};
    int count[GRAPH_KINDS] = {0};
    for (int g = 0; g < 200; g++) {
        struct random_graph *graph = draw_graph(&draws);
        struct program *program = NULL;
        struct graph_fault fault;
        make_smooth(graph);
        if (program_new(&program, graph->node, graph->count, &fault)) {
            free(graph);
            continue;
        }
        for (int k = 0; k < program->count; k++) {
            const enum graph_kind kind = program->operation[k].kind;
            sum[kind] += share_right(program, k, &draws);
            count[kind]++;
        }
        program_free(program);
        free(graph);
    }
    for (int kind = 0; kind < GRAPH_KINDS; kind++)
        must(count[kind] == 0 || sum[kind] >= 0.9 * count[kind],
             "%s: derivatives right at %g of %d places; expected nine tenths",
             graph_kind_name((enum graph_kind)kind), sum[kind], count[kind]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("derivatives");
    TCase *tests = suite_case(suite, "derivatives");
    tcase_add_loop_test(tests, derivatives_of_noises_are_those_of_differences, 0, 60);
    tcase_add_test(tests, derivatives_of_graphs_are_those_of_differences);
    return suite_run(suite);
}
