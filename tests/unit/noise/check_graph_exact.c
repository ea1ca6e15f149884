/*
 * Random graphs are exact: the same bits from a grid, any part of it, a point, a coarser zoom,
 * alone or beside other fields, on any kernel, whatever a scratch was used for before. Only the
 * samples are written. No value is outside of its bounds, however large the graph's numbers.
 */
#include <check.h>

#include "tests/unit/support/graph_values.h"

enum { WIDEST = 300, HIGHEST = 40, GRIDS = 4 };

/* A kernel of this machine and a scratch that only this kernel has used. */
struct engine {
    const char *name;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
};

static struct engine engines[4];
static int engine_count;

static void open_engines(void)
{
    static const char *const names[] = {"avx512", "avx2", "neon", "scalar"};
    engine_count = 0;
    for (int n = 0; n < LENGTH(names); n++) {
        setenv("FARLANDS_KERNEL", names[n], 1);
        const struct kernel *kernel = kernel_choose();
        if (kernel)
            engines[engine_count++] = (struct engine){names[n], kernel, reference_scratch()};
    }
    ck_assert_int_gt(engine_count, 0); /* the scalar kernel runs on any machine */
}

static void close_engines(void)
{
    for (int n = 0; n < engine_count; n++)
        farlands_scratch_free(engines[n].scratch);
}

/* A random graph, and random numbers for its test. */
struct subject {
    struct draws draws;
    struct random_graph *graph;
    struct program *program;
};

/* CHECK a round of random graphs, which NUMBER determines. Engines are those of the round. */
static void each_graph(int number, bool extreme, void (*check)(struct subject *subject))
{
    open_engines();
    for (int i = 0; i < GRAPHS_PER_ROUND; i++) {
        struct subject subject = {.draws = {(uint64_t)(number * GRAPHS_PER_ROUND + i), 0}};
        subject.graph = draw_graph_of(&subject.draws, extreme);
        subject.program = graph_program(subject.graph);
        check(&subject);
        program_free(subject.program);
        free(subject.graph);
    }
    close_engines();
}

static struct engine *any_engine(struct subject *subject)
{
    return &engines[draw_between(&subject->draws, 0, engine_count - 1)];
}

static float *values_by(const struct subject *subject, const struct engine *engine,
                        const struct farlands_grid *grid, int operation)
{
    return graph_values(subject->program, engine->kernel, engine->scratch, grid, operation);
}

/* Any operation, most often the last. */
static int any_operation(struct subject *subject)
{
    const int last = subject->program->count - 1;
    return draw_once_in(&subject->draws, 3) ? (int)draw_between(&subject->draws, 0, last) : last;
}

static void must_be_same(const struct subject *subject, const struct farlands_grid *grid,
                         int sample, float value, float expected, const char *how)
{
    must(float_bits(value) == float_bits(expected),
         "graph %" PRIu64 ", %s; %s, sample %d: %s %.9g, expected %.9g", subject->draws.seed,
         graph_text(subject->graph), grid_text(grid), sample, how, (double)value, (double)expected);
}

/* --- Kernels, parts and points --- */

static void kernels_agree_on(struct subject *subject)
{
    for (int g = 0; g < GRIDS; g++) {
        const struct farlands_grid grid = draw_grid(&subject->draws, WIDEST, HIGHEST);
        const int operation = any_operation(subject);
        float *first = values_by(subject, &engines[0], &grid, operation);
        for (int n = 1; n < engine_count; n++) {
            float *other = values_by(subject, &engines[n], &grid, operation);
            for (int s = 0; s < grid.width * grid.height; s++)
                must_be_same(subject, &grid, s, other[s], first[s], engines[n].name);
            free(other);
        }
        free(first);
    }
}

START_TEST(kernels_agree)
{
    each_graph(_i, false, kernels_agree_on);
}
END_TEST

/* A part of GRID: a point, or any rectangle. */
static struct farlands_grid draw_part(struct draws *draws, const struct farlands_grid *grid, int *i,
                                      int *j)
{
    struct farlands_grid part = *grid;
    const bool point = draw_once_in(draws, 2);
    *i = (int)draw_between(draws, 0, grid->width - 1);
    *j = (int)draw_between(draws, 0, grid->height - 1);
    part.x += *i * grid->step;
    part.y += *j * grid->step;
    part.width = point ? 1 : (int)draw_between(draws, 1, grid->width - *i);
    part.height = point ? 1 : (int)draw_between(draws, 1, grid->height - *j);
    return part;
}

