/*
 * HTTP on one libuv loop, through libmicrohttpd driven by its epoll fd. It
 * listens nowhere: connections are given to it. Everything here runs on the
 * loop's thread; libmicrohttpd is called from no other.
 *
 * Only GET, HEAD and OPTIONS without a body reach the handler as they are.
 * Everything else, and every request whose framing could be read in two ways,
 * reaches it as refused, and its connection is closed after the answer.
 */
#ifndef FARLANDS_HTTP_HTTP_H
#define FARLANDS_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <uv.h>

#include "server/core/blob.h"

struct http;
struct http_exchange;
struct mhd_response; /* server/http/mhd_response.h */

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OPTIONS };

struct http_request {
    enum http_method method;
    const char *verb; /* the method as sent, also where it is none of these */
    const char *uri;  /* as sent, with the query, nothing decoded; printable ASCII */
    /* Headers, or NULL; of one that came several times, the last. */
    const char *host, *accept_encoding, *if_match, *if_none_match, *if_range, *range;
    const char *forwarded_for, *forwarded_host, *forwarded_prefix, *forwarded_proto;
    const char *priority, *referer, *user_agent;
    const struct sockaddr *peer; /* who sent it, or NULL where that is unknown */
    uint64_t begun;              /* when its first line was there, as uv_hrtime counts */
    bool last;                   /* the connection ends with the answer */
    unsigned refused;            /* 0, or the status to refuse it with, and why */
    const char *why;
};

struct http_header {
    const char *name, *value;
};

enum { HTTP_LENGTH_UNKNOWN = -1 };

/*
 * A body that is made while it is sent. Called on the loop's thread; neither function calls back
 * into http but READ, which may http_wake other exchanges.
 */
struct http_source {
    /*
     * Copy up to MAX bytes to OUT. Returns how many; 0 where there are none yet: http_wake is then
     * called once there are; UV_EOF at the end of a body of unknown length; or another negative
     * code: the connection is cut off, as it is by UV_EOF before LENGTH bytes. Not called again
     * once the body is complete or cut off.
     */
    ssize_t (*read)(void *context, void *out, size_t max);
    /* The body has been sent, or will not be: nothing of CONTEXT is used any more. Called once,
     * whatever comes. */
    void (*done)(void *context);
    void *context;
};

struct http_response {
    unsigned status;
    const char *type;                  /* Content-Type, or NULL */
    struct blob *body;                 /* or NULL; a reference is taken */
    size_t first, count;               /* the part of BODY to send; COUNT 0: all of it */
    const struct http_source *source;  /* or NULL; instead of BODY, copied */
    int64_t length;                    /* of SOURCE, or of what HEAD tells about: or unknown */
    const struct http_header *headers; /* copied, with their values */
    int header_count;
};

/* Bytes of ANSWER's body that are to be sent; 0 where that is unknown. */
static inline size_t http_body_length(const struct http_response *answer)
{
    if (answer->source)
        return answer->length < 0 ? 0 : (size_t)answer->length;
    return !answer->body ? 0 : answer->count ? answer->count : answer->body->length;
}

struct http_parts {
    uv_loop_t *loop;
    unsigned connections; /* the most that it will be given at once */
    /*
     * Called once a request, whose strings last until it is answered. It calls
     * http_answer or http_give now or, by keeping EXCHANGE, later; always once.
     */
    void (*handler)(void *context, struct http_exchange *exchange,
                    const struct http_request *request);
    void *handler_context;
    /* A connection that was given is no more. */
    void (*closed)(void *context, const struct sockaddr *peer);
    void *closed_context;
};

/*
 * Answer, in the handler or later, on the loop's thread. EXCHANGE is not to be used afterwards,
 * but for http_wake where ANSWER has a source.
 *
 * A body from a source is sent as it is made. Without a length it is chunked, or in HTTP/1.0 ends
 * with the connection, which is reset where it is cut off. A client may take its time while there
 * is nothing to send; where it leaves, that is seen within half a second. To HEAD nothing is
 * read: the source is done before http_answer returns.
 */
void http_answer(struct http_exchange *exchange, const struct http_response *answer);

/* The source of EXCHANGE's answer, which had no bytes, has some, or will fail. From http_answer on
 * until the source is done; does nothing where it is not waited for. */
void http_wake(struct http_exchange *exchange);

/* Answer with a response that stays the caller's; not to a request that is its connection's
 * last. */
void http_give(struct http_exchange *exchange, struct mhd_response *response);

/* Whether the connection will end with the answer, be it that all connections are to end by now. */
bool http_closes(const struct http_exchange *exchange);

/* Whether who sent the request that waits for an answer has hung up meanwhile. */
bool http_has_left(const struct http_exchange *exchange);

/* Returns 0 or a negative code. */
int http_new(struct http **out, const struct http_parts *parts);

/* Serve the connected socket FD, which is taken over whatever comes: CLOSED is called for it once.
 */
void http_adopt(struct http *http, int fd, const struct sockaddr *peer, socklen_t length);

/* Shut down connections that have been too long at what they do; to be called every 250 ms.
 * Returns how many. */
unsigned http_sweep(struct http *http);

/*
 * Close the idle connections, and each other one after the answer that it waits
 * for. Calls DRAINED once none is left.
 */
void http_drain(struct http *http, void (*drained)(void *context), void *context);

/* Stop at once, cutting connections off; sources are then done. Every exchange must have been
 * answered, and what the handler is told of meanwhile, requests that have just come, it answers at
 * once. */
void http_close(struct http *http);

/* Free, once the loop has run the close callbacks of http_close. */
void http_free(struct http *http);

#endif
