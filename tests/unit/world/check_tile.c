/* The grids of tiles: exact, up to the limits and never beyond, and their names. */
#include "server/world/tile.h"

#include <errno.h>
#include <inttypes.h>

#include "noise/terrain/terrain_parts.h"
#include "server/routing/route.h"
#include "tests/unit/support/fixtures.h"

static const int64_t ORIGIN = -8388608 * FARLANDS_UNIT;

/* A world with the members that a grid needs. */
static struct world_config config;
static struct world world = {.config = &config};

static void set_up(void)
{
    config.native_zoom = 16;
    config.origin[0] = config.origin[1] = ORIGIN;
}

static struct tile_address tile_at(int scale, int z, int64_t x, int64_t y)
{
    return (struct tile_address){.world = &world, .scale = scale, .z = z, .x = x, .y = y};
}

static const struct {
    int scale, z;
    int64_t x, y;
    int64_t left, top, step; /* units */
} corners[] = {
    {1, 16, 0, 0, ORIGIN, ORIGIN, FARLANDS_UNIT},
    {1, 16, 32768, 32768, 0, 0, FARLANDS_UNIT},
    {1, 16, 32767, 32769, -256 * FARLANDS_UNIT, 256 * FARLANDS_UNIT, FARLANDS_UNIT},
    {1, 16, -1, 1, ORIGIN - 256 * FARLANDS_UNIT, ORIGIN + 256 * FARLANDS_UNIT, FARLANDS_UNIT},
    {2, 16, 0, 0, ORIGIN, ORIGIN, FARLANDS_UNIT / 2},
    {2, 16, 32769, 32767, 256 * FARLANDS_UNIT, -256 * FARLANDS_UNIT, FARLANDS_UNIT / 2},
    {1, 17, 1, 0, ORIGIN + 128 * FARLANDS_UNIT, ORIGIN, FARLANDS_UNIT / 2},
    {1, 15, 1, 0, ORIGIN + 512 * FARLANDS_UNIT, ORIGIN, FARLANDS_UNIT * 2},
    {1, 0, 0, 0, ORIGIN, ORIGIN, FARLANDS_UNIT << 16},
    {1, 0, 1, -1, -ORIGIN, 3 * ORIGIN, FARLANDS_UNIT << 16},
    {1, 1, 1, 1, 0, 0, FARLANDS_UNIT << 15},
    {1, 26, 0, 0, ORIGIN, ORIGIN, 1},
    {1, 26, 33554432, 33554433, 0, 256, 1},
    {2, 25, 0, 0, ORIGIN, ORIGIN, 1},
    {1, -26, 0, 0, ORIGIN, ORIGIN, INT64_C(1) << 52},
    {2, -26, 0, 0, ORIGIN, ORIGIN, INT64_C(1) << 51},
    {1, -26, 3, -3, ORIGIN + (INT64_C(3) << 60), ORIGIN - (INT64_C(3) << 60), INT64_C(1) << 52},
};

START_TEST(test_corners)
{
    struct tile_address tile =
        tile_at(corners[_i].scale, corners[_i].z, corners[_i].x, corners[_i].y);
    struct farlands_grid grid;
    char name[TILE_PATH_MAX];
    tile_path(&tile, name);
    ck_assert_msg(tile_grid(&tile, &grid, NULL) == 0, "%s: not there", name);
    ck_assert_msg(grid.x == corners[_i].left, "%s: x %" PRId64, name, grid.x);
    ck_assert_msg(grid.y == corners[_i].top, "%s: y %" PRId64, name, grid.y);
    ck_assert_msg(grid.step == corners[_i].step, "%s: step %" PRId64, name, grid.step);
    ck_assert_msg(grid.width == 256 * tile.scale && grid.height == grid.width, "%s: %d x %d", name,
                  grid.width, grid.height);
}
END_TEST

/* Tiles of 256 blocks up to 2^52 blocks, and from the origin to block 0. */
#define EDGE (INT64_C(1) << 44)
#define SHIFT INT64_C(32768)

