/* The biome at a place: the nearest row of a table, by each kernel and in each shape. */
#include "noise/graph/biomes.h"

#include <check.h>
#include <errno.h>

#include "tests/unit/support/graph_values.h"

#define ANY                 \
    {                       \
        -INFINITY, INFINITY \
    }
#define TABLE(...)                                                                   \
    {                                                                                \
        .row = {__VA_ARGS__},                                                        \
        .rows = sizeof((struct biome_row[]){__VA_ARGS__}) / sizeof(struct biome_row) \
    }

/* A biome of temperature, humidity, height and slope as constants. */
static struct program *program_of(const struct biome_rows *rows, const float place[BIOME_AXES])
{
    struct graph_node nodes[BIOME_AXES + 1] = {{.kind = GRAPH_CONSTANT}};
    struct graph_fault fault;
    struct program *program = NULL;
    for (int i = 0; i < BIOME_AXES; i++)
        nodes[i] =
            (struct graph_node){GRAPH_CONSTANT, {-1, -1, -1, -1}, .number = {(double)place[i]}};
    nodes[BIOME_AXES] =
        (struct graph_node){GRAPH_BIOME, {0, 1, 2, 3}, .number = {0}, .biomes = rows};
    const int err = program_new(&program, nodes, BIOME_AXES + 1, &fault);
    ck_assert_msg(err == 0, "%s: %s", fault.key, fault.text);
    return program;
}

