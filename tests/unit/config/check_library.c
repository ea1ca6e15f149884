/* The public interface, from its contract in farlands.h: worlds from text, asked by field name. */
#include <errno.h>
#include <fenv.h>
#include <math.h>

#include "noise/farlands.h"
#include "server/world/tile.h"
#include "tests/unit/support/fixtures.h"

enum { SIDE = 17 };

static const char hills[] =
    "worlds: [{name: hills, seed: 7, native_zoom: 16, origin: [-8388608, -8388608],\n"
    "  noise: {wavelength: 1024, octaves: 8}}]";

static const char fields[] =
    "worlds:\n"
    "  - name: composed\n"
    "    native_zoom: 16\n"
    "    fields:\n"
    "      warmth: { noise: { wavelength: 4096, octaves: 3 }, unit: celsius }\n"
    "      hills: { noise: { wavelength: 512, octaves: 6 } }\n"
    "      height: { add: [{ multiply: [hills, 90] }, warmth], unit: m }\n";

/* Any place that is not NULL, for calls that must not get as far as writing there. */
static float nowhere[SIDE * SIDE];

static struct farlands_world *world_of(const char *text)
{
    struct farlands_world *world = NULL;
    char message[FARLANDS_MESSAGE] = "";
    const int err = farlands_world_new(&world, text, strlen(text), NULL, message, sizeof message);
    must(err == 0 && world, "%d: %s", err, message);
    return world;
}

START_TEST(test_facts)
{
    struct farlands_world *world = world_of(hills);
    int64_t x = 0, y = 0;
    float min = 0, max = 0;
    farlands_world_origin(world, &x, &y);
    ck_assert_str_eq(farlands_world_name(world), "hills");
    ck_assert_uint_eq(farlands_world_seed(world), 7);
    ck_assert_int_eq(farlands_world_generator(world), FARLANDS_GENERATOR);
    ck_assert_str_eq(farlands_world_fingerprint(world), "");
    ck_assert_int_eq(farlands_world_native_zoom(world), 16);
    ck_assert_int_eq(x, farlands_units(-8388608));
    ck_assert_int_eq(y, farlands_units(-8388608));
    ck_assert_str_eq(farlands_field_name(world, 0), "height");
    ck_assert_ptr_null(farlands_field_name(world, 1));
    ck_assert_ptr_null(farlands_field_name(world, SIZE_MAX));
    ck_assert_str_eq(farlands_field_unit(world, "height"), "m");
    ck_assert_ptr_null(farlands_field_unit(world, "Height"));
    ck_assert_int_eq(farlands_field_range(world, "height", &min, &max), 0);
    ck_assert(min < max);
    ck_assert_int_eq(farlands_field_range(world, "heigh", &min, &max), -ENOENT);
    ck_assert_ptr_nonnull(farlands_world_kernel(world));
    farlands_world_free(world);
    farlands_world_free(NULL);
}
END_TEST

static const char forests[] =
    "{\"name\":\"a\",\"generator\":3,\"fields\":{\"height\":0,\"all\":{\"biome\":{\"height\":\"height\",\"table\":["
    "{\"id\":255,\"name\":\"sea\",\"color\":\"#0000ff\",\"height\":[\"-.inf\",-1]},"
    "{\"id\":0,\"name\":\"fôret\",\"color\":\"#00ff00\",\"height\":[-1,\".inf\"]}]}},\"biome\":%s}}";

/* Where the field `biome` is the table, or leads to it, or does not. */
static const struct {
    const char *field;
    bool named;
} leads[] = {{"\"all\"", true},
             {"{\"of\":{\"of\":\"all\"}}", true},
             {"{\"abs\":\"all\"}", false},
             {"{\"of\":\"all\",\"lattice\":4}", false},
             {"7", false}};

START_TEST(test_biomes)
{
    char text[600];
    snprintf(text, sizeof text, forests, leads[_i].field);
    struct farlands_world *world = world_of(text);
    ck_assert(farlands_value(world, NULL, "all", 5, 5) == 0);
    ck_assert_ptr_null(farlands_biome_name(NULL, 0));
    for (int id = -1; id <= 256; id++) {
        const char *name = farlands_biome_name(world, id);
        if (leads[_i].named && (id == 0 || id == 255))
            ck_assert_str_eq(name, id ? "sea" : "fôret");
        else
            ck_assert_ptr_null(name);
    }
    farlands_world_free(world);
}
END_TEST

