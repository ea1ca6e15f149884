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

#include <uv.h>

#include "server/http/message.h"

struct http;
struct http_exchange;
struct mhd_response; /* server/http/mhd_response.h */

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
