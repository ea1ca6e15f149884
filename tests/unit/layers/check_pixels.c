/*
 * Pixels stay as they are until a version is raised. Browsers and caches keep a tile under its
 * fingerprint for a year: if a painter draws other pixels and the fingerprint stays, they never ask
 * again. pixels.def has a hash of what each layer paints, beside the version or the fingerprint
 * that it was painted with:
 *
 * - of synthetic grounds, with .version of the layer;
 * - of maps and tiles of the built-in worlds, with the fingerprint: of pixels as painted, of
 *   decoded PNG files, and of samples.
 *
 * WebP tiles are made of the same painted pixels. What libwebp makes of them differs from version
 * to version of libwebp, which is part of the fingerprint; so decoded WebP has no rows.
 *
 * PIXELS=refresh writes the table (make refresh-pixels), but not a row whose version has stayed.
 */
#include <stdarg.h>
#include <xxhash.h>

#include "noise/terrain/terrain.h"
#include "server/layers/climate_colors.h"
#include "server/layers/inland_water.h"
#include "server/tiles/render.h"
#include "tests/unit/support/sample_biomes.h"
#include "tests/unit/support/tile_fixtures.h"

#define TABLE "tests/unit/layers/pixels.def"

static const struct row {
    const char *name, *identity; /* the version of the layer, or the fingerprint */
    uint64_t hash;
} rows[] = {
#define PIXELS(name, identity, hash) {name, identity, UINT64_C(hash)},
#include "pixels.def"
#undef PIXELS
};

static bool seen[ROWS(rows)];
static int faults;
static FILE *refreshed; /* the new table, or NULL */

__attribute__((format(printf, 1, 2))) static void fault(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    faults++;
}

/*
 * Compare a hash with its row, or write it to the new table. RAISE is the number to raise if it has
 * changed. Returns whether it is as the table says, or may be.
 */
static bool compare(const char *name, const char *identity, uint64_t hash, const char *raise)
{
    int i = 0;
    while (i < ROWS(rows) && strcmp(rows[i].name, name) != 0)
        i++;
    const bool has = i < ROWS(rows), same = has && strcmp(rows[i].identity, identity) == 0;
    const bool stale = same && rows[i].hash != hash;
    if (has)
        seen[i] = true;
    if (stale)
        fault("%s: the pixels have changed, and their version has not: raise %s, then run make "
              "refresh-pixels\n",
              name, raise);
    else if (!refreshed && !has)
        fault("%s: no row in %s: run make refresh-pixels\n", name, TABLE);
    else if (!refreshed && !same)
        fault("%s: the version is %s, in %s %s: run make refresh-pixels\n", name, identity, TABLE,
              rows[i].identity);
    if (refreshed)
        fprintf(refreshed, "PIXELS(\"%s\", \"%s\", 0x%016llx)\n", name, identity,
                (unsigned long long)(stale ? rows[i].hash : hash));
    return !stale;
}

static const char *const in_layers_def[] = {
#define LAYER(id, name, ...) name,
#include "server/layers/layers.def"
#undef LAYER
};

/* "`.version` of relief in server/layers/layers.def" */
static const char *version_of(int layer)
{
    static char text[128];
    bool listed = false;
    for (int i = 0; i < ROWS(in_layers_def); i++)
        listed |= strcmp(in_layers_def[i], layers[layer].name) == 0;
    snprintf(text, sizeof text, ".version of %s (%d) in server/layers/layers.%s",
             layers[layer].name, layers[layer].version, listed ? "def" : "c");
    return text;
}

/* Native-endian pixels as the same bytes on every machine. */
static uint64_t hash_pixels(uint64_t hash, const void *pixels, size_t count, size_t bytes)
{
    static uint8_t packed[LAYER_MAX_SIZE * LAYER_MAX_SIZE * 2];
    if (bytes != 2)
        return XXH64(pixels, count * bytes, hash);
    ck_assert_uint_le(2 * count, sizeof packed);
    for (size_t i = 0; i < count; i++) {
        const uint16_t value = ((const uint16_t *)pixels)[i];
        packed[2 * i] = (uint8_t)(value & 255);
        packed[2 * i + 1] = (uint8_t)(value >> 8);
    }
    return XXH64(packed, 2 * count, hash);
}

