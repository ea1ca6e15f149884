/* Pixels encoded as PNG and decoded again, and the verification of damaged files. */
#include <math.h>
#include <zlib.h>

#include "server/png/image_verify.h"
#include "server/png/image_writer.h"
#include "tests/unit/support/fixtures.h"

enum { MAX_SIZE = 512, MAX_BYTES = MAX_SIZE * MAX_SIZE * 3 };

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
    ck_assert_int_eq(image_writer_tile(&png, writer, pixel, size, pixels), 0);
    ck_assert_ptr_nonnull(png);
    ck_assert_uint_eq(png->references, 1);
    return png;
}

static const struct {
    enum pixel pixel;
    int depth, colour;
} kinds[] = {
    {PIXEL_GRAY8, 8, PNG_COLOR_TYPE_GRAY},
    {PIXEL_GRAY16, 16, PNG_COLOR_TYPE_GRAY},
    {PIXEL_RGB8, 8, PNG_COLOR_TYPE_RGB},
    {PIXEL_PICTURE, 8, PNG_COLOR_TYPE_RGB}, /* too many colors for a palette */
};
static const int sizes[] = {1, 2, 3, 17, 63, 64, 65, 256, 512};
enum { KINDS_AND_SIZES = ROWS(kinds) * ROWS(sizes) };

/* The number of colors of COUNT RGB pixels. */
static int colours_of(const uint8_t *rgb, int count)
{
    static bool seen[1 << 24];
    int colours = 0;
    memset(seen, 0, sizeof seen);
    for (const uint8_t *end = rgb + 3 * count; rgb < end; rgb += 3) {
        bool *colour = &seen[rgb[0] << 16 | rgb[1] << 8 | rgb[2]];
        colours += !*colour;
        *colour = true;
    }
    return colours;
}