static const struct {
    struct biome_rows rows;
    float place[BIOME_AXES];
    float id;
} places[] = {
    /* One row takes everything. */
    {TABLE({200, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}}), {1e9f, -1e9f, 0, 5}, 200},
    /* Within, at an end, beyond an end. */
    {TABLE({1, {{0, 10}, ANY, ANY, ANY}}, {2, {{10.5f, 20}, ANY, ANY, ANY}}), {9, 0, 0, 0}, 1},
    {TABLE({1, {{0, 10}, ANY, ANY, ANY}}, {2, {{10.5f, 20}, ANY, ANY, ANY}}), {10, 0, 0, 0}, 1},
    {TABLE({1, {{0, 10}, ANY, ANY, ANY}}, {2, {{10.5f, 20}, ANY, ANY, ANY}}), {10.4f, 0, 0, 0}, 2},
    {TABLE({1, {{0, 10}, ANY, ANY, ANY}}, {2, {{10.5f, 20}, ANY, ANY, ANY}}), {999, 0, 0, 0}, 2},
    /* Ties: within both, in the middle between both, at the same box. */
    {TABLE({9, {{0, 10}, ANY, ANY, ANY}}, {2, {{5, 20}, ANY, ANY, ANY}}), {7, 0, 0, 0}, 9},
    {TABLE({9, {{5, 20}, ANY, ANY, ANY}}, {2, {{0, 10}, ANY, ANY, ANY}}), {7, 0, 0, 0}, 9},
    {TABLE({9, {{0, 1}, ANY, ANY, ANY}}, {2, {{3, 4}, ANY, ANY, ANY}}), {2, 0, 0, 0}, 9},
    {TABLE({9, {{3, 4}, ANY, ANY, ANY}}, {2, {{0, 1}, ANY, ANY, ANY}}), {2, 0, 0, 0}, 9},
    {TABLE({3, {ANY, ANY, ANY, ANY}}, {2, {ANY, ANY, ANY, ANY}}), {2, 0, 0, 0}, 3},
    /* A row without ranges is at distance 0, but after a row that is, too. */
    {TABLE({1, {{0, 1}, ANY, ANY, ANY}}, {0, {ANY, ANY, ANY, ANY}}), {0.5f, 0, 0, 0}, 1},
    {TABLE({1, {{0, 1}, ANY, ANY, ANY}}, {0, {ANY, ANY, ANY, ANY}}), {1.001f, 0, 0, 0}, 0},
    /* Half a range. */
    {TABLE({1, {ANY, ANY, {-INFINITY, 0}, ANY}}, {2, {ANY, ANY, {0, INFINITY}, ANY}}),
     {0, 0, -1e9f, 0},
     1},
    {TABLE({1, {ANY, ANY, {-INFINITY, 0}, ANY}}, {2, {ANY, ANY, {0, INFINITY}, ANY}}),
     {0, 0, 1e9f, 0},
     2},
    {TABLE({1, {ANY, ANY, {-INFINITY, 0}, ANY}}, {2, {ANY, ANY, {0, INFINITY}, ANY}}),
     {0, 0, 0, 0},
     1},
    /* Scales: 9 degrees are nearer than 0.2 of humidity, 190 m than 10 degrees, 0.4 than 190 m. */
    {TABLE({1, {{9, 10}, ANY, ANY, ANY}}, {2, {ANY, {0.2f, 1}, ANY, ANY}}), {0, 0, 0, 0}, 1},
    {TABLE({1, {{11, 12}, ANY, ANY, ANY}}, {2, {ANY, {0.2f, 1}, ANY, ANY}}), {0, 0, 0, 0}, 2},
    {TABLE({1, {{10, 12}, ANY, ANY, ANY}}, {2, {ANY, ANY, {190, 300}, ANY}}), {0, 0, 0, 0}, 2},
    {TABLE({1, {{10, 12}, ANY, ANY, ANY}}, {2, {ANY, ANY, {210, 300}, ANY}}), {0, 0, 0, 0}, 1},
    {TABLE({1, {ANY, ANY, ANY, {0.4f, 1}}}, {2, {ANY, ANY, {190, 300}, ANY}}), {0, 0, 0, 0}, 1},
    {TABLE({1, {ANY, ANY, ANY, {0.6f, 1}}}, {2, {ANY, ANY, {190, 300}, ANY}}), {0, 0, 0, 0}, 2},
    /* Squares: 0.8 of a scale along two axes is farther than 1 along one. */
    {TABLE({1, {{8, 9}, {0.16f, 1}, ANY, ANY}}, {2, {{10, 12}, ANY, ANY, ANY}}), {0, 0, 0, 0}, 2},
    {TABLE({1, {{7, 9}, {0.14f, 1}, ANY, ANY}}, {2, {{10, 12}, ANY, ANY, ANY}}), {0, 0, 0, 0}, 1},
    /* All four axes. */
    {TABLE({1, {{0, 1}, {0, 1}, {0, 1}, {0, 1}}}, {2, {{2, 3}, {2, 3}, {2, 3}, {2, 3}}}),
     {2, 2, 2, 1.9f},
     2},
    /* As far as numbers reach. */
    {TABLE({1, {{-1e9f, -1e9f}, {-1e9f, -1e9f}, {-1e9f, -1e9f}, {-1e9f, -1e9f}}},
           {2, {{1e9f, 1e9f}, {1e9f, 1e9f}, {1e9f, 1e9f}, {1e9f, 1e9f}}}),
     {1e9f, 1e9f, 1e9f, 1e9f},
     2},
};

START_TEST(the_nearest_row_is_the_biome)
{
    struct farlands_scratch *scratch = reference_scratch();
    const struct farlands_grid shapes[] = {
        {0, 0, 1, 1, 1, false}, {0, 0, 7, 5, 3, false}, {0, 0, 7, 17, 17, true}};
    struct program *program = program_of(&places[_i].rows, places[_i].place);
    for (int s = 0; s < LENGTH(shapes); s++) {
        const int count = shapes[s].width * shapes[s].height;
        float *ids = graph_values(program, kernel_choose(), scratch, &shapes[s], BIOME_AXES);
        for (int i = 0; i < count; i++)
            must(ids[i] == places[_i].id, "%g, not %g", (double)ids[i], (double)places[_i].id);
        free(ids);
    }
    must(biomes_nearest(program->operation[BIOME_AXES].biomes, places[_i].place) == places[_i].id,
         "by itself");
    program_free(program);
    farlands_scratch_free(scratch);
}
END_TEST

