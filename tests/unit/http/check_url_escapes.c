/* Percent-encoding in URLs: decoded once, or not at all. */
#include "server/http/url_escapes.h"

#include "tests/unit/support/fixtures.h"

static const struct {
    const char *uri, *decoded; /* NULL: as it is */
    const char *refused;       /* its beginning, or NULL */
} rows[] = {
    {"", NULL, NULL},
    {"/default:42/relief/6/31/32@2x.png?v=0", NULL, NULL},
    {"/heights?at=+1,-2;3,4", NULL, NULL},
    {"/default%3A42.json", "/default:42.json", NULL},
    {"/default%3a42.json", "/default:42.json", NULL},
    {"/32%402x.png", "/32@2x.png", NULL},
    {"?at=1%2C2%3B3%2c4", "?at=1,2;3,4", NULL},
    {"?x=%2B5&y=+5", "?x=+5&y=+5", NULL},
    {"%30%39%41%5A%61%7a", "09AZaz", NULL},
    {"/%64%65fault%2Ejson", "/default.json", NULL},
    {"/%2e%2e/", "/../", NULL},
    {"%2D%2E%5F%7E%21%24%27%28%29%2A%5B%5D", "-._~!$'()*[]", NULL},
    /* Nothing is decoded if one of them is refused. */
    {"/%3A%2F%3A", NULL, "%2F"},
    {"%00", NULL, "%00"},
    {"/%0D%0A", NULL, "%0D"},
    {"%20", NULL, "%20"},
    {"%22", NULL, "%22"},
    {"%23", NULL, "%23"},
    {"%25", NULL, "%25"},
    {"/default%253A42", NULL, "%25"},
    {"%2525", NULL, "%25"},
    {"%26", NULL, "%26"},
    {"%2f", NULL, "%2f"},
    {"%3C", NULL, "%3C"},
    {"%3D", NULL, "%3D"},
    {"%3E", NULL, "%3E"},
    {"%3F", NULL, "%3F"},
    {"%5C", NULL, "%5C"},
    {"%5E", NULL, "%5E"},
    {"%60", NULL, "%60"},
    {"%7B", NULL, "%7B"},
    {"%7C", NULL, "%7C"},
    {"%7D", NULL, "%7D"},
    {"%7F", NULL, "%7F"},
    {"%80", NULL, "%80"},
    {"%C1%81", NULL, "%C1"},
    {"%E1", NULL, "%E1"},
    {"%C3%B6", NULL, "%C3"},
    {"%FF", NULL, "%FF"},
    /* Malformed. */
    {"%", NULL, "%"},
    {"%4", NULL, "%4"},
    {"%zz", NULL, "%zz"},
    {"%4z", NULL, "%4z"},
    {"%z4", NULL, "%z4"},
    {"%%41", NULL, "%%4"},
    {"%4%31", NULL, "%4%"},
    {"%+1", NULL, "%+1"},
    {"%-1", NULL, "%-1"},
    {"% 1", NULL, "% 1"},
    {"%0x41", NULL, "%0x"},
    {"%u0041", NULL, "%u0"},
};

START_TEST(test_rows)
{
    const char *uri = rows[_i].uri, *expected = rows[_i].decoded ? rows[_i].decoded : uri;
    char text[64];
    strcpy(text, uri);

    const char *refused = url_escapes_refused(text);
    must(!refused == !rows[_i].refused, "%s: %s", uri, refused);
    must(!refused || strncmp(refused, rows[_i].refused, 3) == 0, "%s: %s", uri, refused);
    must(url_escapes_decode(text) == (rows[_i].decoded != NULL), "%s", uri);
    must(strcmp(text, expected) == 0, "%s: %s", uri, text);
    /* What is decoded is not decoded again. */
    must(!url_escapes_decode(text) && strcmp(text, expected) == 0, "%s: %s", uri, text);
}
END_TEST

/* Each character that is decoded is one that a request line may have, and no separator. */
START_TEST(test_characters)
{
    for (int c = 0; c < 256; c++) {
        char text[8], plain[2] = {(char)c, '\0'};
        snprintf(text, sizeof text, "%%%02x", (unsigned)c);
        const bool decoded = url_escapes_decode(text);
        const bool legal = c > ' ' && c < 127 && !strchr("/?&=#%\"<>\\^`{|}", c);
        must(decoded == legal && (!decoded || strcmp(text, plain) == 0), "%d: %s", c, text);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("url_escapes");
    TCase *tcase = suite_case(suite, "escapes");
    tcase_add_loop_test(tcase, test_rows, 0, ROWS(rows));
    tcase_add_test(tcase, test_characters);
    return suite_run(suite);
}
