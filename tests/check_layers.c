/* Layers: what heights look like, and that tiles are one picture cut in pieces. */
#include "server/layers/layer.h"

#include <endian.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>

#include "server/png_check.h"
#include "server/render.h"
#include "tests/fixtures.h"

/* Painting heights made here. */

enum { SIZE = 64, REACH = 3, FIELD = SIZE + 2 * REACH };

static float field[FIELD * FIELD];
static uint8_t pixels[512 * 512 * 3] __attribute__((aligned(8)));
static struct style style;

/* Water below 0, land above, and a coast. */
static const struct palette_stop stops[] = {{-100, 0x20, 0x40, 0x60}, {-50, 0x30, 0x60, 0x90},
                                            {0, 0x80, 0xc0, 0xe0},    {0, 0xe0, 0xd0, 0xa0},
                                            {20, 0x50, 0x80, 0x40},   {100, 0xff, 0xff, 0xff}};

static void make_style(void)
{
    static struct world_config world;
    memcpy(world.palette, stops, sizeof stops);
    world.stops = ROWS(stops);
    style_make(&style, &world, -100, 100);
}

/* The same colour everywhere: only the light differs. */
static void make_gray_style(void)
{
    static struct world_config world;
    world.palette[0] = world.palette[1] = (struct palette_stop){0, 120, 120, 120};
    world.stops = 2;
    style_make(&style, &world, -1000, 1000);
}

/* A plane: BASE in the middle, rising towards the east and the south. */
static void make_plane(float base, float east, float south)
{
    for (int j = 0; j < FIELD; j++)
        for (int i = 0; i < FIELD; i++)
            field[j * FIELD + i] =
                base + east * (float)(i - FIELD / 2) + south * (float)(j - FIELD / 2);
}

static struct heights field_heights(int left, int top, int size, int reach, float slope)
{
    return (struct heights){.first = field + (REACH + top) * FIELD + REACH + left,
                            .stride = FIELD,
                            .size = size,
                            .reach = reach,
                            .spacing = 1,
                            .slope = slope};
}

static void paint(const char *name, int reach, float slope)
{
    struct heights heights = field_heights(0, 0, SIZE, reach, slope);
    memset(pixels, 'x', sizeof pixels);
    const struct layer *layer = &layers[layer_find(name)];
    layer->paint(&heights, &style, pixels);
    ck_assert_int_eq(pixels[SIZE * SIZE * pixel_bytes(layer->pixel)], 'x');
}

/* Ends of the range, and in between the nearest value. */
START_TEST(test_gray_and_height)
{
    make_style();
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = fminf(-100 + 200 * (float)k / (FIELD * FIELD - FIELD), 100);
    field[REACH * FIELD + REACH] = -100;
    field[(REACH + SIZE - 1) * FIELD + REACH + SIZE - 1] = 100;
    for (int wide = 0; wide < 2; wide++) {
        paint(wide ? "height" : "gray", 1, 1);
        double most = wide ? 65535 : 255;
        for (int j = 0; j < SIZE; j++)
            for (int i = 0; i < SIZE; i++) {
                float height = field[(REACH + j) * FIELD + REACH + i];
                int k = j * SIZE + i;
                int value = wide ? ((uint16_t *)(void *)pixels)[k] : pixels[k];
                must(fabs(value - (height + 100.0) / 200 * most) <= 0.51, "%g metres as %d",
                     (double)height, value);
            }
        int first = wide ? ((uint16_t *)(void *)pixels)[0] : pixels[0];
        int last = wide ? ((uint16_t *)(void *)pixels)[SIZE * SIZE - 1] : pixels[SIZE * SIZE - 1];
        ck_assert_int_eq(first, 0);
        ck_assert_int_eq(last, (int)most);
    }
}
END_TEST