START_TEST(test_versions)
{
    int first = 0, last = 0;
    ck_assert_str_eq(farlands_version(), FARLANDS_VERSION);
    farlands_generators(&first, &last);
    ck_assert_int_le(first, FARLANDS_GENERATOR);
    ck_assert_int_ge(last, FARLANDS_GENERATOR);
}
END_TEST

START_TEST(test_fields)
{
    static const char *const names[] = {"warmth", "hills", "height"}, *const units[] = {"celsius",
                                                                                        "", "m"};
    struct farlands_world *world = world_of(fields);
    struct farlands_scratch *scratch;
    const struct farlands_grid grid = farlands_chunk(-5, 1 << 20, SIDE, SIDE - 2);
    static float out[3][SIDE * SIDE], alone[SIDE * SIDE];
    float *const outs[] = {out[0], out[1], out[2]}, *const one[] = {alone};
    ck_assert_int_eq(farlands_scratch_new(&scratch), 0);
    ck_assert_int_eq(farlands_fields(world, scratch, &grid, names, 3, outs, SIDE), 0);
    for (int i = 0; i < 3; i++) {
        float min, max;
        ck_assert_str_eq(farlands_field_name(world, (size_t)i), names[i]);
        ck_assert_str_eq(farlands_field_unit(world, names[i]), units[i]);
        ck_assert_int_eq(farlands_field_range(world, names[i], &min, &max), 0);
        ck_assert_int_eq(farlands_fields(world, NULL, &grid, &names[i], 1, one, SIDE), 0);
        for (int j = 0; j < grid.width * grid.height; j++) {
            const int column = j % grid.width, row = j / grid.width, at = row * SIDE + column;
            const int64_t x = grid.x + column * grid.step, y = grid.y + row * grid.step;
            const float value = farlands_value(world, j % 2 ? scratch : NULL, names[i], x, y);
            must(memcmp(&out[i][at], &value, sizeof value) == 0, "%s %d", names[i], j);
            must(memcmp(&alone[at], &value, sizeof value) == 0, "%s %d alone", names[i], j);
            must(value >= min && value <= max, "%s %g", names[i], (double)value);
        }
    }
    ck_assert_ptr_null(farlands_field_name(world, 3));
    ck_assert_int_eq(farlands_heights(world, scratch, &grid, alone, SIDE), 0);
    const float middle = farlands_height(world, scratch, grid.x, grid.y);
    ck_assert_mem_eq(&alone[0], &out[2][0], sizeof middle);
    ck_assert_mem_eq(&alone[0], &middle, sizeof middle);
    ck_assert_int_gt(farlands_world_generator(world), FARLANDS_GENERATOR);
    farlands_scratch_free(scratch);
    farlands_world_free(world);
}
END_TEST

/* Values are those of the field, and derivatives agree with central differences. */
START_TEST(test_gradients)
{
    struct farlands_world *world = world_of(fields);
    const struct farlands_grid grid = {-12345, 678901, 7 * FARLANDS_UNIT, SIDE, SIDE - 3, false};
    const int64_t h = FARLANDS_UNIT / 2;
    static float value[SIDE * SIDE], dx[SIDE * SIDE], dy[SIDE * SIDE];
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", value, dx, dy, SIDE), 0);
    for (int i = 0; i < SIDE * grid.height; i++) {
        const int64_t x = grid.x + i % SIDE * grid.step, y = grid.y + i / SIDE * grid.step;
        const double east =
            farlands_height(world, NULL, x + h, y) - (double)farlands_height(world, NULL, x - h, y);
        const double south =
            farlands_height(world, NULL, x, y + h) - (double)farlands_height(world, NULL, x, y - h);
        ck_assert(value[i] == farlands_height(world, NULL, x, y));
        must(fabs(dx[i] - east) < 0.01 && fabs(dy[i] - south) < 0.01, "%g %g: %g %g", (double)dx[i],
             (double)dy[i], east, south);
    }
    farlands_world_free(world);
}
END_TEST

START_TEST(test_gradients_refused)
{
    struct farlands_world *world = world_of(hills);
    struct farlands_grid grid = farlands_chunk(0, 0, 2, 2);
    float *const out = nowhere;
    ck_assert_int_eq(farlands_gradients(NULL, NULL, &grid, "height", out, out, out, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, NULL, "height", out, out, out, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, NULL, out, out, out, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", NULL, out, out, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", out, NULL, out, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", out, out, NULL, 2), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", out, out, out, 1), -EINVAL);
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "heights", out, out, out, 2), -ENOENT);
    grid.band_limit = true;
    ck_assert_int_eq(farlands_gradients(world, NULL, &grid, "height", out, out, out, 2), -EINVAL);
    for (int i = 0; i < ROWS(nowhere); i++)
        ck_assert(nowhere[i] == 0);
    farlands_world_free(world);
}
END_TEST