static uint64_t hash_floats(uint64_t hash, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[4];
        uint32_t bits;
        memcpy(&bits, values + i, 4);
        for (int k = 0; k < 4; k++)
            bytes[k] = (uint8_t)(bits >> 8 * k);
        hash = XXH64(bytes, sizeof bytes, hash);
    }
    return hash;
}

/* --- Synthetic grounds: every climate, every slope, sea, lakes and rivers of every order --- */

enum { SIZE = 96, REACH = 3, FIELD = SIZE + 2 * REACH, SAMPLES = FIELD * FIELD };

static float ground[SAMPLES], temperature[SAMPLES], humidity[SAMPLES];
static float water[SAMPLES], order[SAMPLES], bank[SAMPLES];

static const struct biome_table biomes = {
    .rows = {{SAMPLE_BIOMES, {6, {ANY, ANY, ANY, {0.7F, INFINITY}}}}, 7},
    .look = {SAMPLE_LOOKS, {"rock", {120, 110, 100}}},
};

static const struct palette_stop stops[] = {
    {-3000, 0x08, 0x18, 0x38}, {-50, 0x30, 0x60, 0x90}, {0, 0x80, 0xc0, 0xe0},
    {0, 0xe0, 0xd0, 0xa0},     {300, 0x50, 0x80, 0x40}, {1500, 0x90, 0x80, 0x70},
    {3000, 0xff, 0xff, 0xff},
};

/* Only exact operations: the same on every machine. */
static void make_ground(void)
{
    uint64_t state = 28;
    for (int j = 0; j < FIELD; j++)
        for (int i = 0; i < FIELD; i++) {
            const int k = j * FIELD + i;
            const float rough = (float)(chance_below(&state, 2049) - 1024) / 1024;
            /* From sea to peaks along x, with a valley; the rougher, the further along y. */
            ground[k] =
                (float)((i - 24) * (i - 24) * (i < 24 ? -4 : 1)) / 2 + rough * (float)(j * j) / 32;
            temperature[k] = (float)(j - 40) * 0.75F + rough;
            humidity[k] = (float)i / 80 + rough / 16;
            const int away = abs((i + j) % 24 - 12);
            order[k] = away < 5 ? (float)(chance_below(&state, 64) + 8 * (j / 12)) / 8 : 0;
            bank[k] = (float)(away * 8 - 12) + rough;
            water[k] = bank[k] < 0 || (i > 40 && i < 60 && j % 32 < 16) ? ground[k] + 2 + 40 * rough
                                                                        : -32768;
        }
}

static const struct look {
    const char *name;
    bool climate, water;
    int reach;
    float spacing, exaggeration;
} looks[] = {
    {"palette", false, false, 1, 16, 1},   {"far palette", false, false, 3, 1, 8},
    {"climate", true, false, 1, 64, 1.5F}, {"lake", true, true, 1, 4, 1},
    {"river", true, true, 1, 64, 2},
};

static void compare_synthetic(const struct look *look)
{
    static struct world_config world;
    static struct color_table colors;
    static uint8_t pixels[SIZE * SIZE * 3] __attribute__((aligned(8)));
    const int first = REACH * FIELD + REACH;
    double widths[RIVER_ORDERS];

    memcpy(world.palette, stops, sizeof stops);
    world.stops = ROWS(stops);
    color_table_make(&colors, &world, -3000, 3000);
    colors.climate = look->climate ? climate_colors_new(&biomes, &colors) : NULL;
    for (int k = 0; k < RIVER_ORDERS; k++)
        widths[k] = 0.5 * (double)(1 << k);
    for (int i = 0; layers[i].name; i++) {
        const struct heights heights = {
            .first = ground + first,
            .temperature = temperature + first,
            .humidity = humidity + first,
            .water = look->water ? water + first : NULL,
            .river = look->water ? order + first : NULL,
            .bank = look->water ? bank + first : NULL,
            .rivers = river_scale_make((double)look->spacing, widths),
            .stride = FIELD,
            .size = SIZE,
            .rows = SIZE,
            .reach = look->reach,
            .spacing = look->spacing,
            .exaggeration = look->exaggeration,
            .range = {colors.min, colors.max},
        };
        char name[64], version[16];
        layers[i].paint(&heights, &colors, pixels);
        snprintf(name, sizeof name, "%s: %s", look->name, layers[i].name);
        snprintf(version, sizeof version, "%d", layers[i].version);
        compare(name, version,
                hash_pixels(0, pixels, (size_t)SIZE * SIZE, pixel_bytes(layers[i].pixel)),
                version_of(i));
    }
    free(colors.climate);
}

