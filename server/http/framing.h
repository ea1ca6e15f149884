/*
 * Whether a request may be served, judged by its framing: what could be read
 * in two ways, by us and by a proxy before us, is refused. Pure.
 */
#ifndef FARLANDS_HTTP_FRAMING_H
#define FARLANDS_HTTP_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

/* One request's head, line by line. Zero it, then framing_line, framing_header
 * for each header, and framing_end. */
struct framing {
    unsigned hosts, lengths;
    bool host_needed;
    size_t size;    /* bytes that the head has, as it was parsed */
    size_t cookies; /* of them */
    /* The verdict: 0, or the status to refuse with, and why. */
    unsigned refused;
    const char *why;
    bool close; /* the connection must end with this request */
};

void framing_line(struct framing *framing, const char *method, const char *uri,
                  const char *version);
void framing_header(struct framing *framing, const char *name, const char *value);

/* CAME is how many bytes the head had on the wire. */
void framing_end(struct framing *framing, size_t came);

#endif
