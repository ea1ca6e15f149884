/* What libmicrohttpd gets of the bytes of a connection, however they arrive and are read. */
#include "server/http/request_reader.h"

#include <errno.h>
#include <sys/socket.h>

#include "tests/unit/support/fixtures.h"

#define GET "GET / HTTP/1.1\r\n"
#define HOST GET "Host: a\r\n"
#define NONE "- - HTTP/1.1\r\n\r\n"

/* SENT becomes GIVEN: HEADS heads, the last of which is REFUSED unless that is 0. */
static const struct {
    const char *sent, *given;
    unsigned heads, refused;
} rows[] = {
    {"", "", 0, 0},
    {"GET /", "", 0, 0},
    {HOST "\r\n", HOST "\r\n", 1, 0},
    {HOST "\r\n" HOST "\r\n" GET, HOST "\r\n" HOST "\r\n", 2, 0},
    {"\r\n\r\n" HOST "\r\n", HOST "\r\n", 1, 0},
    {GET "Accept: b\r\nHost: a\r\nCookie: c\r\nRange: d\r\nX: e\r\n\r\n" HOST "\r\n",
     HOST "Range: d\r\n\r\n" HOST "\r\n", 2, 0},
    {HOST "Content-Length: 0\r\nConnection: close\r\n\r\n", HOST "Connection: close\r\n\r\n", 1, 0},
    /* Refused: what is good in them, and nothing after them. */
    {GET "\r\n", GET "\r\n", 1, 400},
    {HOST "Content-Length: 5\r\nRange: b\r\n\r\nhello", HOST "Range: b\r\n\r\n", 1, 400},
    {HOST "Transfer-Encoding: b\r\n\r\n" HOST "\r\n", HOST "\r\n", 1, 400},
    {"POST / HTTP/1.1\r\nHost: a\r\n\r\n" HOST, "POST / HTTP/1.1\r\nHost: a\r\n\r\n", 1, 405},
    {HOST "Host: b\r\n\r\n", HOST "\r\n", 1, 400},
    {HOST "Range: b\r\n c\r\n\r\n", HOST "Range: b\r\n\r\n", 1, 400},
    {HOST "\n" HOST "\r\n", HOST "\r\n", 1, 400},
    {HOST "\r\n" HOST "X\r\n\r\n" HOST "\r\n", HOST "\r\n" HOST "\r\n", 2, 400},
    {"GET / HTTP/1.1\n\n", NONE, 1, 400},
    {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", NONE, 1, 400},
    {"GET / HTTP/3.0\r\n", NONE, 1, 505},
    {"HEAD / HTTP/3.0\r\n", "HEAD - HTTP/1.1\r\n\r\n", 1, 505},
    {"\x16", NONE, 1, 400},
    {HOST "\r\n\x16\x03", HOST "\r\n" NONE, 2, 400},
};

/* Sizes of pieces that are sent and read at once; 0: all. */
static const size_t pieces[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {3, 5}, {7, 16}, {29, 13}};

enum { OUT_MAX = 256 * 1024 };

struct reading {
    struct request_reader reader;
    int ends[2];
    char *given;
    size_t length;
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
                                  reading->given + reading->length, max, 408);
        if (got > 0)
            reading->length += (size_t)got;
        else if (got < 0)
            ck_assert_int_eq(errno, EAGAIN);
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

/* All HEADS begin, and the last one has the verdict REFUSED. */
static void check_verdicts(struct request_reader *reader, unsigned heads, unsigned refused)
{
    unsigned verdict;
    const char *why;

    for (unsigned i = 1; i <= heads; i++) {
        ck_assert(request_reader_begin(reader, &verdict, &why));
        ck_assert_uint_eq(verdict, i == heads ? refused : 0);
        ck_assert_int_eq(why != NULL, verdict != 0);
    }
    ck_assert(!request_reader_begin(reader, &verdict, &why));
}

START_TEST(test_given)
{
    const size_t row = (size_t)_i / ROWS(pieces);
    struct reading reading = reading_new();

    send_pieces(&reading, rows[row].sent, strlen(rows[row].sent),
                pieces[(size_t)_i % ROWS(pieces)]);
    must(reading.length == strlen(rows[row].given) &&
             memcmp(reading.given, rows[row].given, reading.length) == 0,
         "row %zu: %.*s", row, (int)reading.length, reading.given);
    check_verdicts(&reading.reader, rows[row].heads, rows[row].refused);
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
                {"\r\n", 1, 408}};
    struct reading reading = reading_new();
    const char *sent = ends[_i % (int)ROWS(ends)].sent;

    send_pieces(&reading, sent, strlen(sent), pieces[0]);
    shutdown(reading.ends[1], SHUT_WR);
    read_edge(&reading, 8192);
    const bool head = strstr(sent, "HEAD") != NULL;
    if (ends[_i].refused)
        ck_assert_mem_eq(reading.given + reading.length - 4, "\r\n\r\n", 4);
    ck_assert_int_eq(memmem(reading.given, reading.length, "HEAD - ", 7) != NULL, head);
    check_verdicts(&reading.reader, ends[_i].heads, ends[_i].refused);
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
    {"GET /?", "&", " HTTP/1.1\r\nHost: a\r\n\r\n", 80, 0},
    {"GET /?", "&", " HTTP/1.1\r\nHost: a\r\n\r\n", 100, 414},
    {HOST, "Range:\r\n", "\r\n", 80, 0},
    {HOST, "Range:\r\n", "\r\n", 100, 431},
    {"", "\r\n", "", 6144, 0},
    {"", "\r\n", "", 6145, 414},
};

