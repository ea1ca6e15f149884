/* Worlds of other seeds: their identity, and how long they last. */
#include "server/world/worlds.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>

#include "server/world/tile.h"
#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

#define NAME63 "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff123"

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - {name: first, seed: 1}\n"
                               "  - {name: second, seed: 2, seeds: any}\n"
                               "  - {name: third, seed: 1, wrap: true}\n"
                               "  - {name: fourth, seed: 18446744073709551615}\n"
                               "  - {name: fifth, seed: 0, layers: [relief]}\n"
                               "  - {name: " NAME63 "}\n";
    worlds = worlds_of_text(yaml);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

static struct worlds *derive(const struct world *base, uint64_t seed)
{
    struct worlds *derived;
    ck_assert_int_eq(worlds_derive(&derived, base, seed), 0);
    ck_assert_int_eq(derived->count, 1);
    return derived;
}

/* Pairs that differ only in name, seed and settings that do not show: one derives from the other.
 */
static const struct {
    int base, other; /* indices in worlds */
    uint64_t seed;   /* of OTHER */
    const char *name;
} pairs[] = {
    {0, 0, 1, "first:1"},   {0, 1, 2, "first:2"},
    {1, 0, 1, "second:1"},  {0, 3, UINT64_MAX, "first:18446744073709551615"},
    {3, 0, 1, "fourth:1"},  {1, 4, 0, "second:0"},
    {5, 0, 1, NAME63 ":1"}, {5, 3, UINT64_MAX, NAME63 ":18446744073709551615"},
};

START_TEST(test_pairs)
{
    const struct world *base = &worlds->world[pairs[_i].base],
                       *other = &worlds->world[pairs[_i].other];
    struct worlds *derived = derive(base, pairs[_i].seed);
    const struct world *world = derived->world;
    const struct farlands_terrain *terrain;
    uint64_t state = 1;

    ck_assert_str_eq(world->name, pairs[_i].name);
    ck_assert_uint_eq(world->seed, pairs[_i].seed);
    ck_assert_str_eq(world->fingerprints.region, other->fingerprints.region);
    ck_assert_str_eq(world->fingerprints.volume, other->fingerprints.volume);
    ck_assert_mem_eq(world->fingerprints.tile, other->fingerprints.tile,
                     sizeof world->fingerprints.tile);
    ck_assert_mem_eq(world->parameters->family, other->parameters->family,
                     sizeof world->parameters->family);
    struct world_config config;
    world_config_of(&config, world);
    ck_assert_str_eq(config.name, pairs[_i].name);
    ck_assert_uint_eq(config.terrain.seed, pairs[_i].seed);
    ck_assert_int_eq(config.seeds, base->config->seeds);
    ck_assert_uint_eq(config.layers, base->config->layers);
    ck_assert_mem_eq(world->colors, other->colors, sizeof *other->colors);
    ck_assert_int_eq(world_terrain_hold(world, &terrain), 0);
    for (int i = 0; i < 1000; i++) {
        const int64_t x = (int64_t)chance(&state) >> 12, y = (int64_t)chance(&state) >> 12;
        const float height = terrain_height(terrain, x, y);
        must(height == terrain_height(other->base_terrain, x, y), "%" PRId64 " %" PRId64, x, y);
    }
    world_terrain_release(world, terrain);
    worlds_release(derived);
}
END_TEST

START_TEST(test_seeds_differ)
{
    static const uint64_t seeds[] = {0,  2,  3,         UINT64_C(1) << 32, UINT64_C(1) << 63,
                                     10, 42, UINT64_MAX};
    char seen[ROWS(seeds)][FINGERPRINT_TEXT];
    for (int i = 0; i < ROWS(seeds); i++) {
        struct worlds *derived = derive(worlds->world, seeds[i]);
        const struct world *world = derived->world;
        const struct farlands_terrain *terrain;
        strcpy(seen[i], world->fingerprints.region);
        for (int j = 0; j < i; j++)
            ck_assert_str_ne(seen[i], seen[j]);
        ck_assert_str_ne(world->fingerprints.region, worlds->world->fingerprints.region);
        ck_assert_ptr_eq(world->parameters, worlds->world->parameters);
        ck_assert_int_eq(world_terrain_hold(world, &terrain), 0);
        ck_assert_float_ne(terrain_height(terrain, 0, 0),
                           terrain_height(worlds->world->base_terrain, 0, 0));
        world_terrain_release(world, terrain);
        worlds_release(derived);
    }
}
END_TEST

