/* Documents compressed by gzip and zstd, read again by zlib and libzstd; the time that it takes,
 * asserted by `make bench`. */
#include "server/core/coding.h"

#include <zlib.h>
#include <zstd.h>

#include "tests/unit/support/fixtures.h"

enum { LARGEST = 48 * 1024 };

/* LENGTH bytes like those of documents, in the form of kind KIND. */
static struct blob *make(int kind, size_t length)
{
    struct blob *blob = blob_new(length);
    uint64_t state = 1;
    size_t at = 0;
    while (at < length) {
        char text[80];
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        const double number = 200 + (double)(state >> 40) / (1 << 20);
        if (kind == 0)
            sprintf(text, "%.8g,[%d,%d],", number, (int)(state >> 50), (int)at);
        else
            sprintf(text, "<Layer><ows:Identifier>%d</ows:Identifier></Layer>\n", (int)at);
        const size_t count = strlen(text) < length - at ? strlen(text) : length - at;
        memcpy(blob->bytes + at, text, count);
        at += count;
    }
    return blob;
}

static void check_same(const struct blob *packed, enum coding coding, const struct blob *body)
{
    static unsigned char out[LARGEST + 1];
    if (coding == CODING_ZSTD) {
        ck_assert_uint_eq(ZSTD_decompress(out, sizeof out, packed->bytes, packed->length),
                          body->length);
    } else {
        z_stream stream = {.next_in = (unsigned char *)packed->bytes,
                           .avail_in = (unsigned)packed->length,
                           .next_out = out,
                           .avail_out = sizeof out};
        ck_assert_int_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK); /* gzip alone */
        ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
        ck_assert_uint_eq(stream.avail_in, 0);
        ck_assert_uint_eq(stream.total_out, body->length);
        inflateEnd(&stream);
    }
    ck_assert_mem_eq(out, body->bytes, body->length);
}

static const enum coding codings[] = {CODING_GZIP, CODING_ZSTD};

START_TEST(test_same)
{
    static const size_t lengths[] = {CODING_MIN, CODING_MIN + 1, 5000, LARGEST};
    const enum coding coding = codings[_i / 4];
    for (int i = 0; i < ROWS(lengths); i++) {
        struct blob *body = make(_i / 2 % 2, lengths[i]);
        struct blob *packed = coding_pack(body, coding, _i % 2);
        ck_assert_ptr_nonnull(packed);
        ck_assert_uint_lt(packed->length, lengths[i] * 3 / 4);
        check_same(packed, coding, body);
        blob_release(packed);
        packed = coding_pack_over(blob_hold(body), coding);
        ck_assert_ptr_nonnull(packed);
        check_same(packed, coding, body);
        blob_release(packed);
        blob_release(body);
    }
}
END_TEST

START_TEST(test_not_smaller)
{
    static const char *const texts[] = {"", "a", "{\"status\":\"ok\"}"};
    const enum coding coding = codings[_i % 2];
    struct blob *body = blob_copy(texts[_i / 2], strlen(texts[_i / 2]));
    ck_assert_ptr_null(coding_pack(body, coding, false));
    struct blob *packed = coding_pack_over(blob_hold(body), coding);
    check_same(packed, coding, body);
    blob_release(packed);
    blob_release(body);
}
END_TEST

/* The prediction is right within a factor of 2 on a quiet machine: see make bench. */
enum { OFF = 2, TIMES = 20 };

START_TEST(test_cost)
{
    struct blob *body = make(_i % 2, _i / 2 % 2 ? LARGEST : CODING_MIN);
    const double begun = clock_thread_ns();
    for (int i = 0; i < TIMES; i++)
        blob_release(coding_pack(body, codings[_i / 4], false));
    const double us = (clock_thread_ns() - begun) / 1e3 / TIMES;
    const uint32_t predicted = coding_cost_us(body->length);
    must(!getenv("PREDICTIONS") || us < OFF * predicted, "%zu bytes: %.1f us; expected at most %u",
         body->length, us, OFF * predicted);
    blob_release(body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("codings");
    TCase *tcase = suite_case(suite, "codings");
    tcase_add_loop_test(tcase, test_same, 0, 8);
    tcase_add_loop_test(tcase, test_not_smaller, 0, 6);
    tcase_add_loop_test(tcase, test_cost, 0, 8);
    return suite_run(suite);
}
