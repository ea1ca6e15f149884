/* Heads that a proxy could read differently, and those that are only wrong. */
#include "server/http/framing.h"

#include "tests/unit/support/fixtures.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST GET "Host: a\r\n"

/* TEXT: lines, each with its CRLF, but not the empty one at the end. STOP: at the last line. */
static const struct {
    unsigned refused;
    bool stop;
    const char *text;
} rows[] = {
    /* Served. */
    {0, false, HOST},
    {0, false, "HEAD /a?b=%20 HTTP/1.1\r\nhOST: a:80\r\nAccept: */*\r\n"},
    {0, false, "OPTIONS * HTTP/1.1\r\nHost: \r\nX-Empty:\r\n"},
    {0, false, HOST "Content-Length: 0\r\n"},
    {0, false, HOST "X-Tab: a\tb\r\nX-High: \xe9\r\n"},
    {0, false, HOST "X-Colon: a: b:\r\n"},
    {0, false, GET "Host:a\r\n"},
    {0, false, GET "Host: \t a \r\n"},
    {0, false, "GET / HTTP/1.0\r\n"},
    {0, false, "GET / HTTP/1.0\r\nHost: a\r\n"},
    {0, false, "GET / HTTP/1.2\r\nHost: a\r\n"},
    {0, false, "GET http://a/b HTTP/1.1\r\nHost: a\r\n"},
    /* Request lines. */
    {400, true, "\r\n"},
    {400, true, "GET\r\n"},
    {400, true, "GET /\r\n"},
    {400, true, "GET  / HTTP/1.1\r\n"},
    {400, true, "GET /  HTTP/1.1\r\n"},
    {400, true, "GET / HTTP/1.1 \r\n"},
    {400, true, " GET / HTTP/1.1\r\n"},
    {400, true, "GET / HTTP/1.1 HTTP/1.1\r\n"},
    {400, true, "GET\t/\tHTTP/1.1\r\n"},
    {400, true, "G(T / HTTP/1.1\r\n"},
    {400, true, "GET / HTTP/1.\r\n"},
    {400, true, "GET / HTTP/1.11\r\n"},
    {400, true, "GET / HTTP/x.1\r\n"},
    {400, true, "GET / http/1.1\r\n"},
    {505, true, "GET / HTTP/2.0\r\n"},
    {505, true, "GET / HTTP/0.9\r\n"},
    /* Methods. */
    {405, false, "POST / HTTP/1.1\r\nHost: a\r\n"},
    {405, false, "get / HTTP/1.1\r\nHost: a\r\n"},
    {405, false, "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n"},
    /* Bodies: Transfer-Encoding, with and without Content-Length. */
    {400, false, HOST "Transfer-Encoding: chunked\r\n"},
    {400, false, HOST "transfer-encoding: identity\r\n"},
    {400, false, HOST "Transfer-Encoding:\r\n"},
    {400, false, HOST "Transfer-Encoding: xchunked\r\n"},
    {400, false, HOST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"},
    /* Content-Length: only one, and only 0. */
    {400, false, HOST "Content-Length: 1\r\n"},
    {400, false, HOST "Content-Length: -0\r\n"},
    {400, false, HOST "Content-Length: +0\r\n"},
    {400, false, HOST "Content-Length: 00\r\n"},
    {400, false, HOST "Content-Length: 0 \r\n"},
    {400, false, HOST "Content-Length: 0, 0\r\n"},
    {400, false, HOST "Content-Length:\r\n"},
    {400, false, HOST "Content-Length: 0\r\nContent-Length: 0\r\n"},
    {400, false, HOST "Content-Length: 0\r\ncontent-length: 5\r\n"},
    /* Expect. */
    {417, false, HOST "Expect: 100-continue\r\n"},
    {417, false, HOST "expect:\r\n"},
    /* Host: exactly once, except in HTTP/1.0. */
    {400, false, GET},
    {400, false, GET "Accept: */*\r\n"},
    {400, false, GET "Hosts: a\r\n"},
    {400, false, HOST "Host: a\r\n"},
    {400, false, HOST "HOST: b\r\n"},
    {400, false, "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n"},
    {400, false, "GET / HTTP/1.2\r\n"},
    {400, false, "GET http://a/ HTTP/1.1\r\n"},
    /* Names that are no tokens: a space before the colon, a folded line. */
    {400, true, HOST "Content-Length : 0\r\n"},
    {400, true, HOST "X\tY: 0\r\n"},
    {400, true, HOST " Y: 0\r\n"},
    {400, true, HOST "\tY: 0\r\n"},
    {400, true, HOST "Y\r\n"},
    {400, true, HOST ": 0\r\n"},
    {400, true, HOST "X(Y): 0\r\n"},
    {400, true, HOST "X\xe9: 0\r\n"},
    /* Control characters in values. */
    {400, true, HOST "X: a\nb\r\n"},
    {400, true, HOST "X: a\rb\r\n"},
    {400, true, HOST "X: a\x7f\r\n"},
    {400, true, GET "Host: a\x01\r\n"},
    /* URIs. */
    {400, true, "GET /a b HTTP/1.1\r\n"},
    {400, true, "GET /\" HTTP/1.1\r\n"},
    {400, true, "GET /a#b HTTP/1.1\r\n"},
    {400, true, "GET /\xc3\xb6 HTTP/1.1\r\n"},
    {400, true, "GET /<> HTTP/1.1\r\n"},
    {400, true, "GET /\x01 HTTP/1.1\r\n"},
    /* Absolute form. */
    {0, false, "GET HTTP://a HTTP/1.1\r\nHost: a\r\n"},
    {0, false, "GET http://[::1]:80?@ HTTP/1.1\r\nHost: a\r\n"},
    {0, false, "GET http://a/@ HTTP/1.1\r\nHost: a\r\n"},
    {0, false, "GET http:/ HTTP/1.1\r\nHost: a\r\n"},
    {400, false, "GET http:// HTTP/1.1\r\nHost: a\r\n"},
    {400, false, "GET http:///a HTTP/1.1\r\nHost: a\r\n"},
    {400, false, "GET http://?a HTTP/1.1\r\nHost: a\r\n"},
    {400, false, "GET http://a@b/ HTTP/1.1\r\nHost: a\r\n"},
    /* The first reason is kept. */
    {405, false, "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n"},
    {405, true, "POST / HTTP/1.1\r\nHost: a\r\n b\r\n"},
    {417, false, HOST "Expect: x\r\nContent-Length: 1\r\n"},
};

/* Read TEXT up to the line that stops it. Returns true if that is the last one, or none. */
static bool read_lines(struct framing *framing, const char *text)
{
    const char *end;

    *framing = (struct framing){0};
    for (const char *line = text; *line && !framing->stop; line = end + 2) {
        end = strstr(line, "\r\n");
        if (line == text)
            framing_line(framing, line, (size_t)(end - line));
        else
            framing_header(framing, line, (size_t)(end - line));
        if (framing->stop)
            return !end[2];
    }
    framing_end(framing);
    return true;
}

START_TEST(test_verdict)
{
    struct framing framing;

    ck_assert(read_lines(&framing, rows[_i].text));
    must(framing.refused == rows[_i].refused, "row %d: %u (%s)", _i, framing.refused,
         framing.why ? framing.why : "");
    ck_assert_int_eq(framing.stop, rows[_i].stop);
    ck_assert_int_eq(framing.why != NULL, framing.refused != 0);
}
END_TEST

static const struct {
    const char *value;
    bool close, keep_alive;
} connections[] = {
    {"close", true, false},
    {"keep-alive", false, true},
    {"Close", true, false},
    {"a, close ,b", true, false},
    {"closed", false, false},
    {"a close", false, false},
    {"keep-alive,\tclose", true, true},
    {"", false, false},
    {",,", false, false},
};

START_TEST(test_connection)
{
    struct framing framing = {.refused = 0};
    char line[64];
    const int length = snprintf(line, sizeof line, "Connection: %s", connections[_i].value);
    framing_header(&framing, line, (size_t)length);
    ck_assert_int_eq(framing.close, connections[_i].close);
    ck_assert_int_eq(framing.keep_alive, connections[_i].keep_alive);
    ck_assert_uint_eq(framing.refused, 0);
}
END_TEST

START_TEST(test_uri_length)
{
    for (size_t length = 8191; length <= 8194; length++) {
        struct framing framing = {0};
        char *line = malloc(length + 13);
        memset(line, 'a', length + 13);
        memcpy(line, "GET ", 4);
        memcpy(line + 4 + length, " HTTP/1.1", 9);
        framing_line(&framing, line, length + 13);
        ck_assert_uint_eq(framing.refused, length > 8192 ? 414 : 0);
        ck_assert_int_eq(framing.stop, length > 8192);
        free(line);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("framing");
    TCase *tcase = suite_case(suite, "framing");
    tcase_add_loop_test(tcase, test_verdict, 0, ROWS(rows));
    tcase_add_loop_test(tcase, test_connection, 0, ROWS(connections));
    tcase_add_test(tcase, test_uri_length);
    return suite_run(suite);
}
