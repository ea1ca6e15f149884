/*
 * Bytes of a connection, read in place of libmicrohttpd. The first two bytes of an input are the
 * sizes of the pieces in which the rest is sent and read. The requests do not depend on them. Each
 * request has a stub. Its strings have no byte that could end a line, and are not longer than what
 * was sent; an escape in its URI is one that is refused. Unless it is refused, a second parser
 * finds its head in the input, and unambiguous.
 */
#include <errno.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/request_reader.h"
#include "server/http/url_escapes.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 15, TEXT_MAX = 16 * INPUT_MAX };

/* What came of an input: the stubs, and the requests as text. */
struct outcome {
    char stubs[TEXT_MAX], requests[TEXT_MAX];
    size_t stubs_length, requests_length;
    unsigned served, refused; /* requests, and the status of the last one */
};

static bool is_value(const char *at)
{
    for (; *at; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 127)
            return false;
    return true;
}

static void record(struct outcome *outcome, const char *text)
{
    const size_t length = text ? strlen(text) : 0;
    must(outcome->requests_length + length + 2 <= TEXT_MAX, "more than was sent");
    must(!text || is_value(text), "%s", text);
    memcpy(outcome->requests + outcome->requests_length, text ? text : "", length);
    outcome->requests_length += length;
    outcome->requests[outcome->requests_length++] = text ? '=' : '-';
}

static void check_request(const struct http_request *request)
{
    const char *verb = request->verb;
    must(is_printable(request->uri) && *request->uri && !strpbrk(request->uri, " \"<>\\^`{|}"),
         "%s", request->uri);
    must(!request->decoded || !strchr(request->uri, '%'), "%s", request->uri);
    must(!strchr(request->uri, '%') || url_escapes_refused(request->uri), "%s", request->uri);
    must(request->refused || (strcmp(verb, "GET") == 0 && request->method == HTTP_GET) ||
             (strcmp(verb, "HEAD") == 0 && request->method == HTTP_HEAD) ||
             (strcmp(verb, "OPTIONS") == 0 && request->method == HTTP_OPTIONS),
         "%s", verb);
    must((request->method == HTTP_HEAD) == (strcmp(verb, "HEAD") == 0), "%s", verb);
    must(!request->refused == !request->why, "%u", request->refused);
    must(strlen(request->uri) <= 8192, "%zu", strlen(request->uri));
    switch (request->refused) {
    case 0:
    case 400:
    case 405:
    case 408:
    case 414:
    case 417:
    case 431:
    case 505:
        break;
    default:
        must(!"a known status", "%u", request->refused);
    }
}

static void begin_all(struct request_reader *reader, struct outcome *outcome)
{
    for (;;) {
        struct http_request request = {.begun = 0};
        if (!request_reader_begin(reader, &request))
            return;
        must(!outcome->refused, "a request after a refused one");
        check_request(&request);
        outcome->refused = request.refused;
        outcome->served += !request.refused;
        record(outcome, request.verb);
        record(outcome, request.uri);
#define RECORD(member, name) record(outcome, request.member);
        HTTP_REQUEST_HEADERS(RECORD)
        request_reader_finish(reader);
    }
}

/* Read as long as there is more, and begin requests, at once or after a few reads. */
static void read_all(struct request_reader *reader, int fd, size_t size, bool at_once,
                     struct outcome *outcome)
{
    ssize_t got;
    int reads = 0;
    do {
        must(outcome->stubs_length + size <= TEXT_MAX, "more than was sent");
        got = request_reader_read(reader, fd, outcome->stubs + outcome->stubs_length, size, 408,
                                  "late");
        must(got >= 0 || errno == EAGAIN, "%s", strerror(errno));
        outcome->stubs_length += got > 0 ? (size_t)got : 0;
        must(reader->length <= 16 * 1024, "%zu bytes are held", reader->length);
        if (at_once || reads++ % 4 == 3)
            begin_all(reader, outcome);
    } while (got == (ssize_t)size);
}

