/*
 * Bytes of a connection, read for libmicrohttpd. The first two bytes of an input are the sizes of
 * the pieces in which the rest is sent and read. What libmicrohttpd gets does not depend on them.
 * It consists of complete heads, which a second parser finds well-formed and short enough, with no
 * header that is not used, and, unless refused, unambiguous.
 */
#include <errno.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/http/request_reader.h"
#include "tests/fuzz/fuzz.h"

enum { INPUT_MAX = 1 << 15, OUT_MAX = 2 * INPUT_MAX };

/* What came of an input. */
struct outcome {
    char bytes[OUT_MAX];
    size_t length;
    unsigned heads, refused;
};

static bool is_in(char c, const char *others)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr(others, c));
}

static bool is_token(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && is_in(*c, "!#$%&'*+-.^_`|~"))
        c++;
    return c > at && c == end;
}

static bool is_uri(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && is_in(*c, "!$%&'()*+,-./:;=?@[]_~"))
        c++;
    return c > at && c == end;
}

static bool is_value(const char *at, const char *end)
{
    for (; at < end; at++)
        if (((unsigned char)*at < ' ' && *at != '\t') || *at == 127)
            return false;
    return true;
}

static bool is(const char *at, const char *end, const char *text)
{
    return (size_t)(end - at) == strlen(text) && strncasecmp(at, text, strlen(text)) == 0;
}

/* Check the request line from AT to END. Returns true if it needs a Host. */
static bool check_line(const char *at, const char *end, bool refused)
{
    const char *uri = memchr(at, ' ', (size_t)(end - at));
    must(uri && is_token(at, uri), "no method: %.*s", (int)(end - at), at);
    must(refused || is(at, uri, "GET") || is(at, uri, "HEAD") || is(at, uri, "OPTIONS"), "%.*s",
         (int)(uri - at), at);
    const char *version = memchr(uri + 1, ' ', (size_t)(end - uri - 1));
    must(version && is_uri(uri + 1, version) && version - uri <= 8193, "URL: %.*s",
         (int)(end - uri), uri);
    must(end - version == 9 && memcmp(version + 1, "HTTP/1.", 7) == 0, "version: %.*s",
         (int)(end - version), version);
    return version[8] != '0';
}

/* Check a header. Returns true if it is Host. */
static bool check_header(const char *at, const char *end)
{
    static const char *const used[] = {"Connection",       "Accept-Encoding",  "If-Match",
                                       "If-None-Match",    "If-Range",         "Range",
                                       "Priority",         "Referer",          "User-Agent",
                                       "X-Forwarded-For",  "X-Forwarded-Host", "X-Forwarded-Prefix",
                                       "X-Forwarded-Proto"};
    const char *colon = memchr(at, ':', (size_t)(end - at));
    must(colon && is_token(at, colon) && is_value(colon, end), "header: %.*s", (int)(end - at), at);
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++)
        if (is(at, colon, used[i]))
            return false;
    must(is(at, colon, "Host"), "header: %.*s", (int)(end - at), at);
    return true;
}

/* Check the head at AT. Returns its end, or NULL if it is not complete. */
static const char *check_head(const char *at, const char *end, bool refused)
{
    const char *const start = at;
    bool host_needed = false;
    unsigned hosts = 0;
    size_t memory = 1536;
    for (const char *line = at, *stop; (stop = memmem(line, (size_t)(end - line), "\r\n", 2));
         line = stop + 2) {
        memory += 64;
        if (line == start) {
            host_needed = check_line(line, stop, refused);
            for (const char *c = line; c < stop; c++)
                memory += *c == '&' ? 64 : 0;
        } else if (stop > line) {
            hosts += check_header(line, stop);
        } else {
            must(refused || hosts == 1 || (hosts == 0 && !host_needed), "%u hosts", hosts);
            must((size_t)(stop - start) + memory <= REQUEST_MEMORY, "a head of %zu",
                 (size_t)(stop - start));
            return stop + 2;
        }
    }
    return NULL;
}

static void check_outcome(const struct outcome *outcome)
{
    const char *at = outcome->bytes, *const end = at + outcome->length;
    for (unsigned i = 1; i <= outcome->heads; i++) {
        at = check_head(at, end, outcome->refused && i == outcome->heads);
        must(at, "%u heads of %u", i - 1, outcome->heads);
    }
    must(at == end, "%zu bytes more", (size_t)(end - at));
}

static void read_all(struct request_reader *reader, int fd, size_t size, struct outcome *outcome)
{
    ssize_t got;
    do {
        must(outcome->length + size <= OUT_MAX, "more than was sent");
        got = request_reader_read(reader, fd, outcome->bytes + outcome->length, size, 408);
        must(got >= 0 || errno == EAGAIN, "%s", strerror(errno));
        outcome->length += got > 0 ? (size_t)got : 0;
    } while (got == (ssize_t)size);
}

static void check_verdicts(struct request_reader *reader, struct outcome *outcome)
{
    const char *why = NULL;
    outcome->heads = reader->heads;
    outcome->refused = 0;
    for (unsigned i = 1; i <= outcome->heads; i++) {
        must(request_reader_begin(reader, &outcome->refused, &why), "%u", i);
        must(!outcome->refused == !why && (!outcome->refused || i == outcome->heads), "%u", i);
    }
    const unsigned status = outcome->refused;
    must(status == 0 || status == 400 || status == 405 || status == 408 || status == 414 ||
             status == 417 || status == 431 || status == 505,
         "%u", status);
}

/* Send INPUT in pieces, and end. */
static void run(struct input input, size_t sent, size_t read, struct outcome *outcome)
{
    struct request_reader reader = {0};
    int ends[2];
    must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0, "%s", strerror(errno));
    outcome->length = 0;
    while (input.left > 0 && !reader.ended) {
        const size_t count = input.left < sent ? input.left : sent;
        must(send(ends[1], input.at, count, MSG_NOSIGNAL) == (ssize_t)count, "%s", strerror(errno));
        input.at += count;
        input.left -= count;
        read_all(&reader, ends[0], read, outcome);
    }
    shutdown(ends[1], SHUT_WR);
    read_all(&reader, ends[0], read, outcome);
    must(!request_reader_holds(&reader), "bytes are left");
    check_verdicts(&reader, outcome);
    request_reader_drop(&reader);
    close(ends[0]);
    close(ends[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static struct outcome whole, pieces;
    struct input input = {bytes, size};
    if (size > INPUT_MAX)
        return 0;
    const size_t least = size / 512 + 1;
    const size_t sent = input_byte(&input) + least, read = input_byte(&input) + 1u;
    run(input, INPUT_MAX, 8192, &whole);
    check_outcome(&whole);
    run(input, sent, read, &pieces);
    must(pieces.heads == whole.heads && pieces.refused == whole.refused &&
             pieces.length == whole.length && memcmp(pieces.bytes, whole.bytes, whole.length) == 0,
         "%u heads and %u, %zu bytes and %zu", whole.heads, pieces.heads, whole.length,
         pieces.length);
    return 0;
}