/* Of the palette at METRES, linear between its stops. */
static void palette_at(float metres, double rgb[3])
{
    int i = 0;
    while (i < ROWS(stops) - 2 && stops[i + 1].metres <= metres)
        i++;
    const struct palette_stop *a = &stops[i], *b = &stops[i + 1];
    double t = (metres - a->metres) / (b->metres - a->metres);
    rgb[0] = a->red + (b->red - a->red) * t;
    rgb[1] = a->green + (b->green - a->green) * t;
    rgb[2] = a->blue + (b->blue - a->blue) * t;
}

/* Level ground has the palette's own colour, however steep the world is elsewhere. */
START_TEST(test_level_ground)
{
    static const float slopes[] = {1e-6f, 0.01f, 1, 100};
    make_style();
    for (float metres = -100; metres <= 100; metres += 1.3f) {
        double rgb[3];
        if (fabsf(metres) < 0.05f) /* the table's steps blur the coast */
            continue;
        palette_at(metres, rgb);
        make_plane(metres, 0, 0);
        paint("relief", 1 + (int)(fabsf(metres)) % REACH, slopes[(int)fabsf(metres) % 4]);
        for (int k = 0; k < SIZE * SIZE * 3; k++)
            must(fabs(pixels[k] - rgb[k % 3]) <= 1, "%g metres: %d, not %g", (double)metres,
                 pixels[k], rgb[k % 3]);
    }
}
END_TEST

/* Ends of the range are in the palette too. */
START_TEST(test_level_ends)
{
    make_style();
    make_plane(-100, 0, 0);
    paint("relief", 1, 1);
    ck_assert_int_le(abs(pixels[0] - stops[0].red), 1);
    ck_assert_int_le(abs(pixels[1] - stops[0].green), 1);
    ck_assert_int_le(abs(pixels[2] - stops[0].blue), 1);
    make_plane(100, 0, 0);
    paint("relief", 1, 1);
    for (int channel = 0; channel < 3; channel++)
        ck_assert_int_eq(pixels[channel], 255);
}
END_TEST

/* How bright a plane is that rises to the east and the south by this much. */
static int brightness(float base, float east, float south, float slope)
{
    make_plane(base, east, south);
    paint("relief", 1, slope);
    for (int k = 3; k < SIZE * SIZE * 3; k++)
        must(pixels[k] == pixels[k - 3], "a plane is uneven");
    return pixels[0] + pixels[1] + pixels[2];
}

static const struct {
    float base, rise, slope;
} slopes[] = {
    {500, 0.0625f, 0.0625f}, {500, 0.03125f, 0.0625f}, {500, 0.5f, 0.5f},
    {500, 4, 0.5f},          {-500, 0.5f, 0.25f},
};

/* Light comes from the north-west: what falls off towards there is bright. */
START_TEST(test_light)
{
    float base = slopes[_i].base, rise = slopes[_i].rise, slope = slopes[_i].slope;
    make_gray_style();
    int level = brightness(base, 0, 0, slope);
    int north_west = brightness(base, rise, rise, slope);
    int south_east = brightness(base, -rise, -rise, slope);
    ck_assert_int_gt(north_west, level);
    ck_assert_int_lt(south_east, level);
    ck_assert_int_gt(brightness(base, rise, 0, slope), brightness(base, -rise, 0, slope));
    ck_assert_int_gt(brightness(base, 0, rise, slope), brightness(base, 0, -rise, slope));
    ck_assert_int_eq(brightness(base, rise, 0, slope), brightness(base, 0, rise, slope));
    ck_assert_int_le(
        abs(brightness(base, rise, -rise, slope) - brightness(base, -rise, rise, slope)), 1);
    /* Steeper towards the light is no darker than level, steeper away from it no brighter. */
    ck_assert_int_le(brightness(base, -2 * rise, -2 * rise, slope), south_east);
}
END_TEST

