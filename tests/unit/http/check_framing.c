/* Request heads that a proxy could read differently, and those that are only wrong. */
#include "server/http/framing.h"

#include "tests/unit/support/fixtures.h"

enum { HEADERS_MAX = 6 };

static const struct {
    unsigned refused;
    bool close;
    const char *method, *uri, *version;
    const char *header[HEADERS_MAX][2];
    int difference; /* of the received head to the parsed one, in bytes */
} rows[] = {
    /* Served. */
    {0, false, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, 0},
    {0, false, "HEAD", "/a?b=%20", "HTTP/1.1", {{"hOST", "a:80"}, {"Accept", "*/*"}}, 0},
    {0, false, "OPTIONS", "/", "HTTP/1.1", {{"Host", ""}, {"X-Empty", ""}}, 0},
    {0, false, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "0"}}, 0},
    {0, false, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X-Tab", "a\tb"}, {"X-High", "\xe9"}}, 0},
    {0, false, "GET", "/", "HTTP/1.0", {{NULL, NULL}}, 0},
    {0, false, "GET", "/", "HTTP/1.0", {{"Host", "a"}}, 0},
    /* Methods. */
    {405, true, "POST", "/", "HTTP/1.1", {{"Host", "a"}}, 0},
    {405, true, "get", "/", "HTTP/1.1", {{"Host", "a"}}, 0},
    {405, true, "", "/", "HTTP/1.1", {{"Host", "a"}}, 0},
    {405, true, "CONNECT", "a:80", "HTTP/1.1", {{"Host", "a"}}, 0},
    /* Bodies: Transfer-Encoding, with and without Content-Length. */
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Transfer-Encoding", "chunked"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"transfer-encoding", "identity"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Transfer-Encoding", ""}}, 0},
    {400,
     true,
     "GET",
     "/",
     "HTTP/1.1",
     {{"Host", "a"}, {"Content-Length", "0"}, {"Transfer-Encoding", "chunked"}},
     0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Transfer-Encoding", "xchunked"}}, 0},
    /* Content-Length: only one, and only 0. */
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "1"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "-0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "+0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "00"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", "0, 0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length", ""}}, 0},
    {400,
     true,
     "GET",
     "/",
     "HTTP/1.1",
     {{"Host", "a"}, {"Content-Length", "0"}, {"Content-Length", "0"}},
     0},
    {400,
     true,
     "GET",
     "/",
     "HTTP/1.1",
     {{"Host", "a"}, {"Content-Length", "0"}, {"content-length", "5"}},
     0},
    /* Expect. */
    {417, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Expect", "100-continue"}}, 0},
    {417, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"expect", ""}}, 0},
    /* Host: exactly once, except in HTTP/1.0. */
    {400, true, "GET", "/", "HTTP/1.1", {{"Accept", "*/*"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Host", "a"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"HOST", "b"}}, 0},
    {400, true, "GET", "/", "HTTP/1.0", {{"Host", "a"}, {"Host", "b"}}, 0},
    {400, true, "GET", "/", "HTTP/1.2", {{NULL, NULL}}, 0},
    /* Names that are no tokens: a space before the colon, a folded line joined to its name. */
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"Content-Length ", "0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X\tY", "0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X\r\n Y", "0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"", "0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X(Y)", "0"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X\xe9", "0"}}, 0},
    /* Control characters in values. */
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X", "a\nb"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X", "a\rb"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}, {"X", "a\x7f"}}, 0},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a\x01"}}, 0},
    /* URIs. */
    {400, true, "GET", "/a b", "HTTP/1.1", {{"Host", "a"}}, 0},
    {400, true, "GET", "/\"", "HTTP/1.1", {{"Host", "a"}}, 0},
    {400, true, "GET", "/a#b", "HTTP/1.1", {{"Host", "a"}}, 0},
    {400, true, "GET", "/\xc3\xb6", "HTTP/1.1", {{"Host", "a"}}, 0},
    {400, true, "GET", "/<>", "HTTP/1.1", {{"Host", "a"}}, 0},
    /* Folds, bare line feeds and NULs show as a difference of 3 bytes and more. */
    {0, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, 1},
    {0, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, 2},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, 3},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, 40},
    {0, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, -1},
    {0, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, -2},
    {400, true, "GET", "/", "HTTP/1.1", {{"Host", "a"}}, -3},
    /* The first reason is kept. */
    {405, true, "POST", "/ ", "HTTP/1.1", {{"Transfer-Encoding", "chunked"}}, 9},
    {417, true, "GET", "/", "HTTP/1.1", {{"Expect", "x"}, {"Content-Length", "1"}}, 9},
};

static size_t parse(struct framing *framing, const char *method, const char *uri,
                    const char *version)
{
    *framing = (struct framing){0};
    framing_line(framing, method, uri, version);
    return strlen(method) + 1 + strlen(uri) + 1 + strlen(version) + 2 + 2;
}

static size_t parse_header(struct framing *framing, const char *name, const char *value)
{
    framing_header(framing, name, value);
    return strlen(name) + 2 + strlen(value) + 2;
}

START_TEST(test_verdict)
{
    struct framing framing;
    size_t size = parse(&framing, rows[_i].method, rows[_i].uri, rows[_i].version);

    for (int i = 0; i < HEADERS_MAX && rows[_i].header[i][0]; i++)
        size += parse_header(&framing, rows[_i].header[i][0], rows[_i].header[i][1]);
    framing_end(&framing, size + (size_t)rows[_i].difference);
    must(framing.refused == rows[_i].refused, "row %d: %u (%s)", _i, framing.refused,
         framing.why ? framing.why : "");
    ck_assert_int_eq(framing.close, rows[_i].close);
    ck_assert_int_eq(framing.why != NULL, framing.refused != 0);
}
END_TEST

static char *text_of(size_t length)
{
    char *text = malloc(length + 1);
    memset(text, 'a', length);
    text[length] = '\0';
    return text;
}

/* The longest URI and head that are accepted, and one byte more. */
static const struct {
    const char *name; /* of the long header, or NULL: the URI is long */
    size_t length;
    unsigned refused;
} lengths[] = {
    {NULL, 8192, 0},
    {NULL, 8193, 414},
    {"X", 12 * 1024 - 32, 0},
    {"X", 12 * 1024 - 31, 431},
    /* Cookies count twice. */
    {"Cookie", 6 * 1024 - 19, 0},
    {"Cookie", 6 * 1024 - 18, 431},
};

START_TEST(test_length)
{
    struct framing framing;
    char *text = text_of(lengths[_i].length);
    const char *name = lengths[_i].name;
    size_t size = parse(&framing, "GET", name ? "/" : text, "HTTP/1.1");

    size += parse_header(&framing, "Host", "a");
    if (name)
        size += parse_header(&framing, name, text);
    framing_end(&framing, size);
    must(framing.refused == lengths[_i].refused, "row %d, a head of %zu bytes: %u", _i, size,
         framing.refused);
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("framing");
    TCase *tcase = suite_case(suite, "framing");
    tcase_add_loop_test(tcase, test_verdict, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_length, 0, ROWS(lengths));
    return suite_run(suite);
}
