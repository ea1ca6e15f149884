/* What libmicrohttpd gets of the bytes of a connection, however they arrive and are read. */
#include "server/http/request_reader.h"

#include <errno.h>
#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST GET "Host: a\r\n"
#define STUB "GET / HTTP/1.1\r\n\r\n"
#define NONE "- - none none\n"

/* SENT becomes STUBS, and REQUESTS: a line for each, with method, URI, Host and Range. The last one
 * is REFUSED unless that is 0. */
static const struct {
    const char *sent, *stubs, *requests;
    unsigned refused;
} rows[] = {
    {"", "", "", 0},
    {"GET /", "", "", 0},
    {HOST "\r\n", STUB, "GET / a none\n", 0},
    {HOST "\r\n" HOST "\r\n" GET, STUB STUB, "GET / a none\nGET / a none\n", 0},
    {HOST "\r\n" GET "Host: b\r\n\r\n", STUB STUB, "GET / a none\nGET / b none\n", 0},
    {"\r\n\r\n" HOST "\r\n\r\n", STUB, "GET / a none\n", 0},
    {"GET /b?c HTTP/1.1\r\nAccept: b\r\nhost:\t a \r\nRange:d\r\nX: e\r\n\r\n" HOST "\r\n",
     STUB STUB, "GET /b?c a d\nGET / a none\n", 0},
    {HOST "Range: b\r\nRange: \r\n\r\n", STUB, "GET / a \n", 0},
    {"HEAD /b HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD / HTTP/1.1\r\n\r\n", "HEAD /b a none\n", 0},
    {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "OPTIONS * a none\n", 0},
    /* How long the connection lasts. */
    {HOST "Connection: keep-alive\r\n\r\n", STUB, "GET / a none\n", 0},
    {HOST "Connection: a, CLOSE ,b\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n",
     "GET / a none\n", 0},
    {"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.0\r\n\r\n", "GET / none none\n", 0},
    {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n",
     "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / none none\n", 0},
    {"HEAD / HTTP/1.0\r\nConnection: close, keep-alive\r\n\r\n", "HEAD / HTTP/1.0\r\n\r\n",
     "HEAD / none none\n", 0},
    /* Absolute form. */
    {"GET http://b:1/c?d HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /c?d b:1 none\n", 0},
    {"GET HTTP://b HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET / b none\n", 0},
    {"GET http://b?c HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /?c b none\n", 0},
    {"GET https://b/ HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET https://b/ a none\n", 0},
    {"GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /  none\n", 400},
    {"GET http://b@c/ HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET / b@c none\n", 400},
    /* Percent-encoding is decoded once, behind the host. */
    {"GET /%64%3A1?x=%2B5 HTTP/1.1\r\nHost: %61\r\n\r\n" HOST "\r\n", STUB STUB,
     "GET /d:1?x=+5 %61 none\nGET / a none\n", 0},
    {"GET http://%62/%63 HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /c %62 none\n", 0},
    {"GET /%253A%3A HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /%253A%3A a none\n", 0},
    {"GET /%3A%2F HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /%3A%2F a none\n", 0},
    {"GET /%3A%4 HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET /%3A%4 a none\n", 0},
    {"GET %2F HTTP/1.1\r\nHost: a\r\n\r\n", STUB, "GET %2F a none\n", 0},
    /* Refused: what is good in them, and nothing after them. */
    {GET "\r\n", STUB, "GET / none none\n", 400},
    {HOST "Content-Length: 5\r\nRange: b\r\n\r\nhello", STUB, "GET / a b\n", 400},
    {HOST "Transfer-Encoding: b\r\n\r\n" HOST "\r\n", STUB, "GET / a none\n", 400},
    {"POST / HTTP/1.1\r\nHost: a\r\n\r\n" HOST, STUB, "POST / a none\n", 405},
    {HOST "Host: b\r\n\r\n", STUB, "GET / b none\n", 400},
    {HOST "Range: b\r\n c\r\n\r\n", STUB, "GET / a b\n", 400},
    {HOST "\n" HOST "\r\n", STUB, "GET / a none\n", 400},
    {HOST "\r\n" HOST "X\r\n\r\n" HOST "\r\n", STUB STUB, "GET / a none\nGET / a none\n", 400},
    {"GET / HTTP/1.1\n\n", STUB, NONE, 400},
    {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", STUB, NONE, 400},
    {"GET / HTTP/3.0\r\n", STUB, NONE, 505},
    {"HEAD / HTTP/3.0\r\n", "HEAD / HTTP/1.1\r\n\r\n", "HEAD - none none\n", 505},
    {"HEAD / HTTP/1.1\n", "HEAD / HTTP/1.1\r\n\r\n", "HEAD - none none\n", 400},
    {"\x16", STUB, NONE, 400},
    {HOST "\r\n\x16\x03", STUB STUB, "GET / a none\n" NONE, 400},
};

/* Sizes of pieces that are sent and read at once; 0: all. */
static const size_t pieces[][2] = {{0, 0}, {1, 0},  {0, 1},   {1, 1},
                                   {3, 5}, {7, 16}, {29, 13}, {sizeof HOST "\r\n" GET - 1, 0}};

enum { OUT_MAX = 256 * 1024 };

struct reading {
    struct request_reader reader;
    int ends[2];
    char *given;
    size_t length;
    /* The requests that have begun, as text, and the verdict on the last one. */
    char requests[1024];
    unsigned begun, refused;
};

static struct reading reading_new(void)
{
    struct reading reading = {.given = malloc(OUT_MAX)};
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, reading.ends), 0);
    return reading;
}

