/* Rendering: heights are right, and tiles are pieces of one picture. */
#include "server/tiles/render.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <webp/decode.h>

#include "server/png/image_checksum.h"
#include "tests/unit/support/tile_fixtures.h"

static struct worlds *worlds;
static struct render_scratch *scratch;

static void set_up(void)
{
    static const char yaml[] =
        "worlds:\n"
        "  - name: rough\n" /* much finer than a pixel and a block */
        "    noise: {wavelength: 4096, octaves: 5, lacunarity: 16, persistence: 0.6}\n"
        "    elevation: [[-0.3, -100], [0, 0], [0.3, 100]]\n"
        "  - name: smooth\n"
        "    native_zoom: 8\n"
        "    origin: [-0.5, 1000.25]\n"
        "    noise: {wavelength: 3000.5, octaves: 3, lacunarity: 1.9, fade: cubic}\n"
        "  - name: bent\n" /* is evaluated point by point */
        "    noise: {wavelength: 4096, octaves: 6, fractal: ridged,\n"
        "            warp: {amplitude: 300, wavelength: 1000}}\n"
        "    elevation: [[0.2, -100], [0.9, 900]]\n"
        "  - name: flat\n"
        "    noise: {octaves: 2}\n"
        "    elevation: [[-1, 50], [1, 50]]\n"
        "    palette: [[0, \"#102030\"], [100, \"#f0e0d0\"]]\n"
        "  - name: level\n" /* the noise stays in the flat middle */
        "    noise: {octaves: 2}\n"
        "    elevation: [[-1000, 0], [-999, 50], [999, 50], [1000, 100]]\n"
        "    palette: [[0, \"#102030\"], [100, \"#f0e0d0\"]]\n";
    worlds = worlds_of_text(yaml);
    ck_assert_int_eq(render_scratch_new(&scratch), 0);
}

static void tear_down(void)
{
    render_scratch_free(scratch);
    render_scratch_free(NULL);
    worlds_release(worlds);
}

/* That of fields shows the height. */
static struct tile_address tile_of(const char *world, const char *layer, enum format format,
                                   int scale, int z, int64_t x, int64_t y)
{
    const int number = layer_find(strcmp(layer, "field") == 0 ? "field.height" : layer);
    return (struct tile_address){
        worlds_find(worlds, world), number, format, scale, z, x, y, false, 0, false,
    };
}

static struct blob *render(const struct tile_address *tile)
{
    struct blob *blob = NULL;
    char name[TILE_PATH_MAX];
    int err = render_address(&blob, scratch, tile, NULL, NULL);
    must(err == 0 && blob, "%s: %d", tile_path(tile, name), err);
    must(blob->references == 1, "%u references", blob->references);
    return blob;
}

/* Pictures for eyes may have fewer colors than were painted, which are near them. From here on they
 * are compared as painted. */
static void restore_colors(struct picture *picture, const char *key)
{
    const uint8_t *painted = render_scratch_pixels(scratch);
    double sum = 0;
    for (size_t i = 0; i < picture->bytes; i++) {
        const int error = abs(picture->pixels[i] - painted[i]);
        must(error <= 22, "%s: byte %zu is %d for %d", key, i, picture->pixels[i], painted[i]);
        sum += error;
    }
    must(sum <= 3.0 * (double)picture->bytes, "%s: colors move by %g on average", key,
         sum / (double)picture->bytes);
    memcpy(picture->pixels, painted, picture->bytes);
}

static void render_picture(struct picture *picture, const struct tile_address *tile)
{
    struct blob *blob = render(tile);
    uint32_t size = (uint32_t)tile_size(tile);
    char key[TILE_KEY_MAX];
    must(image_checksum_verify(blob->bytes, blob->length, tile_key(tile, key)), "not of %s", key);
    picture_decode(picture, blob->bytes, blob->length);
    must(picture->width == size && picture->height == size, "%s: %u x %u", key, picture->width,
         picture->height);
    if (layers[tile->layer].pixel == PIXEL_PICTURE)
        restore_colors(picture, key);
    blob_release(blob);
}

