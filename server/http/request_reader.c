#include "request_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { HEAD_MAX = 12 * 1024 };

/*
 * libmicrohttpd's memory of a connection has its read buffer, a record of each header and each
 * parameter of the URL, and the head of the response. The buffer has 9 KiB, or else grows by 128
 * bytes until a head fits.
 */
enum { BUFFER = 9 * 1024, GROWTH = 128, RECORD = 64, RESPONSE = 1536 };

/* The method and URL of a request that has none; also seen in the access log. */
#define NO_LINE "- - HTTP/1.1\r\n"
#define NO_LINE_HEAD "HEAD - HTTP/1.1\r\n"
enum { HELD_MIN = 1024 };

static bool fits(const struct framing *framing, size_t kept)
{
    const size_t buffer = kept + GROWTH > BUFFER ? kept + GROWTH : BUFFER;
    return buffer + (size_t)framing->values * RECORD + RESPONSE <= REQUEST_MEMORY;
}

static bool is_to_head(const char *line, size_t length)
{
    return length >= 5 && memcmp(line, "HEAD ", 5) == 0;
}

/* Take a line with its line feed. KEPT: the good bytes of its head, with this line. Returns true if
 * it is one of them. */
static bool take_line(struct request_reader *reader, const char *line, size_t length, size_t kept)
{
    struct framing *framing = &reader->framing;
    const size_t content = length - 2;
    bool good = true;

    reader->size += length;
    if (reader->size > HEAD_MAX)
        framing_refuse(framing, reader->line_read ? 431 : 414,
                       "request line and headers: exceed 12 KiB");
    if (length < 2 || line[content] != '\r')
        framing_refuse(framing, 400, "line: must end with CRLF");
    if (framing->stop)
        return false;
    if (!reader->line_read) {
        if (content == 0) /* allowed before a request line (RFC 9112 section 2.2) */
            return false;
        framing_line(framing, line, content);
        reader->to_head = is_to_head(line, length);
        if (!fits(framing, kept))
            framing_refuse(framing, 414, "URL: too many parameters");
        reader->line_read = !framing->stop;
        return reader->line_read;
    }
    if (content > 0)
        good = framing_header(framing, line, content);
    else
        framing_end(framing);
    if (good && !fits(framing, kept))
        framing_refuse(framing, 431, "headers: too many");
    return good && !framing->stop;
}

static void complete(struct request_reader *reader)
{
    reader->heads++;
    reader->ended = reader->framing.refused != 0;
    reader->refused = reader->framing.refused;
    reader->why = reader->framing.why;
    reader->framing = (struct framing){0};
    reader->line_read = false;
    reader->size = 0;
}

/* Limits also hold for a line that is not complete. */
static void check_rest(struct request_reader *reader, const char *line, size_t length)
{
    reader->searched = length;
    if (length > 0 && !reader->line_read && framing_is_foreign(*line))
        framing_refuse(&reader->framing, 400, "request line: expected METHOD URL HTTP/1.1");
    if (reader->size + length <= HEAD_MAX)
        return;
    if (reader->line_read)
        framing_refuse(&reader->framing, 431, "request line and headers: exceed 12 KiB");
    else
        framing_refuse(&reader->framing, 414, "URL: exceeds 8 KiB");
    reader->to_head |= is_to_head(line, length);
}

/* Check the lines that are complete, and move those that are kept together. */
static void scan(struct request_reader *reader, struct reader_window *window)
{
    char *const head = window->bytes;
    char *to = head + window->kept;
    const char *line = to, *const end = head + window->length, *feed;

    while (!reader->framing.stop && !reader->ended &&
           (feed = memchr(line + reader->searched, '\n',
                          (size_t)(end - line) - reader->searched)) != NULL) {
        const size_t length = (size_t)(feed + 1 - line);
        const size_t kept = (size_t)(to - head) - window->ready + length;
        reader->searched = 0;
        if (take_line(reader, line, length, kept)) {
            if (to != line)
                memmove(to, line, length);
            to += length;
            if (length == 2) {
                window->ready = (size_t)(to - head);
                complete(reader);
            }
        }
        line = feed + 1;
    }
    if (!reader->framing.stop && !reader->ended)
        check_rest(reader, line, (size_t)(end - line));
    if (reader->framing.stop || reader->ended) {
        line = end;
        reader->searched = 0;
    }
    if (to != line)
        memmove(to, line, (size_t)(end - line));
    window->kept = (size_t)(to - head);
    window->length = window->kept + (size_t)(end - line);
}

