/* WebP files: their pixels as libwebp decodes them, their layout, and that nothing but pixels and
 * settings decides their bytes. */
#include "server/webp/webp_writer.h"

#include <math.h>
#include <webp/decode.h>

#include "server/png/image_checksum.h"
#include "tests/unit/support/fixtures.h"

#define KEY "0123456789abcdef/relief/10/512/-3.webp"
enum { MOST = LAYER_MAX_SIZE, QUALITY = 85 };

static struct webp_writer *writer;
static uint8_t pixels[MOST * MOST * 3];

static void set_up(void)
{
    ck_assert_int_eq(webp_writer_new(&writer), 0);
}

static void tear_down(void)
{
    webp_writer_free(writer);
    webp_writer_free(NULL);
}

enum look { LEVEL, HILLS, ROUGH };

/* Fill SIZE x SIZE pixels of BYTES each. */
static void paint(enum look look, int size, size_t bytes)
{
    uint64_t state = 5;
    for (int y = 0; y < size; y++)
        for (int x = 0; x < size; x++)
            for (size_t c = 0; c < bytes; c++) {
                const double hill = 128 + 60 * sin(x / 20.0 + (double)c) + 60 * cos(y / 30.0);
                pixels[((size_t)y * (size_t)size + (size_t)x) * bytes + c] =
                    look == LEVEL   ? (uint8_t)(40 + 70 * c)
                    : look == HILLS ? (uint8_t)hill
                                    : (uint8_t)chance(&state);
            }
}

static struct blob *encode(enum pixel pixel, int size, unsigned quality, unsigned method,
                           const char *key)
{
    struct blob *blob = NULL;
    const int err = webp_writer_tile(&blob, writer, pixel, size, pixels, quality, method, key);
    must(err == 0 && blob && blob->references == 1, "%d", err);
    return blob;
}

/* Decode BLOB; the greatest and the mean difference from the pixels. */
static void compare(const struct blob *blob, enum pixel pixel, int size, int *most, double *mean)
{
    int width, height;
    double sum = 0;
    uint8_t *got = WebPDecodeRGB(blob->bytes, blob->length, &width, &height);

    must(got && width == size && height == size, "%d x %d", width, height);
    *most = 0;
    for (size_t k = 0; k < (size_t)size * (size_t)size * 3; k++) {
        const int difference = abs(got[k] - pixels[pixel == PIXEL_GRAY8 ? k / 3 : k]);
        *most = difference > *most ? difference : *most;
        sum += difference;
    }
    *mean = sum / (3 * (double)size * size);
    WebPFree(got);
}

static const struct {
    enum pixel pixel;
    enum look look;
    int size;
    unsigned quality, method;
    int most;
    double mean;
} rows[] = {
    {PIXEL_PICTURE, LEVEL, 256, QUALITY, 0, 3, 2},
    {PIXEL_PICTURE, HILLS, 256, QUALITY, 0, 12, 2.5},
    {PIXEL_PICTURE, HILLS, 257, QUALITY, 0, 12, 2.5},
    {PIXEL_PICTURE, HILLS, 512, 65, 0, 20, 3.5},
    {PIXEL_PICTURE, HILLS, 513, QUALITY, 0, 12, 2.5},
    {PIXEL_PICTURE, HILLS, 1, QUALITY, 0, 12, 12},
    {PIXEL_PICTURE, HILLS, 256, 100, 6, 8, 1.5},
    {PIXEL_PICTURE, ROUGH, 513, 100, 6, 255, 50}, /* the longest file */
    {PIXEL_PICTURE, HILLS, 256, 0, 3, 80, 12},
    {PIXEL_RGB8, HILLS, 256, QUALITY, 4, 12, 2.5},
    {PIXEL_GRAY8, LEVEL, 256, QUALITY, 0, 2, 1},
    {PIXEL_GRAY8, HILLS, 256, QUALITY, 0, 8, 1.5},
    {PIXEL_GRAY8, ROUGH, 256, 100, 0, 60, 5},
};

START_TEST(shows_the_pixels)
{
    int most;
    double mean;
    paint(rows[_i].look, rows[_i].size, pixel_bytes(rows[_i].pixel));
    struct blob *blob =
        encode(rows[_i].pixel, rows[_i].size, rows[_i].quality, rows[_i].method, KEY);
    compare(blob, rows[_i].pixel, rows[_i].size, &most, &mean);
    must(most <= rows[_i].most && mean <= rows[_i].mean, "row %d: %d, %g on average", _i, most,
         mean);
    blob_release(blob);
}
END_TEST

