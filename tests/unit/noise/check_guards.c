/*
 * Masks: what one makes irrelevant by being 0 everywhere is not evaluated, in a grid and at a
 * point, and all else is. Counted by a kernel that counts.
 */
#include <check.h>

#include "noise/evaluate/evaluate.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/reference_params.h"

enum { OFF = 1, ON, NEAR, FAR, FIRST }; /* nodes of each graph; 0 is a constant */
enum { MOST_NODES = 12 };

static const struct kernel *kernel;
static struct farlands_params noises[2];
static int runs;

static void count_band(struct noise_run *run, const struct curve *curve, const struct rows *move,
                       double units, int j, int rows, struct rows out)
{
    runs++;
    kernel->noise_band(run, curve, move, units, j, rows, out);
}

static void count_few(const struct noise *noise, const struct curve *curve,
                      const struct chunk *chunk, const struct rows *move, double units, float *out)
{
    runs++;
    kernel->noise_few(noise, curve, chunk, move, units, out);
}

/* Called once a row, unless all nodes are 0. */
static void count_interpolation(const uint32_t *first, const float *column,
                                const float *const line[4], const float row[4], int count, int n,
                                float *out)
{
    runs++;
    kernel->interpolate(first, column, line, row, count, n, out);
}

#define OF(kind, ...)                           \
    {                                           \
        kind, {__VA_ARGS__}, {0}, .noise = NULL \
    }

/* Nodes from FIRST on, the last of them the field that is evaluated, and how many of the two noises
 * NEAR and FAR it needs. */
static const struct {
    const char *name;
    struct graph_node node[MOST_NODES - FIRST];
    int count, runs;
} rows[] = {
    {"a mask of 0", {OF(GRAPH_MULTIPLY, OFF, NEAR)}, 1, 0},
    {"a mask of 0 that comes last", {OF(GRAPH_MULTIPLY, NEAR, OFF)}, 1, 0},
    {"a mask of 1", {OF(GRAPH_MULTIPLY, ON, NEAR)}, 1, 1},
    {"a chain behind a mask",
     {OF(GRAPH_ABS, NEAR), OF(GRAPH_ADD, FIRST, FAR), OF(GRAPH_MULTIPLY, OFF, FIRST + 1)},
     3,
     0},
    {"a product of three", {OF(GRAPH_MULTIPLY, OFF, NEAR), OF(GRAPH_MULTIPLY, FIRST, FAR)}, 2, 0},
    {"a product of three, the mask last",
     {OF(GRAPH_MULTIPLY, NEAR, FAR), OF(GRAPH_MULTIPLY, FIRST, OFF)},
     2,
     0},
    {"a mask behind a mask", {OF(GRAPH_MULTIPLY, ON, NEAR), OF(GRAPH_MULTIPLY, OFF, FIRST)}, 2, 0},
    {"a noise outside of the mask, too",
     {OF(GRAPH_MULTIPLY, OFF, NEAR), OF(GRAPH_ADD, FIRST, NEAR)},
     2,
     1},
    {"a noise behind two masks",
     {OF(GRAPH_MULTIPLY, OFF, NEAR), OF(GRAPH_MULTIPLY, NEAR, OFF),
      OF(GRAPH_ADD, FIRST, FIRST + 1)},
     3,
     0},
    {"a noise behind two masks, one of which is 1",
     {OF(GRAPH_MULTIPLY, OFF, NEAR), OF(GRAPH_MULTIPLY, NEAR, ON), OF(GRAPH_ADD, FIRST, FIRST + 1)},
     3,
     1},
    {"a mix by 0", {OF(GRAPH_MIX, NEAR, FAR, OFF)}, 1, 1},
    {"a mix by 1", {OF(GRAPH_MIX, NEAR, FAR, ON)}, 1, 2},
    {"a mix with itself", {OF(GRAPH_MIX, NEAR, NEAR, OFF)}, 1, 1},
    {"the larger of two masks, which bounds do not show to be one",
     {OF(GRAPH_MULTIPLY, OFF, OFF), OF(GRAPH_MAX, FIRST, FIRST),
      OF(GRAPH_MULTIPLY, FIRST + 1, NEAR)},
     3,
     0},
    {"a broad mask that is 0 beside a finer and cheaper one",
     {OF(GRAPH_MULTIPLY, OFF, FAR), OF(GRAPH_ABS, FIRST), OF(GRAPH_MAX, NEAR, OFF),
      OF(GRAPH_MULTIPLY, FIRST + 1, FIRST + 2)},
     4,
     0},
    {"a lattice of a mask of 0",
     {{GRAPH_LATTICE, {OFF}, .number = {FARLANDS_UNIT}, .noise = NULL},
      OF(GRAPH_MULTIPLY, FIRST, NEAR)},
     2,
     0},
    {"no mask", {OF(GRAPH_MULTIPLY, NEAR, FAR)}, 1, 2},
};