/* Send INPUT in pieces, and end. */
static void run(struct input input, size_t sent, size_t read, bool at_once, struct outcome *outcome)
{
    struct request_reader reader = {.heads = 0};
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0, "%s", strerror(errno));
    outcome->stubs_length = outcome->requests_length = 0;
    outcome->served = outcome->refused = 0;
    while (input.left > 0 && !reader.ended) {
        const size_t count = input.left < sent ? input.left : sent;
        must(send(ends[1], input.at, count, MSG_NOSIGNAL) == (ssize_t)count, "%s", strerror(errno));
        input.at += count;
        input.left -= count;
        read_all(&reader, ends[0], read, at_once, outcome);
    }
    shutdown(ends[1], SHUT_WR);
    read_all(&reader, ends[0], read, at_once, outcome);
    begin_all(&reader, outcome);
    must(!request_reader_holds(&reader), "bytes are left");
    request_reader_drop(&reader);
    close(ends[0]);
    close(ends[1]);
}

/* Each request has a stub: what libmicrohttpd parses is as many heads, between empty lines. */
static void check_stubs(const struct outcome *outcome)
{
    const char *at = outcome->stubs, *const end = at + outcome->stubs_length;
    const unsigned requests = outcome->served + (outcome->refused != 0);
    unsigned count = 0;
    while (at < end) {
        if (end - at >= 2 && memcmp(at, "\r\n", 2) == 0) {
            at += 2;
            continue;
        }
        must(end - at > 16 &&
                 (memcmp(at, "GET / HTTP/1.", 13) == 0 || memcmp(at, "HEAD / HTTP/1.", 14) == 0),
             "%.*s", (int)(end - at), at);
        at = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
        must(at, "a stub is cut off");
        at += 4;
        count++;
    }
    must(count == requests, "%u stubs of %u requests", count, requests);
}

/* A header's value, from after its colon to END, without the spaces before it. */
static bool is_zero(const char *value, const char *end)
{
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    return end - value == 1 && *value == '0';
}

/* Check that HEADS heads, which were served, are at the beginning of the input, and unambiguous. */
static void check_served(struct input input, unsigned heads)
{
    const char *line = (const char *)input.at, *const end = line + input.left;
    while (heads > 0) {
        unsigned hosts = 0, lengths = 0, lines = 0;
        const char *version = NULL;
        for (const char *feed;; line = feed + 1) {
            feed = line < end ? memchr(line, '\n', (size_t)(end - line)) : NULL;
            must(feed && feed > line && feed[-1] == '\r', "no line");
            if (feed == line + 1 && lines == 0)
                continue;
            if (feed == line + 1) {
                line += 2;
                break;
            }
            if (lines++ == 0) {
                version = feed - 9;
                must(memcmp(version, "HTTP/1.", 7) == 0, "%.*s", (int)(feed - line), line);
                continue;
            }
            const char *colon = memchr(line, ':', (size_t)(feed - line));
            must(colon && colon > line && *line != ' ' && *line != '\t' && colon[-1] != ' ' &&
                     colon[-1] != '\t' && !memchr(line, 0, (size_t)(feed - line)),
                 "%.*s", (int)(feed - line), line);
            const size_t name = (size_t)(colon - line);
            hosts += name == 4 && strncasecmp(line, "Host", 4) == 0;
            must(!(name == 17 && strncasecmp(line, "Transfer-Encoding", 17) == 0), "coded");
            must(!(name == 6 && strncasecmp(line, "Expect", 6) == 0), "expects");
            if (name == 14 && strncasecmp(line, "Content-Length", 14) == 0)
                must(lengths++ == 0 && is_zero(colon + 1, feed - 1), "%.*s", (int)(feed - line),
                     line);
        }
        must(hosts == 1 || (hosts == 0 && version[7] == '0'), "%u hosts", hosts);
        heads--;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct outcome whole, pieces;
    struct input input = {bytes, size};
    if (size > INPUT_MAX)
        return 0;
    const size_t least = size / 512 + 1;
    const size_t sent = input_byte(&input) + least, read = input_byte(&input) + 1u;
    run(input, INPUT_MAX, 2048, true, &whole);
    check_stubs(&whole);
    check_served(input, whole.served);
    run(input, sent, read, size % 2 == 0, &pieces);
    must(pieces.served == whole.served && pieces.refused == whole.refused &&
             pieces.requests_length == whole.requests_length &&
             memcmp(pieces.requests, whole.requests, whole.requests_length) == 0,
         "%u and %u requests", whole.served, pieces.served);
    return 0;
}
