/* Documents compressed by gzip, read again by zlib; the time that it takes, asserted by `make
 * bench`. */
#include "server/core/gzip.h"

#include <zlib.h>

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

static void check_same(const struct blob *gzip, const struct blob *body)
{
    static unsigned char out[LARGEST + 1];
    z_stream stream = {.next_in = (unsigned char *)gzip->bytes,
                       .avail_in = (unsigned)gzip->length,
                       .next_out = out,
                       .avail_out = sizeof out};
    ck_assert_int_eq(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK); /* gzip alone */
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    ck_assert_uint_eq(stream.total_out, body->length);
    ck_assert_mem_eq(out, body->bytes, body->length);
    inflateEnd(&stream);
}

START_TEST(test_same)
{
    static const size_t lengths[] = {GZIP_MIN, GZIP_MIN + 1, 5000, LARGEST};
    const int level = _i % 2 ? GZIP_FAST : GZIP_SMALL;
    for (int i = 0; i < ROWS(lengths); i++) {
        struct blob *body = make(_i / 2, lengths[i]), *gzip = gzip_blob(body, level);
        ck_assert_ptr_nonnull(gzip);
        ck_assert_uint_lt(gzip->length, lengths[i] * 3 / 4);
        check_same(gzip, body);
        blob_release(gzip);
        gzip = gzip_blob_always(body, level);
        ck_assert_ptr_nonnull(gzip);
        check_same(gzip, body);
        blob_release(gzip);
        blob_release(body);
    }
}
END_TEST

START_TEST(test_not_smaller)
{
    static const char *const texts[] = {"", "a", "{\"status\":\"ok\"}"};
    struct blob *body = blob_copy(texts[_i], strlen(texts[_i]));
    ck_assert_ptr_null(gzip_blob(body, GZIP_FAST));
    struct blob *gzip = gzip_blob_always(body, GZIP_FAST);
    check_same(gzip, body);
    blob_release(gzip);
    blob_release(body);
}
END_TEST

/* The prediction is right within a factor of 2 on a quiet machine: see make bench. */
enum { OFF = 2, TIMES = 20 };

START_TEST(test_cost)
{
    struct blob *body = make(_i % 2, _i / 2 ? LARGEST : GZIP_MIN);
    const double begun = clock_thread_ns();
    for (int i = 0; i < TIMES; i++)
        blob_release(gzip_blob(body, GZIP_FAST));
    const double us = (clock_thread_ns() - begun) / 1e3 / TIMES;
    const uint32_t predicted = gzip_cost_us(body->length);
    must(!getenv("PREDICTIONS") || us < OFF * predicted, "%zu bytes: %.1f us; expected at most %u",
         body->length, us, OFF * predicted);
    blob_release(body);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("gzip");
    TCase *tcase = suite_case(suite, "gzip");
    tcase_add_loop_test(tcase, test_same, 0, 4);
    tcase_add_loop_test(tcase, test_not_smaller, 0, 3);
    tcase_add_loop_test(tcase, test_cost, 0, 4);
    return suite_run(suite);
}
