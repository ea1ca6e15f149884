/*
 * A connection and the exchange that is going on: one request and one response. Private to http/:
 * http.h has the map.
 */
#ifndef FARLANDS_HTTP_EXCHANGE_H
#define FARLANDS_HTTP_EXCHANGE_H

#include <microhttpd.h>
#include <stddef.h>

#include "server/core/fair_queue.h"
#include "server/http/http.h"
#include "server/net/deadlines.h"
#include "server/net/lingering_close.h"
#include "server/net/socket_state.h"

enum { CLIENT_SETS = 1024 }; /* clients are told apart by 10 bits of their hashes */

/* A turn of the loop: see take_turn. */
struct turn {
    struct fair_queue queue; /* requests that wait for a later turn, in a line per client */
    unsigned number;
    unsigned left;    /* requests until the turn is full */
    unsigned modest;  /* client sets with a few requests in this turn */
    uint64_t fair_at; /* ms: when a full turn last had a modest set */
    bool fair;        /* fair_at is less than a second ago */
    unsigned sets;    /* client sets with connections */
    struct turn_set {
        unsigned connections;
        unsigned number, requests; /* the last turn with requests from here, and how many */
    } set[CLIENT_SETS];
};

struct http {
    struct http_parts parts;
    struct MHD_Daemon *daemon;
    uv_poll_t poll;
    uv_timer_t timer;
    uv_idle_t idle; /* active while work is due again after a turn */
    uv_prepare_t prepare;
    bool work_due; /* libmicrohttpd must run before the loop sleeps */
    struct turn turn;
    struct deadlines deadlines;
    uv_timer_t sweep; /* until all deadlines are checked */
    unsigned slow;    /* closed as too slow, and not reported yet */
    struct lingering_close lingering;
    LIST_HEAD(sending_list, http_exchange) sending; /* responses queued in this run */
    struct http_exchange *adopting; /* in http_adopt, until libmicrohttpd starts its connection */
    bool drained;                   /* DRAINED has been called */
    bool closing;                   /* no further request is handled */
    struct http_date date;
    uint64_t logged; /* when libmicrohttpd last had a message logged, ms */
};

enum state {
    STATE_NEW,       /* request line known */
    STATE_CHECKED,   /* headers known and acceptable */
    STATE_QUEUED,    /* suspended until a later turn */
    STATE_TURN,      /* resumed, to be handled */
    STATE_HANDLED,   /* in the handler */
    STATE_SUSPENDED, /* until the response is made */
    STATE_RESPONDED,
};

/* A connection and its current exchange: there are never two at once. */
struct http_exchange {
    struct deadline deadline; /* first: cast back in cut_sources */
    struct http *http;
    struct MHD_Connection *mhd;
    struct sockaddr_storage peer;
    socklen_t peer_length;
    struct job job; /* queued in STATE_QUEUED; names the client in every state */
    enum state state;
    struct http_request request;
    char *uri;                    /* the last request's; NULL: none, or out of memory */
    struct mhd_response response; /* empty before the response is made, and once it is sent */
    bool own;                     /* response is not shared */
    struct http_source source;    /* makes the response's body; zero if none, or done */
    uint64_t sent;                /* bytes in the source's blocks that are sent */
    bool ended;                   /* the source's body has ended the connection */
    const struct blob *held;      /* the response's body, while in SENDING, or NULL */
    LIST_ENTRY(http_exchange) sending;
    _Alignas(max_align_t) unsigned char handler_state[];
};

/* The callbacks of libmicrohttpd. */
void *exchange_on_uri(void *context, const char *uri, struct MHD_Connection *mhd);
enum MHD_Result exchange_on_request(void *context, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_size, void **exchange_place);
void exchange_on_completed(void *context, struct MHD_Connection *mhd, void **exchange_place,
                           enum MHD_RequestTerminationCode code);
void exchange_on_connection(void *context, struct MHD_Connection *mhd, void **place,
                            enum MHD_ConnectionNotificationCode code);

/* Begin a turn: resume as many queued requests as one turn may handle. */
void exchange_begin_turn(struct http *http);

/* Resume all queued requests. */
void exchange_flush(struct http *http);

/* Remove EXCHANGE from SENDING, if it is there. */
void exchange_stop_sending(struct http_exchange *exchange);

/* Cut off the response's body, if a source makes it. */
void exchange_cut(struct http_exchange *exchange);

#endif
