/* Estimated times of random graphs against measured ones. */
#include "noise/estimate.h"

#include <math.h>

#include "noise/terrain_parts.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/graph_values.h"
#include "tests/unit/support/reference_params.h"

enum {
    GRAPHS = 120,
    GRIDS = 4,
    LEAST_NS = 20 * 1000, /* cheaper grids are not compared */
    MOST_NS = 20 * 1000 * 1000,
    SIDE = 530,
    REPEATS = 3, /* the fastest counts */
    ATTEMPTS = 3,
};

static struct farlands_scratch *scratch;
static float out[SIDE * SIDE];

static struct farlands_grid draw_any_grid(struct draws *draws)
{
    static const int sides[] = {1, 16, 40, 100, 258, 300, 514, 530};
    struct farlands_grid grid = {.x = draw_between(draws, -BLOCKS(100000), BLOCKS(100000)),
                                 .y = draw_between(draws, -BLOCKS(100000), BLOCKS(100000)),
                                 .step = INT64_C(1) << draw_between(draws, 0, 34),
                                 .width = DRAW_ONE(draws, sides),
                                 .height = DRAW_ONE(draws, sides),
                                 .band_limit = draw_between(draws, 0, 1)};
    return grid;
}

/* The time without patches of the grid before. */
static double measure(const struct program *program, const struct kernel *kernel, int operation,
                      struct farlands_grid grid)
{
    const struct output output = {operation, out};
    double best = INFINITY;
    for (int i = 0; i < REPEATS; i++) {
        grid.x += INT64_C(1) << 36;
        const double start = clock_thread_ns();
        ck_assert_int_eq(evaluate(program, kernel, scratch, &grid, &output, 1, SIDE), 0);
        best = fmin(best, clock_thread_ns() - start);
    }
    return best;
}

struct comparison {
    double ratio; /* measured to estimated */
    char text[200];
};

/* Compare random grids of random graphs. Returns how many. */
static int compare(struct comparison *comparison, const struct kernel *kernel)
{
    int count = 0;
    struct evaluation *kept = NULL;
    for (int g = 0; g < GRAPHS; g++) {
        struct draws draws = {9000 + (uint64_t)g, 0};
        struct random_graph *graph = draw_graph(&draws);
        struct program *program = graph_program(graph);
        /* Estimates do not count on masks. */
        for (int k = 0; k < program->count; k++)
            program->operation[k].rests = false;
        for (int i = 0; i < GRIDS; i++) {
            const struct farlands_grid grid = draw_any_grid(&draws);
            struct estimate guess;
            const int operation = program->count - 1;
            ck_assert_int_eq(estimate(&guess, program, operation, &grid, MOST_NS, &kept), 0);
            if (guess.ns < LEAST_NS / 2.0 || guess.ns > MOST_NS)
                continue;
            const double ns = measure(program, kernel, operation, grid);
            struct comparison *c = &comparison[count++];
            c->ratio = ns / guess.ns;
            snprintf(c->text, sizeof c->text,
                     "graph %d, grid %d x %d step 2^%d%s: measured %.0f us, estimated %.0f", g,
                     grid.width, grid.height, __builtin_ctzll((uint64_t)grid.step),
                     grid.band_limit ? " filtered" : "", ns / 1000, guess.ns / 1000);
        }
        program_free(program);
        free(graph);
    }
    evaluation_free(kept);
    return count;
}

static int by_ratio(const void *a, const void *b)
{
    const double x = ((const struct comparison *)a)->ratio;
    const double y = ((const struct comparison *)b)->ratio;
    return (x > y) - (x < y);
}

/* Percent of grids more than a factor of 2 from the middle. */
enum { OUTSIDE = 8 };

static bool compare_all(const struct kernel *kernel, bool last)
{
    static struct comparison comparison[GRAPHS * GRIDS];
    const int count = compare(comparison, kernel);
    int outside = 0;
    qsort(comparison, (size_t)count, sizeof *comparison, by_ratio);
    const double middle = comparison[count / 2].ratio;
    for (int i = 0; i < count; i++)
        outside += comparison[i].ratio > 2 * middle || comparison[i].ratio < middle / 2;
    printf("%s: %.2f times the estimate; %d of %d outside; %s; %s\n", kernel->name, middle, outside,
           count, comparison[0].text, comparison[count - 1].text);
    must(count > GRAPHS, "only %d grids", count);
    must(!last || outside * 100 <= count * OUTSIDE, "%d of %d grids outside", outside, count);
    return outside * 100 <= count * OUTSIDE;
}

/* Apart from how fast this machine is, within a factor of 2. */
START_TEST(estimates_the_time)
{
    setenv("FARLANDS_KERNEL", "avx2", 1);
    const struct kernel *kernel = kernel_choose();
    if (!kernel) {
        puts("skipped: without AVX2, other work takes the time");
        return;
    }
    scratch = reference_scratch();
    for (int i = 1; i <= ATTEMPTS; i++)
        if (compare_all(kernel, i == ATTEMPTS))
            break;
    farlands_scratch_free(scratch);
}
END_TEST