/* Returns 0, or -1 with errno. */
static int reserve(struct request_reader *reader, size_t count)
{
    struct reader_window *held = &reader->held;

    if (held->bytes && reader->capacity - held->length >= count)
        return 0;
    const size_t capacity = 2 * (held->length + count);
    char *bytes = realloc(held->bytes, capacity);
    if (!bytes)
        return -1;
    held->bytes = bytes;
    reader->capacity = capacity;
    return 0;
}

static void append(struct reader_window *held, const char *text)
{
    const size_t length = strlen(text);
    memcpy(held->bytes + held->length, text, length);
    held->length += length;
}

/* Complete a head that stopped. There is room in HELD. */
static void substitute(struct request_reader *reader)
{
    struct reader_window *held = &reader->held;

    if (!reader->line_read)
        append(held, reader->to_head ? NO_LINE_HEAD : NO_LINE);
    append(held, "\r\n");
    held->ready = held->kept = held->length;
    complete(reader);
}

/* Hold the bytes of WINDOW that are not ready. Returns 0, or -1 with errno. */
static int hold(struct request_reader *reader, const struct reader_window *window)
{
    struct reader_window *held = &reader->held;
    const size_t length = window->length - window->ready;

    if (length == 0 && !reader->framing.stop)
        return 0;
    if (reserve(reader, length + HELD_MIN))
        return -1;
    memcpy(held->bytes, window->bytes + window->ready, length);
    held->ready = 0;
    held->kept = window->kept - window->ready;
    held->length = length;
    if (reader->framing.stop)
        substitute(reader);
    return 0;
}

void request_reader_drop(struct request_reader *reader)
{
    free(reader->held.bytes);
    reader->held = (struct reader_window){0};
    reader->capacity = 0;
}

/* Give up to ROOM bytes that are ready. */
static size_t give(struct request_reader *reader, char *out, size_t room)
{
    struct reader_window *held = &reader->held;
    const size_t count = held->ready < room ? held->ready : room;

    if (count == 0 || !held->bytes)
        return 0;
    memcpy(out, held->bytes, count);
    memmove(held->bytes, held->bytes + count, held->length - count);
    held->ready -= count;
    held->kept -= count;
    held->length -= count;
    if (held->length == 0)
        request_reader_drop(reader);
    return count;
}

/* Returns as recv does. */
static ssize_t receive(int fd, void *buffer, size_t size)
{
    return recvfrom(fd, buffer, size, 0, NULL, NULL);
}

/* Read more into HELD and check it. Returns as recv does. */
static ssize_t read_held(struct request_reader *reader, int fd, unsigned at_end)
{
    struct reader_window *held = &reader->held;

    if (reserve(reader, HELD_MIN))
        return -1;
    ssize_t got = receive(fd, held->bytes + held->length, reader->capacity - held->length);
    if (got > 0) {
        held->length += (size_t)got;
        scan(reader, held);
    } else if (got == 0 && request_reader_is_amid(reader)) {
        framing_refuse(&reader->framing, at_end, "request head: incomplete");
        reader->to_head |= is_to_head(held->bytes, held->length);
        held->length = held->kept;
        reader->searched = 0;
    }
    if (reader->framing.stop) {
        if (reserve(reader, HELD_MIN))
            return -1;
        substitute(reader);
    }
    return got;
}

ssize_t request_reader_read(struct request_reader *reader, int fd, void *buffer, size_t size,
                            unsigned at_end)
{
    size_t given = 0;
    bool more = true; /* the socket may have more bytes */
    ssize_t got = -1;

    errno = EAGAIN;
    if (!reader->held.bytes && !reader->ended && !request_reader_is_amid(reader)) {
        struct reader_window direct = {.bytes = buffer};
        got = receive(fd, buffer, size);
        if (got <= 0)
            return got;
        more = (size_t)got == size;
        direct.length = (size_t)got;
        scan(reader, &direct);
        given = direct.ready;
        if (hold(reader, &direct))
            return -1;
    }
    for (;;) {
        given += give(reader, (char *)buffer + given, size - given);
        if (given == size || reader->ended || !(more || request_reader_is_amid(reader)))
            break;
        got = read_held(reader, fd, at_end);
        if (got < 0 || (got == 0 && !reader->ended))
            break;
    }
    if (reader->held.length == 0)
        request_reader_drop(reader);
    return given > 0 ? (ssize_t)given : got == 0 ? 0 : -1;
}

bool request_reader_begin(struct request_reader *reader, unsigned *refused, const char **why)
{
    if (reader->heads == 0)
        return false;
    reader->heads--;
    const bool last = reader->ended && reader->heads == 0;
    *refused = last ? reader->refused : 0;
    *why = last ? reader->why : NULL;
    return true;
}

bool request_reader_is_amid(const struct request_reader *reader)
{
    return reader->size > 0 || reader->searched > 0;
}

bool request_reader_holds(const struct request_reader *reader)
{
    return reader->held.length > 0;
}
