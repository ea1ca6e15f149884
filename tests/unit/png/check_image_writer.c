/* Pixels encoded as PNG and decoded again. */
#include <math.h>

#include "server/png/image_checksum.h"
#include "server/png/image_writer.h"
#include "tests/unit/support/fixtures.h"

enum { MAX_SIZE = 512, MAX_BYTES = MAX_SIZE * MAX_SIZE * 3 };

#define KEY "0123456789abcdef/relief/10/512/-3.png"

static struct image_writer *writer;
static uint8_t pixels[MAX_BYTES + 1] __attribute__((aligned(8)));

static size_t bytes_of(enum pixel pixel, int size)
{
    return (size_t)size * (size_t)size * pixel_bytes(pixel);
}

enum look { RANDOM, BLACK, WHITE, SMOOTH, STRIPES, LOOKS };

static void paint(enum look look, enum pixel pixel, int size)
{
    uint64_t state = 9;
    int channels = pixel == PIXEL_RGB8 || pixel == PIXEL_PICTURE ? 3 : 1;
    int most = pixel == PIXEL_GRAY16 ? 65535 : 255;
    for (int i = 0; i < size * size * channels; i++) {
        int column = i / channels % size, row = i / channels / size, value = 0;
        switch (look) {
        case RANDOM:
            value = chance_below(&state, most + 1);
            break;
        case BLACK:
            value = 0;
            break;
        case WHITE:
            value = most;
            break;
        case SMOOTH:
            value =
                (int)((0.5 + 0.25 * sin(column / 40.0) + 0.25 * cos(row / 30.0 + i % channels)) *
                      most);
            break;
        default:
            value = (column ^ row) & 1 ? most : 1;
        }
        if (pixel == PIXEL_GRAY16)
            ((uint16_t *)(void *)pixels)[i] = (uint16_t)value;
        else
            pixels[i] = (uint8_t)value;
    }
}

static struct blob *write_or_fail(enum pixel pixel, int size)
{
    struct blob *png = NULL;
    ck_assert_int_eq(image_writer_tile(&png, writer, pixel, NULL, size, pixels, KEY), 0);
    ck_assert_ptr_nonnull(png);
    ck_assert_uint_eq(png->references, 1);
    return png;
}

static const struct {
    enum pixel pixel;
    int depth, color;
} kinds[] = {
    {PIXEL_GRAY8, 8, PNG_COLOR_TYPE_GRAY},
    {PIXEL_GRAY16, 16, PNG_COLOR_TYPE_GRAY},
    {PIXEL_RGB8, 8, PNG_COLOR_TYPE_RGB},
    {PIXEL_PICTURE, 8, PNG_COLOR_TYPE_RGB}, /* too many colors for a palette */
};
static const int sizes[] = {1, 2, 3, 17, 63, 64, 65, 256, 512};
enum { KINDS_AND_SIZES = ROWS(kinds) * ROWS(sizes) };

/* The number of colors of COUNT RGB pixels. */
static int colors_of(const uint8_t *rgb, int count)
{
    static bool seen[1 << 24];
    int colors = 0;
    memset(seen, 0, sizeof seen);
    for (const uint8_t *end = rgb + 3 * count; rgb < end; rgb += 3) {
        bool *color = &seen[rgb[0] << 16 | rgb[1] << 8 | rgb[2]];
        colors += !*color;
        *color = true;
    }
    return colors;
}

/* The color type of a PNG file. */
static int color_type(const struct blob *png)
{
    return png->bytes[8 + 8 + 9];
}

/* The picture's pixels are within MOST levels of what was painted. */
static void check_close(const uint8_t *got, size_t length, int most)
{
    for (size_t i = 0; i < length; i++)
        must(abs(got[i] - pixels[i]) <= most, "byte %zu: %d for %d", i, got[i], pixels[i]);
}

