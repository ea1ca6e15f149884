/*
 * Prices are those of a table, to the picosecond; they order worlds as their times do. `make bench`
 * prints them beside measured times.
 */
#include "noise/terrain/price.h"

#include <math.h>

#include "config/world/world_terrain.h"
#include "noise/terrain/terrain_parts.h"
#include "tests/unit/support/fixtures.h"
#include "tests/unit/support/graph_values.h"
#include "tests/unit/support/reference_params.h"

static const char *const files[] = {
    NULL, /* the built-in worlds */
    "config/worlds/canyons.yaml",
    "config/worlds/cells.yaml",
    "config/worlds/classic.yaml",
    "config/worlds/continents.yaml",
    "config/worlds/ridges.yaml",
    "tests/worlds/fractal.yaml",
    "tests/worlds/rivers.yaml",
};

/* The terrains of all files, one after the other. Returns how many. */
enum { TERRAINS = 16 };

static int load(struct farlands_terrain *terrain[TERRAINS], char name[TERRAINS][WORLD_NAME_MAX],
                uint64_t seed)
{
    int count = 0;
    for (int i = 0; i < LENGTH(files); i++) {
        struct config *config;
        struct config_error error = {0};
        ck_assert_msg(config_load(&config, files[i], NULL, &error) == 0, "%s", error.text);
        for (int w = 0; w < config->world_count && count < TERRAINS; w++, count++) {
            struct world_config world = config->worlds[w];
            world.terrain.seed = seed ? seed : world.terrain.seed;
            ck_assert_int_eq(world_config_terrain(&terrain[count], &world), 0);
            snprintf(name[count], WORLD_NAME_MAX, "%.40s", world.name);
        }
        config_free(config);
    }
    return count;
}

/* --- Values --- */

/* Picoseconds per sample of the heights: a block, 64 blocks and 2^20 apart; filtered; a place, and
 * one beside it. If a change of the table is intended, `make bench` tells how right it is. */
static const struct {
    const char *world;
    struct price height;
} rows[] = {
#include "prices.def"
};

static void expect(const char *world, const char *what, uint64_t found, uint64_t expected)
{
    must(found == expected, "%s: %s: %" PRIu64 "; expected %" PRIu64, world, what, found, expected);
}

START_TEST(are_sums_of_a_table)
{
    static const uint64_t seeds[] = {0, 77};
    struct farlands_terrain *terrain[TERRAINS];
    char name[TERRAINS][WORLD_NAME_MAX];
    const int count = load(terrain, name, seeds[_i]);
    for (int i = 0; i < count; i++) {
        struct price *prices = prices_new(terrain[i]);
        const struct price *found = &prices[terrain[i]->height];
        if (getenv("PRINT_PRICES")) { /* for prices.def */
            printf("{\"%s\",\n {{", name[i]);
            for (int k = 0; k < PRICE_STEPS; k++)
                printf("%s%" PRIu64,
                       k == 0                 ? ""
                       : k == PRICE_STEPS / 2 ? ",\n   "
                                              : ", ",
                       found->exact[k]);
            printf("},\n  %" PRIu64 ", %" PRIu64 ", %" PRIu64 "}},\n", found->filtered,
                   found->place, found->beside);
        } else {
            ck_assert_int_lt(i, LENGTH(rows));
            ck_assert_str_eq(name[i], rows[i].world);
            for (int k = 0; k < PRICE_STEPS; k++)
                expect(name[i], "exact", found->exact[k], rows[i].height.exact[k]);
            expect(name[i], "filtered", found->filtered, rows[i].height.filtered);
            expect(name[i], "place", found->place, rows[i].height.place);
            expect(name[i], "beside", found->beside, rows[i].height.beside);
        }
        free(prices);
        terrain_free(terrain[i]);
    }
}
END_TEST