static const struct {
    const char *world;
    int scale, z;
    int64_t x, y;
    bool filtered; /* an octave is too fine for pictures */
} places[] = {
    {"rough", 1, 16, 32768, 32768, true},
    {"rough", 2, 16, 32767, 32767, true},
    {"rough", 1, 26, 33554431, 33554432, false},
    {"rough", 2, 25, 12345678, -87654321, false},
    {"rough", 1, 0, 0, 0, true},
    {"rough", 1, -26, -3, 3, true},
    {"rough", 2, -26, 3, -3, true},
    {"rough", 1, 16, (INT64_C(1) << 44) + 32767, -(INT64_C(1) << 44) + 32768, true},
    {"rough", 1, 26, ((INT64_C(1) << 44) + 32768) * 1024 - 1, 7, false},
    {"smooth", 1, 8, -1, 0, false},
    {"smooth", 2, 17, -1, 1, false},
    {"flat", 1, 16, 5, 6, false},
    {"level", 1, 10, 5, 6, false},
};

static float float_at(const struct blob *blob, size_t index)
{
    uint32_t bits;
    float value;
    memcpy(&bits, blob->bytes + index * 4, 4);
    bits = le32toh(bits);
    memcpy(&value, &bits, 4);
    return value;
}

static unsigned short_at(const struct blob *blob, size_t index)
{
    return blob->bytes[2 * index] | (unsigned)blob->bytes[2 * index + 1] << 8;
}

/* f32 is the height at each sample's point, bit for bit, unless samples are far apart. */
START_TEST(test_f32)
{
    struct tile_address tile = tile_of(places[_i].world, "height", FORMAT_F32, places[_i].scale,
                                       places[_i].z, places[_i].x, places[_i].y);
    struct blob *blob = render(&tile);
    struct farlands_grid grid;
    size_t size = (size_t)tile_size(&tile);
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
    ck_assert_uint_eq(blob->length, size * size * 4);
    ck_assert(grid.band_limit == (grid.step > 64 * FARLANDS_UNIT));
    for (size_t k = 0; k < size * size && !grid.band_limit; k += 1 + (k % size ? 12 : 0)) {
        float height =
            terrain_height(tile.world->base_terrain, grid.x + (int64_t)(k % size) * grid.step,
                           grid.y + (int64_t)(k / size) * grid.step);
        float found = float_at(blob, k);
        must(memcmp(&found, &height, 4) == 0, "sample %zu: %a, not %a", k, (double)found,
             (double)height);
    }
    blob_release(blob);
}
END_TEST

/* Sample 2i is the coarser zoom's sample i, bit for bit. */
START_TEST(test_pyramid)
{
    struct tile_address tile = tile_of(places[_i].world, "height", FORMAT_F32, 1, places[_i].z,
                                       places[_i].x, places[_i].y);
    struct tile_address parent = tile;
    parent.z--;
    parent.x >>= 1;
    parent.y >>= 1;
    if (tile_grid(&parent, &(struct farlands_grid){0}, NULL))
        return;
    struct blob *fine = render(&tile), *coarse = render(&parent);
    size_t left = 128 * (size_t)(tile.x & 1), top = 128 * (size_t)(tile.y & 1);
    for (size_t j = 0; j < 128; j++)
        for (size_t i = 0; i < 128; i++)
            must(memcmp(fine->bytes + 4 * (2 * j * 256 + 2 * i),
                        coarse->bytes + 4 * ((top + j) * 256 + left + i), 4) == 0,
                 "sample %zu, %zu", i, j);
    blob_release(fine);
    blob_release(coarse);
}
END_TEST

