/* From paths to tiles of worlds: what is found, and the message for what is not. */
#include "server/routing/resolve.h"

#include <errno.h>

#include "tests/unit/support/fixtures.h"

static struct worlds *worlds;

static void set_up(void)
{
    static const char yaml[] = "worlds:\n"
                               "  - {name: any, seed: 1, seeds: any, native_zoom: 16}\n"
                               "  - {name: fixed, seed: 2, seeds: fixed, layers: [height]}\n";
    worlds = worlds_of_text(yaml);
}

static void tear_down(void)
{
    ck_assert_uint_eq(worlds->references, 1);
    worlds_release(worlds);
}

static const struct {
    const char *path;
    const char *name; /* of the world */
    const char *key;  /* without the fingerprint */
    int64_t x;        /* of the first sample, in units */
    bool band_limit;
} found[] = {
    {"/any/relief/16/32768/32768.png", "any", "relief/16/32768/32768.png", 0, true},
    {"any/relief/16/32769/0@2x.png", "any", "relief/16/32769/0@2x.png", 256 * 1024, true},
    {"any/relief/16/32769/0@2x.png?border=1", "any", "relief/16/32769/0@2x+border.png", 256 * 1024,
     true},
    {"any/height/16/32768/-1.r16?v=a", "any", "height/16/32768/-1.r16", 0, false},
    {"any:18446744073709551615/gray/16/32767/0.png", "any:18446744073709551615",
     "gray/16/32767/0.png", -256 * 1024, true},
    {"fixed/height/26/33554432/0.f32", "fixed", "height/26/33554432/0.f32", 0, false},
};

START_TEST(test_found)
{
    const char *path = found[_i].path;
    char why[ROUTE_WHY] = "";
    struct route route;
    struct tile tile;

    ck_assert_msg(resolve_path(path, &route, why) == 0, "%s: %s", path, why);
    const struct world *world = resolve_hold(worlds, &route, why);
    ck_assert_msg(world != NULL, "%s: %s", path, why);
    ck_assert_str_eq(world->name, found[_i].name);
    ck_assert_msg(resolve_tile(world, &route, &tile, why) == 0, "%s: %s", path, why);
    ck_assert_ptr_eq(tile.address.world, world);
    ck_assert_ptr_eq(tile.content.world, world);
    ck_assert_str_eq(tile.key + FINGERPRINT_TEXT, found[_i].key);
    ck_assert_int_eq(tile.grid.x, found[_i].x);
    ck_assert_int_eq(tile.grid.width, tile_size(&tile.address));
    ck_assert_int_eq(tile.grid.band_limit, found[_i].band_limit);
    world_release(world);
}
END_TEST

static const struct {
    const char *path, *why;
} refused[] = {
    /* Not the path of a tile. */
    {"", "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}"},
    {"any.json", "a tile is"},
    {"any/relief.json", "a tile is"},
    {"any/relief/1/2/x.png", "y: \"x\" is not a whole number"},
    /* No such world. */
    {"other/relief/1/2/3.png", "world: no world \"other\"; /worlds.json lists them"},
    {"other:1/relief/1/2/3.png", "world: no world \"other\""},
    {"fixed:2/height/1/2/3.png", "seed: world \"fixed\" has one configured seed (seeds: fixed)"},
    /* No such layer or format. */
    {"any/nothing/1/2/3.png", "layer: no layer \"nothing\""},
    {"fixed/relief/1/2/3.png", "layer: this world does not serve \"relief\""},
    {"any/relief/1/2/3.r16", "extension: layer relief has no \"r16\""},
    {"any/relief/1/2/3.jpeg", "extension: layer relief has no \"jpeg\""},
    /* Beyond a limit. */
    {"any/relief/27/0/0.png", "z: 27 is beyond this world's zooms, -26 to 26"},
    {"any/relief/26/0/0@2x.png", "z: 26 is beyond this world's zooms, -26 to 25 for @2x"},
    {"any/relief/-27/0/0.png", "z: -27 is beyond"},
    {"any/relief/65552/0/0.png", "z: 65552 is beyond"},
    {"any/relief/-9223372036854775808/0/0.png", "z: -9223372036854775808 is beyond"},
    {"any/relief/16/9223372036854775807/0.png",
     "x: tile 9223372036854775807 is beyond the limit of 2^52 blocks"},
    {"any/relief/16/0/-17592186044417.png", "y: tile -17592186044417 is beyond"},
};

