/* Terrains of graphs: fields by name, at places and in grids. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/random_graph.h"
#include "tests/unit/support/reference_params.h"

enum { SIDE = 21 };

struct named {
    struct random_graph *graph;
    struct graph_field field[RANDOM_GRAPH_NODES];
    struct farlands_terrain *terrain;
    struct farlands_scratch *scratch;
};

static struct named new_named(struct draws *draws)
{
    struct named named = {.graph = draw_graph(draws), .scratch = reference_scratch()};
    const struct farlands_params params = reference_params();
    struct graph_fault fault;
    for (int i = 0; i < named.graph->count; i++) {
        named.field[i].node = i;
        snprintf(named.field[i].name, GRAPH_NAME_MAX, "field%d", i);
    }
    const struct graph graph = {named.graph->node, named.graph->count, named.field,
                                named.graph->count, named.graph->count - 1};
    ck_assert_int_eq(terrain_new(&named.terrain, &graph, &params, &fault), 0);
    return named;
}

static void free_named(struct named *named)
{
    terrain_free(named->terrain);
    farlands_scratch_free(named->scratch);
    free(named->graph);
}

START_TEST(fields_are_known_by_name)
{
    struct draws draws = {7000 + (uint64_t)_i, 0};
    struct named named = new_named(&draws);
    ck_assert_int_eq(terrain_field_count(named.terrain), named.graph->count);
    for (int i = 0; i < named.graph->count; i++) {
        const char *name = terrain_field_name(named.terrain, i);
        ck_assert_str_eq(name, named.field[i].name);
        ck_assert_int_eq(terrain_field(named.terrain, name, strlen(name)), i);
    }
    ck_assert_int_eq(terrain_field(named.terrain, "field", 5), -1);
    ck_assert_int_eq(terrain_field(named.terrain, "field0x", 7), -1);
    free_named(&named);
}
END_TEST

START_TEST(a_place_has_the_bits_of_a_grid)
{
    struct draws draws = {7100 + (uint64_t)_i, 0};
    struct named named = new_named(&draws);
    float heights[SIDE * SIDE], values[2][SIDE * SIDE], *const out[] = {values[0], values[1]};
    const int height = named.graph->count - 1;
    const int both[] = {draw_between(&draws, 0, height), height};
    const struct farlands_grid grid = {.x = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20)),
                                       .y = draw_between(&draws, -BLOCKS(1 << 20), BLOCKS(1 << 20)),
                                       .step = draw_between(&draws, 1, BLOCKS(100)),
                                       .width = SIDE,
                                       .height = SIDE};
    ck_assert_int_eq(terrain_heights(named.terrain, named.scratch, &grid, heights, SIDE), 0);
    ck_assert_int_eq(terrain_fields(named.terrain, named.scratch, &grid, both, 2, out, SIDE), 0);
    ck_assert_mem_eq(heights, values[1], sizeof heights);
    for (int i = 0; i < 2 * SIDE * SIDE; i += 5) {
        const int at = i % (SIDE * SIDE), k = i / (SIDE * SIDE);
        const int64_t x = grid.x + at % SIDE * grid.step, y = grid.y + at / SIDE * grid.step;
        const float value = terrain_field_at(named.terrain, named.scratch, both[k], x, y);
        float min, max;
        must(memcmp(&value, &values[k][at], sizeof value) == 0, "%s at %d: %g, in the grid %g",
             graph_text(named.graph), at, (double)value, (double)values[k][at]);
        terrain_field_range(named.terrain, both[k], &min, &max);
        ck_assert(value >= min && value <= max);
    }
    const float alone = terrain_height(named.terrain, grid.x, grid.y);
    ck_assert_mem_eq(&alone, heights, sizeof alone);
    free_named(&named);
}
END_TEST

START_TEST(finest_wavelengths_are_within_bounds)
{
    struct draws draws = {7200 + (uint64_t)_i, 0};
    struct named named = new_named(&draws);
    ck_assert_int_ge(terrain_finest(named.terrain), FARLANDS_MIN_WAVELENGTH);
    free_named(&named);
}
END_TEST

START_TEST(places_out_of_bounds_have_no_value)
{
    struct draws draws = {7300, 0};
    struct named named = new_named(&draws);
    float value = 0, *const out = &value;
    const int field = 0;
    struct farlands_grid grid = {INT64_MAX, 0, 1, 1, 1, false};
    ck_assert_int_eq(terrain_fields(named.terrain, named.scratch, &grid, &field, 1, &out, 1),
                     -EINVAL);
    ck_assert_float_nan(terrain_field_at(named.terrain, named.scratch, 0, INT64_MIN, 0));
    ck_assert_float_nan(terrain_field_at(named.terrain, NULL, 0, 0, INT64_MAX));
    free_named(&named);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("terrain");
    TCase *tests = suite_case(suite, "terrains of graphs");
    tcase_add_loop_test(tests, fields_are_known_by_name, 0, 10);
    tcase_add_loop_test(tests, a_place_has_the_bits_of_a_grid, 0, 40);
    tcase_add_loop_test(tests, finest_wavelengths_are_within_bounds, 0, 40);
    tcase_add_test(tests, places_out_of_bounds_have_no_value);
    return suite_run(suite);
}