/* r16 is height.png without the PNG, and both are f32 over the world's range. */
START_TEST(test_r16)
{
    struct tile_address tile = tile_of(places[_i].world, "height", FORMAT_R16, places[_i].scale,
                                       places[_i].z, places[_i].x, places[_i].y);
    struct blob *r16 = render(&tile);
    struct picture picture;
    tile.format = FORMAT_PNG;
    render_picture(&picture, &tile);
    tile.format = FORMAT_F32;
    struct blob *f32 = render(&tile);
    size_t count = (size_t)tile_size(&tile) * (size_t)tile_size(&tile);
    double min = tile.world->colors->min, max = tile.world->colors->max;
    ck_assert_double_lt(min, max);
    ck_assert_int_eq(picture.depth, 16);
    ck_assert_uint_eq(r16->length, 2 * count);
    for (size_t k = 0; k < count; k++) {
        unsigned value = short_at(r16, k), drawn = ((uint16_t *)(void *)picture.pixels)[k];
        must(value == drawn, "sample %zu: %u, %u in PNG", k, value, drawn);
        must(fabs(value - ((double)float_at(f32, k) - min) / (max - min) * 65535) <= 0.51,
             "sample %zu: %u for %g", k, value, (double)float_at(f32, k));
    }
    picture_free(&picture);
    blob_release(r16);
    blob_release(f32);
}
END_TEST

static bool far_apart(const struct tile_address *tile)
{
    struct farlands_grid grid;
    ck_assert_int_eq(tile_grid(tile, &grid, NULL), 0);
    return grid.step > 64 * FARLANDS_UNIT;
}

/* The heights of a picture's samples, without what is finer than a pixel. */
static float *filtered_heights(const struct tile_address *tile)
{
    const size_t size = (size_t)tile_size(tile);
    float *heights = malloc(size * size * sizeof *heights);
    struct farlands_grid grid;
    ck_assert_int_eq(tile_grid(tile, &grid, NULL), 0);
    grid.band_limit = true;
    ck_assert_ptr_nonnull(heights);
    ck_assert_int_eq(terrain_heights(tile->world->base_terrain, render_scratch_noise(scratch),
                                     &grid, heights, size),
                     0);
    return heights;
}

/* The DEM encodings hold the heights of pictures: those of f32 where no octave is too fine. */
START_TEST(test_encodings)
{
    const char *const names[] = {"terrarium", "terrain-rgb"};
    struct tile_address tile = tile_of(places[_i].world, "height", FORMAT_F32, places[_i].scale,
                                       places[_i].z, places[_i].x, places[_i].y);
    float *heights = filtered_heights(&tile);
    struct blob *f32 = render(&tile);
    bool filtered = false;
    for (size_t k = 0; k < f32->length / 4; k++)
        filtered |= heights[k] != float_at(f32, k);
    /* Far apart those of f32 are filtered, too. */
    const bool differs = places[_i].filtered && !far_apart(&tile);
    must(filtered == differs, "f32 is %s", filtered ? "another" : "the same");
    tile.format = FORMAT_PNG;
    for (int n = 0; n < ROWS(names); n++) {
        struct picture picture;
        tile.layer = layer_find(names[n]);
        render_picture(&picture, &tile);
        ck_assert_uint_eq(picture.bytes, f32->length / 4 * 3);
        for (size_t k = 0; k < picture.bytes / 3; k++) {
            const uint8_t *p = picture.pixels + 3 * k;
            const double step = n == 0 ? 1 / 256.0 : 0.1, offset = n == 0 ? 32768 : 10000;
            const double metres = (p[0] * 65536 + p[1] * 256 + p[2]) * step - offset;
            must(fabs(metres - (double)heights[k]) <= step / 2 + 1e-9, "%s: %g for %g", names[n],
                 metres, (double)heights[k]);
        }
        picture_free(&picture);
    }
    blob_release(f32);
    free(heights);
}
END_TEST