START_TEST(test_round_trip)
{
    int kind = _i % ROWS(kinds), size = sizes[_i / ROWS(kinds)];
    enum pixel pixel = kinds[kind].pixel;
    size_t length = bytes_of(pixel, size);
    struct guarded memory;
    guarded_new(&memory, MAX_BYTES);
    for (enum look look = 0; look < LOOKS; look++) {
        paint(look, pixel, size);
        struct blob *png = NULL;
        ck_assert_int_eq(image_writer_tile(&png, writer, pixel, NULL, size,
                                           guarded_copy(&memory, pixels, length), KEY),
                         0);
        ck_assert(image_checksum_verify(png->bytes, png->length, KEY));
        struct picture picture;
        picture_decode(&picture, png->bytes, png->length);
        ck_assert_uint_eq(picture.width, (uint32_t)size);
        ck_assert_uint_eq(picture.height, (uint32_t)size);

        ck_assert_int_eq(picture.color, color_type(png));
        if (pixel != PIXEL_PICTURE) {
            ck_assert_int_eq(picture.depth, kinds[kind].depth);
            ck_assert_int_eq(picture.color, kinds[kind].color);
        }
        ck_assert_uint_eq(picture.bytes, length);
        if (picture.color == PNG_COLOR_TYPE_PALETTE)
            check_close(picture.pixels, length, look == SMOOTH || look == RANDOM ? 22 : 0);
        else
            ck_assert_msg(memcmp(picture.pixels, pixels, length) == 0, "look %d, %d pixels",
                          (int)look, size);
        /* Compression is worth it. */
        ck_assert_uint_le(png->length, length + length / 20 + 1024);
        picture_free(&picture);
        blob_release(png);
    }
    guarded_free(&memory);
}
END_TEST

/* The same pixels give the same bytes, also from a used writer. */
START_TEST(test_pure)
{
    paint(SMOOTH, PIXEL_RGB8, 256);
    struct blob *first = write_or_fail(PIXEL_RGB8, 256);
    paint(RANDOM, PIXEL_GRAY16, 512);
    blob_release(write_or_fail(PIXEL_GRAY16, 512));
    paint(SMOOTH, PIXEL_RGB8, 256);
    struct blob *second = write_or_fail(PIXEL_RGB8, 256);
    ck_assert_uint_eq(first->length, second->length);
    ck_assert_mem_eq(first->bytes, second->bytes, first->length);
    blob_release(first);
    blob_release(second);
}
END_TEST

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* The types of a PNG's chunks, concatenated. */
static void chunks_of(char *types, size_t capacity, const struct blob *png)
{
    size_t length = 0;
    for (size_t at = 8; at < png->length && length + 4 < capacity; length += 4) {
        memcpy(types + length, png->bytes + at + 4, 4);
        at += 12 + big_endian(png->bytes + at);
    }
    types[length] = 0;
}

START_TEST(test_chunks)
{
    int kind = _i % ROWS(kinds), size = sizes[_i / ROWS(kinds)];
    for (enum look look = 0; look < LOOKS; look++) {
        char types[64];
        paint(look, kinds[kind].pixel, size);
        struct blob *png = write_or_fail(kinds[kind].pixel, size);
        bool palette = color_type(png) == PNG_COLOR_TYPE_PALETTE;
        chunks_of(types, sizeof types, png);
        ck_assert_str_eq(types, palette ? "IHDRPLTEIDATflKYIEND" : "IHDRIDATflKYIEND");
        blob_release(png);
    }
}
END_TEST

/* If each pixel differs from the last one by the same, filtered bytes repeat those a pixel before.
 */
START_TEST(test_slope)
{
    enum { SIZE = 256 };
    const size_t length = bytes_of(kinds[_i].pixel, SIZE), pixel = length / (SIZE * SIZE);
    for (size_t i = 0; i < length; i++)
        pixels[i] = (uint8_t)(i / pixel % SIZE * (3 + 2 * (i % pixel)) + i / pixel / SIZE * 100);
    struct blob *png = write_or_fail(kinds[_i].pixel, SIZE);
    ck_assert_uint_lt(png->length, length / 16);
    blob_release(png);
}
END_TEST

static const int numbers_of_colors[] = {1, 2, 3, 4, 5, 16, 17, 255, 256, 257, 1000};

/* A palette has exactly the picture's colors, if there are at most 256 that are far apart. Indices
 * are as narrow as possible. */
START_TEST(test_palette)
{
    enum { SIZE = 64 };
    const int colors = numbers_of_colors[_i];
    for (int i = 0; i < SIZE * SIZE; i++)
        for (int part = 0; part < 3; part++)
            pixels[3 * i + part] = (uint8_t)((uint32_t)(i % colors) * 0x9e3779b1u >> 8 * part);
    ck_assert_int_eq(colors_of(pixels, SIZE * SIZE), colors);
    struct blob *png = write_or_fail(PIXEL_PICTURE, SIZE);
    struct picture picture;
    picture_decode(&picture, png->bytes, png->length);
    if (colors > 256)
        check_close(picture.pixels, bytes_of(PIXEL_PICTURE, SIZE), 22);
    else
        ck_assert_mem_eq(picture.pixels, pixels, bytes_of(PIXEL_PICTURE, SIZE));
    /* PLTE comes after the signature's 8 bytes and IHDR's 25. */
    if (colors <= 256) {
        const int depth = colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
        ck_assert_int_eq(color_type(png), PNG_COLOR_TYPE_PALETTE);
        ck_assert_int_eq(png->bytes[8 + 8 + 8], depth);
        ck_assert_uint_eq(big_endian(png->bytes + 8 + 25), 3 * (uint32_t)colors);
    }
    picture_free(&picture);
    blob_release(png);
}
END_TEST

