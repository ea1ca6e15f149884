/* Predicted costs of random graphs of fields against measured ones, under every kernel. */
#include "server/world/field_costs.h"

#include <math.h>

#include "noise/terrain_parts.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/graph_values.h"
#include "tests/unit/support/reference_params.h"

enum {
    GRAPHS = 80,
    GRIDS = 4,
    LEAST_US = 20, /* cheaper grids are not compared */
    MOST_US = 10000,
    SIDE = 515,
    REPEATS = 3,  /* the fastest counts */
    WALK = 100,   /* places */
    ATTEMPTS = 8, /* the machine may be busy, and change its speed */
};

static struct farlands_scratch *scratch;
static struct field_rates rates;
static float out[SIDE * SIDE];

static struct farlands_grid draw_any_grid(struct draws *draws)
{
    static const int sides[] = {1, 3, 16, 40, 100, 258, 300, 515};
    return (struct farlands_grid){.x = draw_between(draws, -BLOCKS(100000), BLOCKS(100000)),
                                  .y = draw_between(draws, -BLOCKS(100000), BLOCKS(100000)),
                                  .step = INT64_C(1) << draw_between(draws, 0, 34),
                                  .width = DRAW_ONE(draws, sides),
                                  .height = DRAW_ONE(draws, sides),
                                  .band_limit = draw_between(draws, 0, 1)};
}

/* Of places far from those of the grid before. */
static double measure(const struct farlands_terrain *terrain, struct farlands_grid grid)
{
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        grid.x += INT64_C(1) << 36;
        const double start = clock_thread_ns() / 1e3;
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, SIDE), 0);
        best = fmin(best, clock_thread_ns() / 1e3 - start);
    }
    return best;
}

static struct farlands_terrain *new_terrain(const struct random_graph *random)
{
    const struct graph_field field = {"height", random->count - 1};
    const struct graph graph = {random->node, random->count, &field, 1, 0};
    const struct farlands_params params = reference_params();
    struct farlands_terrain *terrain;
    struct graph_fault fault;
    ck_assert_int_eq(terrain_new(&terrain, &graph, &params, &fault), 0);
    /* Estimates do not count on masks. */
    for (int k = 0; terrain->program && k < terrain->program->count; k++)
        terrain->program->operation[k].rests = false;
    return terrain;
}

struct tally {
    int compared, outside;
    double factor; /* the largest */
    char worst[200];
};

static void compare(struct tally *tally, const struct farlands_terrain *terrain,
                    struct field_costs *costs, const struct farlands_grid *grid, int number)
{
    const double predicted = field_costs_of_grid(costs, terrain, 0, grid) / 1000;
    if (predicted > MOST_US)
        return;
    const double measured = measure(terrain, *grid);
    const double factor = fmax(predicted / measured, measured / predicted);
    if (measured < LEAST_US)
        return;
    tally->compared++;
    tally->outside += factor > 2;
    if (factor <= tally->factor)
        return;
    tally->factor = factor;
    snprintf(tally->worst, sizeof tally->worst,
             "graph %d, %d x %d, step 2^%d%s: predicted %.0f us, measured %.0f", number,
             grid->width, grid->height, __builtin_ctzll((uint64_t)grid->step),
             grid->band_limit ? ", filtered" : "", predicted, measured);
}

/* The time of each place of a walk, from one to the next APART blocks. */
static double measure_walk(const struct farlands_terrain *terrain, int64_t apart, int number)
{
    double best = INFINITY;
    volatile float sink;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        const int64_t x = BLOCKS((int64_t)(number * REPEATS + repeat) * 10000000);
        const double start = clock_thread_ns() / 1e3;
        for (int i = 0; i < WALK; i++)
            sink = terrain_field_at(terrain, scratch, 0, x + BLOCKS(i * apart), BLOCKS(i / 2));
        best = fmin(best, (clock_thread_ns() / 1e3 - start) / WALK);
    }
    (void)sink;
    return best;
}

/* Walks through one graph in steps of all sizes. */
static void compare_walks(struct tally *tally, const struct farlands_terrain *terrain,
                          struct field_costs *costs, int number)
{
    for (int64_t apart = 1; apart <= 100000; apart *= 10) {
        const double predicted =
            field_costs_of_place(costs, terrain, 0, (double)BLOCKS(apart)) / 1000;
        const double measured = measure_walk(terrain, apart, number);
        const double factor = fmax(predicted / measured, measured / predicted);
        tally->compared++;
        tally->outside += factor > 2;
        if (factor <= tally->factor)
            continue;
        tally->factor = factor;
        snprintf(tally->worst, sizeof tally->worst,
                 "graph %d, places %d blocks apart: predicted %.1f us, measured %.1f", number,
                 (int)apart, predicted, measured);
    }
}

/* Percent of the grids that may be outside of a factor of 2. */
static const struct {
    const char *name;
    int outside;
} kernels[] = {{"avx512", 10}, {"avx2", 6}, {"neon", 15}, {"scalar", 15}};

static bool is_within(const struct tally *tally, int number, const char *what, bool last)
{
    const char *kernel = kernels[number].name;
    printf("%s: %d of %d %s outside; the farthest: %s\n", kernel, tally->outside, tally->compared,
           what, tally->worst);
    const bool within = tally->outside * 100 <= tally->compared * kernels[number].outside;
    must(tally->compared > GRAPHS / 2, "only %d %s", tally->compared, what);
    must(within || !last, "%s: %d of %d %s outside a factor of 2, such as %s", kernel,
         tally->outside, tally->compared, what, tally->worst);
    return within;
}

static bool compare_all(int number, bool last)
{
    struct tally grids = {0}, walks = {0};
    ck_assert_int_eq(field_rates_measure(&rates), 0);
    for (int g = 0; g < GRAPHS; g++) {
        struct draws draws = {11000 + (uint64_t)g, 0};
        struct random_graph *graph = draw_any_graph(&draws, false, false);
        struct farlands_terrain *terrain = new_terrain(graph);
        struct field_costs *costs = field_costs_new(terrain, &rates);
        ck_assert_ptr_nonnull(costs);
        for (int i = 0; i < GRIDS && terrain_is_graph(terrain); i++) {
            const struct farlands_grid grid = draw_any_grid(&draws);
            compare(&grids, terrain, costs, &grid, g);
        }
        if (terrain_is_graph(terrain))
            compare_walks(&walks, terrain, costs, g);
        field_costs_free(costs);
        terrain_free(terrain);
        free(graph);
    }
    const bool within = is_within(&grids, number, "grids", last);
    return is_within(&walks, number, "walks", last) && within;
}

START_TEST(predicts_the_time)
{
    setenv("FARLANDS_KERNEL", kernels[_i].name, 1);
    if (terrain_kernel_fault()) /* not on this machine */
        return;
    scratch = reference_scratch();
    for (int i = 1; i <= ATTEMPTS; i++)
        if (compare_all(_i, i == ATTEMPTS))
            break;
    farlands_scratch_free(scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("field costs");
    TCase *tests = suite_case(suite, "field costs");
    tcase_set_timeout(tests, 300);
    tcase_add_loop_test(tests, predicts_the_time, 0, LENGTH(kernels));
    return suite_run(suite);
}