static void parts_are_the_whole_of(struct subject *subject)
{
    for (int g = 0; g < GRIDS; g++) {
        const struct farlands_grid grid = draw_grid(&subject->draws, WIDEST, HIGHEST);
        const int operation = any_operation(subject);
        float *whole = values_by(subject, any_engine(subject), &grid, operation);
        for (int k = 0; k < 6; k++) {
            int left, top;
            const struct farlands_grid part = draw_part(&subject->draws, &grid, &left, &top);
            float *some = values_by(subject, any_engine(subject), &part, operation);
            for (int s = 0; s < part.width * part.height; s++)
                must_be_same(subject, &part, s, some[s],
                             whole[(top + s / part.width) * grid.width + left + s % part.width],
                             "as a part");
            free(some);
        }
        free(whole);
    }
}

START_TEST(parts_are_the_whole)
{
    each_graph(_i, false, parts_are_the_whole_of);
}
END_TEST

/* --- Zooms --- */

static void zooms_nest_of(struct subject *subject)
{
    for (int g = 0; g < GRIDS; g++) {
        const int operation = any_operation(subject);
        struct farlands_grid fine = draw_grid(&subject->draws, WIDEST, HIGHEST), coarse = fine;
        const int times = draw_once_in(&subject->draws, 4) ? 3 : 2;
        fine.band_limit = coarse.band_limit = false;
        coarse.step *= times;
        coarse.width = (fine.width - 1) / times + 1;
        coarse.height = (fine.height - 1) / times + 1;
        if (coarse.step > FARLANDS_MAX_STEP)
            continue;
        float *all = values_by(subject, any_engine(subject), &fine, operation);
        float *some = values_by(subject, any_engine(subject), &coarse, operation);
        for (int s = 0; s < coarse.width * coarse.height; s++)
            must_be_same(subject, &coarse, s, some[s],
                         all[s / coarse.width * times * fine.width + s % coarse.width * times],
                         "farther apart");
        free(all);
        free(some);
    }
}

START_TEST(zooms_nest)
{
    each_graph(_i, false, zooms_nest_of);
}
END_TEST

/* A band limit leaves lattices as they are, unless samples are as far apart as their nodes. */
static void lattices_are_not_filtered_of(struct subject *subject)
{
    for (int k = 0; k < subject->program->count; k++) {
        const struct operation *o = &subject->program->operation[k];
        struct farlands_grid grid = draw_grid(&subject->draws, WIDEST, HIGHEST / 4);
        struct engine whole = engines[0], filtered = engines[0];
        if (o->kind != GRAPH_LATTICE)
            continue;
        grid.step = draw_between(&subject->draws, 1, lattice_spacing(o) - 1);
        grid.x /= 1024; /* the step has changed */
        grid.y /= 1024;
        whole.scratch = reference_scratch(); /* without the nodes of the other */
        filtered.scratch = reference_scratch();
        grid.band_limit = false;
        float *expected = values_by(subject, &whole, &grid, k);
        grid.band_limit = true;
        float *values = values_by(subject, &filtered, &grid, k);
        for (int s = 0; s < grid.width * grid.height; s++)
            must_be_same(subject, &grid, s, values[s], expected[s], "filtered");
        free(expected);
        free(values);
        farlands_scratch_free(whole.scratch);
        farlands_scratch_free(filtered.scratch);
    }
}

START_TEST(lattices_are_not_filtered)
{
    each_graph(_i, false, lattices_are_not_filtered_of);
}
END_TEST

/* --- Memory --- */

/* Outputs in memory between guard pages, at one of its ends; gaps between rows stay as they are. */
static void fields_together_are_fields_alone_of(struct subject *subject)
{
    struct draws *draws = &subject->draws;
    const struct farlands_grid grid = draw_grid(draws, WIDEST, HIGHEST);
    const int count = (int)draw_between(draws, 1, PLAN_MAX_OUTPUTS);
    const size_t width = (size_t)grid.width;
    const size_t stride = width + (size_t)(draw_once_in(draws, 2) ? draw_between(draws, 1, 40) : 0);
    const size_t floats = stride * (size_t)(grid.height - 1) + width;
    struct output outputs[PLAN_MAX_OUTPUTS];
    struct guarded memory[PLAN_MAX_OUTPUTS];
    for (int k = 0; k < count; k++) {
        guarded_new(&memory[k], floats * sizeof(float));
        outputs[k].operation = (int)draw_between(draws, 0, subject->program->count - 1);
        outputs[k].out = (float *)(void *)guarded_bytes(&memory[k], floats * sizeof(float),
                                                        draw_once_in(draws, 2));
        memset(outputs[k].out, 0xab, floats * sizeof(float));
    }
    const struct engine *engine = any_engine(subject);
    ck_assert_int_eq(
        evaluate(subject->program, engine->kernel, engine->scratch, &grid, outputs, count, stride),
        0);
    for (int k = 0; k < count; k++) {
        float *alone = values_by(subject, any_engine(subject), &grid, outputs[k].operation);
        for (size_t s = 0; s < floats; s++)
            if (s % stride < width)
                must_be_same(subject, &grid, (int)s, outputs[k].out[s],
                             alone[s / stride * width + s % stride], "together");
            else
                must(float_bits(outputs[k].out[s]) == UINT32_C(0xabababab),
                     "%s: %s: written between rows", graph_text(subject->graph), grid_text(&grid));
        free(alone);
        guarded_free(&memory[k]);
    }
}