/* Seeds as text. */
START_TEST(test_seed)
{
    uint64_t seed = 9;
    ck_assert_int_eq(farlands_seed("-1", 2, &seed), 0);
    ck_assert_uint_eq(seed, UINT64_MAX);
    ck_assert_int_eq(farlands_seed("hello, world", 5, &seed), 0);
    ck_assert_uint_eq(seed, UINT64_C(11831194018420276491));
    ck_assert_int_eq(farlands_seed(" ", 1, &seed), -EINVAL);
    ck_assert_int_eq(farlands_seed(NULL, 0, &seed), -EINVAL);
    ck_assert_int_eq(farlands_seed("1", 1, NULL), -EINVAL);
    ck_assert_uint_eq(seed, UINT64_C(11831194018420276491));
}
END_TEST

/* Another seed is the world that a text with this seed has. */
START_TEST(test_reseed)
{
    static const char *const texts[] = {hills, fields};
    struct farlands_world *world = world_of(texts[_i]), *other, *back;
    char name[64];
    ck_assert_int_eq(farlands_world_reseed(&other, world, UINT64_MAX), 0);
    snprintf(name, sizeof name, "%s:18446744073709551615", farlands_world_name(world));
    ck_assert_str_eq(farlands_world_name(other), name);
    ck_assert_uint_eq(farlands_world_seed(other), UINT64_MAX);
    ck_assert_int_eq(farlands_world_reseed(&back, other, farlands_world_seed(world)), 0);
    snprintf(name, sizeof name, "%s:%llu", farlands_world_name(world),
             (unsigned long long)farlands_world_seed(world));
    ck_assert_str_eq(farlands_world_name(back), name);
    const float height = farlands_height(world, NULL, 1000, 1000);
    farlands_world_free(world); /* the others do not need it */
    ck_assert(farlands_height(other, NULL, 1000, 1000) != height);
    ck_assert(farlands_height(back, NULL, 1000, 1000) == height);
    farlands_world_free(other);
    farlands_world_free(back);
}
END_TEST