static void reading_free(struct reading *reading)
{
    request_reader_drop(&reading->reader);
    close(reading->ends[0]);
    close(reading->ends[1]);
    free(reading->given);
}

static void begin(struct reading *reading)
{
    for (;; reading->begun++) {
        struct http_request request = {.begun = 0};
        char *text = reading->requests + strlen(reading->requests);
        if (!request_reader_begin(&reading->reader, &request))
            break;
        ck_assert_uint_eq(reading->refused, 0);
        reading->refused = request.refused;
        ck_assert_int_eq(request.why != NULL, request.refused != 0);
        ck_assert_int_eq(request.method == HTTP_HEAD, strcmp(request.verb, "HEAD") == 0);
        ck_assert_int_eq(request.method == HTTP_OPTIONS, strcmp(request.verb, "OPTIONS") == 0);
        sprintf(text, "%.20s %.20s %s %.20s\n", request.verb, request.uri,
                request.host ? request.host : "none", request.range ? request.range : "none");
        request_reader_finish(&reading->reader);
    }
}

/*
 * Read as libmicrohttpd does, which is told about an edge: until less than MAX bytes come. Nothing
 * is left in the socket then, except behind a refused request. Returns the last result.
 */
static ssize_t read_edge(struct reading *reading, size_t max)
{
    ssize_t got;

    do {
        ck_assert_uint_le(reading->length + max, OUT_MAX);
        got = request_reader_read(&reading->reader, reading->ends[0],
                                  reading->given + reading->length, max, 408, "late");
        if (got > 0)
            reading->length += (size_t)got;
        else if (got < 0)
            ck_assert_int_eq(errno, EAGAIN);
        begin(reading);
    } while (got == (ssize_t)max);
    char byte;
    if (!reading->reader.ended)
        ck_assert_int_le(recvfrom(reading->ends[0], &byte, 1, MSG_PEEK, NULL, NULL), 0);
    return got;
}

static void send_pieces(struct reading *reading, const char *bytes, size_t length,
                        const size_t piece[2])
{
    const size_t step = piece[0] ? piece[0] : length ? length : 1;
    for (size_t at = 0; at < length; at += step) {
        const size_t count = length - at < step ? length - at : step;
        ck_assert_int_eq(send(reading->ends[1], bytes + at, count, 0), (ssize_t)count);
        read_edge(reading, piece[1] ? piece[1] : 8192);
    }
}

/* GIVEN without empty lines between stubs, which libmicrohttpd skips. */
static void drop_empty_lines(struct reading *reading)
{
    char *from = reading->given, *to = from, *const end = from + reading->length;

    while (from < end) {
        char *stop = memmem(from, (size_t)(end - from), "\r\n", 2);
        stop = stop ? stop + 2 : end;
        const bool within =
            to > reading->given && to[-1] == '\n' && memcmp(to - 4, "\r\n\r\n", 4) != 0;
        if (stop > from + 2 || within)
            to = (char *)memmove(to, from, (size_t)(stop - from)) + (stop - from);
        from = stop;
    }
    reading->length = (size_t)(to - reading->given);
}

START_TEST(test_requests)
{
    const size_t row = (size_t)_i / ROWS(pieces);
    struct reading reading = reading_new();

    send_pieces(&reading, rows[row].sent, strlen(rows[row].sent),
                pieces[(size_t)_i % ROWS(pieces)]);
    drop_empty_lines(&reading);
    must(reading.length == strlen(rows[row].stubs) &&
             memcmp(reading.given, rows[row].stubs, reading.length) == 0,
         "row %zu: %.*s", row, (int)reading.length % 500, reading.given);
    must(strcmp(reading.requests, rows[row].requests) == 0 && reading.refused == rows[row].refused,
         "row %zu: %s %u", row, reading.requests, reading.refused);
    reading_free(&reading);
}
END_TEST

/* A client that ends in mid-head is refused; between heads it just ends. */
START_TEST(test_end)
{
    static const struct {
        const char *sent;
        unsigned heads, refused;
    } ends[] = {{"", 0, 0},
                {HOST "\r\n", 1, 0},
                {"G", 1, 408},
                {HOST, 1, 408},
                {HOST "\r\n"
                      "GE",
                 2, 408},
                {HOST "\r\nHEAD /", 2, 408},
                {"\r\n", 0, 0},
                {HOST "\r\n\r\n", 1, 0}};
    struct reading reading = reading_new();
    const char *sent = ends[_i].sent;

    send_pieces(&reading, sent, strlen(sent), pieces[0]);
    shutdown(reading.ends[1], SHUT_WR);
    read_edge(&reading, 8192);
    const bool head = strstr(sent, "HEAD") != NULL;
    ck_assert_int_eq(memmem(reading.given, reading.length, "HEAD / ", 7) != NULL, head);
    ck_assert_uint_eq(reading.begun, ends[_i].heads);
    ck_assert_uint_eq(reading.refused, ends[_i].refused);
    reading_free(&reading);
}
END_TEST