/* Most of a table is far from what a row of close samples has; little of it from distant ones. */
START_TEST(rows_have_the_biomes_of_their_samples)
{
    struct draws draws = {7700 + (uint64_t)_i, 0};
    struct farlands_params noise = reference_params();
    const struct biome_rows rows = draw_biomes(&draws, false);
    noise.knots = 0;
    noise.octaves = 2;
    noise.wavelength = BLOCKS(1000);
    struct graph_node nodes[2 * BIOME_AXES + 2] = {{GRAPH_CONSTANT, {-1}, .number = {2}}};
    struct farlands_params noises[BIOME_AXES];
    for (int i = 0; i < BIOME_AXES; i++) {
        noises[i] = noise;
        noises[i].seed = draw(&draws);
        nodes[1 + i] = (struct graph_node){GRAPH_NOISE, {-1, -1}, .noise = &noises[i]};
        nodes[5 + i] = (struct graph_node){GRAPH_MULTIPLY, {1 + i, 0}, .number = {0}};
    }
    nodes[9] = (struct graph_node){GRAPH_BIOME, {5, 6, 7, 8}, .biomes = &rows};
    struct program *program = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(program_new(&program, nodes, 10, &fault), 0);
    struct farlands_scratch *scratch = reference_scratch();
    for (int bits = 0; bits < 20; bits += 3) {
        const struct farlands_grid grid = {BLOCKS(50), -7, 1 << bits, 300, 3, false};
        float *values[BIOME_AXES + 1];
        for (int i = 0; i <= BIOME_AXES; i++)
            values[i] =
                graph_values(program, kernel_choose(), scratch, &grid, program->place[5 + i]);
        for (int s = 0; s < 900; s++) {
            const float place[] = {values[0][s], values[1][s], values[2][s], values[3][s]};
            const float id = biomes_nearest(program->operation[program->place[9]].biomes, place);
            must(values[BIOME_AXES][s] == id, "%s, sample %d: %g, not %g", grid_text(&grid), s,
                 (double)values[BIOME_AXES][s], (double)id);
        }
        for (int i = 0; i <= BIOME_AXES; i++)
            free(values[i]);
    }
    program_free(program);
    farlands_scratch_free(scratch);
}
END_TEST

#define REFUSED "expected 1 to 64 rows, ids from 0 to 255, numbers up to 1e9"

static const struct biome_rows refused[] = {
    {.rows = 0},
    {.rows = BIOMES_MAX + 1},
    TABLE({-1, {ANY, ANY, ANY, ANY}}),
    TABLE({256, {ANY, ANY, ANY, ANY}}),
    TABLE({5, {ANY, ANY, ANY, ANY}}, {5, {ANY, ANY, ANY, ANY}}),
    TABLE({5, {{1, 0.5f}, ANY, ANY, ANY}}),
    TABLE({5, {ANY, {NAN, 1}, ANY, ANY}}),
    TABLE({5, {ANY, ANY, {0, 2e9f}, ANY}}),
    TABLE({5, {ANY, ANY, ANY, {INFINITY, INFINITY}}}),
};

START_TEST(wrong_tables_are_refused)
{
    const struct graph_node nodes[] = {
        {GRAPH_CONSTANT, {-1, -1, -1, -1}, .number = {1}},
        {GRAPH_BIOME, {0, 0, 0, 0}, .number = {0}, .biomes = &refused[_i]}};
    struct graph_fault fault;
    struct program *program = NULL;
    ck_assert_int_eq(program_new(&program, nodes, 2, &fault), -EINVAL);
    ck_assert_str_eq(fault.key, "table");
    ck_assert_str_eq(fault.text, REFUSED);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("biomes");
    TCase *tests = suite_case(suite, "tables of biomes");
    tcase_add_loop_test(tests, the_nearest_row_is_the_biome, 0, LENGTH(places));
    tcase_add_loop_test(tests, rows_have_the_biomes_of_their_samples, 0, 40);
    tcase_add_loop_test(tests, wrong_tables_are_refused, 0, LENGTH(refused));
    return suite_run(suite);
}
