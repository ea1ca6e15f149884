/* The metadata of an archive, and plans that do not fit one archive. */
#include "server/prerender/archive_metadata.h"

#include <errno.h>
#include <math.h>

#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

static void set_up(void)
{
    worlds = worlds_of(FRACTAL_WORLD);
}

static void tear_down(void)
{
    worlds_release(worlds);
}

static struct tile_address tile_at(const char *layer, int scale, int z, int64_t x, int64_t y)
{
    return (struct tile_address){
        worlds->world, layer_find(layer), FORMAT_PNG, scale, z, x, y, false, 0, false};
}

/* A plan of COUNT tiles. */
static struct tile_plan *plan_of(const struct tile_address *tiles, size_t count)
{
    struct tile_address *copy = calloc(count, sizeof *copy);
    struct tile_plan *plan;
    memcpy(copy, tiles, count * sizeof *copy);
    ck_assert_int_eq(tile_plan_list(&plan, copy, count), 0);
    return plan;
}

START_TEST(test_metadata)
{
    const struct tile_address tiles[] = {tile_at("terrarium", 2, 1, 1, 1),
                                         tile_at("terrarium", 2, 3, 4, 2),
                                         tile_at("terrarium", 2, 3, 5, 3)};
    struct tile_plan *plan = plan_of(tiles, ROWS(tiles));
    struct archive_metadata metadata;
    char why[TILE_PLAN_WHY] = "";
    ck_assert_msg(archive_metadata_of(&metadata, plan, why) == 0, "%s", why);
    const struct tileset *tileset = &metadata.tileset;
    ck_assert_str_eq(tileset->name, "default terrarium @2x");
    ck_assert_str_eq(tileset->description,
                     "Layer terrarium of the world default, an endless seeded terrain");
    ck_assert_str_eq(tileset->attribution, "Farlands, world default");
    ck_assert_int_eq(tileset->tile_size, 512);
    ck_assert_str_eq(tileset->encoding, "terrarium");
    ck_assert_str_eq(tileset->format, "png");
    ck_assert_str_eq(tileset->fingerprint,
                     worlds->world->fingerprints.tile[layer_find("terrarium")]);
    ck_assert_int_eq(tileset->version, FARLANDS_GENERATOR);
    ck_assert_int_eq(tileset->zoom_min, 1);
    ck_assert_int_eq(tileset->zoom_max, 3);
    /* Of the tiles at zoom 3: a tile is 45 degrees wide, and the equator is y = 4. */
    ck_assert(tileset->west == 0 && tileset->east == 90 && fabs(tileset->south) < 1e-12);
    ck_assert_msg(fabs(tileset->north - 66.51326044311186) < 1e-12, "%.17g", tileset->north);
    tile_plan_free(plan);
}
END_TEST

/* The name and the encoding of each layer. */
START_TEST(test_layers)
{
    for (int i = 0; layers[i].name; i++) {
        if (!world_serves(worlds->world, i))
            continue; /* biomes */
        const char *layer = layers[i].fields ? "field.height" : layers[i].name;
        const struct tile_address tile = tile_at(layer, 1, 0, 0, 0);
        struct tile_plan *plan = plan_of(&tile, 1);
        struct archive_metadata metadata;
        char why[TILE_PLAN_WHY] = "", name[64];
        ck_assert_int_eq(archive_metadata_of(&metadata, plan, why), 0);
        snprintf(name, sizeof name, "default %s", layer);
        ck_assert_str_eq(metadata.tileset.name, name);
        ck_assert_ptr_eq(metadata.tileset.encoding, layers[i].encoding);
        tile_plan_free(plan);
    }
}
END_TEST