static const struct {
    int scale, z;
    int64_t x, y;
    const char *what; /* that is beyond a limit; NULL: the tile exists */
} limits[] = {
    {1, 26, 0, 0, NULL},
    {1, 27, 0, 0, "zoom"},
    {2, 25, 0, 0, NULL},
    {2, 26, 0, 0, "zoom"},
    {1, -26, 0, 0, NULL},
    {1, -27, 0, 0, "zoom"},
    {2, -26, 0, 0, NULL},
    {2, -27, 0, 0, "zoom"},
    {1, INT32_MAX, 0, 0, "zoom"},
    {1, INT32_MIN, 0, 0, "zoom"},
    {2, INT32_MAX, INT64_MAX, INT64_MAX, "zoom"},
    {2, INT32_MIN, INT64_MIN, INT64_MIN, "zoom"},
    {1, 16 + 64, 0, 0, "zoom"},
    {1, 16 - 64, 0, 0, "zoom"},
    {1, 16, EDGE + SHIFT - 1, 0, NULL},
    {2, 16, EDGE + SHIFT - 1, 0, NULL},
    {1, 16, EDGE + SHIFT, 0, "x"}, /* only its first sample exists */
    {1, 16, EDGE + SHIFT + 1, 0, "x"},
    {1, 16, -EDGE + SHIFT, 0, NULL},
    {1, 16, -EDGE + SHIFT - 1, 0, "x"},
    {1, 16, 0, EDGE + SHIFT - 1, NULL},
    {1, 16, 0, EDGE + SHIFT, "y"},
    {1, 16, 0, -EDGE + SHIFT, NULL},
    {1, 16, 0, -EDGE + SHIFT - 1, "y"},
    {1, 26, (EDGE + SHIFT) * 1024 - 1, (-EDGE + SHIFT) * 1024, NULL},
    {1, 26, (EDGE + SHIFT) * 1024, 0, "x"},
    {1, 26, 0, (-EDGE + SHIFT) * 1024 - 1, "y"},
    {1, -26, -3, 3, NULL},
    {1, -26, -4, 0, "x"},
    {1, -26, 4, 0, "x"},
    {1, -26, 0, -4, "y"},
    {1, -26, 0, 4, "y"},
    {2, -26, 3, -3, NULL},
    {2, -26, -4, 0, "x"},
    {2, -26, 0, 4, "y"},
    {1, 16, INT64_MAX, 0, "x"},
    {1, 16, INT64_MIN, 0, "x"},
    {1, 16, 0, INT64_MAX, "y"},
    {1, 16, 0, INT64_MIN, "y"},
    {1, 26, INT64_MAX, 0, "x"},
    {1, 26, INT64_MIN, 0, "x"},
    {2, -26, 0, INT64_MAX, "y"},
    {2, -26, 0, INT64_MIN, "y"},
    /* 256 times these, or that in units, wraps around to small numbers in 64 bits. */
    {1, 16, INT64_C(1) << 56, 0, "x"},
    {1, 16, -(INT64_C(1) << 56), 0, "x"},
    {1, 16, (INT64_C(1) << 46) + SHIFT, 0, "x"},
    {1, 16, INT64_C(1) << 48, 0, "x"},
    {1, 16, 0, -(INT64_C(1) << 48), "y"},
    {1, 26, INT64_C(1) << 56, 0, "x"},
    {1, -26, 16, 0, "x"},
    {1, -26, 0, INT64_C(1) << 20, "y"},
    {2, -26, -16, 0, "x"},
};

START_TEST(test_limits)
{
    struct tile_address tile = tile_at(limits[_i].scale, limits[_i].z, limits[_i].x, limits[_i].y);
    struct farlands_grid grid;
    const char *what = NULL, *expected = limits[_i].what;
    char name[TILE_PATH_MAX];
    int err = tile_grid(&tile, &grid, &what);
    tile_path(&tile, name);
    ck_assert_msg(err == (expected ? -ERANGE : 0), "%s: %d", name, err);
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), err);
    if (expected)
        ck_assert_msg(what && strcmp(what, expected) == 0, "%s: %s", name, what ? what : "NULL");
}
END_TEST

/* A border ends at the limit, too. */
START_TEST(test_border_at_limit)
{
    struct farlands_grid grid;
    for (int scale = 1; scale <= 2; scale++)
        for (int axis = 0; axis < 2; axis++)
            for (int beyond = 0; beyond < 2; beyond++) {
                struct tile_address tile = tile_at(scale, 16, 0, 0);
                const char *what;
                *(axis ? &tile.y : &tile.x) = EDGE + SHIFT - 1;
                config.origin[axis] = ORIGIN + beyond;
                ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
                tile.border = true;
                ck_assert_int_eq(tile_grid(&tile, &grid, &what), beyond ? -ERANGE : 0);
                if (beyond)
                    ck_assert_str_eq(what, axis ? "y" : "x");
                else
                    ck_assert_int_eq((axis ? grid.y : grid.x) + 256 * scale * grid.step,
                                     FARLANDS_LIMIT);
                config.origin[axis] = ORIGIN;
            }
}
END_TEST

/* The formula of the grid in 128 bits. */
static bool place_of(const struct tile_address *tile, int axis, int sample, __int128 *units)
{
    int finer = tile->z - tile->world->config->native_zoom;
    int64_t index = axis ? tile->y : tile->x;
    __int128 step = (INT64_C(1) << (FARLANDS_UNIT_BITS - finer)) / tile->scale;
    *units = tile->world->config->origin[axis] +
             ((__int128)index * TILE_SIZE * tile->scale + sample) * step;
    return *units >= -FARLANDS_LIMIT && *units <= FARLANDS_LIMIT;
}