/* A picture painted at once is what its quarters are, and one that is shifted. */
START_TEST(test_pieces)
{
    uint64_t state = 19;
    static uint8_t whole[SIZE * SIZE * 3];
    make_style();
    for (int k = 0; k < FIELD * FIELD; k++)
        field[k] = (float)chance_below(&state, 200000) / 1000 - 100;
    for (const struct layer *layer = layers; layer->name; layer++) {
        size_t bytes = pixel_bytes(layer->pixel);
        for (int reach = 1; reach <= REACH; reach++) {
            paint(layer->name, reach, 20);
            memcpy(whole, pixels, SIZE * SIZE * bytes);
            for (int piece = 0; piece < 6; piece++) {
                int size = piece < 4 ? SIZE / 2 : 17;
                int left = piece < 4 ? piece % 2 * size : 5, top = piece < 4 ? piece / 2 * size : 9;
                struct heights heights = field_heights(left, top, size, reach, 20);
                layer->paint(&heights, &style, pixels);
                for (int j = 0; j < size; j++)
                    must(memcmp(pixels + (size_t)(j * size) * bytes,
                                whole + (size_t)((top + j) * SIZE + left) * bytes,
                                (size_t)size * bytes) == 0,
                         "%s: row %d of piece %d", layer->name, j, piece);
            }
        }
    }
}
END_TEST

START_TEST(test_table)
{
    int count = 0;
    for (; layers[count].name; count++) {
        ck_assert_int_eq(layer_find(layers[count].name), count);
        ck_assert(layers[count].formats & 1 << FORMAT_PNG);
        ck_assert_uint_eq(layers[count].formats >> FORMATS, 0);
        ck_assert_ptr_nonnull(layers[count].paint);
    }
    ck_assert_int_ge(count, 3);
    ck_assert_int_eq(layer_find(""), -1);
    ck_assert_int_eq(layer_find("Relief"), -1);
    ck_assert_int_eq(layer_find("relief "), -1);
    for (enum format format = 0; format < FORMATS; format++) {
        ck_assert_int_eq(format_find(format_extension(format)), (int)format);
        ck_assert_ptr_nonnull(strchr(format_type(format), '/'));
    }
    ck_assert_str_eq(format_extension(FORMAT_PNG), "png");
    ck_assert_str_eq(format_extension(FORMAT_R16), "r16");
    ck_assert_str_eq(format_extension(FORMAT_F32), "f32");
    ck_assert_str_eq(format_type(FORMAT_PNG), "image/png");
    ck_assert_int_eq(format_find(""), -1);
    ck_assert_int_eq(format_find("PNG"), -1);
    ck_assert_int_eq(format_find("pn"), -1);
    ck_assert_uint_eq(pixel_bytes(PIXEL_GRAY8), 1);
    ck_assert_uint_eq(pixel_bytes(PIXEL_GRAY16), 2);
    ck_assert_uint_eq(pixel_bytes(PIXEL_RGB8), 3);
}
END_TEST

/* Rendering tiles. */

static char folder[FOLDER_TEXT];
static struct worlds *worlds;
static struct easel *easel;

static void set_up(void)
{
    char path[FOLDER_TEXT + 16];
    static const char yaml[] =
        "worlds:\n"
        "  - name: rough\n" /* much finer than a pixel, and than a block */
        "    noise: {wavelength: 4096, octaves: 5, lacunarity: 16, persistence: 0.6}\n"
        "    elevation: [[-0.3, -100], [0, 0], [0.3, 100]]\n"
        "  - name: smooth\n"
        "    native_zoom: 8\n"
        "    origin: [-0.5, 1000.25]\n"
        "    noise: {wavelength: 3000.5, octaves: 3, lacunarity: 1.9, fade: cubic}\n"
        "  - name: flat\n"
        "    noise: {octaves: 2}\n"
        "    elevation: [[-1, 50], [1, 50]]\n"
        "    palette: [[0, \"#102030\"], [100, \"#f0e0d0\"]]\n"
        "  - name: level\n" /* noise hardly ever leaves the middle */
        "    noise: {octaves: 2}\n"
        "    elevation: [[-1000, 0], [-999, 50], [999, 50], [1000, 100]]\n"
        "    palette: [[0, \"#102030\"], [100, \"#f0e0d0\"]]\n";
    snprintf(path, sizeof path, "%s/a.yaml", folder_new(folder));
    file_write(path, yaml, sizeof yaml - 1);
    worlds = worlds_of(path);
    ck_assert_int_eq(easel_new(&easel), 0);
}