START_TEST(test_families)
{
    for (int i = 0; layers[i].name; i++) {
        const char *family = worlds->world[0].parameters->family[i];
        ck_assert_str_ne(family, worlds->world[2].parameters->family[i]);
        ck_assert_str_ne(family, worlds->world[0].fingerprints.tile[i]);
        ck_assert_str_eq(worlds->world[4].parameters->family[i],
                         worlds->world[4].fingerprints.tile[i]);
    }
}
END_TEST

/* A derived world lasts as long as it is held, and so does its base. */
/* --- Climates --- */

#define ROW(id, name, color, range) \
    "{id: " id ", name: " name ", color: '" color "', height: " range "}"
#define SEA ROW("1", "sea", "#0000ff", "[-.inf, 0]")

static struct worlds *climate_of(const char *fields, const char *rows)
{
    char yaml[1024];
    snprintf(yaml, sizeof yaml,
             "worlds: [{name: a, fields: {height: 5, %s biome: {biome: {height: height, "
             "table: [" SEA ", %s]}}}}]",
             fields, rows);
    return worlds_of_text(yaml);
}

/* Whether what a row changes shows in regions (and the height's tiles), and in the relief. */
static const struct {
    const char *row;
    bool region, relief;
} rows[] = {
    {ROW("2", "land", "#00ff00", "[0, 100]"), false, false},
    {"{name: land, id: 2, height: [0, 1e2], color: '#00FF00'}", false, false},
    {ROW("2", "ground", "#00ff00", "[0, 100]"), false, true},
    {ROW("2", "land", "#00ff01", "[0, 100]"), false, true},
    {ROW("3", "land", "#00ff00", "[0, 100]"), true, true},
    {ROW("2", "land", "#00ff00", "[0, 101]"), true, true},
};

START_TEST(test_looks_of_biomes_change_no_heights)
{
    struct worlds *one = climate_of("", rows[0].row), *other = climate_of("", rows[_i].row);
    const int relief = layer_find("relief"), height = layer_find("height");
    ck_assert_int_eq(strcmp(one->world->fingerprints.region, other->world->fingerprints.region) !=
                         0,
                     rows[_i].region);
    ck_assert_int_eq(
        strcmp(one->world->fingerprints.tile[height], other->world->fingerprints.tile[height]) != 0,
        rows[_i].region);
    ck_assert_int_eq(
        strcmp(one->world->fingerprints.tile[relief], other->world->fingerprints.tile[relief]) != 0,
        rows[_i].relief);
    worlds_release(one);
    worlds_release(other);
}
END_TEST

START_TEST(test_climates)
{
    struct worlds *set = climate_of("humidity: 0.5, temperature: 7, ", rows[0].row);
    struct worlds *derived = derive(set->world, 9);
    const struct climate *climate = world_climate(derived->world);
    ck_assert_ptr_nonnull(climate);
    ck_assert_int_eq(climate->humidity, 1);
    ck_assert_int_eq(climate->temperature, 2);
    ck_assert_int_eq(climate->biome, 3);
    ck_assert_int_eq(climate->table->rows.rows, 2);
    ck_assert_int_eq(biome_table_row(climate->table, 2), 1);
    ck_assert_int_eq(biome_table_row(climate->table, 3), -1);
    ck_assert_str_eq(climate->table->look[1].name, "land");
    ck_assert_uint_eq(climate->table->look[1].color[1], 255);
    worlds_release(derived);
    worlds_release(set);
    set = climate_of("", rows[0].row);
    climate = world_climate(set->world);
    ck_assert_ptr_nonnull(climate);
    ck_assert_int_eq(climate->temperature, -1);
    ck_assert_int_eq(climate->humidity, -1);
    worlds_release(set);
    ck_assert_ptr_null(world_climate(worlds->world));
}
END_TEST

static void *color_climate(void *world)
{
    ck_assert_int_eq(world_color_climate(world), 0);
    return ((const struct world *)world)->colors->climate;
}

START_TEST(test_worlds_of_a_family_color_their_climate_once)
{
    enum { THREADS = 4 };
    struct worlds *set = climate_of("humidity: 0.5, temperature: 7, ", rows[0].row);
    struct worlds *derived = derive(set->world, 9);
    pthread_t thread[THREADS];

    ck_assert_ptr_null(set->world->colors->climate);
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(
            pthread_create(&thread[i], NULL, color_climate, i % 2 ? derived->world : set->world),
            0);
    for (int i = 0; i < THREADS; i++) {
        void *climate;
        pthread_join(thread[i], &climate);
        ck_assert_ptr_nonnull(climate);
        ck_assert_ptr_eq(climate, set->world->colors->climate);
    }
    worlds_release(derived);
    worlds_release(set);
    ck_assert_int_eq(world_color_climate(worlds->world), 0); /* it has none */
    ck_assert_ptr_null(worlds->world->colors->climate);
}
END_TEST