START_TEST(test_formula)
{
    uint64_t state = 7;
    int there = 0;
    for (int i = 0; i < 100000; i++) {
        config.native_zoom = chance_below(&state, 33);
        for (int axis = 0; axis < 2; axis++) {
            int64_t origin = (int64_t)chance(&state) >> (2 + chance_below(&state, 61));
            config.origin[axis] = origin;
        }
        int scale = 1 + chance_below(&state, 2);
        int z = config.native_zoom - 42 + chance_below(&state, 54 - scale);
        /* Around both ends and in between. */
        int64_t step = (INT64_C(1) << (FARLANDS_UNIT_BITS + config.native_zoom - z)) / scale;
        int64_t edge = FARLANDS_LIMIT / (step * TILE_SIZE * scale);
        int64_t choices[] = {edge - 2, -edge - 2, -2, (int64_t)(chance(&state) >> 1) % (edge + 1)};
        int64_t index[2];
        for (int axis = 0; axis < 2; axis++)
            index[axis] = choices[chance_below(&state, 4)] + chance_below(&state, 5) -
                          config.origin[axis] / (step * TILE_SIZE * scale);

        struct tile_address tile = tile_at(scale, z, index[0], index[1]);
        tile.border = chance_below(&state, 2);
        struct farlands_grid grid;
        const char *what = NULL;
        char name[TILE_PATH_MAX];
        __int128 first[2], last[2];
        bool inside[2];
        for (int axis = 0; axis < 2; axis++) {
            inside[axis] = place_of(&tile, axis, 0, &first[axis]);
            inside[axis] &= place_of(&tile, axis, tile_size(&tile) - 1, &last[axis]);
        }
        int err = tile_grid(&tile, &grid, &what);
        tile_path(&tile, name);
        must(err == (inside[0] && inside[1] ? 0 : -ERANGE), "%s of native zoom %d: %d", name,
             config.native_zoom, err);
        if (err) {
            must(!inside[what[0] == 'y'], "%s: %s is fine", name, what);
            continue;
        }
        must(grid.x == first[0] && grid.y == first[1], "%s: at %" PRId64 " %" PRId64, name, grid.x,
             grid.y);
        must(grid.x + (grid.width - 1) * grid.step == last[0], "%s: step %" PRId64, name,
             grid.step);
        there++;
    }
    ck_assert_int_gt(there, 10000);
}
END_TEST

/* Neighbors join, sample 2i of zoom z is sample i of zoom z-1, and @2x is half a step. */
START_TEST(test_pyramid)
{
    uint64_t state = 8;
    for (int i = 0; i < 50000; i++) {
        int z = -25 + chance_below(&state, 51);
        int64_t span = INT64_C(1) << (26 + z);
        int64_t x = (int64_t)chance(&state) % (span + 1), y = (int64_t)chance(&state) % (span + 1);
        struct tile_address tile = tile_at(1, z, x, y), east = tile_at(1, z, x + 1, y + 1);
        struct tile_address twice = tile_at(2, z, x, y), parent = tile_at(1, z - 1, x >> 1, y >> 1);
        struct farlands_grid grid, next, fine, coarse;
        char name[TILE_PATH_MAX];
        tile_path(&tile, name);
        must(tile_grid(&tile, &grid, NULL) == 0, "%s is not there", name);
        must(tile_grid(&east, &next, NULL) == 0, "east of %s is not there", name);
        must(tile_grid(&parent, &coarse, NULL) == 0, "parent of %s is not there", name);
        must(next.x == grid.x + TILE_SIZE * grid.step && next.y == grid.y + TILE_SIZE * grid.step,
             "%s: no neighbor", name);
        must(coarse.step == 2 * grid.step, "%s: parent's step", name);
        must(coarse.x + 128 * (x & 1) * coarse.step == grid.x, "%s: parent's x", name);
        must(coarse.y + 128 * (y & 1) * coarse.step == grid.y, "%s: parent's y", name);
        if (z == 26)
            continue;
        must(tile_grid(&twice, &fine, NULL) == 0, "%s@2x is not there", name);
        must(fine.x == grid.x && fine.y == grid.y && 2 * fine.step == grid.step &&
                 fine.width == 2 * grid.width,
             "%s@2x is elsewhere", name);
    }
}
END_TEST