START_TEST(fields_together_are_fields_alone)
{
    each_graph(_i, false, fields_together_are_fields_alone_of);
}
END_TEST

/* A scratch that has served all programs of a round, at many places, gives the bits of a new one.
 */
static void a_used_scratch_is_a_new_one_of(struct subject *subject)
{
    struct farlands_grid grid = draw_grid(&subject->draws, WIDEST / 3, HIGHEST / 2);
    for (int g = 0; g < GRIDS; g++) {
        const int operation = any_operation(subject);
        struct engine other = engines[0];
        other.scratch = reference_scratch();
        /* Near by, so that some of the nodes that it keeps are needed again. */
        grid.x += draw_between(&subject->draws, -20, 20) * (grid.x > 0 ? -1 : 1) * grid.step / 7;
        grid.x = grid.x < -FARLANDS_LIMIT ? -FARLANDS_LIMIT : grid.x;
        grid.x = grid.x > FARLANDS_LIMIT / 2 ? FARLANDS_LIMIT / 2 : grid.x;
        float *expected = values_by(subject, &other, &grid, operation);
        float *values = values_by(subject, &engines[0], &grid, operation);
        for (int s = 0; s < grid.width * grid.height; s++)
            must_be_same(subject, &grid, s, values[s], expected[s], "in a used scratch");
        free(expected);
        free(values);
        farlands_scratch_free(other.scratch);
    }
}

START_TEST(a_used_scratch_is_a_new_one)
{
    each_graph(_i, false, a_used_scratch_is_a_new_one_of);
}
END_TEST

/* Programs that differ in a seed, one after the other at the same places. */
START_TEST(programs_share_no_nodes)
{
    struct farlands_params params = reference_params();
    params.knots = 0;
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params},
        {GRAPH_LATTICE, {0, -1, -1}, .number = {BLOCKS(64)}},
    };
    open_engines();
    float first = 0;
    for (params.seed = 0; params.seed < 5; params.seed++) {
        const struct farlands_grid grid = {BLOCKS(77), BLOCKS(-7), 1, 1, 1, false};
        struct subject subject = {{0, 0}, NULL, NULL};
        struct graph_fault fault;
        struct engine fresh = engines[0];
        fresh.scratch = reference_scratch();
        ck_assert_int_eq(program_new(&subject.program, nodes, 2, &fault), 0);
        float *used = values_by(&subject, &engines[0], &grid, 1);
        float *expected = values_by(&subject, &fresh, &grid, 1);
        ck_assert_float_eq(*used, *expected);
        ck_assert(params.seed == 0 || *used != first);
        first = *used;
        free(used);
        free(expected);
        farlands_scratch_free(fresh.scratch);
        program_free(subject.program);
    }
    close_engines();
}
END_TEST

/* Put the last node that may have one on a lattice of SPACING: not those made of finer slopes. */
static void put_on_lattice(struct subject *subject, int64_t spacing)
{
    struct random_graph *graph = subject->graph;
    struct program *program;
    struct graph_fault fault;
    graph->count += graph->count < RANDOM_GRAPH_NODES;
    int input = graph->count - 2 > 0 ? graph->count - 2 : 0;
    struct graph_node *node = &graph->node[graph->count - 1];
    do
        *node = (struct graph_node){GRAPH_LATTICE, {input--, -1, -1}, .number = {(double)spacing}};
    while (program_new(&program, graph->node, graph->count, &fault) != 0);
    program_free(subject->program);
    subject->program = program;
}

/* A walk over the cells of a lattice: a scratch keeps nodes from place to place. */
static void walks_are_points_of(struct subject *subject)
{
    const int64_t spacing = FARLANDS_UNIT << draw_between(&subject->draws, 0, 14);
    put_on_lattice(subject, spacing);
    struct farlands_grid point = draw_grid(&subject->draws, 1, 1);
    point.x /= 2;
    point.y /= 2;
    const int last = subject->program->place[subject->graph->count - 1];
    for (int i = 0; i < 40; i++) {
        struct engine fresh = engines[0];
        point.x += draw_between(&subject->draws, -spacing / 2, spacing * 2);
        point.y += draw_between(&subject->draws, -spacing, spacing);
        point.width = draw_once_in(&subject->draws, 3) ? 9 : 1;
        point.step = spacing / 3 + 1;
        point.band_limit = false;
        fresh.scratch = reference_scratch();
        float *expected = values_by(subject, &fresh, &point, last);
        float *values = values_by(subject, &engines[0], &point, last);
        for (int k = 0; k < point.width; k++)
            must_be_same(subject, &point, k, values[k], expected[k], "on a walk");
        free(expected);
        free(values);
        farlands_scratch_free(fresh.scratch);
    }
}

