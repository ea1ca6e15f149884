/* HOST:PORT: its parts, and its validity for listening and in URLs. */
#include "config/daemon/authority.h"

#include "tests/unit/support/fixtures.h"

static const struct {
    const char *text;
    bool listen, url;
    const char *host;
    int port;
} rows[] = {
    {"127.0.0.1:8080", true, true, "127.0.0.1", 8080},
    {"localhost", false, true, "localhost", AUTHORITY_NO_PORT},
    {"tiles.example.org", false, true, "tiles.example.org", AUTHORITY_NO_PORT},
    {"A_b-9.c:65535", true, true, "A_b-9.c", 65535},
    {"a:0", true, false, "a", 0},
    {"a:1", true, true, "a", 1},
    {"[::1]", false, true, "::1", AUTHORITY_NO_PORT},
    {"[::1]:8443", true, true, "::1", 8443},
    {"[2001:DB8::a]:80", true, true, "2001:DB8::a", 80},
    {"[::ffff:127.0.0.1]:80", true, true, "::ffff:127.0.0.1", 80},
    {"[fe80::1%eth0]:8080", true, false, "fe80::1%eth0", 8080},
    {"[fe80::1%eth0]", false, false, "fe80::1%eth0", AUTHORITY_NO_PORT},
    /* Malformed. */
    {.text = ""},
    {.text = ":"},
    {.text = ":80"},
    {.text = "a:"},
    {.text = "a:080"},
    {.text = "a:+1"},
    {.text = "a:65536"},
    {.text = "a:18446744073709551617"},
    {.text = "a:80:81"},
    {.text = "a:80/"},
    {.text = "a/b"},
    {.text = "a b"},
    {.text = " a"},
    {.text = "a "},
    {.text = "a\tb:80"},
    {.text = "user@a:80"},
    {.text = "a\"b"},
    {.text = "a<b>"},
    {.text = "a'b"},
    {.text = "a\\b"},
    {.text = "a,b"},
    {.text = "a%20b"},
    {.text = "\xc3\xa9:80"},
    {.text = "::1"},
    {.text = "::1:80"},
    {.text = "[]"},
    {.text = "[]:80"},
    {.text = "[::1"},
    {.text = "[::1:80"},
    {.text = "::1]:80"},
    {.text = "[::1]80"},
    {.text = "[::1]:"},
    {.text = "[::1]]:80"},
    {.text = "[[::1]]:80"},
    {.text = "[127.0.0.1]:80"},
    {.text = "[localhost]:80"},
    {.text = "[1:2:3]:80"},
    {.text = "[::1%]:80"},
    {.text = "[::1%a b]:80"},
    {.text = "[::1%a%b]:80"},
    {.text = "[%eth0]:80"},
    {.text = "[0000:0000:0000:0000:0000:0000:0000:0000:0000:0000]:80"},
};

START_TEST(test_rows)
{
    struct guarded memory;
    struct authority authority;
    const size_t length = strlen(rows[_i].text);
    guarded_new(&memory, 256);
    /* Without a terminating NUL: reading beyond the end would fault. */
    const char *text = (const char *)guarded_copy(&memory, rows[_i].text, length);
    const bool valid = rows[_i].host != NULL;
    ck_assert_msg((authority_parse(&authority, text, length) == 0) == valid, "\"%s\": not %d",
                  rows[_i].text, valid);
    ck_assert_msg(authority_can_listen(text, length) == rows[_i].listen, "\"%s\"", rows[_i].text);
    ck_assert_msg(authority_can_be_in_url(text, length) == rows[_i].url, "\"%s\"", rows[_i].text);
    if (valid) {
        ck_assert_uint_eq(authority.host_length, strlen(rows[_i].host));
        ck_assert_int_eq(memcmp(authority.host, rows[_i].host, authority.host_length), 0);
        ck_assert_int_eq(authority.port, rows[_i].port);
        ck_assert_int_eq(authority.zone, strchr(rows[_i].host, '%') != NULL);
    }
    guarded_free(&memory);
}
END_TEST

START_TEST(test_inner_zeros)
{
    struct authority authority;
    ck_assert_int_lt(authority_parse(&authority, "a\0b", 3), 0);
    ck_assert_int_lt(authority_parse(&authority, "[::1\0]:80", 9), 0);
    ck_assert_int_lt(authority_parse(&authority, "a:8\0", 4), 0);
}
END_TEST

START_TEST(test_length)
{
    char text[AUTHORITY_MAX + 1];
    struct authority authority;
    memset(text, 'a', sizeof text);
    ck_assert_int_eq(authority_parse(&authority, text, AUTHORITY_MAX - 1), 0);
    ck_assert_int_lt(authority_parse(&authority, text, AUTHORITY_MAX), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("authority");
    TCase *tcase = suite_case(suite, "HOST:PORT");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_inner_zeros);
    tcase_add_test(tcase, test_length);
    return suite_run(suite);
}
