/*
 * HTTP on one libuv loop, which drives libmicrohttpd through an epoll fd. There is no listening
 * socket here: net/acceptor hands over connections. Everything here runs on the loop's thread, and
 * no other thread calls libmicrohttpd.
 *
 * libmicrohttpd parses requests. The handler never sees those that libmicrohttpd refuses by itself,
 * with a page that is not ours. The handler sees GET, HEAD and OPTIONS without a body as they are.
 * Any other request, and any with ambiguous framing, is marked refused, and its connection closes
 * after the response.
 *
 * A request's path; exchange.c has these functions in this order:
 *
 *     http_adopt               a connection: the first exchange, and a deadline
 *     exchange_on_uri          the request line is complete
 *     exchange_on_request      the head is complete
 *         check                request_head.c judges the head
 *     exchange_on_request      again, since a response to the first call would end the connection
 *         take_turn            suspended until a later turn, if the client has had many
 *         handle               HANDLER; the connection is suspended until it has responded
 *     http_respond             mhd_response.c makes the response
 *     exchange_on_request      again, after a suspension
 *         queue_response       libmicrohttpd sends it, also parts that a source has later
 *     exchange_on_completed    COMPLETED; the next request of the connection may follow
 *     exchange_on_connection   CLOSED, now or after lingering_close.c
 *
 * http.c has the loop, which runs libmicrohttpd and checks the deadlines. conditional.c and
 * url_escapes.c know nothing of connections.
 */
#ifndef FARLANDS_HTTP_HTTP_H
#define FARLANDS_HTTP_HTTP_H

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/core/clock.h"
#include "server/http/message.h"
#include "server/http/mhd_response.h"
#include "server/net/client_limits.h"

/* The version of libmicrohttpd that is used, such as "1.0.1". */
const char *http_library(void);

struct http;
struct http_exchange; /* one request and its response */

struct http_parts {
    uv_loop_t *loop;
    const struct clock *clock;     /* NULL: the loop's time */
    unsigned connections;          /* the most that are open at once */
    struct client_limits *clients; /* counts each client's connections; NULL: not known */
    size_t state_size;             /* bytes that http_state returns */
    /*
     * Called once per request. The strings of REQUEST last until COMPLETED. Must respond to
     * EXCHANGE exactly once, before it returns or later.
     */
    void (*handler)(void *context, struct http_exchange *exchange,
                    const struct http_request *request);
    /*
     * Called once per response, when the response has been sent or the connection is gone. SENT:
     * body bytes handed to the socket, all of them if the response is complete. Otherwise SENT is a
     * lower bound, because libmicrohttpd tells no more: a streamed body's complete blocks, and 0
     * for any other body. May be NULL.
     */
    void (*completed)(void *context, struct http_exchange *exchange, uint64_t sent);
    /*
     * Called if the client takes a response of 16 KiB or more slower than it is sent: BODY is held
     * until COMPLETED. Not called if the body has a source. Returns false to reset the connection.
     * May be NULL.
     */
    bool (*waits)(void *context, struct http_exchange *exchange, const struct blob *body);
    void *handler_context; /* for these three */
    /* A connection that was handed over is closed. */
    void (*closed)(void *context, const struct sockaddr *peer);
    /* Connections have changed: http_expire must be called within 250 ms. May be NULL. */
    void (*active)(void *context);
    /* No connection is left after http_drain. May be NULL if that is not called. */
    void (*drained)(void *context);
    void *context; /* for these three */
    unsigned idle; /* seconds that a connection may be idle between two requests */
    unsigned step; /* ms between two checks for idle connections; see deadlines.h */
};

/* Returns 0 or a negative code. */
int http_new(struct http **out, const struct http_parts *parts);

/* Serve the connected socket FD. Takes ownership even on error, and calls CLOSED once. */
void http_adopt(struct http *http, int fd, const struct sockaddr *peer, socklen_t length);

/* The handler's own memory, state_size bytes, aligned for any type and not initialized: valid from
 * the handler until COMPLETED returns. */
void *http_state(struct http_exchange *exchange);

/*
 * Send RESPONSE, in the handler or later, on the loop's thread. Afterwards EXCHANGE may only be
 * used for http_wake, and only if RESPONSE has a source.
 *
 * A body from a source is sent while it is produced: chunked if the length is unknown. HTTP/1.0 has
 * no chunks, so there the connection ends with the body, or is reset if the body is cut off. The
 * client is not timed while there is nothing to send; a disconnect is noticed within half a second.
 * For HEAD the source is not read, and is done before http_respond returns.
 */
void http_respond(struct http_exchange *exchange, const struct http_response *response);

/* Send a prepared response, which the caller keeps. Not allowed if http_closes. */
void http_respond_prepared(struct http_exchange *exchange, struct mhd_response *response);

/* The source had no bytes for EXCHANGE's response; now it has some, or will fail. May be called
 * from http_respond until the source is done; does nothing unless the body waits for bytes. */
void http_wake(struct http_exchange *exchange);

/* True if the connection closes after this response, including because the server is draining. */
bool http_closes(const struct http_exchange *exchange);

/* The connection's socket, for socket_has_left; open until the request has a response. */
int http_socket(const struct http_exchange *exchange);

/* Close overdue connections. *SLOW: how many were too slow. Returns the ms after which the next
 * call is due unless ACTIVE is called before; UINT64_MAX: none until ACTIVE is called. */
uint64_t http_expire(struct http *http, unsigned *slow);

/* Change how many SECONDS a connection may be idle, also for those that are idle now. */
void http_limit_idle(struct http *http, unsigned seconds);

/* Close some idle connections or slow readers, so that others can be accepted; see
 * deadlines_make_room. Returns how many. */
unsigned http_make_room(struct http *http);

/* Graceful shutdown: close idle connections, and the others after their pending response. */
void http_drain(struct http *http);

/*
 * Stop now: cut connections off, and end sources. All pending requests must have responses, and the
 * handler must respond at once to requests that arrive meanwhile.
 */
void http_close(struct http *http);

/* Free, once the loop has run the close callbacks of http_close. */
void http_free(struct http *http);

#endif