/* A tile at @2x has the pixels of the four tiles one zoom below, also across their borders. */
START_TEST(test_seams)
{
    if (places[_i].scale == 2)
        return;
    for (int layer = 0; layers[layer].name; layer++) {
        struct tile_address twice = tile_of(places[_i].world, layers[layer].name, FORMAT_PNG, 2,
                                            places[_i].z, places[_i].x, places[_i].y);
        struct picture whole, quarter;
        if (tile_grid(&twice, &(struct farlands_grid){0}, NULL))
            return;
        render_picture(&whole, &twice);
        const size_t bytes = whole.bytes / ((size_t)512 * 512); /* without a palette */
        for (int piece = 0; piece < 4; piece++) {
            size_t left = (size_t)(piece % 2) * 256, top = (size_t)(piece / 2) * 256;
            struct tile_address below = twice;
            below.scale = 1;
            below.z++;
            below.x = 2 * twice.x + piece % 2;
            below.y = 2 * twice.y + piece / 2;
            render_picture(&quarter, &below);
            for (size_t j = 0; j < 256; j++)
                must(memcmp(quarter.pixels + j * 256 * bytes,
                            whole.pixels + ((top + j) * 512 + left) * bytes, 256 * bytes) == 0,
                     "%s: row %zu of quarter %d", layers[layer].name, j, piece);
            picture_free(&quarter);
        }
        picture_free(&whole);
    }
}
END_TEST

/* The corners that tile x, y shares with three tiles to its east and south. */
static const struct {
    const char *world;
    int scale, z;
    int64_t x, y;
} corners[] = {
    {"rough", 1, 16, -1, -1},       {"rough", 2, 16, -1, -1},
    {"rough", 1, 16, 32767, 32767}, /* block 0 */
    {"rough", 2, 25, 16777215, -1}, {"rough", 1, 26, -1, 33554431},
    {"rough", 1, 10, -8, -3},       {"rough", 1, 2, -1, 1},
    {"rough", 1, -26, -1, -1},      {"rough", 1, 16, (INT64_C(1) << 43) - 1, -(INT64_C(1) << 43)},
    {"smooth", 1, 8, -1, -1},       {"smooth", 2, 10, 4, -5},
    {"smooth", 1, 18, -1, 0}, /* slopes over the longest reach */
    {"smooth", 2, 17, -1, -1},      {"bent", 1, 12, -1, 2047},
    {"bent", 1, 26, 33554431, -1},
};

/* If the world's grid begins half a tile further south-east, the borders between tiles are in the
 * middle of tiles. The pixels are the same. */
START_TEST(test_borders)
{
    for (int layer = 0; layers[layer].name; layer++) {
        struct tile_address tile =
            tile_of(corners[_i].world, layers[layer].name, FORMAT_PNG, corners[_i].scale,
                    corners[_i].z, corners[_i].x, corners[_i].y);
        const size_t size = (size_t)tile_size(&tile), half = size / 2;
        struct world shifted = *tile.world;
        struct world_config config = *shifted.config;
        struct farlands_grid grid;
        struct picture across, each;
        ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
        for (int axis = 0; axis < 2; axis++)
            config.origin[axis] += (int64_t)half * grid.step;
        shifted.config = &config;
        struct tile_address middle = tile;
        middle.world = &shifted;
        render_picture(&across, &middle);
        const size_t bytes = across.bytes / (size * size); /* without a palette */
        for (size_t piece = 0; piece < 4; piece++) {
            const size_t right = piece % 2, down = piece / 2;
            tile.x = corners[_i].x + (int64_t)right;
            tile.y = corners[_i].y + (int64_t)down;
            render_picture(&each, &tile);
            for (size_t j = 0; j < half; j++)
                must(memcmp(across.pixels + ((down * half + j) * size + right * half) * bytes,
                            each.pixels +
                                (((1 - down) * half + j) * size + (1 - right) * half) * bytes,
                            half * bytes) == 0,
                     "%s: row %zu of quarter %zu", layers[layer].name, j, piece);
            picture_free(&each);
        }
        picture_free(&across);
    }
}
END_TEST

/* A part of SIZE x SIZE pixels of A, from column X and row Y on, is the same as in B. */
static void must_share(const struct picture *a, size_t x, size_t y, const struct picture *b,
                       size_t width, size_t height, size_t bytes, const char *what)
{
    for (size_t j = 0; j < height; j++)
        must(memcmp(a->pixels + ((y + j) * a->width + x) * bytes, b->pixels + j * b->width * bytes,
                    width * bytes) == 0,
             "%s: row %zu", what, j);
}