/* --- Built-in worlds --- */

/* Maps of 64 x 64 pixels, from a place on: blocks. */
enum { MAP = 64 };
static const struct map {
    const char *world;
    int64_t x, y, step;
} maps[] = {
    {"default", 160, -96, 2},
    {"default", -2000, -2000, 64},
    {"default", -60000, -90000, 2048},
    {"default", -4000000, -3000000, 131072},
    {"archipelago", -64, -64, 2},
    {"archipelago", -2000, -2000, 64},
    {"archipelago", -60000, -60000, 2048},
    {"archipelago", -4000000, -3000000, 131072},
    {"alps", -64, -64, 2},
    {"alps", -2000, -2000, 64},
    {"alps", -60000, -60000, 2048},
    {"alps", -4000000, -3000000, 131072},
};

/* Tiles near the origin, of each world. */
static const struct {
    int scale, z;
    int64_t x, y;
    bool border;
} tiles[] = {
    {1, 12, 2047, 2046, false},
    {2, 10, 511, 511, true},
};

static struct render_scratch *scratch;

/* The fields that pictures are made of. */
static uint64_t hash_ground(uint64_t hash, const struct world *world,
                            const struct farlands_grid *grid)
{
    static const char *const names[] = {"height", "temperature", "humidity", "biome",
                                        "water",  "river",       "bank"};
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    float *values = malloc(count * sizeof *values);
    ck_assert_ptr_nonnull(values);
    for (int n = 0; n < ROWS(names); n++) {
        const int field = world_field(world, names[n], strlen(names[n]));
        if (field < 0)
            continue;
        ck_assert_int_eq(terrain_fields(world->base_terrain, render_scratch_noise(scratch), grid,
                                        &field, 1, &values, (size_t)grid->width),
                         0);
        hash = hash_floats(hash, values, count);
    }
    free(values);
    return hash;
}

/* Those of `layers`, one after the other; each field is a layer for itself, here those of climate.
 */
static int shown_field(const struct world *world, int layer)
{
    return layers[layer].fields ? world_field(world, "temperature", 11)
                                : world_layer_field(world, layer);
}

static struct farlands_grid grid_of(const struct map *map, const struct layer *layer)
{
    return (struct farlands_grid){
        map->x * FARLANDS_UNIT,         map->y * FARLANDS_UNIT, map->step * FARLANDS_UNIT, MAP, MAP,
        !layer->exact && !layer->fields};
}

static uint64_t hash_map(uint64_t hash, const struct world *world, int layer, const struct map *map)
{
    const struct content content = world_content(world, layer, shown_field(world, layer));
    const struct farlands_grid grid = grid_of(map, &layers[layer]);
    struct adler sum;
    struct blob *band;
    /* Exact samples of rivers end at 64 blocks. */
    if (!grid.band_limit && map->step > 64)
        return hash;
    ck_assert_int_eq(render_band(&band, &sum, scratch, &content, &grid, 0, NULL), 0);
    blob_release(band);
    return hash_pixels(hash, render_scratch_pixels(scratch), (size_t)MAP * MAP,
                       pixel_bytes(layers[layer].pixel));
}

/* The pixels of a PNG, with the colors and opacities of its palette. */
static uint64_t hash_png(uint64_t hash, const struct blob *blob)
{
    struct picture picture;
    picture_decode(&picture, blob->bytes, blob->length);
    const size_t width = picture.depth == 16 ? 2 : 1;
    hash = hash_pixels(hash, picture.pixels, picture.bytes / width, width);
    picture_free(&picture);
    return hash;
}