/* Tiles exist at exactly the zooms that the world announces. */
START_TEST(test_zooms)
{
    for (int native = 0; native <= 32; native++) {
        config.native_zoom = native;
        for (int scale = 1; scale <= 2; scale++) {
            ck_assert_int_eq(world_min_zoom(&world), native - 42);
            ck_assert_int_eq(world_max_zoom(&world, scale), native + 11 - scale);
            for (int z = native - 45; z <= native + 13; z++) {
                struct tile_address tile = tile_at(scale, z, 0, 0);
                struct farlands_grid grid;
                bool there = z >= native - 42 && z <= native + 11 - scale;
                must(tile_grid(&tile, &grid, NULL) == (there ? 0 : -ERANGE), "zoom %d of %d", z,
                     native);
            }
        }
    }
}
END_TEST

static const struct {
    const char *layer;
    enum format format;
    int scale, z;
    int64_t x, y;
    bool border;
    const char *path, *url;
} paths[] = {
    {"relief", FORMAT_PNG, 2, 10, 512, -3, false, "relief/10/512/-3@2x.png",
     "relief/10/512/-3@2x.png"},
    {"relief", FORMAT_PNG, 1, 10, 512, -3, false, "relief/10/512/-3.png", "relief/10/512/-3.png"},
    {"height", FORMAT_R16, 1, -26, 0, 0, false, "height/-26/0/0.r16", "height/-26/0/0.r16"},
    {"height", FORMAT_F32, 2, 0, 1, 2, false, "height/0/1/2@2x.f32", "height/0/1/2@2x.f32"},
    {"height", FORMAT_F32, 1, 0, 1, 2, true, "height/0/1/2+border.f32",
     "height/0/1/2.f32?border=1"},
    {"relief", FORMAT_PNG, 2, 10, 512, -3, true, "relief/10/512/-3@2x+border.png",
     "relief/10/512/-3@2x.png?border=1"},
    {"height", FORMAT_PNG, 2, -2147483647, INT64_MIN, INT64_MIN, false,
     "height/-2147483647/-9223372036854775808/-9223372036854775808@2x.png",
     "height/-2147483647/-9223372036854775808/-9223372036854775808@2x.png"},
    {"gray", FORMAT_PNG, 1, 2147483647, INT64_MAX, INT64_MAX, false,
     "gray/2147483647/9223372036854775807/9223372036854775807.png",
     "gray/2147483647/9223372036854775807/9223372036854775807.png"},
};

START_TEST(test_path)
{
    struct tile_address tile = tile_at(paths[_i].scale, paths[_i].z, paths[_i].x, paths[_i].y);
    char buffer[TILE_PATH_MAX + 1];
    memset(buffer, 'x', sizeof buffer);
    tile.layer = layer_find(paths[_i].layer);
    tile.format = paths[_i].format;
    tile.border = paths[_i].border;
    ck_assert_ptr_eq(tile_path(&tile, buffer), buffer);
    ck_assert_str_eq(buffer, paths[_i].path);
    ck_assert_ptr_eq(tile_url(&tile, buffer), buffer);
    ck_assert_str_eq(buffer, paths[_i].url);
    ck_assert_int_eq(buffer[TILE_PATH_MAX], 'x');
}
END_TEST

/* No layer's name makes a path too long. */
START_TEST(test_longest_path)
{
    struct field longest = {.operation = 0};
    struct farlands_terrain terrain = {.field = &longest, .fields = 1};
    memset(longest.name, 'f', sizeof longest.name - 1);
    world.base_terrain = &terrain;
    for (int layer = 0; layers[layer].name; layer++) {
        struct tile_address tile = tile_at(2, INT32_MIN, INT64_MIN, INT64_MIN);
        char buffer[TILE_PATH_MAX], expected[512], name[LAYER_NAME_MAX];
        layer_name(&world, layer, 0, name);
        ck_assert_uint_lt(strlen(name), ROUTE_LAYER);
        tile.layer = layer;
        tile.format = FORMAT_PNG;
        tile.border = true;
        snprintf(expected, sizeof expected, "%s/%d/%" PRId64 "/%" PRId64 "@2x.png?border=1", name,
                 tile.z, tile.x, tile.y);
        ck_assert_str_eq(tile_url(&tile, buffer), expected);
        ck_assert_uint_lt(strlen(tile_path(&tile, buffer)), strlen(expected));
    }
    world.base_terrain = NULL;
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tile");
    TCase *tcase = suite_case(suite, "grid");
    tcase_add_checked_fixture(tcase, set_up, NULL);
    tcase_add_loop_test(tcase, test_corners, 0, ROWS(corners));
    tcase_add_loop_test(tcase, test_limits, 0, ROWS(limits));
    tcase_add_test(tcase, test_border_at_limit);
    tcase_add_test(tcase, test_formula);
    tcase_add_test(tcase, test_pyramid);
    tcase_add_test(tcase, test_zooms);
    tcase_add_loop_test(tcase, test_path, 0, ROWS(paths));
    tcase_add_test(tcase, test_longest_path);
    return suite_run(suite);
}