static uint32_t number_at(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

/* An extended file: VP8X, the picture, the checksum, and nothing else. */
START_TEST(has_three_chunks)
{
    static const char *const names[] = {"VP8X", "VP8 ", "flKY"};
    const enum pixel pixel = _i ? PIXEL_GRAY8 : PIXEL_PICTURE;
    WebPBitstreamFeatures features;
    paint(HILLS, 257, pixel_bytes(pixel));
    struct blob *blob = encode(pixel, 257, QUALITY, 0, KEY);
    ck_assert_mem_eq(blob->bytes, "RIFF", 4);
    ck_assert_uint_eq(number_at(blob->bytes + 4), blob->length - 8);
    ck_assert_mem_eq(blob->bytes + 8, "WEBP", 4);
    size_t at = 12;
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_le(at + 8, blob->length);
        ck_assert_mem_eq(blob->bytes + at, names[i], 4);
        const uint32_t length = number_at(blob->bytes + at + 4);
        at += 8 + length + (length & 1);
    }
    ck_assert_uint_eq(at, blob->length);
    ck_assert_int_eq(WebPGetFeatures(blob->bytes, blob->length, &features), VP8_STATUS_OK);
    ck_assert_int_eq(features.width, 257);
    ck_assert_int_eq(features.height, 257);
    ck_assert(!features.has_alpha);
    ck_assert_int_eq(features.format, 1);
    ck_assert(image_checksum_verify(blob->bytes, blob->length, KEY));
    blob_release(blob);
}
END_TEST

/* Without a key it is libwebp's own file, which no key fits. */
START_TEST(may_have_no_key)
{
    paint(HILLS, 64, 3);
    struct blob *plain = encode(PIXEL_PICTURE, 64, QUALITY, 0, NULL);
    struct blob *bound = encode(PIXEL_PICTURE, 64, QUALITY, 0, KEY);
    ck_assert_mem_eq(plain->bytes + 12, "VP8 ", 4);
    ck_assert_uint_eq(bound->length, plain->length + 18 + IMAGE_CHECKSUM_RIFF);
    ck_assert_mem_eq(plain->bytes + 12, bound->bytes + 30, plain->length - 12);
    ck_assert(!image_checksum_verify(plain->bytes, plain->length, KEY));
    ck_assert(!image_checksum_verify(plain->bytes, plain->length, ""));
    blob_release(plain);
    blob_release(bound);
}
END_TEST

static bool same(const struct blob *a, const struct blob *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* Whatever the writer has encoded before. */
START_TEST(writes_the_same_bytes)
{
    paint(HILLS, 256, 3);
    struct blob *first = encode(PIXEL_PICTURE, 256, QUALITY, 0, KEY);
    paint(ROUGH, 513, 3);
    blob_release(encode(PIXEL_PICTURE, 513, 100, 0, KEY));
    paint(HILLS, 256, 3);
    struct blob *again = encode(PIXEL_PICTURE, 256, QUALITY, 0, KEY);
    ck_assert(same(first, again));
    webp_writer_free(writer);
    ck_assert_int_eq(webp_writer_new(&writer), 0);
    struct blob *fresh = encode(PIXEL_PICTURE, 256, QUALITY, 0, KEY);
    ck_assert(same(first, fresh));
    blob_release(first);
    blob_release(again);
    blob_release(fresh);
}
END_TEST

START_TEST(quality_and_method_count)
{
    paint(HILLS, 256, 3);
    for (size_t i = 0; i < 256 * 256 * 3; i += 7)
        pixels[i] ^= 24;
    struct blob *low = encode(PIXEL_PICTURE, 256, 20, 0, NULL);
    struct blob *high = encode(PIXEL_PICTURE, 256, 90, 0, NULL);
    struct blob *slow = encode(PIXEL_PICTURE, 256, 90, 6, NULL);
    must(2 * low->length < high->length, "%zu and %zu bytes", low->length, high->length);
    must(slow->length < high->length, "%zu and %zu bytes", slow->length, high->length);
    blob_release(low);
    blob_release(high);
    blob_release(slow);
}
END_TEST

/* Each setting is in it. */
START_TEST(has_an_identity)
{
    static const struct webp_config configs[] = {
        {85, 65, 0}, {84, 65, 0}, {85, 64, 0}, {85, 65, 1}, {65, 85, 0}, {0, 0, 0}, {100, 100, 6}};
    for (int i = 0; i < ROWS(configs); i++)
        for (int j = 0; j < ROWS(configs); j++)
            must((webp_writer_identity(&configs[i]) == webp_writer_identity(&configs[j])) ==
                     (i == j),
                 "%d and %d", i, j);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("webp writer");
    TCase *tcase = suite_case(suite, "writer");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, shows_the_pixels, 0, ROWS(rows));
    tcase_add_loop_test(tcase, has_three_chunks, 0, 2);
    tcase_add_test(tcase, may_have_no_key);
    tcase_add_test(tcase, writes_the_same_bytes);
    tcase_add_test(tcase, quality_and_method_count);
    tcase_add_test(tcase, has_an_identity);
    return suite_run(suite);
}