static void compare_layer(const struct world *world, int layer, bool same_ground)
{
    const char *const name = world->name, *raise = version_of(layer);
    uint64_t painted = 0, files[FORMATS] = {0};
    char text[96];

    for (int i = 0; i < ROWS(maps); i++)
        if (strcmp(maps[i].world, name) == 0)
            painted = hash_map(painted, world, layer, &maps[i]);
    for (int i = 0; i < ROWS(tiles); i++)
        for (enum format format = 0; format < FORMATS; format++) {
            const struct tile_address tile = {
                world,          layer,           format,
                tiles[i].scale, tiles[i].z,      tiles[i].x,
                tiles[i].y,     tiles[i].border, shown_field(world, layer),
                false};
            const size_t size = (size_t)tile_size(&tile);
            struct blob *blob;
            if (!(layers[layer].formats >> format & 1) || format == FORMAT_WEBP)
                continue;
            ck_assert_int_eq(render_address(&blob, scratch, &tile, NULL, NULL), 0);
            if (format == FORMAT_PNG) {
                painted = hash_pixels(painted, render_scratch_pixels(scratch), size * size,
                                      pixel_bytes(layers[layer].pixel));
                files[format] = hash_png(files[format], blob);
            } else {
                files[format] = XXH64(blob->bytes, blob->length, files[format]);
            }
            blob_release(blob);
        }
    if (!same_ground)
        raise = "WORLD_FIELDS_GENERATOR in config/world/world_terrain.h";
    snprintf(text, sizeof text, "%s: %s", name, layers[layer].name);
    const bool same = compare(text, world->fingerprints.tile[layer], painted, raise);
    for (enum format format = 0; format < FORMATS; format++) {
        if (!(layers[layer].formats >> format & 1) || format == FORMAT_WEBP)
            continue;
        snprintf(text, sizeof text, "%s: %s.%s", name, layers[layer].name,
                 format_extension(format));
        /* The colors of a palette are the layer's, those of other pictures the encoder's. */
        const bool encoded = same && format == FORMAT_PNG && layers[layer].pixel != PIXEL_INDEX8;
        compare(text, world->fingerprints.tile[layer], files[format],
                encoded ? "IMAGE_VERSION in server/png/image_version.h" : raise);
    }
}

static void compare_world(const struct world *world)
{
    const char *const name = world->name;
    uint64_t hash = 0;
    char text[128];
    const struct layer filtered = {.exact = false};

    for (int i = 0; i < ROWS(maps); i++)
        if (strcmp(maps[i].world, name) == 0) {
            const struct farlands_grid grid = grid_of(&maps[i], &filtered);
            hash = hash_ground(hash, world, &grid);
        }
    for (int i = 0; i < ROWS(tiles); i++) {
        const struct tile_address tile = {.world = world,
                                          .scale = tiles[i].scale,
                                          .z = tiles[i].z,
                                          .x = tiles[i].x,
                                          .y = tiles[i].y,
                                          .border = tiles[i].border};
        struct farlands_grid grid;
        ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
        hash = hash_ground(hash, world, &grid);
    }
    snprintf(text, sizeof text, "%s: ground", name);
    const bool same = compare(text, world->fingerprints.region, hash,
                              "WORLD_FIELDS_GENERATOR in config/world/world_terrain.h");
    for (int layer = 0; layers[layer].name; layer++)
        if (world_serves(world, layer))
            compare_layer(world, layer, same);
}

static void compare_all(void)
{
    struct worlds *worlds = worlds_of(NULL);
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
    make_ground();
    for (int i = 0; i < ROWS(looks); i++)
        compare_synthetic(&looks[i]);
    for (int i = 0; i < worlds->count; i++)
        compare_world(&worlds->world[i]);
    for (int i = 0; i < ROWS(rows); i++)
        if (!refreshed && !seen[i])
            fault("%s: nothing paints this row of %s: run make refresh-pixels\n", rows[i].name,
                  TABLE);
    render_scratch_free(scratch);
    worlds_release(worlds);
}

START_TEST(test_pixels)
{
    const char *mode = getenv("PIXELS");
    if (mode && strcmp(mode, "refresh") == 0) {
        refreshed = fopen(TABLE, "w");
        ck_assert_msg(refreshed != NULL, "cannot write %s", TABLE);
        fputs("/* What each layer paints: see check_pixels.c. Written by make refresh-pixels.\n"
              " * PIXELS(what, version or fingerprint, hash) */\n",
              refreshed);
    }
    compare_all();
    fflush(stdout);
    if (refreshed)
        ck_assert_int_eq(fclose(refreshed), 0);
    ck_assert_msg(faults == 0, "%d of the rows above", faults);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pixels");
    tcase_add_test(suite_case(suite, "paint"), test_pixels);
    return suite_run(suite);
}