START_TEST(test_refused)
{
    const char *path = refused[_i].path;
    char why[ROUTE_WHY] = "";
    struct route route;
    struct tile tile;

    if (resolve_path(path, &route, why) == 0) {
        const struct world *world = resolve_world(worlds, &route, why);
        if (world)
            ck_assert_int_eq(resolve_tile(world, &route, &tile, why), -ENOENT);
        else
            ck_assert_ptr_null(resolve_hold(worlds, &route, why));
    }
    ck_assert_msg(strncmp(why, refused[_i].why, strlen(refused[_i].why)) == 0, "%s: %s", path, why);
}
END_TEST

static const struct {
    const char *name, *why; /* NULL: it is the height */
} fields[] = {
    {"height", NULL},
    {"heigth", "field: this world has no field \"heigth\"; did you mean \"height\"? it has height"},
    {"Height", "field: this world has no field \"Height\"; did you mean \"height\"?"},
    {"temperature", "field: this world has no field \"temperature\"; it has height"},
    {"", "field: this world has no field \"\"; it has height"},
};

START_TEST(test_fields)
{
    const struct world *world = worlds->world;
    const struct span name = {fields[_i].name, strlen(fields[_i].name)};
    char why[ROUTE_WHY] = "";
    const int field = resolve_field(world, name, why);
    ck_assert_int_eq(field, fields[_i].why ? -1 : world_height_field(world));
    if (fields[_i].why)
        ck_assert_msg(strncmp(why, fields[_i].why, strlen(fields[_i].why)) == 0, "%s", why);
}
END_TEST

static const struct {
    const char *query;
    unsigned status;
    int count;
} choices[] = {
    {"", 0, 0},
    {"&fields=height", 0, 1},
    {"&fields=heigth", 404, 0},
    {"&fields=height,height", 400, 1},
    {"&fields=height,a", 404, 1},
};

START_TEST(test_choices)
{
    char uri[128], why[ROUTE_WHY] = "";
    struct route route;
    struct chosen_fields chosen;
    snprintf(uri, sizeof uri, "/any/height?x=0&y=0%s", choices[_i].query);
    ck_assert_uint_eq(route_parse(&route, uri, why), 0);
    const unsigned status = resolve_fields(worlds->world, &route, &chosen, why);
    ck_assert_msg(status == choices[_i].status, "%s: %u %s", uri, status, why);
    ck_assert_int_eq(chosen.count, choices[_i].count);
    if (chosen.count)
        ck_assert_int_eq(chosen.field[0], world_height_field(worlds->world));
}
END_TEST

/* The longest path, which resolve_path copies, is refused, and not cut off. */
START_TEST(test_long_path)
{
    static char path[4096];
    char why[ROUTE_WHY];
    struct route route;
    memset(path, 'a', sizeof path - 1);
    memcpy(path, "any/relief/1/2/3.png?", 21);
    for (size_t length = 22; length < sizeof path; length++) {
        path[length] = '\0';
        const int err = resolve_path(path, &route, why);
        must(err == (length + 1 < 1024 ? 0 : -EINVAL), "length %zu: %d", length, err);
        path[length] = 'a';
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("resolve");
    TCase *tcase = suite_case(suite, "tiles");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_found, 0, ROWS(found));
    tcase_add_loop_test(tcase, test_refused, 0, ROWS(refused));
    tcase_add_loop_test(tcase, test_fields, 0, ROWS(fields));
    tcase_add_loop_test(tcase, test_choices, 0, ROWS(choices));
    tcase_add_test(tcase, test_long_path);
    return suite_run(suite);
}
