/*
 * The framing of request heads (RFC 9112), line by line. Strict: refuses whatever this server and a
 * proxy in front of it could read in two ways (request smuggling), and all bodies. Pure.
 *
 * Lines are given without their CRLF.
 */
#ifndef FARLANDS_HTTP_FRAMING_H
#define FARLANDS_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

/* One head. Zero it, then call framing_method and framing_line with its first line, framing_header
 * for each header, and framing_end. */
struct framing {
    bool to_head;            /* its method is HEAD */
    bool old;                /* HTTP/1.0: needs no Host, and closes unless asked to keep alive */
    bool close, keep_alive;  /* in Connection */
    unsigned hosts, lengths; /* Host and Content-Length headers so far */
    /* The verdict: 0, or the status to refuse with, and the reason. The first one is kept. */
    unsigned refused;
    const char *why;
    bool stop; /* also refused: this line and those that follow must not be used */
};

/* Refuse the head, and stop. */
void framing_refuse(struct framing *framing, unsigned status, const char *why);

/* A request line, perhaps malformed or incomplete. */
void framing_method(struct framing *framing, const char *line, size_t length);

/* A request line. */
void framing_line(struct framing *framing, const char *line, size_t length);

void framing_header(struct framing *framing, const char *line, size_t length);

/* The empty line at the end. */
void framing_end(struct framing *framing);

/* The length of the scheme, with its slashes, of a URI in absolute form (RFC 9112 section 3.2.2),
 * or 0. The URI ends with a character that no scheme has. */
size_t framing_scheme(const char *uri);

/* True if FIRST cannot be the first byte of a head. */
bool framing_is_foreign(char first);

#endif