/* A tile with a border is the tile, and the first column and row of the next ones. */
START_TEST(test_shared_edges)
{
    for (int layer = 0; layers[layer].name; layer++) {
        struct tile_address tile =
            tile_of(corners[_i].world, layers[layer].name, FORMAT_PNG, corners[_i].scale,
                    corners[_i].z, corners[_i].x, corners[_i].y);
        const size_t size = (size_t)tile_size(&tile);
        struct picture bordered, each;
        tile.border = true;
        render_picture(&bordered, &tile);
        ck_assert_uint_eq(bordered.width, size + 1);
        const size_t bytes = bordered.bytes / ((size + 1) * (size + 1));
        tile.border = false;
        for (size_t piece = 0; piece < 4; piece++) {
            const size_t right = piece % 2, down = piece / 2;
            tile.x = corners[_i].x + (int64_t)right;
            tile.y = corners[_i].y + (int64_t)down;
            render_picture(&each, &tile);
            must_share(&bordered, right * size, down * size, &each, right ? 1 : size,
                       down ? 1 : size, bytes, layers[layer].name);
            picture_free(&each);
        }
        picture_free(&bordered);
    }
}
END_TEST

static const struct {
    const char *world;
    int scale, z;
    int64_t x, y;
    int apart; /* units to either side: an eighth of the finest wavelength, or near enough to it */
} slants[] = {
    {"smooth", 1, 18, 3000, -70000, 1024}, {"smooth", 2, 12, -1, 77, 4096},
    {"smooth", 1, 8, 10, -20, 65536},      {"rough", 1, 26, 33554432, -5, 4},
    {"rough", 1, 26, -123456789, 7, 4},
};

/* If pixels are finer than the terrain, normals are those of the heights. */
START_TEST(test_normals_of_heights)
{
    struct tile_address tile = tile_of(slants[_i].world, "normal", FORMAT_PNG, slants[_i].scale,
                                       slants[_i].z, slants[_i].x, slants[_i].y);
    const struct farlands_terrain *terrain = tile.world->base_terrain;
    const int size = tile_size(&tile), apart = slants[_i].apart;
    struct farlands_grid grid;
    struct picture picture;
    int least = 255, most = 0;
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
    render_picture(&picture, &tile);
    for (int j = 0; j < size; j += 5)
        for (int i = j % 7; i < size; i += 7) {
            const int64_t x = grid.x + i * grid.step, y = grid.y + j * grid.step;
            const double blocks = 2.0 * apart / FARLANDS_UNIT;
            const double east = ((double)terrain_height(terrain, x + apart, y) -
                                 (double)terrain_height(terrain, x - apart, y)) /
                                blocks;
            const double north = ((double)terrain_height(terrain, x, y - apart) -
                                  (double)terrain_height(terrain, x, y + apart)) /
                                 blocks;
            const double length = sqrt(1 + east * east + north * north);
            const double normal[] = {-east / length, -north / length, 1 / length};
            const uint8_t *p = picture.pixels + (j * size + i) * 3;
            for (int c = 0; c < 3; c++)
                must(fabs(p[c] - (normal[c] + 1) * 127.5) <= 2, "%d, %d: %d %d %d for %g, %g", i, j,
                     p[0], p[1], p[2], east, north);
            least = p[0] < least ? p[0] : least;
            most = p[0] > most ? p[0] : most;
        }
    ck_assert_int_gt(most, least);
    picture_free(&picture);
}
END_TEST

/* Worlds without relief, or without relief in these tiles. */
START_TEST(test_flat)
{
    const char *const names[] = {"flat", "level"};
    for (int i = 0; i < ROWS(names); i++) {
        for (int z = -26; z <= 26; z += 26) {
            struct tile_address tile = tile_of(names[i], "relief", FORMAT_PNG, 1, z, 0, 0);
            struct picture picture;
            render_picture(&picture, &tile);
            for (size_t k = 0; k < picture.bytes; k++)
                must(abs(picture.pixels[k] - 0x80) <= 1, "%s at zoom %d: %02x", names[i], z,
                     picture.pixels[k]);
            picture_free(&picture);
        }
    }
}
END_TEST