START_TEST(walks_are_points)
{
    each_graph(_i, false, walks_are_points_of);
}
END_TEST

/* Lattices over lattices, with as many nodes as a patch has room for: wide grids are their points.
 */
START_TEST(nested_lattices_have_room)
{
    struct draws draws = {9000 + (uint64_t)_i, 0};
    struct random_graph graph = {.count = 0};
    const int depth = (int)draw_between(&draws, 2, 6);
    draw_node(&draws, &graph, GRAPH_NOISE);
    graph.noise[0] = reference_params();
    graph.noise[0].wavelength = BLOCKS(9);
    graph.noise[0].octaves = 2;
    for (int i = 0; i < depth; i++)
        graph.node[graph.count++] =
            (struct graph_node){GRAPH_LATTICE, {i, -1, -1}, .number = {FARLANDS_UNIT}};
    struct subject subject = {draws, &graph, graph_program(&graph)};
    open_engines();
    const struct farlands_grid grid = {.x = draw_between(&draws, -999999, 999999),
                                       .y = draw_between(&draws, -999999, 999999),
                                       .step = draw_between(&draws, 100, BLOCKS(4)),
                                       .width = (int)draw_between(&draws, 260, WIDEST),
                                       .height = (int)draw_between(&draws, 1, WIDEST)};
    float *whole = values_by(&subject, &engines[0], &grid, depth);
    for (int k = 0; k < 400; k++) {
        const int s = (int)draw_between(&draws, 0, grid.width * grid.height - 1);
        const struct farlands_grid point = {grid.x + s % grid.width * grid.step,
                                            grid.y + s / grid.width * grid.step,
                                            1,
                                            1,
                                            1,
                                            false};
        float *value = values_by(&subject, any_engine(&subject), &point, depth);
        must_be_same(&subject, &grid, s, whole[s], *value, "in a wide grid");
        free(value);
    }
    free(whole);
    close_engines();
    program_free(subject.program);
}
END_TEST

/* --- Bounds --- */

static void values_are_within_bounds_of(struct subject *subject)
{
    for (int k = 0; k < subject->program->count; k++) {
        const struct operation *o = &subject->program->operation[k];
        const struct farlands_grid grid = draw_grid(&subject->draws, 60, HIGHEST / 2);
        float *out = values_by(subject, any_engine(subject), &grid, k);
        for (int s = 0; s < grid.width * grid.height; s++)
            must(out[s] >= o->low && out[s] <= o->high,
                 "graph %" PRIu64 ", %s; operation %d, %s; %s: %.9g outside %.9g to %.9g",
                 subject->draws.seed, graph_text(subject->graph), k, graph_kind_name(o->kind),
                 grid_text(&grid), (double)out[s], (double)o->low, (double)o->high);
        free(out);
    }
}

START_TEST(values_are_within_bounds)
{
    each_graph(_i, false, values_are_within_bounds_of);
}
END_TEST

START_TEST(extreme_values_are_within_bounds)
{
    each_graph(_i, true, values_are_within_bounds_of);
}
END_TEST

START_TEST(extreme_kernels_agree)
{
    each_graph(_i, true, kernels_agree_on);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("graph_exact");
    TCase *tests = suite_case(suite, "random graphs");
    const int rounds = graph_rounds();
    tcase_add_loop_test(tests, kernels_agree, 0, rounds);
    tcase_add_loop_test(tests, parts_are_the_whole, 0, rounds);
    tcase_add_loop_test(tests, zooms_nest, 0, rounds);
    tcase_add_loop_test(tests, lattices_are_not_filtered, 0, rounds);
    tcase_add_loop_test(tests, fields_together_are_fields_alone, 0, rounds);
    tcase_add_loop_test(tests, a_used_scratch_is_a_new_one, 0, rounds);
    tcase_add_test(tests, programs_share_no_nodes);
    tcase_add_loop_test(tests, walks_are_points, 0, rounds);
    tcase_add_loop_test(tests, nested_lattices_have_room, 0, rounds);
    tcase_add_loop_test(tests, values_are_within_bounds, 0, rounds);
    tests = suite_case(suite, "extreme graphs");
    tcase_add_loop_test(tests, extreme_values_are_within_bounds, 0, rounds);
    tcase_add_loop_test(tests, extreme_kernels_agree, 0, rounds);
    return suite_run(suite);
}