static const struct {
    struct {
        const char *layer;
        int scale, z;
        int64_t x, y;
    } tiles[2];
    const char *why; /* NULL: it fits */
} rows[] = {
    {{{"relief", 1, 0, 0, 0}, {"relief", 1, 3, 7, 7}}, NULL},
    {{{"relief", 1, 26, 0, 67108863}, {"relief", 1, 26, 67108863, 0}}, NULL},
    {{{"relief", 1, 1, 0, 0}, {"gray", 1, 1, 0, 0}}, "not both default/relief and default/gray"},
    {{{"relief", 1, 1, 0, 0}, {"relief", 2, 1, 0, 0}},
     "not both default/relief and default/relief @2x"},
    {{{"relief", 1, -1, 0, 0}, {"relief", 1, 0, 0, 0}}, "expected zooms from 0 to 30, not -1"},
    {{{"relief", 1, 3, 0, 0}, {"relief", 1, 3, 8, 0}}, "0 <= x, y < 2^z; zoom 3 has others"},
    {{{"relief", 1, 3, 0, 0}, {"relief", 1, 3, 0, 8}}, "0 <= x, y < 2^z; zoom 3 has others"},
    {{{"relief", 1, 3, -1, 0}, {"relief", 1, 3, 0, 0}}, "0 <= x, y < 2^z; zoom 3 has others"},
    {{{"relief", 1, 3, 0, 0}, {"relief", 1, 4, 0, -1}}, "0 <= x, y < 2^z; zoom 4 has others"},
};

START_TEST(test_fits)
{
    struct archive_metadata metadata;
    struct tile_address tiles[2];
    char why[TILE_PLAN_WHY] = "";
    for (int i = 0; i < 2; i++)
        tiles[i] = tile_at(rows[_i].tiles[i].layer, rows[_i].tiles[i].scale, rows[_i].tiles[i].z,
                           rows[_i].tiles[i].x, rows[_i].tiles[i].y);
    struct tile_plan *plan = plan_of(tiles, 2);
    ck_assert_int_eq(archive_metadata_of(&metadata, plan, why), rows[_i].why ? -EINVAL : 0);
    if (rows[_i].why)
        ck_assert_msg(strstr(why, rows[_i].why) != NULL, "%s", why);
    tile_plan_free(plan);
}
END_TEST

START_TEST(test_webp)
{
    struct tile_address tiles[] = {tile_at("relief", 1, 0, 0, 0), tile_at("relief", 1, 1, 0, 0)};
    const int relief = layer_find("relief");
    struct archive_metadata metadata;
    char why[TILE_PLAN_WHY] = "";
    tiles[1].format = FORMAT_WEBP;
    struct tile_plan *plan = plan_of(tiles, 2);
    ck_assert_int_eq(archive_metadata_of(&metadata, plan, why), -EINVAL);
    ck_assert_str_eq(why, "--export: expected tiles of one format, not both png and webp");
    tile_plan_free(plan);
    tiles[0].format = FORMAT_WEBP;
    plan = plan_of(tiles, 2);
    ck_assert_int_eq(archive_metadata_of(&metadata, plan, why), 0);
    ck_assert_str_eq(metadata.tileset.format, "webp");
    ck_assert_str_eq(metadata.tileset.fingerprint,
                     worlds->world->fingerprints.tile[tile_kind(relief, FORMAT_WEBP)]);
    ck_assert_str_ne(metadata.tileset.fingerprint, worlds->world->fingerprints.tile[relief]);
    tile_plan_free(plan);
}
END_TEST

START_TEST(test_border)
{
    struct tile_address tile = tile_at("relief", 1, 0, 0, 0);
    struct archive_metadata metadata;
    char why[TILE_PLAN_WHY] = "";
    tile.border = true;
    struct tile_plan *plan = plan_of(&tile, 1);
    ck_assert_int_eq(archive_metadata_of(&metadata, plan, why), -EINVAL);
    ck_assert_str_eq(why, "--export: expected tiles without border=1");
    tile_plan_free(plan);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("archive_metadata");
    TCase *tcase = suite_case(suite, "archive_metadata");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_metadata);
    tcase_add_test(tcase, test_layers);
    tcase_add_test(tcase, test_border);
    tcase_add_test(tcase, test_webp);
    tcase_add_loop_test(tcase, test_fits, 0, ROWS(rows));
    return suite_run(suite);
}