/* A render does not depend on earlier ones with the same scratch. */
START_TEST(test_pure)
{
    for (int layer = 0; layers[layer].name; layer++) {
        for (enum format format = 0; format < FORMATS; format++) {
            if (!(layers[layer].formats & 1u << format))
                continue;
            struct tile_address tile =
                tile_of("rough", layers[layer].name, format, 1, 15, 16383, 16385);
            struct tile_address other = tile_of("smooth", "relief", FORMAT_PNG, 2, 9, -3, 4);
            struct render_times times = {0};
            struct blob *first = render(&tile), *second = NULL;
            blob_release(render(&other));
            ck_assert_int_eq(render_address(&second, scratch, &tile, NULL, &times), 0);
            ck_assert_uint_gt(times.noise, 0);
            ck_assert_uint_eq(first->length, second->length);
            ck_assert_mem_eq(first->bytes, second->bytes, first->length);
            blob_release(first);
            blob_release(second);
        }
    }
}
END_TEST

static int always_pause(void *asked)
{
    ++*(int *)asked;
    return 1;
}

/* Renders that stop after each block, and go on with another scratch, which has been used
 * meanwhile, have the same bytes. Progress that is given up leaks nothing. */
START_TEST(test_paused)
{
    struct render_scratch *both[2] = {scratch};
    struct tile_address other = tile_of("smooth", "relief", FORMAT_PNG, 2, 9, -3, 4);
    ck_assert_int_eq(render_scratch_new(&both[1]), 0);
    for (int layer = 0; layers[layer].name; layer++)
        for (enum format format = 0; format < FORMATS; format++) {
            int asked = 0, stops = 0, err;
            struct render_progress progress = {.pause = always_pause, .context = &asked};
            struct tile_address tile =
                tile_of("rough", layers[layer].name, format, 2, 15, 16383, 16385);
            struct blob *paused = NULL;
            if (!(layers[layer].formats & 1U << format))
                continue;
            struct blob *whole = render(&tile);
            while ((err = render_address(&paused, both[stops % 2], &tile, &progress, NULL)) == 1)
                if (stops++ == 0)
                    blob_release(render(&other));
            ck_assert_int_eq(err, 0);
            ck_assert_int_ge(stops, 3);
            ck_assert_int_eq(asked, stops);
            ck_assert_uint_eq(paused->length, whole->length);
            ck_assert_mem_eq(paused->bytes, whole->bytes, whole->length);
            render_progress_clear(&progress);
            ck_assert_int_eq(render_address(&paused, scratch, &tile, &progress, NULL), 1);
            render_progress_clear(&progress);
            blob_release(whole);
            blob_release(paused);
        }
    render_scratch_free(both[1]);
}
END_TEST

/* Volumes, too. */
START_TEST(test_paused_volume)
{
    const struct world *world = worlds_find(worlds, "rough");
    const struct farlands_box box = {-77, 1234, -4000, 200, 65, 40, 33};
    int asked = 0, stops = 0, err;
    struct render_progress progress = {.pause = always_pause, .context = &asked};
    struct blob *whole = NULL, *paused = NULL;
    ck_assert_int_eq(render_density(&whole, scratch, world, &box, NULL), 0);
    while ((err = render_density(&paused, scratch, world, &box, &progress)) == 1)
        stops++;
    ck_assert_int_eq(err, 0);
    ck_assert_int_ge(stops, 3);
    ck_assert_uint_eq(paused->length, whole->length);
    ck_assert_mem_eq(paused->bytes, whole->bytes, whole->length);
    float *column = malloc(sizeof *column * 33), *all = (float *)(void *)whole->bytes;
    for (int i = 0; i < 65; i += 64)
        for (int j = 0; j < 40; j += 13) {
            const struct farlands_box one = {
                box.x + i * box.step, box.y + j * box.step, box.z, box.step, 1, 1, 33};
            ck_assert_int_eq(
                terrain_density(world->base_terrain, render_scratch_noise(scratch), &one, column),
                0);
            for (int k = 0; k < 33; k++)
                ck_assert_mem_eq(&column[k], &all[(k * 40 + j) * 65 + i], sizeof *column);
        }
    free(column);
    blob_release(whole);
    blob_release(paused);
}
END_TEST

