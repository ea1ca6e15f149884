/*
 * HTTP on one libuv loop, through libmicrohttpd driven by its epoll fd. The
 * only module that knows libmicrohttpd. Everything here runs on the loop's
 * thread; libmicrohttpd is called from no other.
 *
 * Only GET, HEAD and OPTIONS without a body reach the handler as they are.
 * Everything else, and every request whose framing could be read in two ways,
 * reaches it as refused, and its connection is closed after the answer.
 */
#ifndef FARLANDS_HTTP_H
#define FARLANDS_HTTP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <uv.h>

#include "server/blob.h"

struct http;
struct http_exchange;

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OPTIONS };

struct http_request {
    enum http_method method;
    const char *uri; /* as sent, with the query, nothing decoded; printable ASCII */
    /* Headers, or NULL; of one that came several times, the last. */
    const char *host, *accept_encoding, *if_match, *if_none_match, *if_range, *range;
    const char *forwarded_host, *forwarded_prefix, *forwarded_proto;
    const struct sockaddr *peer; /* who sent it, or NULL where that is unknown */
    unsigned refused;            /* 0, or the status to refuse it with, and why */
    const char *why;
};

struct http_header {
    const char *name, *value;
};

enum { HTTP_LENGTH_UNKNOWN = -1 };

struct http_answer {
    unsigned status;
    const char *type;                  /* Content-Type, or NULL */
    struct blob *body;                 /* or NULL; a reference is taken */
    size_t first, count;               /* the part of BODY to send; COUNT 0: all of it */
    int64_t length;                    /* HEAD without a body: what GET's would be, or unknown */
    const struct http_header *headers; /* copied, with their values */
    int header_count;
};

/*
 * Called once a request, whose strings last until it is answered. The handler
 * calls http_answer now or, by keeping EXCHANGE, later; always once.
 */
typedef void http_handler(void *context, struct http_exchange *exchange,
                          const struct http_request *request);

/* Answer, in the handler or later, on the loop's thread. EXCHANGE is not to be
 * used afterwards. */
void http_answer(struct http_exchange *exchange, const struct http_answer *answer);

/*
 * Listen on LISTEN (HOST:PORT or [HOST]:PORT) for up to CONNECTIONS clients, or
 * fewer, with a warning, where the process may not open that many files.
 * Returns 0 or a negative code: -EADDRINUSE, -EACCES, -ENOMEM, -EMFILE where
 * it may hardly open any, -ENOENT for an unknown host.
 */
int http_new(struct http **out, uv_loop_t *loop, const char *listen, unsigned connections,
             http_handler *handler, void *context);

/* The address in use, as HOST:PORT. */
const char *http_address(const struct http *http);

/*
 * Take no more connections, close the idle ones, and close each other one after
 * the answer that it waits for. Calls DRAINED once none is left.
 */
void http_drain(struct http *http, void (*drained)(void *context), void *context);

/* Stop at once, cutting connections off. Every exchange must have been answered. */
void http_close(struct http *http);

/* Free, once the loop has run the close callbacks of http_close. */
void http_free(struct http *http);

#endif
