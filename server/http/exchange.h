/*
 * A connection and its current exchange, a request and its response: what libmicrohttpd calls, and
 * what http.h declares of an exchange. Private to http.c, which runs libmicrohttpd and the loop.
 */
#ifndef FARLANDS_HTTP_EXCHANGE_H
#define FARLANDS_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stddef.h>

#include "server/http/http.h"
#include "server/net/deadlines.h"
#include "server/net/lingering_close.h"

enum { EXCHANGE_SHORT_URI = 256 }; /* bytes: longer ones are allocated */

struct http {
    struct http_parts parts;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_prepare_t prepare;
    bool work_due; /* a connection was resumed: libmicrohttpd must run before the loop sleeps */
    struct deadlines deadlines;
    uv_timer_t sweep; /* until all deadlines are checked */
    unsigned slow;    /* connections that were; not reported yet */
    bool active;      /* connections may have changed since the last round began */
    struct lingering_close lingering;
    LIST_HEAD(sending_list, http_exchange) sending;   /* responses queued in this run */
    STAILQ_HEAD(adopted_list, http_exchange) adopted; /* not started by libmicrohttpd yet */
    bool draining;
    bool closing; /* no further request is handled */
    struct http_date date;
    void (*drained)(void *context);
    void *drained_context;
    uint64_t logged; /* when a message of libmicrohttpd's was last logged, ms */
};

enum state {
    STATE_NEW,       /* request line known */
    STATE_CHECKED,   /* headers known and acceptable */
    STATE_HANDLED,   /* in the handler */
    STATE_SUSPENDED, /* until the response is made */
    STATE_RESPONDED,
};

/* A connection and its current exchange: it never has two at once. */
struct http_exchange {
    struct deadline deadline; /* first: cast back in cut_bodies */
    struct http *http;
    struct MHD_Connection *mhd;
    struct sockaddr_storage peer;
    socklen_t peer_length;
    enum state state;
    struct http_request request;
    char *uri; /* of the request: EXCHANGE_SHORT_URI, or allocated; NULL: none */
    char short_uri[EXCHANGE_SHORT_URI];
    bool close;                   /* close the connection after the response */
    bool ended;                   /* its body's source has ended the connection */
    bool own;                     /* response is not shared */
    struct mhd_response response; /* until libmicrohttpd has taken it */
    struct streamed_body *body;   /* of the response, while its source is not done, or NULL */
    uint64_t length;              /* of the body to send; 0 if unknown */
    uint64_t sent;                /* of a streamed body: the blocks that are sent */
    const struct blob *held;      /* the response's body, until it is completed */
    LIST_ENTRY(http_exchange) sending;
    STAILQ_ENTRY(http_exchange) adopted;
    _Alignas(max_align_t) unsigned char handler_state[];
};

static inline const struct sockaddr *exchange_peer(const struct http_exchange *exchange)
{
    return (const struct sockaddr *)&exchange->peer;
}

/* The loop's time, in ms. */
static inline uint64_t http_now(const struct http *http)
{
    return clock_loop_ms(http->parts.clock, http->parts.loop);
}

/* The callbacks of libmicrohttpd. */
void *exchange_on_uri(void *context, const char *uri, struct MHD_Connection *mhd);
size_t exchange_keep_escapes(void *context, struct MHD_Connection *mhd, char *text);
enum MHD_Result exchange_on_request(void *context, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_size, void **exchange_place);
void exchange_on_completed(void *context, struct MHD_Connection *mhd, void **exchange_place,
                           enum MHD_RequestTerminationCode code);
void exchange_on_connection(void *context, struct MHD_Connection *mhd, void **place,
                            enum MHD_ConnectionNotificationCode code);

/* Take EXCHANGE out of the responses that were queued in this run, if it is one. */
void exchange_stop_sending(struct http_exchange *exchange);

/* libmicrohttpd has closed the connection, and did not start it. */
void exchange_rejected(struct http_exchange *exchange);

#endif
