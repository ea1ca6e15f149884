/*
 * HTTP on one libuv loop: libmicrohttpd driven through its epoll fd. It has no listening socket;
 * connections are handed to it. Everything here runs on the loop's thread, and libmicrohttpd is
 * called from no other.
 *
 * libmicrohttpd parses requests. What it refuses itself gets a page of its own, and never reaches
 * the handler. Of the rest only GET, HEAD and OPTIONS without a body reach the handler as such. Any
 * other request, and any with ambiguous framing, is marked refused, and its connection closes after
 * the response.
 *
 * The way of a request; exchange.c has these functions in this order:
 *
 *     http_adopt               a connection: its first exchange, and its deadline
 *     exchange_on_uri          the request line is complete
 *     exchange_on_request      the head is complete
 *         check                request_head.c judges the head
 *     exchange_on_request      again, since a response to the first call would end the connection
 *         take_turn            suspended until a later turn, if its client has had many
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
    struct client_limits *clients; /* with the connections of each; NULL: not known */
    size_t state_size;             /* of http_state */
    /*
     * Called once per request. The strings of REQUEST last until COMPLETED. Must respond to
     * EXCHANGE exactly once, before it returns or later.
     */
    void (*handler)(void *context, struct http_exchange *exchange,
                    const struct http_request *request);
    /*
     * Called once per response, when it has been sent or its connection is gone. SENT is the number
     * of body bytes handed to the socket: all of them if the response is complete. Otherwise it is
     * a lower bound, as libmicrohttpd does not tell more: the complete blocks of a streamed body,
     * and 0 for any other body. May be NULL.
     */
    void (*completed)(void *context, struct http_exchange *exchange, uint64_t sent);
    /*
     * Called if the client does not take a response of 16 KiB or more as fast as it is sent: until
     * COMPLETED, its BODY is held. Not called if it has a source. Returns false to reset the
     * connection. May be NULL.
     */
    bool (*waits)(void *context, struct http_exchange *exchange, const struct blob *body);
    void *handler_context; /* of all three */
    /* A connection that was handed over is closed. */
    void (*closed)(void *context, const struct sockaddr *peer);
    /* Connections have changed: http_expire must be called within 250 ms. May be NULL. */
    void (*active)(void *context);
    /* No connection is left after http_drain. May be NULL if that is not called. */
    void (*drained)(void *context);
    void *context; /* of these three */
    unsigned idle; /* seconds that a connection may be idle between two requests */
    unsigned step; /* idle connections are checked at multiples of so many ms; see deadlines.h */
};

/* Returns 0 or a negative code. */
int http_new(struct http **out, const struct http_parts *parts);

/* Serve the connected socket FD. Takes ownership of FD even on error; calls CLOSED once for it. */
void http_adopt(struct http *http, int fd, const struct sockaddr *peer, socklen_t length);

/* Memory of the handler's own, state_size bytes, aligned for any type and not initialized: valid
 * from the handler until COMPLETED returns. */
void *http_state(struct http_exchange *exchange);

/*
 * Send RESPONSE, in the handler or later, on the loop's thread. Afterwards EXCHANGE may only be
 * used for http_wake, and only if RESPONSE has a source.
 *
 * A body from a source is sent as it is produced: chunked if its length is unknown, or, in
 * HTTP/1.0, up to the end of the connection, which is reset if the body is cut off. The client is
 * not timed while there is nothing to send; if it disconnects, that is noticed within half a
 * second. In response to HEAD the source is not read, and done before http_respond returns.
 */
void http_respond(struct http_exchange *exchange, const struct http_response *response);

/* Send a prepared response, which stays the caller's. Not allowed if http_closes. */
void http_respond_prepared(struct http_exchange *exchange, struct mhd_response *response);

/* The source of EXCHANGE's response, which had no bytes, has some now, or will fail. May be called
 * from http_respond until the source is done; does nothing unless the body waits for bytes. */
void http_wake(struct http_exchange *exchange);

/* True if the connection closes after this response, including because the server is draining. */
bool http_closes(const struct http_exchange *exchange);

/* The socket of its connection, for socket_has_left; open until the request has its response. */
int http_socket(const struct http_exchange *exchange);

/* Close overdue connections. Sets *SLOW to the number of those that were too slow. Returns the ms
 * after which it must be called again if ACTIVE is not called before; UINT64_MAX: only then. */
uint64_t http_expire(struct http *http, unsigned *slow);

/* Change the limit of idle connections: those that are idle, too. */
void http_limit_idle(struct http *http, unsigned seconds);

/* Close some connections that are idle, or slow readers, so that others can be accepted; see
 * deadlines_make_room. Returns how many. */
unsigned http_make_room(struct http *http);

/* Graceful shutdown: close idle connections, and the others after their pending response. */
void http_drain(struct http *http);

/*
 * Stop now, cutting connections off; sources become done. All pending requests must have been
 * responded to, and requests that arrive meanwhile must be responded to in the handler.
 */
void http_close(struct http *http);

/* Free, once the loop has run the close callbacks of http_close. */
void http_free(struct http *http);

#endif