/* Each wrong argument is refused before anything is written. */
START_TEST(test_grids_refused)
{
    struct farlands_world *world = world_of(hills);
    const struct farlands_grid good = farlands_chunk(0, 0, SIDE, SIDE);
    const struct farlands_grid bad[] = {
        {0, 0, 0, SIDE, SIDE, false},
        {0, 0, -1, SIDE, SIDE, false},
        {0, 0, FARLANDS_MAX_STEP + 1, 1, 1, false},
        {0, 0, 1, 0, SIDE, false},
        {0, 0, 1, SIDE, -1, false},
        {FARLANDS_LIMIT + FARLANDS_MAX_STEP + 1, 0, 1, 1, 1, false},
        {INT64_MAX, INT64_MIN, FARLANDS_MAX_STEP, SIDE, SIDE, false},
    };
    static const char *const height[] = {"height"}, *const nothing[] = {NULL}, *const odd[] = {"x"};
    float *const out[] = {nowhere}, *const no[] = {NULL};
    for (int i = 0; i < ROWS(bad); i++) {
        ck_assert_int_eq(farlands_heights(world, NULL, &bad[i], nowhere, SIDE), -EINVAL);
        ck_assert_int_eq(farlands_fields(world, NULL, &bad[i], height, 1, out, SIDE), -EINVAL);
    }
    ck_assert_int_eq(farlands_heights(NULL, NULL, &good, nowhere, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_heights(world, NULL, NULL, nowhere, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_heights(world, NULL, &good, NULL, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_heights(world, NULL, &good, nowhere, SIDE - 1), -EINVAL);
    ck_assert_int_eq(farlands_fields(world, NULL, &good, height, 0, out, SIDE), -EINVAL);
    ck_assert_int_eq(
        farlands_fields(world, NULL, &good, height, FARLANDS_MAX_FIELDS + 1, out, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_fields(world, NULL, &good, nothing, 1, out, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_fields(world, NULL, &good, height, 1, no, SIDE), -EINVAL);
    ck_assert_int_eq(farlands_fields(world, NULL, &good, odd, 1, out, SIDE), -ENOENT);
    ck_assert_int_eq(farlands_fields(world, NULL, &good, height, 1, out, SIDE - 1), -EINVAL);
    for (int i = 0; i < ROWS(nowhere); i++)
        ck_assert(nowhere[i] == 0);
    farlands_world_free(world);
}
END_TEST

START_TEST(test_others_refused)
{
    struct farlands_world *world = world_of(hills), *made = NULL;
    const struct farlands_box box = {0, 0, 0, 1, 2, 2, 2}, flat = {0, 0, 0, 1, 2, 2, 0};
    const int64_t place[4] = {0};
    char message[8] = "before";
    ck_assert_int_eq(farlands_world_new(NULL, "a", 1, NULL, message, sizeof message), -EINVAL);
    ck_assert_str_eq(message, "NULL fo"); /* cut to its size */
    ck_assert_int_eq(farlands_world_new(&made, NULL, 1, NULL, NULL, 0), -EINVAL);
    ck_assert_int_eq(farlands_world_new(&made, "worlds: [", 9, NULL, NULL, 8), -EINVAL);
    ck_assert_int_eq(farlands_world_new(&made, hills, strlen(hills), "x", NULL, 0), -ENOENT);
    ck_assert_int_eq(farlands_world_reseed(&made, NULL, 1), -EINVAL);
    ck_assert_int_eq(farlands_world_reseed(NULL, world, 1), -EINVAL);
    ck_assert_ptr_null(made);
    ck_assert_int_eq(farlands_density(world, NULL, &flat, nowhere), -EINVAL);
    ck_assert_int_eq(farlands_density(world, NULL, &box, NULL), -EINVAL);
    ck_assert_int_eq(farlands_density(NULL, NULL, &box, nowhere), -EINVAL);
    ck_assert_int_eq(farlands_volume(world, NULL, &flat, nowhere), -EINVAL);
    ck_assert_int_eq(farlands_volume(world, NULL, NULL, nowhere), -EINVAL);
    ck_assert(isnan(farlands_height(NULL, NULL, 0, 0)));
    ck_assert(isnan(farlands_height(world, NULL, INT64_MAX, 0)));
    ck_assert(isnan(farlands_value(world, NULL, "depth", 0, 0)));
    ck_assert(isnan(farlands_value(world, NULL, NULL, 0, 0)));
    ck_assert(isnan(farlands_density_at(NULL, 0, 0, 0)));
    ck_assert(isnan(farlands_noise(world, 0, place)) && isnan(farlands_noise(world, 5, place)));
    ck_assert(isnan(farlands_noise(world, 2, NULL)));
    ck_assert_ptr_null(farlands_field_name(NULL, 0));
    ck_assert_ptr_null(farlands_field_unit(world, NULL));
    ck_assert_int_eq(farlands_field_range(world, "height", NULL, NULL), -EINVAL);
    farlands_world_free(world);
}
END_TEST

START_TEST(test_space)
{
    struct farlands_world *world = world_of(fields);
    const struct farlands_box box = {-3000, 5000, 40, 333, 5, 4, 3};
    float density[60], noise[60];
    ck_assert_int_eq(farlands_density(world, NULL, &box, density), 0);
    ck_assert_int_eq(farlands_volume(world, NULL, &box, noise), 0);
    for (int i = 0; i < 60; i++) {
        const int64_t place[4] = {box.x + i % 5 * box.step, box.y + i / 5 % 4 * box.step,
                                  box.z + i / 20 * box.step, 0};
        ck_assert(density[i] == farlands_density_at(world, place[0], place[1], place[2]));
        ck_assert(noise[i] == (float)farlands_noise(world, 3, place));
        ck_assert(isfinite(farlands_noise(world, 1 + i % 4, place)));
    }
    farlands_world_free(world);
}
END_TEST

/* Grids of tiles are those of the server. */
START_TEST(test_tiles)
{
    struct farlands_world *world = world_of(hills);
    char directory[FOLDER_TEXT], file[FOLDER_TEXT + 16];
    folder_new(directory);
    snprintf(file, sizeof file, "%s/a.yaml", directory);
    file_write(file, hills, strlen(hills));
    struct worlds *worlds = worlds_of(file);
    for (int zoom = -30; zoom <= 30; zoom++)
        for (int64_t x = -3; x <= 3; x++)
            for (int scale = 1; scale <= 2; scale++) {
                const struct tile_address tile = {.world = worlds->world,
                                                  .layer = layer_find("height"),
                                                  .z = zoom,
                                                  .x = x * 1000003,
                                                  .y = -x,
                                                  .scale = scale};
                struct farlands_grid expected = {0}, grid = {0};
                const int err = tile_grid(&tile, &expected, NULL);
                must(!farlands_tile(world, zoom, x * 1000003, -x, 256 * scale, &grid) == !err,
                     "%d %d %d", zoom, (int)x, scale);
                if (err)
                    continue;
                ck_assert_int_eq(grid.x, expected.x);
                ck_assert_int_eq(grid.y, expected.y);
                ck_assert_int_eq(grid.step, expected.step);
                ck_assert_int_eq(grid.width, expected.width);
                ck_assert_int_eq(grid.height, expected.height);
            }
    worlds_release(worlds);
    folder_remove(directory);
    farlands_world_free(world);
}
END_TEST

START_TEST(test_tiles_refused)
{
    struct farlands_world *world = world_of(hills);
    const struct farlands_grid before = {1, 2, 3, 4, 5, true};
    struct farlands_grid grid = before;
    static const struct {
        int zoom;
        int64_t x;
        int size;
    } rows[] = {
        {27, 0, 256},  {-27, 0, 256}, {16, INT64_MAX, 256}, {16, 0, 0},          {16, 0, 255},
        {16, 0, 8192}, {26, 0, 512},  {INT32_MIN, 0, 256},  {INT32_MAX, 0, 256}, {-26, 0, 1},
    };
    for (int i = 0; i < ROWS(rows); i++)
        must(farlands_tile(world, rows[i].zoom, rows[i].x, 0, rows[i].size, &grid) == -EINVAL,
             "row %d", i);
    ck_assert_int_eq(farlands_tile(NULL, 16, 0, 0, 256, &grid), -EINVAL);
    ck_assert_int_eq(farlands_tile(world, 16, 0, 0, 256, NULL), -EINVAL);
    ck_assert_mem_eq(&grid, &before, sizeof grid);
    ck_assert_int_eq(farlands_tile(world, 16, 0, 0, 64, &grid), 0);
    ck_assert_int_eq(grid.step, 4 * FARLANDS_UNIT);
    farlands_world_free(world);
}
END_TEST

START_TEST(test_units)
{
    static const struct {
        int64_t units, block;
    } rows[] = {
        {0, 0},
        {1023, 0},
        {1024, 1},
        {-1, -1},
        {-1024, -1},
        {-1025, -2},
        {INT64_MAX, (INT64_C(1) << 53) - 1},
        {INT64_MIN, -(INT64_C(1) << 53)},
    };
    for (int i = 0; i < ROWS(rows); i++)
        ck_assert_int_eq(farlands_block(rows[i].units), rows[i].block);
    ck_assert_int_eq(farlands_units(-3), -3072);
    ck_assert(farlands_blocks(-1536) == -1.5);
}
END_TEST

/* A kernel that there is not: a message instead of a world. */
START_TEST(test_kernel)
{
    struct farlands_world *world = NULL;
    char message[FARLANDS_MESSAGE] = "";
    setenv("FARLANDS_KERNEL", "steam", 1);
    ck_assert_int_eq(
        farlands_world_new(&world, hills, strlen(hills), NULL, message, sizeof message), -EINVAL);
    ck_assert_ptr_null(world);
    must(strstr(message, "FARLANDS_KERNEL: got \"steam\"; expected "), "%s", message);
    setenv("FARLANDS_KERNEL", "scalar", 1);
    world = world_of(hills);
    ck_assert_str_eq(farlands_world_kernel(world), "scalar");
    farlands_world_free(world);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("the public interface");
    TCase *tcase = suite_case(suite, "farlands.h");
    tcase_add_test(tcase, test_facts);
    tcase_add_loop_test(tcase, test_biomes, 0, sizeof leads / sizeof *leads);
    tcase_add_test(tcase, test_versions);
    tcase_add_test(tcase, test_fields);
    tcase_add_test(tcase, test_gradients);
    tcase_add_test(tcase, test_gradients_refused);
    tcase_add_test(tcase, test_seed);
    tcase_add_loop_test(tcase, test_reseed, 0, 2);
    tcase_add_test(tcase, test_grids_refused);
    tcase_add_test(tcase, test_others_refused);
    tcase_add_test(tcase, test_space);
    tcase_add_test(tcase, test_tiles);
    tcase_add_test(tcase, test_tiles_refused);
    tcase_add_test(tcase, test_units);
    tcase_add_test(tcase, test_kernel);
    return suite_run(suite);
}
