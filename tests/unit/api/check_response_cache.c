/* Cached responses: found by their URI, kept within a budget, and never leaked. */
#include "server/api/response_cache.h"

#include "tests/unit/support/fixtures.h"

static struct response_cache *cache;

static void set_up(void)
{
    ck_assert_int_eq(response_cache_new(&cache, 1 << 20), 0);
}

static void tear_down(void)
{
    response_cache_free(cache);
    response_cache_free(NULL);
}

/* References to BLOB besides the test's. */
static unsigned holders(const struct blob *blob)
{
    return __atomic_load_n(&blob->references, __ATOMIC_RELAXED) - 1;
}

static void put(const char *uri, const char *etag, struct blob *blob)
{
    char uri_copy[64], etag_copy[64]; /* the cache must copy these */
    struct cached_response ready = {.uri = uri_copy, .etag = etag_copy, .blob = blob};
    snprintf(uri_copy, sizeof uri_copy, "%s", uri);
    snprintf(etag_copy, sizeof etag_copy, "%s", etag);
    if (blob)
        ck_assert_int_eq(mhd_response_make(&ready.whole,
                                           &(struct http_response){.status = 200, .body = blob},
                                           NULL),
                         0);
    ck_assert_int_eq(
        mhd_response_make(&ready.not_modified, &(struct http_response){.status = 304}, NULL), 0);
    response_cache_put(cache, &ready);
    memset(uri_copy, 'x', sizeof uri_copy);
    memset(etag_copy, 'x', sizeof etag_copy);
}

START_TEST(test_find)
{
    struct blob *blob = blob_copy("tile", 4);
    ck_assert_ptr_null(response_cache_find(cache, "/a"));
    put("/a", "\"1\"", blob);
    put("/b", "\"2\"", NULL);
    const struct cached_response *a = response_cache_find(cache, "/a"),
                                 *b = response_cache_find(cache, "/b");
    ck_assert_str_eq(a->uri, "/a");
    ck_assert_str_eq(a->etag, "\"1\"");
    ck_assert_ptr_eq(a->blob, blob);
    ck_assert_uint_eq(a->whole.status, 200);
    ck_assert_uint_eq(a->whole.length, 4);
    ck_assert_uint_eq(a->not_modified.status, 304);
    ck_assert_str_eq(b->etag, "\"2\"");
    ck_assert_ptr_null(b->blob);
    ck_assert_ptr_null(b->whole.response);
    ck_assert_ptr_null(response_cache_find(cache, "/a?"));
    ck_assert_ptr_null(response_cache_find(cache, "/"));
    ck_assert_ptr_null(response_cache_find(cache, ""));
    blob_release(blob);
}
END_TEST

/* A response for the same URI replaces the first one. */
START_TEST(test_replace)
{
    struct blob *one = blob_copy("1", 1), *two = blob_copy("2", 1);
    put("/a", "\"1\"", one);
    ck_assert_uint_eq(holders(one), 2); /* the cache's and the response's */
    put("/a", "\"2\"", two);
    ck_assert_uint_eq(holders(one), 0);
    ck_assert_str_eq(response_cache_find(cache, "/a")->etag, "\"2\"");
    put("/a", "\"3\"", NULL);
    ck_assert_uint_eq(holders(two), 0);
    ck_assert_ptr_null(response_cache_find(cache, "/a")->blob);
    blob_release(one);
    blob_release(two);
}
END_TEST

START_TEST(test_clear)
{
    struct blob *blob = blob_copy("tile", 4);
    put("/a", "\"1\"", blob);
    response_cache_clear(cache, 1 << 20);
    ck_assert_ptr_null(response_cache_find(cache, "/a"));
    ck_assert_uint_eq(holders(blob), 0);
    put("/a", "\"1\"", blob);
    ck_assert_ptr_nonnull(response_cache_find(cache, "/a"));
    response_cache_clear(cache, 0);
    put("/a", "\"1\"", blob);
    ck_assert_ptr_null(response_cache_find(cache, "/a"));
    ck_assert_uint_eq(holders(blob), 0);
    put("/b", "\"2\"", NULL); /* costs no budget */
    ck_assert_ptr_nonnull(response_cache_find(cache, "/b"));
    blob_release(blob);
}
END_TEST

/* Far more tiles than fit: they never exceed the budget. */
START_TEST(test_budget)
{
    enum { TILES = 5000, SIZE = 10000 };
    static struct blob *blobs[TILES];
    int kept = 0;
    for (int i = 0; i < TILES; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "/%d", i);
        blobs[i] = blob_new(SIZE);
        put(uri, "\"e\"", blobs[i]);
        must(response_cache_find(cache, uri) != NULL, "%s is not there", uri);
    }
    for (int i = 0; i < TILES; i++)
        kept += holders(blobs[i]) > 0;
    ck_assert_int_le(kept * SIZE, 1 << 20);
    ck_assert_int_ge(kept * SIZE, (1 << 20) / 2);
    struct blob *huge = blob_new(2 << 20);
    put("/huge", "\"h\"", huge);
    ck_assert_ptr_null(response_cache_find(cache, "/huge"));
    ck_assert_uint_eq(holders(huge), 0);
    blob_release(huge);
    response_cache_clear(cache, 0);
    for (int i = 0; i < TILES; i++) {
        must(holders(blobs[i]) == 0, "%d is still held", i);
        blob_release(blobs[i]);
    }
}
END_TEST

/* Far more URIs than slots: a URI in constant use stays. */
START_TEST(test_hot)
{
    int lost = 0;
    put("/hot", "\"h\"", NULL);
    for (int i = 0; i < 20000; i++) {
        char uri[32];
        snprintf(uri, sizeof uri, "/%d", i);
        put(uri, "\"e\"", NULL);
        if (!response_cache_find(cache, "/hot")) {
            lost++;
            put("/hot", "\"h\"", NULL);
        }
    }
    ck_assert_int_eq(lost, 0);
}
END_TEST

/* A tile larger than the budget evicts nothing. */
START_TEST(test_too_large)
{
    struct blob *small = blob_copy("tile", 4), *large = blob_new(1 << 20);
    memset(large->bytes, 0, large->length);
    for (int i = 0; i < 16; i++) {
        char uri[16];
        snprintf(uri, sizeof uri, "/%d", i);
        put(uri, "\"1\"", small);
    }
    put("/large", "\"2\"", large);
    ck_assert_ptr_null(response_cache_find(cache, "/large"));
    ck_assert_uint_eq(holders(large), 0);
    ck_assert_uint_ge(holders(small), 16);
    blob_release(small);
    blob_release(large);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("response cache");
    TCase *tcase = suite_case(suite, "responses");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, test_find);
    tcase_add_test(tcase, test_too_large);
    tcase_add_test(tcase, test_replace);
    tcase_add_test(tcase, test_clear);
    tcase_add_test(tcase, test_budget);
    tcase_add_test(tcase, test_hot);
    return suite_run(suite);
}