enum { INDEXED = 64 }; /* pixels per side */

/* Random pixels less than COLORS, and in EXPECTED the colors that they stand for, all distinct. */
static void make_indices(struct image_palette *palette, uint8_t *expected, int colors)
{
    uint64_t state = 5;
    palette->colors = colors;
    for (int i = 0; i < 256; i++)
        for (int part = 0; part < 3; part++)
            palette->color[i][part] = (uint8_t)((uint32_t)i * 0x9e3779b1u >> 8 * part);
    for (int i = 0; i < INDEXED * INDEXED; i++) {
        pixels[i] = (uint8_t)chance_below(&state, colors);
        memcpy(expected + 3 * i, palette->color[pixels[i]], 3);
    }
}

/* FILE is of palette color, and has all of PALETTE in its order: so the pixels have their bytes. */
static void check_indices(const struct blob *file, const struct image_palette *palette,
                          const uint8_t *expected)
{
    struct picture picture;
    picture_decode(&picture, file->bytes, file->length);
    ck_assert_int_eq(picture.color, PNG_COLOR_TYPE_PALETTE);
    ck_assert_int_eq(picture.depth, 8);
    ck_assert_uint_eq(picture.bytes, 3 * INDEXED * INDEXED);
    ck_assert_mem_eq(picture.pixels, expected, picture.bytes);
    ck_assert_uint_eq(big_endian(file->bytes + 8 + 25), 3 * (uint32_t)palette->colors);
    ck_assert_mem_eq(file->bytes + 8 + 25 + 8, palette->color, 3 * (size_t)palette->colors);
    picture_free(&picture);
}

static void append(struct blob *file, struct blob *part)
{
    memcpy(file->bytes + file->length, part->bytes, part->length);
    file->length += part->length;
    blob_release(part);
}

/* The pixels as a picture of one band. */
static struct blob *write_band(const struct image_palette *palette)
{
    struct blob *head, *band, *tail, *file = blob_new(1 << 16);
    struct adler sum;
    ck_assert_int_eq(image_writer_head(&head, PIXEL_INDEX8, palette, INDEXED, INDEXED), 0);
    ck_assert_int_eq(image_writer_band(&band, &sum, writer, PIXEL_INDEX8, INDEXED, INDEXED, pixels),
                     0);
    ck_assert_int_eq(image_writer_tail(&tail, &sum), 0);
    file->length = 0;
    append(file, head);
    append(file, band);
    append(file, tail);
    return file;
}

static const int numbers_of_indices[] = {1, 2, 17, 251, 256};

START_TEST(test_indices)
{
    static uint8_t expected[3 * INDEXED * INDEXED];
    struct image_palette palette = {.is_clear = false};
    struct blob *tile;
    make_indices(&palette, expected, numbers_of_indices[_i]);
    ck_assert_int_eq(image_writer_tile(&tile, writer, PIXEL_INDEX8, &palette, INDEXED, pixels, KEY),
                     0);
    check_indices(tile, &palette, expected);
    ck_assert(image_checksum_verify(tile->bytes, tile->length, KEY));
    blob_release(tile);
    struct blob *file = write_band(&palette);
    check_indices(file, &palette, expected);
    blob_release(file);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image writer");
    if (image_writer_new(&writer))
        return EXIT_FAILURE;
    TCase *tcase = suite_case(suite, "writer");
    tcase_add_loop_test(tcase, test_round_trip, 0, KINDS_AND_SIZES);
    tcase_add_loop_test(tcase, test_chunks, 0, KINDS_AND_SIZES);
    tcase_add_loop_test(tcase, test_slope, 0, ROWS(kinds));
    tcase_add_loop_test(tcase, test_palette, 0, ROWS(numbers_of_colors));
    tcase_add_loop_test(tcase, test_indices, 0, ROWS(numbers_of_indices));
    tcase_add_test(tcase, test_pure);
    return suite_run(suite);
}