START_TEST(are_looked_up_by_the_step)
{
    struct price price = {.filtered = 3, .place = 1, .beside = 1};
    for (int i = 0; i < PRICE_STEPS; i++)
        price.exact[i] = 100 * (uint64_t)(i + 1);
    static const struct {
        int64_t step;
        bool band_limit;
        uint64_t expected;
    } steps[] = {
        {1, false, 100},
        {BLOCKS(1), false, 100},
        {BLOCKS(2), false, 150},
        {BLOCKS(4), false, 200},
        {BLOCKS(64), false, 400},
        {BLOCKS(1 << 19), false, 1050},
        {BLOCKS(1 << 20), false, 1100},
        {INT64_C(1) << 52, false, 1100},
        {BLOCKS(64), true, 3},
    };
    for (int i = 0; i < LENGTH(steps); i++)
        expect("steps", "sample", price_of_field(&price, steps[i].step, steps[i].band_limit),
               steps[i].expected);
}
END_TEST

/* --- Dear worlds --- */

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

START_TEST(are_those_of_operations)
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
    const struct price_square square = {FARLANDS_UNIT, 256, false};
    uint64_t own[GRAPH_MAX_NODES], node[GRAPH_MAX_NODES] = {0}, sum = 0;
    const int *place = terrain->program->place;
    const uint64_t all = price_square(terrain->program, node, place[3], square, own);
    for (int i = 0; i < terrain->program->count; i++)
        sum += own[i];
    expect("graph", "sum of operations", sum, all);
    expect("graph", "unused", own[place[4]], 0);
    must(own[place[1]] > 4 * own[place[0]] && own[place[0]] > 8 * own[place[3]],
         "%" PRIu64 ", %" PRIu64 " and %" PRIu64 "; expected the first more than 4 times the "
         "second, that more than 8 times the last",
         own[place[1]], own[place[0]], own[place[3]]);
    const int operations[] = {place[0], place[2], place[4], place[3]};
    const struct dear_tile tile = price_dearest(terrain->program, operations, LENGTH(fields));
    ck_assert_int_eq(tile.field, 3);
    ck_assert_int_eq(tile.dearest, 1);
    must(tile.percent > 70 && tile.percent < 100, "%d %%; expected 70 to 100", tile.percent);
    terrain_free(terrain);
}
END_TEST

/* The price of a tile of a noise with OCTAVES octaves. */
static uint64_t price_of_noise(enum farlands_basis basis, int octaves, bool warped)
{
    struct farlands_params params = cells(octaves);
    params.basis = basis;
    params.warp.amplitude = warped ? BLOCKS(10) : 0;
    const struct graph_node node = {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = &params};
    struct farlands_terrain *terrain = new_terrain(&node, 1, &(struct graph_field){"height", 0}, 1);
    const struct price_square square = {FARLANDS_UNIT, 256, false};
    uint64_t own[GRAPH_MAX_NODES], nodes[GRAPH_MAX_NODES] = {0};
    const uint64_t price = price_square(terrain->program, nodes, 0, square, own);
    terrain_free(terrain);
    return price;
}

