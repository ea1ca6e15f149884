/* Prefixes of routes: paths, and URLs that end in one. */
#include "config/daemon/url_prefix.h"

#include "tests/unit/support/fixtures.h"

/* NULL: invalid. */
static const struct {
    const char *text, *path;
} paths[] = {
    {"", ""},
    {"/", ""},
    {"/a", "/a"},
    {"/a/", "/a"},
    {"/a/b", "/a/b"},
    {"/a/b/", "/a/b"},
    {"/A-z_0.9~", "/A-z_0.9~"},
    {"/...", "/..."},
    {"/.a/..b", "/.a/..b"},
    {"a", NULL},
    {"a/", NULL},
    {"a/b", NULL},
    {"//", NULL},
    {"//a", NULL},
    {"/a//b", NULL},
    {"/a//", NULL},
    {"/.", NULL},
    {"/..", NULL},
    {"/./a", NULL},
    {"/a/../b", NULL},
    {"/a/..", NULL},
    {"/a/./", NULL},
    {"/a b", NULL},
    {" /a", NULL},
    {"/a ", NULL},
    {"/%61", NULL},
    {"/a?b", NULL},
    {"/a#b", NULL},
    {"/a:1", NULL},
    {"/a,/b", NULL},
    {"/\xc3\xa9", NULL},
    {"/\"", NULL},
    {"/a\\b", NULL},
    {"http://a/", NULL},
};

START_TEST(test_path)
{
    struct guarded memory;
    char out[URL_PREFIX_PATH_MAX];
    const size_t length = strlen(paths[_i].text);
    guarded_new(&memory, 256);
    const char *text = (const char *)guarded_copy(&memory, paths[_i].text, length);
    int err = url_prefix_parse_path(out, text, length);
    ck_assert_msg((err == 0) == (paths[_i].path != NULL), "\"%s\": %d", paths[_i].text, err);
    if (!err)
        ck_assert_str_eq(out, paths[_i].path);
    guarded_free(&memory);
}
END_TEST

static const struct {
    const char *text, *url;
} urls[] = {
    {"", ""},
    {"http://a", "http://a"},
    {"http://a/", "http://a"},
    {"https://tiles.example.org:8443", "https://tiles.example.org:8443"},
    {"https://tiles.example.org/a/b", "https://tiles.example.org/a/b"},
    {"https://tiles.example.org:1/a/b/", "https://tiles.example.org:1/a/b"},
    {"http://[::1]:80/a", "http://[::1]:80/a"},
    {"a", NULL},
    {"/", NULL},
    {"/a", NULL},
    {"//a", NULL},
    {"http:", NULL},
    {"http:/a", NULL},
    {"http://", NULL},
    {"http:///a", NULL},
    {"https://", NULL},
    {"HTTP://a", NULL},
    {"ftp://a", NULL},
    {"http://:80", NULL},
    {"http://a:0", NULL},
    {"http://a:", NULL},
    {"http://a:65536", NULL},
    {"http://user@a", NULL},
    {"http://[fe80::1%eth0]/", NULL},
    {"http://a?b", NULL},
    {"http://a/?b", NULL},
    {"http://a/#b", NULL},
    {"http://a#", NULL},
    {"http://a//", NULL},
    {"http://a/b//", NULL},
    {"http://a/../b", NULL},
    {"http://a/%20", NULL},
    {" http://a", NULL},
    {"http://a ", NULL},
};

START_TEST(test_url)
{
    struct guarded memory;
    char out[URL_PREFIX_URL_MAX];
    const size_t length = strlen(urls[_i].text);
    guarded_new(&memory, 256);
    const char *text = (const char *)guarded_copy(&memory, urls[_i].text, length);
    int err = url_prefix_parse_url(out, text, length);
    ck_assert_msg((err == 0) == (urls[_i].url != NULL), "\"%s\": %d", urls[_i].text, err);
    if (!err)
        ck_assert_str_eq(out, urls[_i].url);
    guarded_free(&memory);
}
END_TEST

/* The longest path and the longest URL, with host and path at their limits. */
START_TEST(test_length)
{
    char text[1024], out[URL_PREFIX_URL_MAX];
    memset(text, 'a', sizeof text);
    text[0] = '/';
    ck_assert_int_eq(url_prefix_parse_path(out, text, URL_PREFIX_PATH_MAX - 1), 0);
    ck_assert_uint_eq(strlen(out), URL_PREFIX_PATH_MAX - 1);
    ck_assert_int_lt(url_prefix_parse_path(out, text, URL_PREFIX_PATH_MAX), 0);
    memcpy(text, "https://", 8);
    text[8 + 255] = '/';
    ck_assert_int_eq(url_prefix_parse_url(out, text, 8 + 255 + URL_PREFIX_PATH_MAX - 1), 0);
    ck_assert_uint_eq(strlen(out), 8 + 255 + URL_PREFIX_PATH_MAX - 1);
    ck_assert_int_lt(url_prefix_parse_url(out, text, 8 + 255 + URL_PREFIX_PATH_MAX), 0);
}
END_TEST

START_TEST(test_inner_zeros)
{
    char out[URL_PREFIX_URL_MAX];
    ck_assert_int_lt(url_prefix_parse_path(out, "/a\0b", 4), 0);
    ck_assert_int_lt(url_prefix_parse_url(out, "http://a\0b", 10), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("prefix");
    TCase *tcase = suite_case(suite, "prefixes");
    tcase_add_loop_test(tcase, test_path, 0, ROWS(paths));
    tcase_add_loop_test(tcase, test_url, 0, ROWS(urls));
    tcase_add_test(tcase, test_length);
    tcase_add_test(tcase, test_inner_zeros);
    return suite_run(suite);
}