/* Worlds that differ in what no color depends on share their colors; others have their own. */
START_TEST(test_worlds_that_are_alike_share_colors)
{
    struct worlds *alike = worlds_of_text(
        "worlds:\n"
        "  - {like: alps, name: a}\n"
        "  - {like: alps, name: b, seed: 5, exaggeration: 2, layers: [relief]}\n"
        "  - {like: alps, name: c, palette: [[-100, \"#000001\"], [100, \"#ffffff\"]]}\n"
        "  - {like: alps, name: d, seed: 7}\n"
        "  - {like: default, name: e}\n"
        "  - {like: alps, name: f, fields: {height: 5}}\n");
    static const int owner[] = {0, 0, 2, 0, 4, 5};
    for (int i = 0; i < alike->count; i++)
        must(alike->world[i].colors == &alike->colors[owner[i]], "world %d", i);
    worlds_release(alike);
}
END_TEST

START_TEST(test_references)
{
    struct worlds *mine = worlds_of(FRACTAL_WORLD);
    struct worlds *derived = derive(mine->world, 42);
    ck_assert_uint_eq(mine->references, 2);
    const struct world *world = world_hold(derived->world);
    ck_assert_uint_eq(derived->references, 2);
    ck_assert_uint_eq(mine->references, 2);
    worlds_release(mine);
    worlds_release(derived);
    ck_assert_uint_eq(world->set->references, 1);
    ck_assert_uint_eq(world->set->base->references, 1);
    ck_assert_float_lt(world->colors->min, world->colors->max);
    ck_assert_uint_ne(world->colors->color[0], world->colors->color[COLOR_TABLE_SIZE - 1]);
    world_release(world); /* sanitizers report a leak, or a second release */

    mine = worlds_of(FRACTAL_WORLD);
    derived = derive(mine->world, 43);
    worlds_release(derived);
    ck_assert_uint_eq(mine->references, 1);
    worlds_release(mine);
}
END_TEST

/* Numbers of a world with rivers begin at samples 64 blocks apart; pictures, and numbers of other
 * worlds, at the world's first zoom. */
START_TEST(test_exact_zoom)
{
    struct worlds *rivers = worlds_of(RIVERS_WORLD);
    struct world world = *rivers->world;
    struct world_config config = *world.config;
    world.config = &config;
    for (int native = 0; native <= 32; native++) {
        config.native_zoom = native;
        ck_assert_int_eq(world_exact_zoom(&world), native - 6);
        for (int i = 0; layers[i].name; i++) {
            const bool numbers =
                strcmp(layers[i].name, "height") == 0 || strcmp(layers[i].name, "field") == 0;
            const int scale = 1 + native % 2, exact = native - 6 - (scale == 2);
            struct tile_address tile = {
                .world = &world, .layer = i, .format = FORMAT_F32, .scale = scale};
            struct farlands_grid grid;
            const char *what;
            ck_assert(layer_has_numbers(i) == numbers);
            for (tile.z = exact - 1; tile.z <= exact; tile.z++) {
                tile.format = FORMAT_F32;
                ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
                must(grid.band_limit == (tile.z < exact), "%s: %d", layers[i].name, tile.z);
                tile.format = FORMAT_PNG;
                ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
                must(grid.band_limit == (tile.z < exact || i != layer_find("height")), "%s: %d",
                     layers[i].name, tile.z);
            }
            tile.z = native - 43;
            ck_assert_int_eq(tile_grid(&tile, &grid, &what), -ERANGE);
            ck_assert_str_eq(what, "zoom");
        }
    }
    worlds_release(rivers);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("world");
    TCase *tcase = suite_case(suite, "seeds");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_pairs, 0, ROWS(pairs));
    tcase_add_test(tcase, test_seeds_differ);
    tcase_add_test(tcase, test_families);
    tcase_add_test(tcase, test_references);
    tcase_add_test(tcase, test_worlds_that_are_alike_share_colors);
    tcase_add_loop_test(tcase, test_looks_of_biomes_change_no_heights, 0,
                        sizeof rows / sizeof *rows);
    tcase_add_test(tcase, test_climates);
    tcase_add_test(tcase, test_worlds_of_a_family_color_their_climate_once);
    tcase_add_test(tcase, test_exact_zoom);
    return suite_run(suite);
}