/* The PNG color type expected for the pixels. */
static int colour_type(int kind, int size)
{
    bool few = kinds[kind].pixel == PIXEL_PICTURE && colours_of(pixels, size * size) <= 256;
    return few ? PNG_COLOR_TYPE_PALETTE : kinds[kind].colour;
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
        ck_assert_int_eq(
            image_writer_tile(&png, writer, pixel, size, guarded_copy(&memory, pixels, length)), 0);
        ck_assert(image_verify(png->bytes, png->length, (uint32_t)size, (uint32_t)size));
        struct picture picture;
        picture_decode(&picture, png->bytes, png->length);
        ck_assert_uint_eq(picture.width, (uint32_t)size);
        ck_assert_uint_eq(picture.height, (uint32_t)size);
        ck_assert_int_eq(picture.depth, kinds[kind].depth);
        ck_assert_int_eq(picture.colour, colour_type(kind, size));
        ck_assert_uint_eq(picture.bytes, length);
        ck_assert_msg(memcmp(picture.pixels, pixels, length) == 0, "look %d, %d pixels: changed",
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
        bool palette = colour_type(kind, size) == PNG_COLOR_TYPE_PALETTE;
        chunks_of(types, sizeof types, png);
        ck_assert_str_eq(types, palette ? "IHDRPLTEIDATIEND" : "IHDRIDATIEND");
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

static const int numbers_of_colours[] = {1, 2, 3, 255, 256, 257, 1000};

/* A palette has exactly the picture's colors; with more than 256 there is none. */
START_TEST(test_palette)
{
    enum { SIZE = 64 };
    const int colours = numbers_of_colours[_i];
    for (int i = 0; i < SIZE * SIZE; i++)
        for (int part = 0; part < 3; part++)
            pixels[3 * i + part] = (uint8_t)((uint32_t)(i % colours) * 0x9e3779b1u >> 8 * part);
    ck_assert_int_eq(colours_of(pixels, SIZE * SIZE), colours);
    struct blob *png = write_or_fail(PIXEL_PICTURE, SIZE);
    struct picture picture;
    picture_decode(&picture, png->bytes, png->length);
    ck_assert_int_eq(picture.colour, colours > 256 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_PALETTE);
    ck_assert_mem_eq(picture.pixels, pixels, bytes_of(PIXEL_PICTURE, SIZE));
    /* PLTE comes after the signature's 8 bytes and IHDR's 25. */
    if (colours <= 256)
        ck_assert_uint_eq(big_endian(png->bytes + 8 + 25), 3 * (uint32_t)colours);
    picture_free(&picture);
    blob_release(png);
}
END_TEST

/* A PNG small enough to be damaged in every possible way. */
static struct blob *small_png(void)
{
    paint(SMOOTH, PIXEL_GRAY8, 16);
    return write_or_fail(PIXEL_GRAY8, 16);
}

static struct blob *tile_png(void)
{
    paint(SMOOTH, PIXEL_RGB8, 256);
    return write_or_fail(PIXEL_RGB8, 256);
}

START_TEST(test_sizes)
{
    struct blob *png = small_png();
    ck_assert(image_verify(png->bytes, png->length, 16, 16));
    ck_assert(!image_verify(png->bytes, png->length, 16, 17));
    ck_assert(!image_verify(png->bytes, png->length, 17, 16));
    ck_assert(!image_verify(png->bytes, png->length, 256, 256));
    ck_assert(!image_verify(png->bytes, png->length, 0, 0));
    ck_assert(!image_verify(png->bytes, png->length, 16, 16 << 8));
    ck_assert(!image_verify(png->bytes, png->length, 16, UINT32_MAX));
    blob_release(png);
}
END_TEST

START_TEST(test_truncated)
{
    struct guarded memory;
    struct blob *png = _i ? tile_png() : small_png();
    uint32_t size = _i ? 256 : 16;
    guarded_new(&memory, png->length);
    ck_assert(
        image_verify(guarded_copy(&memory, png->bytes, png->length), png->length, size, size));
    size_t step = _i ? 61 : 1;
    for (size_t length = 0; length < png->length; length += step)
        must(!image_verify(guarded_copy(&memory, png->bytes, length), length, size, size),
             "%zu of %zu bytes", length, png->length);
    for (size_t less = 1; less < 64 && less <= png->length; less++) {
        size_t length = png->length - less;
        must(!image_verify(guarded_copy(&memory, png->bytes, length), length, size, size),
             "%zu bytes less", less);
    }
    ck_assert(!image_verify(NULL, 0, size, size));
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Flip one bit: each one of a small file; in a tile those at the ends, and a sample. */
START_TEST(test_flipped)
{
    struct guarded memory;
    struct blob *png = _i ? tile_png() : small_png();
    uint32_t size = _i ? 256 : 16;
    guarded_new(&memory, png->length);
    uint8_t *copy = guarded_copy(&memory, png->bytes, png->length);
    for (size_t at = 0; at < png->length; at++) {
        if (_i && at >= 64 && at + 64 < png->length && at % 97)
            continue;
        for (int bit = 0; bit < 8; bit++) {
            copy[at] ^= (uint8_t)(1 << bit);
            must(!image_verify(copy, png->length, size, size), "bit %d of byte %zu", bit, at);
            copy[at] ^= (uint8_t)(1 << bit);
        }
    }
    ck_assert(image_verify(copy, png->length, size, size));
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Holes and swapped blocks, as from a failing disk. */
START_TEST(test_rotten)
{
    struct blob *png = tile_png();
    uint64_t state = 10;
    uint8_t *copy = malloc(png->length);
    for (int i = 0; i < 400; i++) {
        size_t length = (size_t)1 << chance_below(&state, 12);
        if (length > png->length)
            length = png->length;
        size_t at = chance(&state) % (png->length - length + 1);
        memcpy(copy, png->bytes, png->length);
        if (i & 1)
            memset(copy + at, 0, length);
        else
            for (size_t j = 0; j < length; j++)
                copy[at + j] = (uint8_t)chance(&state);
        if (memcmp(copy, png->bytes, png->length) == 0)
            continue;
        must(!image_verify(copy, png->length, 256, 256), "%zu bytes from %zu on", length, at);
    }
    free(copy);
    blob_release(png);
}
END_TEST

START_TEST(test_appended)
{
    struct guarded memory;
    struct blob *png = small_png();
    guarded_new(&memory, 2 * png->length);
    uint8_t *longer = malloc(2 * png->length);
    for (size_t more = 1; more <= png->length; more++) {
        for (int zeros = 0; zeros < 2; zeros++) {
            memcpy(longer, png->bytes, png->length);
            if (zeros)
                memset(longer + png->length, 0, more);
            else
                memcpy(longer + png->length, png->bytes + png->length - more, more);
            size_t length = png->length + more;
            must(!image_verify(guarded_copy(&memory, longer, length), length, 16, 16),
                 "%zu bytes more", more);
        }
    }
    free(longer);
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Files of arbitrary chunks with correct CRCs. */
struct made {
    uint8_t bytes[512];
    size_t length;
};

static void put_number(struct made *made, uint32_t number)
{
    for (int shift = 24; shift >= 0; shift -= 8)
        made->bytes[made->length++] = (uint8_t)(number >> shift);
}

static void put_chunk(struct made *made, const char *type, const void *body, uint32_t length)
{
    put_number(made, length);
    uint8_t *begin = made->bytes + made->length;
    memcpy(begin, type, 4);
    if (length)
        memcpy(begin + 4, body, length);
    made->length += 4 + length;
    put_number(made, (uint32_t)crc32(0, begin, 4 + length));
}

/* I: IHDR of 16 x 16, i: a short one, J: a long one, D: IDAT, d: an empty one, E: IEND, t: tEXt,
 * -: no signature. */
static const struct {
    const char *chunks;
    bool whole;
} orders[] = {
    {"IDE", true},  {"IDDE", true},  {"", false},     {"I", false},    {"E", false},
    {"IE", false},  {"ID", false},   {"DE", false},   {"DIE", false},  {"EDI", false},
    {"IED", false}, {"IDEE", false}, {"IDEI", false}, {"tIDE", false}, {"iDE", false},
    {"JDE", false}, {"IDEt", false}, {"-IDE", false}, {"ItE", false},
};

START_TEST(test_orders)
{
    static const uint8_t header[14] = {0, 0, 0, 16, 0, 0, 0, 16, 8};
    struct made made = {.length = 0};
    const char *chunks = orders[_i].chunks;
    if (*chunks != '-')
        memcpy(made.bytes, "\x89PNG\r\n\x1a\n", made.length = 8);
    for (const char *c = chunks; *c; c++) {
        if (*c == 'I')
            put_chunk(&made, "IHDR", header, 13);
        if (*c == 'i')
            put_chunk(&made, "IHDR", header, 12);
        if (*c == 'J')
            put_chunk(&made, "IHDR", header, 14);
        if (*c == 'D')
            put_chunk(&made, "IDAT", "pixels", 6);
        if (*c == 'E')
            put_chunk(&made, "IEND", NULL, 0);
        if (*c == 't')
            put_chunk(&made, "tEXt", "a\0b", 3);
    }
    struct guarded memory;
    guarded_new(&memory, sizeof made.bytes);
    bool whole = image_verify(guarded_copy(&memory, made.bytes, made.length), made.length, 16, 16);
    ck_assert_msg(whole == orders[_i].whole, "%s: %d", chunks, whole);
    guarded_free(&memory);
}
END_TEST

/* Lengths that point beyond the file, with nothing else wrong. */
START_TEST(test_lengths)
{
    static const uint32_t lengths[] = {0,          1,          12,         0x7fffffff, 0x80000000,
                                       0xfffffff0, 0xfffffff3, 0xfffffff4, 0xfffffff5, 0xffffffff};
    struct guarded memory;
    struct blob *png = small_png();
    guarded_new(&memory, png->length);
    for (int i = 0; i < ROWS(lengths); i++) {
        for (size_t at = 8; at < png->length; at += 12 + big_endian(png->bytes + at)) {
            uint8_t *copy = guarded_copy(&memory, png->bytes, png->length);
            if (big_endian(copy + at) == lengths[i])
                continue;
            for (int j = 0; j < 4; j++)
                copy[at + (size_t)j] = (uint8_t)(lengths[i] >> (24 - 8 * j));
            must(!image_verify(copy, png->length, 16, 16), "length %x at %zu", lengths[i], at);
        }
    }
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

START_TEST(test_noise)
{
    struct guarded memory;
    uint64_t state = 11;
    guarded_new(&memory, 4096);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[128];
        size_t length = (size_t)chance_below(&state, sizeof bytes);
        for (size_t j = 0; j < length; j++)
            bytes[j] = (uint8_t)chance(&state);
        if (i & 1)
            memcpy(bytes, "\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\1\0\0\0\1\0", 24);
        must(!image_verify(guarded_copy(&memory, bytes, length), length, 256, 256), "noise %d", i);
    }
    guarded_free(&memory);
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
    tcase_add_loop_test(tcase, test_palette, 0, ROWS(numbers_of_colours));
    tcase_add_test(tcase, test_pure);
    tcase = suite_case(suite, "verify");
    tcase_add_test(tcase, test_sizes);
    tcase_add_loop_test(tcase, test_truncated, 0, 2);
    tcase_add_loop_test(tcase, test_flipped, 0, 2);
    tcase_add_test(tcase, test_rotten);
    tcase_add_test(tcase, test_appended);
    tcase_add_loop_test(tcase, test_orders, 0, ROWS(orders));
    tcase_add_test(tcase, test_lengths);
    tcase_add_test(tcase, test_noise);
    return suite_run(suite);
}