/* A long head: COUNT times TEXT in the URL, or as headers. */
static const struct {
    const char *start, *text, *end;
    size_t count;
    unsigned refused;
} lengths[] = {
    {"GET /", "a", " HTTP/1.1\r\nHost: a\r\n\r\n", 8191, 0},
    {"GET /", "a", " HTTP/1.1\r\nHost: a\r\n\r\n", 8192, 414},
    {"GET /", "a", "", 12 * 1024 - 5, 0},
    {"GET /", "a", "", 12 * 1024 - 4, 414},
    {HOST "X: ", "a", "\r\n\r\n", 12 * 1024 - 32, 0},
    {HOST "X: ", "a", "\r\n\r\n", 12 * 1024 - 31, 431},
    {HOST "Range: ", "a", "\r\n\r\n", 12 * 1024 - 36, 0},
    {HOST "Range: ", "a", "\r\n\r\n", 12 * 1024 - 35, 431},
    {HOST "X: ", "a", "", 12 * 1024 - 28, 0},
    {HOST "X: ", "a", "", 12 * 1024 - 27, 431},
    {HOST, "X:\r\n", "\r\n", 3065, 0},
    {HOST, "X:\r\n", "\r\n", 3066, 431},
    {"GET /?", "&", " HTTP/1.1\r\nHost: a\r\n\r\n", 8190, 0},
    {HOST, "Range:\r\n", "\r\n", 1532, 0},
    {HOST, "Range:\r\n", "\r\n", 1533, 431},
    {"", "\r\n", HOST "\r\n", 8000, 0},
};

START_TEST(test_length)
{
    static const size_t by[][2] = {{0, 0}, {4096, 128}, {1000, 9000}, {128, 128}};
    const size_t row = (size_t)_i / ROWS(by);
    char *head = malloc(32768), *at = stpcpy(head, lengths[row].start);
    struct reading reading = reading_new();

    for (size_t i = 0; i < lengths[row].count; i++)
        at = stpcpy(at, lengths[row].text);
    at = stpcpy(at, lengths[row].end);
    send_pieces(&reading, head, (size_t)(at - head), by[(size_t)_i % ROWS(by)]);
    const bool complete = lengths[row].refused || *lengths[row].end;
    must(reading.begun == complete && reading.refused == lengths[row].refused, "row %zu: %u", row,
         reading.refused);
    reading_free(&reading);
    free(head);
}
END_TEST

/* Many requests at once, of all sizes, begin as libmicrohttpd reads their stubs. Not all are read
 * at once: what the connection holds is bounded. */
START_TEST(test_pipeline)
{
    enum { COUNT = 100, HELD_MAX = 16 * 1024 };
    const size_t max = pieces[_i][1] ? pieces[_i][1] : 2048;
    struct reading reading = reading_new();
    struct request_reader *reader = &reading.reader;
    char *all = malloc(OUT_MAX), *at = all;
    size_t seen = 0;
    ssize_t got;

    for (size_t i = 0; i < COUNT; i++) {
        at = stpcpy(at, HOST "Range: ");
        memset(at, 'r', i * 211 % 2500);
        at = stpcpy(at + i * 211 % 2500, "\r\n\r\n");
    }
    ck_assert_int_eq(send(reading.ends[1], all, (size_t)(at - all), 0), at - all);
    do {
        char given[2048];
        struct http_request request;
        got = request_reader_read(reader, reading.ends[0], given, max, 408, "late");
        ck_assert_uint_le(reader->length, HELD_MAX);
        for (; memset(&request, 0, sizeof request), request_reader_begin(reader, &request);
             seen++) {
            ck_assert_uint_eq(strlen(request.range), seen * 211 % 2500);
            request_reader_finish(reader);
        }
        ck_assert_int_eq(got < 0 ? errno : 0, got < 0 ? EAGAIN : 0);
    } while (got == (ssize_t)max);
    ck_assert_uint_eq(seen, COUNT);
    ck_assert(!request_reader_holds(reader));
    reading_free(&reading);
    free(all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_reader");
    TCase *tcase = suite_case(suite, "heads");
    tcase_add_loop_test(tcase, test_requests, 0, ROWS(rows) * ROWS(pieces));
    tcase_add_loop_test(tcase, test_end, 0, 8);
    tcase_add_loop_test(tcase, test_length, 0, ROWS(lengths) * 4);
    tcase_add_loop_test(tcase, test_pipeline, 0, ROWS(pieces));
    return suite_run(suite);
}