/* A table with a row too few has a 0 at its end. */
START_TEST(no_kind_is_free)
{
    for (int basis = 0; basis < FARLANDS_BASES; basis++)
        for (int warped = 0; warped < 2; warped++) {
            const uint64_t one = price_of_noise((enum farlands_basis)basis, 1, warped);
            const uint64_t eight = price_of_noise((enum farlands_basis)basis, 8, warped);
            must(eight > one + UINT64_C(7) * 256 * 256 * 50,
                 "basis %d%s: one octave %" PRIu64 ", eight %" PRIu64, basis,
                 warped ? ", warped" : "", one, eight);
        }
    for (int kind = 0; kind < GRAPH_KINDS; kind++)
        must(operation_kinds[kind].price > 0 || operation_kinds[kind].family == FAMILY_NOISE ||
                 kind == GRAPH_BIOME,
             "%s has no price", operation_kinds[kind].name);
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

START_TEST(find_the_dearest_tile)
{
    static const struct {
        int deep, octaves;
        bool dear;
    } towers[] = {{0, 1, false}, {1, 1, false}, {1, 12, false}, {4, 12, false}, {8, 60, true}};
    for (int i = 0; i < LENGTH(towers); i++) {
        struct farlands_terrain *terrain = new_tower(towers[i].deep, towers[i].octaves);
        const int fields[] = {terrain->field[0].operation, terrain->field[1].operation};
        const struct dear_tile tile = price_dearest(terrain->program, fields, 2);
        must((tile.price > PRICE_SECOND) == towers[i].dear, "%d lattices: %" PRIu64 " ps",
             towers[i].deep, tile.price);
        if (towers[i].dear) {
            ck_assert_int_eq(tile.field, 1);
            ck_assert_int_eq(tile.dearest, 0);
            must(tile.percent > 50, "%d %%; expected more than 50", tile.percent);
        }
        terrain_free(terrain);
    }
}
END_TEST

/* --- Against measured times, in `make bench` --- */

enum { SIDE = 256, MOST_NS = 1000 * 1000 * 1000 };

struct kind {
    const char *name;
    int64_t step;
    int side;
    bool band_limit;
};

static int64_t far_place(struct draws *draws, int64_t step)
{
    return draw_between(draws, -BLOCKS(1 << 28), BLOCKS(1 << 28)) / step * step;
}

/* Nanoseconds per sample, the mean of some places. */
static double measure(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      const struct kind *kind)
{
    static float out[SIDE * SIDE];
    struct draws draws = {31, 0};
    double all = 0;
    int count = 0;
    /* Far samples of rivers take long, but a few are as dear as many. */
    const bool few = kind->step > TERRAIN_FAR && terrain_has_drain(terrain) && !kind->band_limit;
    const int side = few ? 12 : kind->side;
    for (; count < (side == 1 ? 60 : 10) && all < MOST_NS; count++) {
        const struct farlands_grid grid = {far_place(&draws, kind->step),
                                           far_place(&draws, kind->step),
                                           kind->step,
                                           side,
                                           side,
                                           kind->band_limit};
        const double start = clock_thread_ns();
        ck_assert_int_eq(terrain_heights(terrain, scratch, &grid, out, (size_t)side), 0);
        all += clock_thread_ns() - start;
    }
    return all / count / side / side;
}

/* The time of a height, by its price and measured. */
START_TEST(are_near_the_time)
{
    static const struct kind kinds[] = {
        {"near", BLOCKS(1), SIDE, false},           {"64 blocks", BLOCKS(64), SIDE, false},
        {"far", BLOCKS(1 << 20), SIDE, false},      {"picture", BLOCKS(16), SIDE, true},
        {"broad picture", BLOCKS(256), SIDE, true}, {"place", 1, 1, false},
    };
    struct farlands_terrain *terrain[TERRAINS];
    char name[TERRAINS][WORLD_NAME_MAX];
    struct farlands_scratch *scratch = reference_scratch();
    const int count = load(terrain, name, 0);
    for (int i = 0; i < count; i++) {
        printf("%-12s", name[i]);
        for (int k = 0; k < LENGTH(kinds); k++) {
            uint64_t own[GRAPH_MAX_NODES], node[GRAPH_MAX_NODES];
            const struct program *program = terrain[i]->program;
            const int height = terrain[i]->field[terrain[i]->height].operation;
            const struct price_square square = {kinds[k].step, kinds[k].side, kinds[k].band_limit};
            const double ns = measure(terrain[i], scratch, &kinds[k]);
            price_nodes(program, node);
            const double price = (double)price_square(program, node, height, square, own) /
                                 (1000.0 * square.side * square.side);
            printf("  %s %.3g / %.3g ns = %.2f", kinds[k].name, price, ns, price / ns);
        }
        puts("");
        terrain_free(terrain[i]);
    }
    farlands_scratch_free(scratch);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("price");
    TCase *tests = suite_case(suite, "price");
    tcase_set_timeout(tests, 300);
    if (getenv("PREDICTIONS")) /* of `make bench` */
        tcase_add_test(tests, are_near_the_time);
    tcase_add_loop_test(tests, are_sums_of_a_table, 0, 2);
    tcase_add_test(tests, are_looked_up_by_the_step);
    tcase_add_test(tests, are_those_of_operations);
    tcase_add_test(tests, no_kind_is_free);
    tcase_add_test(tests, find_the_dearest_tile);
    return suite_run(suite);
}
