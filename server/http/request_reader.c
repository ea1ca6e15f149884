#include "request_reader.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "server/http/url_escapes.h"

enum { HEAD_MAX = 12 * 1024, READ = 4 * 1024 };

/* --- Lines --------------------------------------------------------------------- */

static void check_size(struct request_reader *reader, size_t size)
{
    if (size > HEAD_MAX && reader->line_read)
        framing_refuse(&reader->framing, 431, "request line and headers: exceed 12 KiB");
    else if (size > HEAD_MAX)
        framing_refuse(&reader->framing, 414, "URL: exceeds 8 KiB");
}

/* Check a line with its line feed. Returns true if it is good. */
static bool check_line(struct request_reader *reader, const char *line, size_t length)
{
    struct framing *framing = &reader->framing;

    reader->size += length;
    check_size(reader, reader->size);
    if (!reader->line_read)
        framing_method(framing, line, length);
    if (length < 2 || line[length - 2] != '\r')
        framing_refuse(framing, 400, "line: must end with CRLF");
    else if (reader->line_read && length == 2)
        framing_end(framing);
    else if (reader->line_read)
        framing_header(framing, line, length - 2);
    else {
        framing_line(framing, line, length - 2);
        reader->line_read = !framing->stop;
    }
    return !framing->stop;
}

/* Limits also hold for a line that is not complete. */
static void check_rest(struct request_reader *reader, const char *line, size_t length)
{
    reader->searched = length;
    check_size(reader, reader->size + length);
    if (reader->line_read || length == 0)
        return;
    framing_method(&reader->framing, line, length);
    if (framing_is_foreign(*line))
        framing_refuse(&reader->framing, 400, "request line: expected METHOD URL HTTP/1.1");
}

static const char *stub_of(const struct framing *framing)
{
    static const char *const stubs[2][2][2] = {
        {{"GET / HTTP/1.1\r\n\r\n", "GET / HTTP/1.1\r\nConnection: close\r\n\r\n"},
         {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}},
        {{"HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/1.1\r\nConnection: close\r\n\r\n"},
         {"HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HEAD / HTTP/1.0\r\n\r\n"}},
    };
    const bool closes = framing->close || (framing->old && !framing->keep_alive);
    return stubs[framing->to_head][framing->old][closes];
}

static void complete(struct request_reader *reader)
{
    const struct framing *framing = &reader->framing;

    reader->stub = stub_of(framing);
    reader->heads++;
    reader->ended = framing->refused != 0;
    if (reader->ended) {
        reader->length = reader->checked;
        reader->to_head = framing->to_head;
        reader->refused = framing->refused;
        reader->why = framing->why;
    }
    reader->framing = (struct framing){0};
    reader->line_read = false;
    reader->size = reader->searched = 0;
}

/* Empty lines before a request line are ignored (RFC 9112 section 2.2). */
static void drop_empty_lines(struct request_reader *reader)
{
    char *at = reader->bytes + reader->checked;
    const size_t length = reader->length - reader->checked;
    size_t empty = 0;

    while (length - empty >= 2 && at[empty] == '\r' && at[empty + 1] == '\n')
        empty += 2;
    if (empty == 0)
        return;
    memmove(at, at + empty, length - empty);
    reader->length -= empty;
    reader->searched = 0;
}

/* Check lines up to the end of a head. Returns false if it is not complete. */
static bool find_head(struct request_reader *reader)
{
    if (reader->size == 0)
        drop_empty_lines(reader);

    struct framing *framing = &reader->framing;
    const char *line = reader->bytes + reader->checked, *feed;
    const char *const end = reader->bytes + reader->length;
    bool found = false;

    while (!found && (feed = memchr(line + reader->searched, '\n',
                                    (size_t)(end - line) - reader->searched))) {
        const size_t length = (size_t)(feed + 1 - line);
        const bool last = reader->line_read && length == 2;
        reader->searched = 0;
        if (check_line(reader, line, length))
            reader->checked += length;
        line += length;
        found = last || framing->stop;
    }
    if (!found) {
        check_rest(reader, line, (size_t)(end - line));
        found = framing->stop;
    }
    if (found)
        complete(reader);
    return found;
}

/* --- Reading ------------------------------------------------------------------- */

/* Receive and keep bytes. Returns as recv does. */
static ssize_t receive(struct request_reader *reader, int fd)
{
    char received[READ];
    const ssize_t count = recvfrom(fd, received, sizeof received, 0, NULL, NULL);
    if (count <= 0)
        return count;
    char *bytes = realloc(reader->bytes, reader->length + (size_t)count);
    if (!bytes)
        return -1;
    memcpy(bytes + reader->length, received, (size_t)count);
    reader->bytes = bytes;
    reader->length += (size_t)count;
    return count;
}

/* Returns true if there is a stub to give. */
static bool has_stub(struct request_reader *reader)
{
    if (reader->stub && *reader->stub)
        return true;
    return !reader->ended && reader->length > reader->checked + reader->searched &&
           find_head(reader);
}

static size_t give(struct request_reader *reader, char *out, size_t room)
{
    const size_t count = strnlen(reader->stub, room);
    memcpy(out, reader->stub, count);
    reader->stub += count;
    return count;
}