static int make_nodes(struct graph_node *node, int row)
{
    const struct graph_node first[FIRST] = {
        {GRAPH_CONSTANT, {-1}, {0.5}, .noise = NULL},
        {GRAPH_STEP, {0}, {1, 2}, .noise = NULL},
        {GRAPH_STEP, {0}, {0, 0.25}, .noise = NULL},
        {GRAPH_NOISE, {-1, -1}, {0}, .noise = &noises[0]},
        {GRAPH_NOISE, {-1, -1}, {0}, .noise = &noises[1]},
    };
    memcpy(node, first, sizeof first);
    memcpy(node + FIRST, rows[row].node, (size_t)rows[row].count * sizeof *node);
    return FIRST + rows[row].count;
}

static struct program *make_program(int row)
{
    struct graph_node node[MOST_NODES];
    struct graph_fault fault;
    struct program *program;
    noises[0] = noises[1] = reference_params();
    noises[0].knots = noises[1].knots = 0;
    noises[1].seed++;
    noises[1].wavelength *= 4;
    const int count = make_nodes(node, row);
    must(program_new(&program, node, count, &fault) == 0, "%s: %s", rows[row].name, fault.text);
    return program;
}

enum { MOST_SIZE = 64 };

static int runs_over(const struct program *program, const struct farlands_grid *grid,
                     const struct output *output, int outputs)
{
    struct kernel counting = *kernel;
    struct farlands_scratch *scratch = reference_scratch();
    counting.noise_band = count_band;
    counting.noise_few = count_few;
    counting.interpolate = count_interpolation;
    runs = 0;
    ck_assert_int_eq(
        evaluate(program, &counting, scratch, grid, output, outputs, (size_t)grid->width), 0);
    farlands_scratch_free(scratch);
    return runs;
}

/* The last field, or it and NEAR, of two samples or of a whole band. */
static int runs_of(const struct program *program, int row, int rows_high, int outputs)
{
    const struct farlands_grid grid = {BLOCKS(7), BLOCKS(9), 1, 2 * rows_high, rows_high, false};
    float values[2][2 * PLAN_BAND_ROWS * PLAN_BAND_ROWS];
    const struct output output[2] = {
        {program->place[FIRST + rows[row].count - 1], values[0]},
        {program->place[NEAR], values[1]},
    };
    return runs_over(program, &grid, output, outputs);
}

START_TEST(masks_of_0_spare_noises)
{
    kernel = kernel_choose();
    struct program *program = make_program(_i);
    for (int size = 1; size <= PLAN_BAND_ROWS; size += PLAN_BAND_ROWS - 1) {
        const int alone = runs_of(program, _i, size, 1);
        must(alone == rows[_i].runs, "%s: %d runs for %d samples", rows[_i].name, alone, size);
        /* A noise that is asked for is needed anyway. */
        const int both = runs_of(program, _i, size, 2);
        must(both == (rows[_i].runs > 1 ? rows[_i].runs : 1), "%s: %d runs beside a noise",
             rows[_i].name, both);
    }
    program_free(program);
}
END_TEST

/* In a picture, each field of MOST_SIZE x MOST_SIZE samples that are STEP units apart. */
static int runs_in_picture(const struct program *program, int64_t step, float *values)
{
    const struct farlands_grid grid = {BLOCKS(7), BLOCKS(9), step, MOST_SIZE, MOST_SIZE, true};
    const struct output output = {program->place[FIRST], values};
    return runs_over(program, &grid, &output, 1);
}

START_TEST(what_the_band_limit_silences_is_computed_once)
{
    static float values[MOST_SIZE * MOST_SIZE];
    struct graph_node node[FIRST + 1];
    struct graph_fault fault;
    struct program *program;
    kernel = kernel_choose();
    noises[0] = noises[1] = reference_params();
    make_nodes(node, 0);
    node[FIRST] = (struct graph_node){GRAPH_ADD, {NEAR, ON}, {0}, .noise = NULL};
    ck_assert_int_eq(program_new(&program, node, FIRST + 1, &fault), 0);
    const int64_t wavelength = noises[0].wavelength;
    const int audible = runs_in_picture(program, wavelength / 16, values);
    ck_assert_int_eq(audible, MOST_SIZE / PLAN_BAND_ROWS);
    const int silent = runs_in_picture(program, wavelength, values);
    must(silent > 0 && silent <= audible, "%d runs instead of %d", silent, audible);
    for (int i = 1; i < MOST_SIZE * MOST_SIZE; i++)
        ck_assert(values[i] == values[0]);
    program_free(program);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("guards");
    TCase *tests = suite_case(suite, "masks");
    tcase_add_loop_test(tests, masks_of_0_spare_noises, 0, LENGTH(rows));
    tcase_add_test(tests, what_the_band_limit_silences_is_computed_once);
    return suite_run(suite);
}