START_TEST(test_length)
{
    static const size_t by[][2] = {{0, 0}, {4096, 128}, {1000, 9000}, {128, 128}};
    const size_t row = (size_t)_i / ROWS(by);
    char *head = malloc(16384), *at = stpcpy(head, lengths[row].start);
    struct reading reading = reading_new();

    for (size_t i = 0; i < lengths[row].count; i++)
        at = stpcpy(at, lengths[row].text);
    at = stpcpy(at, lengths[row].end);
    send_pieces(&reading, head, (size_t)(at - head), by[(size_t)_i % ROWS(by)]);
    const bool complete = lengths[row].refused || *lengths[row].end;
    must(reading.reader.heads == complete, "row %zu", row);
    check_verdicts(&reading.reader, complete, lengths[row].refused);
    reading_free(&reading);
    free(head);
}
END_TEST

/* Many requests at once, of all sizes, arrive as they were. */
START_TEST(test_pipeline)
{
    enum { COUNT = 60 };
    struct reading reading = reading_new();
    char *all = malloc(OUT_MAX), *at = all;

    for (size_t i = 0; i < COUNT; i++) {
        at = stpcpy(at, HOST "Range: ");
        memset(at, 'r', i * 211 % 4000);
        at = stpcpy(at + i * 211 % 4000, "\r\n\r\n");
    }
    const size_t length = (size_t)(at - all);
    ck_assert_int_eq(send(reading.ends[1], all, length, 0), (ssize_t)length);
    read_edge(&reading, pieces[_i][1] ? pieces[_i][1] : 8192);
    ck_assert_uint_eq(reading.length, length);
    ck_assert_mem_eq(reading.given, all, length);
    ck_assert(!request_reader_holds(&reading.reader));
    check_verdicts(&reading.reader, COUNT, 0);
    reading_free(&reading);
    free(all);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("request_reader");
    TCase *tcase = suite_case(suite, "heads");
    tcase_add_loop_test(tcase, test_given, 0, ROWS(rows) * ROWS(pieces));
    tcase_add_loop_test(tcase, test_end, 0, 7);
    tcase_add_loop_test(tcase, test_length, 0, ROWS(lengths) * 4);
    tcase_add_loop_test(tcase, test_pipeline, 0, ROWS(pieces));
    return suite_run(suite);
}
