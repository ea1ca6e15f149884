/* Checks that bytes are a sequence of well-formed HTTP/1.1 responses (RFC 9112). */
#ifndef FARLANDS_FUZZ_RESPONSES_H
#define FARLANDS_FUZZ_RESPONSES_H

#include "tests/fuzz/fuzz.h"

struct head {
    unsigned status;
    bool close; /* Connection: close */
    bool chunked;
    int lengths;
    size_t length; /* Content-Length */
};

static inline bool head_has_body(const struct head *head, bool to_head)
{
    return !to_head && head->status >= 200 && head->status != 204 && head->status != 304;
}

static inline void check_status(unsigned status)
{
    static const unsigned known[] = {200, 204, 206, 304, 308, 400, 404, 405, 408,
                                     412, 413, 414, 416, 417, 431, 500, 503, 505};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i] == status)
            return;
    must(!"a known status", "%u", status);
}

static inline bool is_named(const char *line, const char *name)
{
    return strncmp(line, name, strlen(name)) == 0;
}

/* Check a line NAME: VALUE: neither has characters that other parsers take for the end of the line.
 */
static inline void check_header(struct head *head, const char *line)
{
    const size_t name = strcspn(line, ":");
    must(name > 0 && strncmp(line + name, ": ", 2) == 0, "%s", line);
    must(is_printable(line) && strcspn(line, " \"(),/;<=>?@[\\]{}") > name, "%s", line);
    if (is_named(line, "Transfer-Encoding:")) {
        must(strcmp(line + name, ": chunked") == 0 && !head->chunked, "%s", line);
        head->chunked = true;
    }
    head->close |= strcmp(line, "Connection: close") == 0;
    if (is_named(line, "Content-Length:")) {
        char *end;
        head->lengths++;
        head->length = strtoull(line + name + 2, &end, 10);
        must(!*end && end > line + name + 2, "%s", line);
    }
}

/* Check the head at AT. Returns its end, or NULL if it is incomplete. */
static inline const char *check_head(struct head *head, const char *at, const char *end)
{
    const char *stop = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
    if (!stop)
        return NULL;
    *head = (struct head){0};
    for (const char *line = at; line < stop + 2;) {
        const char *next = memmem(line, (size_t)(stop + 2 - line), "\r\n", 2);
        char *text = strndup(line, (size_t)(next - line));
        must(text && strlen(text) == (size_t)(next - line), "a NUL");
        if (line > at) {
            check_header(head, text);
        } else {
            const int count = sscanf(text, "HTTP/1.1 %3u ", &head->status);
            must(count == 1 && is_printable(text), "%s", text);
            check_status(head->status);
        }
        free(text);
        line = next + 2;
    }
    /* libmicrohttpd 0.9 adds one of 0 to a 304. */
    must(head->lengths == 0 || (head->status != 204 && (head->status != 304 || head->length == 0)),
         "%u with a length", head->status);
    return stop + 4;
}

/* Check the chunks at AT (RFC 9112 section 7.1). Returns their end, or NULL if they are incomplete.
 */
static inline const char *check_chunks(const char *at, const char *end)
{
    for (;;) {
        const char *line = memmem(at, (size_t)(end - at), "\r\n", 2);
        if (!line) {
            must(end - at <= 8, "no chunk");
            return NULL;
        }
        char *digits_end;
        const size_t length = strtoull(at, &digits_end, 16);
        must(digits_end == line && line > at && line - at <= 8, "no chunk");
        at = line + 2;
        if ((size_t)(end - at) < length + 2)
            return NULL;
        must(memcmp(at + length, "\r\n", 2) == 0, "a chunk of %zu bytes is longer", length);
        at += length + 2;
        if (length == 0)
            return at;
    }
}

/* Check the body at AT, after HEAD. Returns its end, or NULL if it is incomplete. ENDED: no bytes
 * will follow END. */
static inline const char *check_body(const struct head *head, const char *at, const char *end,
                                     bool ended)
{
    must(head->lengths + head->chunked <= 1, "%d lengths with status %u", head->lengths,
         head->status);
    if (head->chunked)
        return check_chunks(at, end);
    if (head->lengths == 1)
        return head->length > (size_t)(end - at) ? NULL : at + head->length;
    must(head->close, "status %u has a body without an end", head->status);
    return ended ? end : NULL;
}

#endif
