/*
 * The head of a request: the values that the handler needs, and whether the request may be served.
 * Refuses requests that this server and a proxy in front of it could read in two ways (request
 * smuggling). All but framing_read is pure.
 */
#ifndef FARLANDS_HTTP_FRAMING_H
#define FARLANDS_HTTP_FRAMING_H

#include "server/http/message.h"

/* The framing of one request. Zero it, then call framing_line, framing_header for each header, and
 * framing_end. */
struct framing {
    unsigned hosts, lengths; /* Host and Content-Length headers so far */
    bool host_needed;
    size_t size;    /* of the head as parsed, in bytes */
    size_t cookies; /* bytes of it in cookies */
    /* The verdict: 0, or the status to refuse with, and the reason. */
    unsigned refused;
    const char *why;
    bool close;                   /* the connection must close after the response */
    struct http_request *request; /* used by framing_read only */
};

void framing_line(struct framing *framing, const char *method, const char *uri,
                  const char *version);
void framing_header(struct framing *framing, const char *name, const char *value);

/* RECEIVED is the size of the head on the wire, in bytes. */
void framing_end(struct framing *framing, size_t received);

struct MHD_Connection; /* microhttpd.h */

/*
 * Fill in REQUEST, except peer, begun and last, from the request that CONNECTION has received. URI
 * and the header values are not copied. Returns true if the connection must close after the
 * response.
 */
bool framing_read(struct http_request *request, struct MHD_Connection *connection, const char *uri,
                  const char *method, const char *version);

#endif