static void tear_down(void)
{
    easel_free(easel);
    easel_free(NULL);
    worlds_free(worlds);
    folder_remove(folder);
}

static struct tile tile_of(const char *world, const char *layer, enum format format, int scale,
                           int z, int64_t x, int64_t y)
{
    return (struct tile){
        worlds_find(worlds, world), layer_find(layer), format, scale, z, x, y,
    };
}

static struct blob *render(const struct tile *tile)
{
    struct blob *blob = NULL;
    char name[TILE_PATH_MAX];
    int err = render_tile(&blob, easel, tile, NULL);
    must(err == 0 && blob, "%s: %d", tile_path(tile, name), err);
    must(blob->references == 1, "%u references", blob->references);
    return blob;
}

static void render_picture(struct picture *picture, const struct tile *tile)
{
    struct blob *blob = render(tile);
    uint32_t size = (uint32_t)tile_size(tile);
    must(png_check(blob->bytes, blob->length, size, size), "no whole PNG of %u", size);
    picture_decode(picture, blob->bytes, blob->length);
    blob_release(blob);
}

static const struct {
    const char *world;
    int scale, z;
    int64_t x, y;
} places[] = {
    {"rough", 1, 16, 32768, 32768},
    {"rough", 2, 16, 32767, 32767},
    {"rough", 1, 26, 33554431, 33554432},
    {"rough", 2, 25, 12345678, -87654321},
    {"rough", 1, 0, 0, 0},
    {"rough", 1, -26, -3, 3},
    {"rough", 2, -26, 3, -3},
    {"rough", 1, 16, (INT64_C(1) << 44) + 32767, -(INT64_C(1) << 44) + 32768},
    {"rough", 1, 26, ((INT64_C(1) << 44) + 32768) * 1024 - 1, 7},
    {"smooth", 1, 8, -1, 0},
    {"smooth", 2, 17, -1, 1},
    {"flat", 1, 16, 5, 6},
    {"level", 1, 10, 5, 6},
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

/* f32 is the height at each sample's place, bit for bit. */
START_TEST(test_f32)
{
    struct tile tile = tile_of(places[_i].world, "height", FORMAT_F32, places[_i].scale,
                               places[_i].z, places[_i].x, places[_i].y);
    struct blob *blob = render(&tile);
    struct farlands_grid grid;
    size_t size = (size_t)tile_size(&tile);
    ck_assert_int_eq(tile_grid(&tile, &grid, NULL), 0);
    ck_assert_uint_eq(blob->length, size * size * 4);
    for (size_t k = 0; k < size * size; k += 1 + (k % size ? 12 : 0)) {
        float height =
            farlands_height(tile.world->terrain, grid.x + (int64_t)(k % size) * grid.step,
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
    struct tile tile = tile_of(places[_i].world, "height", FORMAT_F32, 1, places[_i].z,
                               places[_i].x, places[_i].y);
    struct tile parent = tile;
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
    struct tile tile = tile_of(places[_i].world, "height", FORMAT_R16, places[_i].scale,
                               places[_i].z, places[_i].x, places[_i].y);
    struct blob *r16 = render(&tile);
    struct picture picture;
    tile.format = FORMAT_PNG;
    render_picture(&picture, &tile);
    tile.format = FORMAT_F32;
    struct blob *f32 = render(&tile);
    size_t count = (size_t)tile_size(&tile) * (size_t)tile_size(&tile);
    double min = tile.world->style.min, max = tile.world->style.max;
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

/*
 * A tile at @2x shows the samples of the four tiles below it: what is drawn
 * across their borders in one go is what they show each for itself.
 */
START_TEST(test_seams)
{
    if (places[_i].scale == 2)
        return;
    for (int layer = 0; layers[layer].name; layer++) {
        struct tile twice = tile_of(places[_i].world, layers[layer].name, FORMAT_PNG, 2,
                                    places[_i].z, places[_i].x, places[_i].y);
        struct picture whole, quarter;
        if (tile_grid(&twice, &(struct farlands_grid){0}, NULL))
            return;
        size_t bytes = pixel_bytes(layers[layer].pixel);
        render_picture(&whole, &twice);
        for (int piece = 0; piece < 4; piece++) {
            size_t left = (size_t)(piece % 2) * 256, top = (size_t)(piece / 2) * 256;
            struct tile below = twice;
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

/* Worlds without relief, or without any where anybody looks. */
START_TEST(test_flat)
{
    const char *const names[] = {"flat", "level"};
    for (int i = 0; i < ROWS(names); i++) {
        for (int z = -26; z <= 26; z += 26) {
            struct tile tile = tile_of(names[i], "relief", FORMAT_PNG, 1, z, 0, 0);
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

/* An easel remembers nothing that shows. */
START_TEST(test_pure)
{
    for (int layer = 0; layers[layer].name; layer++) {
        for (enum format format = 0; format < FORMATS; format++) {
            if (!(layers[layer].formats & 1u << format))
                continue;
            struct tile tile = tile_of("rough", layers[layer].name, format, 1, 15, 16383, 16385);
            struct tile other = tile_of("smooth", "relief", FORMAT_PNG, 2, 9, -3, 4);
            struct render_times times = {0};
            struct blob *first = render(&tile), *second = NULL;
            blob_release(render(&other));
            ck_assert_int_eq(render_tile(&second, easel, &tile, &times), 0);
            ck_assert_uint_gt(times.noise, 0);
            ck_assert_uint_eq(first->length, second->length);
            ck_assert_mem_eq(first->bytes, second->bytes, first->length);
            blob_release(first);
            blob_release(second);
        }
    }
}
END_TEST

/* A thread with an easel of its own and one tile, which no other thread renders. */
struct painter {
    pthread_t thread;
    struct easel *easel;
    struct tile tile;
    struct blob *expected;
    int faults;
};

static void *render_often(void *context)
{
    struct painter *painter = context;
    for (int i = 0; i < 10; i++) {
        struct blob *blob = NULL;
        if (render_tile(&blob, painter->easel, &painter->tile, NULL) ||
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
        ck_assert_int_eq(easel_new(&painters[i].easel), 0);
    }
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(pthread_create(&painters[i].thread, NULL, render_often, &painters[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(painters[i].thread, NULL);
        easel_free(painters[i].easel);
        blob_release(painters[i].expected);
        ck_assert_int_eq(painters[i].faults, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("layers");
    TCase *tcase = suite_case(suite, "paint");
    tcase_add_test(tcase, test_table);
    tcase_add_test(tcase, test_gray_and_height);
    tcase_add_test(tcase, test_level_ground);
    tcase_add_test(tcase, test_level_ends);
    tcase_add_loop_test(tcase, test_light, 0, ROWS(slopes));
    tcase_add_test(tcase, test_pieces);
    tcase = suite_case(suite, "render");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, test_f32, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_pyramid, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_r16, 0, ROWS(places));
    tcase_add_loop_test(tcase, test_seams, 0, ROWS(places));
    tcase_add_test(tcase, test_flat);
    tcase_add_test(tcase, test_pure);
    tcase_add_test(tcase, test_threads);
    return suite_run(suite);
}