/* A thread with its own scratch and its own tile. */
struct painter {
    pthread_t thread;
    struct render_scratch *scratch;
    struct tile_address tile;
    struct blob *expected;
    int faults;
};

static void *render_often(void *context)
{
    struct painter *painter = context;
    for (int i = 0; i < 10; i++) {
        struct blob *blob = NULL;
        if (render_address(&blob, painter->scratch, &painter->tile, NULL, NULL) ||
            blob->length != painter->expected->length ||
            memcmp(blob->bytes, painter->expected->bytes, blob->length) != 0)
            painter->faults++;
        if (blob)
            blob_release(blob);
    }
    return NULL;
}

START_TEST(test_threads)
{
    struct painter painters[4] = {0};
    for (int i = 0; i < 4; i++) {
        const char *layer = layers[i / 2].name;
        painters[i].tile = tile_of("smooth", layer, FORMAT_PNG, 1, 10, i, -i);
        painters[i].expected = render(&painters[i].tile);
        ck_assert_int_eq(render_scratch_new(&painters[i].scratch), 0);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&painters[i].thread, NULL, render_often, &painters[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(painters[i].thread, NULL);
        render_scratch_free(painters[i].scratch);
        blob_release(painters[i].expected);
        ck_assert_int_eq(painters[i].faults, 0);
    }
}
END_TEST

/* WebP shows the pixels of PNG, nearly, and is bound to its own key. */
START_TEST(test_webp)
{
    for (int i = 0; layers[i].name; i++)
        for (int scale = 1; scale <= 2 && layers[i].formats >> FORMAT_WEBP & 1; scale++) {
            struct tile_address tile =
                tile_of("smooth", layers[i].name, FORMAT_WEBP, scale, 5, 3, -2);
            const size_t bytes = pixel_bytes(layers[tile.layer].pixel);
            char key[TILE_KEY_MAX];
            int width, height;
            double sum = 0;
            tile.border = scale == 1;
            struct blob *blob = render(&tile);
            uint8_t *got = WebPDecodeRGB(blob->bytes, blob->length, &width, &height);
            const uint8_t *painted = render_scratch_pixels(scratch);
            ck_assert(got && width == tile_size(&tile) && height == width);
            for (size_t k = 0; k < 3 * (size_t)width * (size_t)width; k++)
                sum += abs(got[k] - painted[bytes == 3 ? k : k / 3]);
            must(sum / (3.0 * width * width) < 4, "%s: %g", layers[i].name,
                 sum / (3.0 * width * width));
            must(image_checksum_verify(blob->bytes, blob->length, tile_key(&tile, key)),
                 "not of %s", key);
            tile.format = FORMAT_PNG;
            ck_assert(!image_checksum_verify(blob->bytes, blob->length, tile_key(&tile, key)));
            WebPFree(got);
            blob_release(blob);
        }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("render");
    TCase *tcase = suite_case(suite, "tiles");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_webp);
    tcase_add_loop_test(tcase, test_f32, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_pyramid, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_r16, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_encodings, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_seams, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_borders, 0, ROWS(corners));
    tcase_add_loop_test(tcase, test_shared_edges, 0, ROWS(corners));
    tcase_add_loop_test(tcase, test_normals_of_heights, 0, ROWS(slants));
    tcase_add_test(tcase, test_flat);
    tcase_add_test(tcase, test_pure);
    tcase_add_test(tcase, test_threads);
    tcase_add_test(tcase, test_paused);
    tcase_add_test(tcase, test_paused_volume);
    return suite_run(suite);
}