ssize_t request_reader_read(struct request_reader *reader, int fd, void *buffer, size_t size,
                            unsigned at_end, const char *why)
{
    size_t given = 0;
    bool more = true; /* the socket may have more bytes, or its end */
    ssize_t got = -1;

    errno = EAGAIN;
    for (;;) {
        while (given < size && has_stub(reader))
            given += give(reader, (char *)buffer + given, size - given);
        const bool waiting = reader->heads > 0;
        if (given == size || reader->ended ||
            !(more || (!waiting && request_reader_is_amid(reader))))
            break;
        if (waiting) {
            /* Read no more until they have begun. Then libmicrohttpd reads again only if it gets as
             * much as it asked for now. It skips empty lines. */
            reader->stub = "\r\n";
            continue;
        }
        got = receive(reader, fd);
        more = got == READ;
        if (got == 0 && request_reader_is_amid(reader)) {
            framing_refuse(&reader->framing, at_end, why);
            complete(reader);
        } else if (got <= 0) {
            break;
        }
    }
    return given > 0 ? (ssize_t)given : got == 0 ? 0 : -1;
}

/* --- Requests ------------------------------------------------------------------ */

static const struct {
    const char *name;
    size_t length; /* of the name */
    size_t offset; /* of the value in struct http_request */
} headers[] = {
#define HEADER(member, text) {(text), sizeof(text) - 1, offsetof(struct http_request, member)},
    HTTP_REQUEST_HEADERS(HEADER)};

static void read_header(struct http_request *request, char *line, char *end)
{
    char *value = memchr(line, ':', (size_t)(end - line));
    const size_t length = (size_t)(value++ - line);

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++) {
        if (headers[i].length != length || strncasecmp(headers[i].name, line, length) != 0)
            continue;
        while (value < end && (*value == ' ' || *value == '\t'))
            value++;
        while (value < end && (end[-1] == ' ' || end[-1] == '\t'))
            end--;
        *end = '\0';
        *(const char **)((char *)request + headers[i].offset) = value;
    }
}

/* Split URI, which has SCHEME characters before its host, into Host and the rest. */
static void split_uri(struct http_request *request, char *uri, size_t scheme)
{
    const size_t length = strcspn(uri + scheme, "/?");
    char *rest = uri + scheme + length;

    /* The scheme makes room for the end of the host and the path's first slash. */
    memmove(uri, uri + scheme, length);
    uri[length] = '\0';
    if (*rest != '/')
        *--rest = '/';
    request->host = uri;
    request->uri = rest;
}

static void read_line(struct http_request *request, char *line)
{
    char *uri = strchr(line, ' ');
    *uri++ = '\0';
    *strchr(uri, ' ') = '\0';
    request->verb = line;
    request->uri = uri;
    if (strcmp(line, "OPTIONS") == 0)
        request->method = HTTP_OPTIONS;
    else if (strcmp(line, "HEAD") == 0)
        request->method = HTTP_HEAD;
}

/* The bytes of the first head. */
static size_t head_length(const struct request_reader *reader)
{
    const char *line = reader->bytes, *const end = line + reader->checked;

    for (const char *feed; line < end; line = feed + 1) {
        feed = memchr(line, '\n', (size_t)(end - line));
        if (feed == line + 1)
            return (size_t)(feed + 1 - reader->bytes);
    }
    return reader->checked; /* refused before its end */
}

/* The first head becomes the current one. Returns 0, or -1 if out of memory. */
static int take(struct request_reader *reader)
{
    request_reader_finish(reader);
    if (reader->checked == 0) /* its request line is malformed */
        return 0;
    reader->current_length = reader->checked;
    if (reader->heads == 0 && reader->length == reader->checked && reader->size == 0) {
        /* As usual there is no other. */
        reader->current = reader->bytes;
        reader->bytes = NULL;
    } else {
        reader->current_length = head_length(reader);
        reader->current = malloc(reader->current_length);
        if (!reader->current)
            return -1;
        memcpy(reader->current, reader->bytes, reader->current_length);
        memmove(reader->bytes, reader->bytes + reader->current_length,
                reader->length - reader->current_length);
    }
    reader->length -= reader->current_length;
    reader->checked -= reader->current_length;
    return 0;
}

/* Read the good lines of the current head. */
static void read_head(const struct request_reader *reader, struct http_request *request)
{
    char *line = reader->current, *const end = line + reader->current_length;

    for (char *feed; line < end; line = feed + 1) {
        feed = memchr(line, '\n', (size_t)(end - line));
        if (line == reader->current)
            read_line(request, line);
        else if (feed > line + 1)
            read_header(request, line, feed - 1);
    }
}

bool request_reader_begin(struct request_reader *reader, struct http_request *request)
{
    if (reader->heads == 0)
        return false;
    const bool refused = --reader->heads == 0 && reader->ended;
    if (take(reader))
        return false;
    if (reader->current)
        read_head(reader, request);
    request->refused = refused ? reader->refused : 0;
    request->why = refused ? reader->why : NULL;
    if (!request->uri) { /* its request line is malformed */
        request->method = reader->to_head ? HTTP_HEAD : HTTP_GET;
        request->verb = reader->to_head ? "HEAD" : "-";
        request->uri = "-";
    } else if (framing_scheme(request->uri) > 0) {
        split_uri(request, (char *)request->uri, framing_scheme(request->uri));
    }
    request->decoded = url_escapes_decode((char *)request->uri);
    return true;
}

void request_reader_finish(struct request_reader *reader)
{
    free(reader->current);
    reader->current = NULL;
    reader->current_length = 0;
}

bool request_reader_is_amid(const struct request_reader *reader)
{
    return reader->size > 0 || reader->searched > 0;
}

bool request_reader_holds(const struct request_reader *reader)
{
    return reader->length > 0;
}

void request_reader_drop(struct request_reader *reader)
{
    request_reader_finish(reader);
    free(reader->bytes);
    *reader = (struct request_reader){0};
}
