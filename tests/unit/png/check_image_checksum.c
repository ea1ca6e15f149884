/* Files of tiles, verified: whole or damaged, of this key or another. */
#include "server/png/image_checksum.h"

#include <xxhash.h> /* without the functions for the machine at hand */
#include <zlib.h>

#include "server/png/image_writer.h"
#include "server/webp/webp_writer.h"
#include "tests/unit/support/fixtures.h"

#define KEY "0123456789abcdef/relief/10/512/-3.png"
enum { LARGE = 256, CHUNK = 12 /* length, type, CRC */, END = 2 * CHUNK + IMAGE_CHECKSUM };

/* By the number of a loop: small or as large as a tile, PNG or WebP. */
enum { LARGE_ONE = 1, WEBP = 2, FILES = 4 };

static uint8_t pixels[LARGE * LARGE * 3];

static struct blob *encode_webp(int size, const char *key)
{
    struct webp_writer *writer;
    struct blob *webp = NULL;
    ck_assert_int_eq(webp_writer_new(&writer), 0);
    ck_assert_int_eq(webp_writer_tile(&webp, writer, PIXEL_RGB8, size, pixels, 50, 0, key), 0);
    webp_writer_free(writer);
    return webp;
}

static struct blob *encode(int number, int size, const char *key)
{
    struct image_writer *writer;
    struct blob *png = NULL;
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i * i >> 12);
    if (number & WEBP)
        return encode_webp(size, key);
    ck_assert_int_eq(image_writer_new(&writer), 0);
    ck_assert_int_eq(image_writer_tile(&png, writer, PIXEL_RGB8, NULL, size, pixels, key), 0);
    image_writer_free(writer);
    return png;
}

/* A file small enough to be damaged in every possible way, and one as long as a tile's. */
static struct blob *file_of(int number, const char *key)
{
    return encode(number, number & LARGE_ONE ? LARGE : 4, key);
}

/* The bytes that only the key and what is before them decide. */
static size_t end_of(int number)
{
    return number & WEBP ? IMAGE_CHECKSUM_RIFF : END;
}

static bool verify(const struct blob *png, const char *key)
{
    return image_checksum_verify(png->bytes, png->length, key);
}

/* The parts of a key in any other order or number, too. */
static const char *const other_keys[] = {
    "",
    "0",
    "0123456789abcdef/relief/10/512/-3.pn",
    "0123456789abcdef/relief/10/512/-3.png ",
    "0123456789abcdef/relief/10/512/-3@2x.png",
    "0123456789abcdef/relief/10/512/3.png",
    "0123456789abcdef/relief/10/512/-2.png",
    "0123456789abcdef/relief/10/513/-3.png",
    "0123456789abcdef/relief/11/512/-3.png",
    "0123456789abcdef/gray/10/512/-3.png",
    "0123456789abcdee/relief/10/512/-3.png",
    "0123456789abcdef/relief/10/-3/512.png",
};

START_TEST(test_keys)
{
    struct blob *png = file_of(_i, KEY);
    ck_assert(verify(png, KEY));
    for (int i = 0; i < ROWS(other_keys); i++) {
        struct blob *other = file_of(_i, other_keys[i]);
        must(!verify(png, other_keys[i]), "%s", other_keys[i]);
        must(verify(other, other_keys[i]), "%s", other_keys[i]);
        must(!verify(other, KEY), "%s", other_keys[i]);
        /* They differ in nothing but the chunk. */
        ck_assert_uint_eq(other->length, png->length);
        ck_assert_mem_eq(other->bytes, png->bytes, png->length - end_of(_i));
        blob_release(other);
    }
    blob_release(png);
}
END_TEST

/* The chunk of one file in another one of the same key. */
START_TEST(test_copied_chunk)
{
    struct blob *one = encode(_i * WEBP, 64, KEY), *other = encode(_i * WEBP, 65, KEY);
    const size_t end = end_of(_i * WEBP);
    memcpy(one->bytes + one->length - end, other->bytes + other->length - end, end);
    ck_assert(verify(other, KEY));
    ck_assert(!verify(one, KEY));
    blob_release(one);
    blob_release(other);
}
END_TEST

START_TEST(test_without_chunk)
{
    struct blob *png = encode(_i * WEBP, 64, NULL);
    ck_assert(!verify(png, KEY));
    ck_assert(!verify(png, ""));
    blob_release(png);
}
END_TEST