/* --- Fields --- */

static struct farlands_params cells(int octaves)
{
    struct farlands_params params = reference_params();
    params.basis = FARLANDS_CELLULAR;
    params.octaves = octaves;
    params.lacunarity = octaves > 14 ? 1.1 : 2;
    params.warp.amplitude = octaves > 14 ? BLOCKS(10) : 0;
    params.warp.wavelength = BLOCKS(1000);
    params.knots = 0;
    return params;
}

static struct farlands_terrain *new_terrain(const struct graph_node *nodes, int count,
                                            const struct graph_field *fields, int field_count)
{
    const struct graph graph = {nodes, count, fields, field_count, field_count - 1};
    const struct farlands_params params = reference_params();
    struct farlands_terrain *terrain;
    struct graph_fault fault;
    const int err = terrain_new(&terrain, &graph, &params, &fault);
    ck_assert_msg(err == 0, "%s: %s", fault.key, fault.text);
    return terrain;
}

START_TEST(time_is_spent_in_fields)
{
    const struct farlands_params little = cells(1), much = cells(12);
    const struct graph_node nodes[] = {
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &little},
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &much},
        {GRAPH_ABS, {1, -1, -1}, .number = {0}}, /* part of "much" */
        {GRAPH_ADD, {0, 2, -1}, .number = {0}},
        {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &much}, /* not part of the height */
    };
    const struct graph_field fields[] = {{"little", 0}, {"much", 2}, {"unused", 4}, {"height", 3}};
    struct farlands_terrain *terrain = new_terrain(nodes, LENGTH(nodes), fields, LENGTH(fields));
    const struct farlands_grid grid = {.step = FARLANDS_UNIT, .width = 256, .height = 256};
    struct evaluation *kept = NULL;
    double ns[LENGTH(fields)];
    struct estimate guess;
    ck_assert_int_eq(estimate_field(&guess, terrain, 3, &grid, ns, &kept), 0);
    evaluation_free(kept);
    must(fabs(ns[0] + ns[1] + ns[3] - guess.ns) < 1, "%g + %g + %g of %g", ns[0], ns[1], ns[3],
         guess.ns);
    must(
        ns[1] > 4 * ns[0] && ns[0] > 8 * ns[3] && ns[2] == 0,
        "%g, %g, %g and %g ns; expected the second more than 4 times the first, the first more than "
        "8 times the last, the third 0",
        ns[0], ns[1], ns[2], ns[3]);
    terrain_free(terrain);
}
END_TEST

/* DEEP lattices of which each needs the next, for all samples of coarse tiles. */
static struct farlands_terrain *new_tower(int deep, int octaves)
{
    struct farlands_params params = cells(octaves);
    struct graph_node nodes[2 + GRAPH_MAX_DEPTH] = {{.kind = GRAPH_NOISE}};
    struct graph_field fields[] = {{"cells", 0}, {"height", deep}};
    nodes[0] = (struct graph_node){GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params};
    for (int i = 1; i <= deep; i++)
        nodes[i] = (struct graph_node){
            GRAPH_LATTICE, {i - 1, -1, -1}, .number = {(double)BLOCKS(4 << (deep - i))}};
    return new_terrain(nodes, deep + 1, fields, LENGTH(fields));
}

START_TEST(finds_the_dearest_tile)
{
    static const struct {
        int deep, octaves;
        bool dear;
    } rows[] = {{0, 1, false}, {1, 1, false}, {1, 12, false}, {4, 12, false}, {8, 60, true}};
    for (int i = 0; i < LENGTH(rows); i++) {
        struct farlands_terrain *terrain = new_tower(rows[i].deep, rows[i].octaves);
        const int fields[] = {terrain->field[0].operation, terrain->field[1].operation};
        struct dear_tile tile;
        ck_assert_int_eq(estimate_dearest(&tile, terrain->program, fields, 2), 0);
        must((tile.ns > ESTIMATE_MOST_NS) == rows[i].dear, "%d lattices: %.0f ms", rows[i].deep,
             tile.ns / 1e6);
        if (rows[i].dear) {
            ck_assert_int_eq(tile.field, 1);
            ck_assert_int_eq(tile.dearest, 0);
            must(tile.share > 0.5 && tile.share < 1, "share %.2f; expected 0.5 to 1", tile.share);
        }
        terrain_free(terrain);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("estimate");
    TCase *tests = suite_case(suite, "estimate");
    tcase_set_timeout(tests, 300);
    if (getenv("PREDICTIONS")) /* of `make bench`: a busy machine must fail no other test */
        tcase_add_test(tests, estimates_the_time);
    tcase_add_test(tests, time_is_spent_in_fields);
    tcase_add_test(tests, finds_the_dearest_tile);
    return suite_run(suite);
}
