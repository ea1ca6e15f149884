/*
 * Message framing: refuses requests that this server and a proxy in front of it could read in two
 * ways (request smuggling). Pure.
 */
#ifndef FARLANDS_HTTP_FRAMING_H
#define FARLANDS_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

/* The head of one request. Zero it, then call framing_line, framing_header for each header, and
 * framing_end. */
struct framing {
    unsigned hosts, lengths; /* Host and Content-Length headers so far */
    bool host_needed;
    size_t size;    /* of the head as parsed, in bytes */
    size_t cookies; /* bytes of it in cookies */
    /* The verdict: 0, or the status to refuse with, and the reason. */
    unsigned refused;
    const char *why;
    bool close; /* the connection must close after the response */
};

void framing_line(struct framing *framing, const char *method, const char *uri,
                  const char *version);
void framing_header(struct framing *framing, const char *name, const char *value);

/* RECEIVED is the size of the head on the wire, in bytes. */
void framing_end(struct framing *framing, size_t received);

#endif