static uint32_t big_endian(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_big_endian(uint8_t *out, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        out[i] = (uint8_t)(number >> (24 - 8 * i));
}

/* A byte of a chunk changed, and the chunk's CRC after it. */
START_TEST(test_right_crcs)
{
    struct blob *png = file_of(0, KEY);
    uint8_t *copy = malloc(png->length);
    for (size_t at = 8; at < png->length; at += CHUNK + big_endian(png->bytes + at)) {
        const uint32_t length = big_endian(png->bytes + at);
        for (uint32_t i = 0; i < length; i++) {
            memcpy(copy, png->bytes, png->length);
            copy[at + 8 + i] ^= 0x10;
            put_big_endian(copy + at + 8 + length, (uint32_t)crc32(0, copy + at + 4, 4 + length));
            must(!image_checksum_verify(copy, png->length, KEY), "byte %u of %.4s", i,
                 (const char *)png->bytes + at + 4);
        }
    }
    free(copy);
    blob_release(png);
}
END_TEST

START_TEST(test_truncated)
{
    struct guarded memory;
    struct blob *png = file_of(_i, KEY);
    guarded_new(&memory, png->length);
    ck_assert(
        image_checksum_verify(guarded_copy(&memory, png->bytes, png->length), png->length, KEY));
    size_t step = _i & LARGE_ONE ? 61 : 1;
    for (size_t length = 0; length < png->length; length += step)
        must(!image_checksum_verify(guarded_copy(&memory, png->bytes, length), length, KEY),
             "%zu of %zu bytes", length, png->length);
    for (size_t less = 1; less < 64 && less <= png->length; less++) {
        size_t length = png->length - less;
        must(!image_checksum_verify(guarded_copy(&memory, png->bytes, length), length, KEY),
             "%zu bytes less", less);
        /* The end alone, and what is before it cut. */
        must(!image_checksum_verify(guarded_copy(&memory, png->bytes + less, length), length, KEY),
             "%zu bytes less at the begin", less);
    }
    must(!image_checksum_verify(png->bytes + png->length - end_of(_i), end_of(_i), KEY),
         "the end alone");
    ck_assert(!image_checksum_verify(NULL, 0, KEY));
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Flip one bit: each one of a small file; in a tile those at the ends, and a sample. */
START_TEST(test_flipped)
{
    struct guarded memory;
    struct blob *png = file_of(_i, KEY);
    guarded_new(&memory, png->length);
    uint8_t *copy = guarded_copy(&memory, png->bytes, png->length);
    for (size_t at = 0; at < png->length; at++) {
        if (_i & LARGE_ONE && at >= 64 && at + 64 < png->length && at % 97)
            continue;
        for (int bit = 0; bit < 8; bit++) {
            copy[at] ^= (uint8_t)(1 << bit);
            must(!image_checksum_verify(copy, png->length, KEY), "bit %d of byte %zu", bit, at);
            copy[at] ^= (uint8_t)(1 << bit);
        }
    }
    ck_assert(image_checksum_verify(copy, png->length, KEY));
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Holes and swapped blocks, as from a failing disk. */
START_TEST(test_rotten)
{
    struct blob *png = file_of(LARGE_ONE + _i * WEBP, KEY);
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
        must(!image_checksum_verify(copy, png->length, KEY), "%zu bytes from %zu on", length, at);
    }
    free(copy);
    blob_release(png);
}
END_TEST

/* With zeros, and with the file's own end. */
START_TEST(test_appended)
{
    struct guarded memory;
    struct blob *png = file_of(_i * WEBP, KEY);
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
            must(!image_checksum_verify(guarded_copy(&memory, longer, length), length, KEY),
                 "%zu bytes more", more);
        }
    }
    free(longer);
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* Half of them end as files do, and RIFF files begin so. */
START_TEST(test_noise)
{
    struct guarded memory;
    uint64_t state = 11;
    struct blob *png = file_of(_i * WEBP, KEY);
    const size_t end = end_of(_i * WEBP);
    guarded_new(&memory, 4096);
    for (int i = 0; i < 20000; i++) {
        uint8_t bytes[128];
        size_t length = (size_t)chance_below(&state, sizeof bytes);
        for (size_t j = 0; j < length; j++)
            bytes[j] = (uint8_t)chance(&state);
        if (_i && length >= 4)
            memcpy(bytes, "RIFF", 4);
        if (i & 1 && length >= end)
            memcpy(bytes + length - end, png->bytes + png->length - end, end);
        must(!image_checksum_verify(guarded_copy(&memory, bytes, length), length, KEY), "noise %d",
             i);
    }
    blob_release(png);
    guarded_free(&memory);
}
END_TEST

/* The values are part of files, which machines may share: the same with any instructions. */
START_TEST(test_values)
{
    static const uint8_t golden[IMAGE_CHECKSUM] = {0x98, 0x71, 0x37, 0x43, 0xfc, 0xd3, 0xd0, 0x77,
                                                   0x56, 0xa9, 0xab, 0xd8, 0xe0, 0xb3, 0x8a, 0xdd};
    static const size_t lengths[] = {0, 1, 16, 17, 128, 129, 240, 241, 1023, 1024, 1025, 65537};
    uint8_t *bytes = malloc(65537), both[IMAGE_CHECKSUM + sizeof KEY], got[IMAGE_CHECKSUM];
    XXH128_canonical_t hash;
    for (size_t i = 0; i < 65537; i++)
        bytes[i] = (uint8_t)(i * 0x9e3779b1u >> 13);
    for (int i = 0; i < ROWS(lengths); i++) {
        XXH128_canonicalFromHash(&hash, XXH3_128bits(bytes, lengths[i]));
        memcpy(both, hash.digest, IMAGE_CHECKSUM);
        memcpy(both + IMAGE_CHECKSUM, KEY, sizeof KEY - 1);
        XXH128_canonicalFromHash(&hash, XXH3_128bits(both, sizeof both - 1));
        image_checksum(got, bytes, lengths[i], KEY);
        ck_assert_mem_eq(got, hash.digest, IMAGE_CHECKSUM);
    }
    ck_assert_mem_eq(got, golden, IMAGE_CHECKSUM);
    free(bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("image checksum");
    TCase *tcase = suite_case(suite, "verify");
    tcase_add_loop_test(tcase, test_keys, 0, FILES);
    tcase_add_loop_test(tcase, test_copied_chunk, 0, 2);
    tcase_add_loop_test(tcase, test_without_chunk, 0, 2);
    tcase_add_test(tcase, test_right_crcs);
    tcase_add_loop_test(tcase, test_truncated, 0, FILES);
    tcase_add_loop_test(tcase, test_flipped, 0, FILES);
    tcase_add_loop_test(tcase, test_rotten, 0, 2);
    tcase_add_loop_test(tcase, test_appended, 0, 2);
    tcase_add_loop_test(tcase, test_noise, 0, 2);
    tcase_add_test(tcase, test_values);
    return suite_run(suite);
}
