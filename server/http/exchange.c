#include "exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/http/mhd_response.h"
#include "server/http/request_head.h"

enum {
    SUSPENDED_SECONDS = 61, /* any limit: without one a client that half-closes gets no response */
    ENDED_SECONDS = 1,      /* until libmicrohttpd closes a connection that is at its end */
    /* Smaller bodies, as of errors, count as a part of the connection. */
    HELD_MIN = 16 * 1024,
};

void exchange_stop_sending(struct http_exchange *exchange)
{
    if (!exchange->sending.le_prev)
        return;
    LIST_REMOVE(exchange, sending);
    exchange->sending.le_prev = NULL;
}

static void enter(struct http_exchange *exchange, enum deadline_phase phase)
{
    deadline_enter(&exchange->deadline, phase, http_now(exchange->http));
}

/*
 * Connections have no timeout, which saves reading a clock for each request: deadlines_expire times
 * them. A suspended one gets a timeout, since libmicrohttpd looks at those first. Otherwise it
 * reads from a resumed connection before it asks for the response, and closes it if the client has
 * shut down its sending side. check_http.c and tests/http/04-protocol hold that for each version.
 */
static void set_timeout(struct http_exchange *exchange, unsigned seconds)
{
    MHD_set_connection_option(exchange->mhd, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* Called when the request line is complete. URI is changed afterwards, so it is copied. */
void *exchange_on_uri(void *context, const char *uri, struct MHD_Connection *mhd)
{
    struct http_exchange *exchange =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    const size_t length = strlen(uri);
    (void)context;

    exchange->request =
        (struct http_request){.peer = exchange_peer(exchange), .begun = clock_ns(NULL)};
    exchange->state = STATE_NEW;
    exchange->sent = 0;
    exchange->uri = length < EXCHANGE_SHORT_URI ? exchange->short_uri : malloc(length + 1);
    if (exchange->uri)
        memcpy(exchange->uri, uri, length + 1);
    deadline_head(&exchange->deadline, http_now(exchange->http));
    return exchange;
}

/* Escapes are decoded by request_head_read. */
size_t exchange_keep_escapes(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context, (void)mhd;
    return strlen(text);
}

void *http_state(struct http_exchange *exchange)
{
    return exchange->handler_state;
}

bool http_closes(const struct http_exchange *exchange)
{
    return exchange->close || exchange->http->draining;
}

bool http_client_left(const struct http_exchange *exchange)
{
    return deadline_has_left(&exchange->deadline);
}

/* The response is made, or is NULL if out of memory. */
static void responded(struct http_exchange *exchange)
{
    assert(exchange->state == STATE_HANDLED || exchange->state == STATE_SUSPENDED);
    exchange->length =
        exchange->request.method == HTTP_HEAD ? 0 : (uint64_t)exchange->response.length;
    if (exchange->state == STATE_SUSPENDED) {
        MHD_resume_connection(exchange->mhd);
        exchange->http->work_due = true;
    }
    exchange->state = STATE_RESPONDED;
}

void http_respond(struct http_exchange *exchange, const struct http_response *response)
{
    exchange->own = true;
    mhd_response_make(&exchange->response, response, exchange->request.method == HTTP_HEAD,
                      http_closes(exchange));
    if (exchange->response.response && exchange->response.body)
        streamed_body_bind(exchange->response.body, exchange->mhd, &exchange->deadline,
                           exchange->http->parts.clock, exchange->http->parts.loop, &exchange->body,
                           &exchange->sent);
    responded(exchange);
}

void http_wake(struct http_exchange *exchange)
{
    if (exchange->body && streamed_body_wake(exchange->body))
        exchange->http->work_due = true;
}

void http_respond_prepared(struct http_exchange *exchange, struct mhd_response *response)
{
    mhd_response_date(response, &exchange->http->date);
    exchange->own = false;
    exchange->response = *response;
    responded(exchange);
}

static void drop_response(struct http_exchange *exchange)
{
    if (exchange->own)
        mhd_response_drop(&exchange->response);
    exchange->response.response = NULL;
}

static void drop_uri(struct http_exchange *exchange)
{
    if (exchange->uri != exchange->short_uri)
        free(exchange->uri);
    exchange->uri = NULL;
}

static enum MHD_Result queue_response(struct http_exchange *exchange)
{
    struct http *http = exchange->http;

    if (!exchange->response.response)
        return MHD_NO; /* out of memory even for headers: close the connection */
    enter(exchange, DEADLINE_SENDING);
    enum MHD_Result queued =
        MHD_queue_response(exchange->mhd, exchange->response.status, exchange->response.response);
    const struct blob *blob = exchange->response.blob;
    if (http->parts.waits && blob && blob->length >= HELD_MIN) {
        exchange->held = blob;
        LIST_INSERT_HEAD(&http->sending, exchange, sending);
    }
    drop_response(exchange);
    return queued;
}

static enum MHD_Result handle(struct http_exchange *exchange)
{
    struct http *http = exchange->http;

    exchange->state = STATE_HANDLED;
    exchange->request.last |= http_closes(exchange);
    enter(exchange, DEADLINE_HANDLED);
    http->parts.handler(http->parts.handler_context, exchange, &exchange->request);
    if (exchange->state == STATE_RESPONDED)
        return queue_response(exchange);
    exchange->state = STATE_SUSPENDED;
    set_timeout(exchange, SUSPENDED_SECONDS);
    MHD_suspend_connection(exchange->mhd);
    return MHD_YES;
}

/* Judge the head. A response to this first call makes libmicrohttpd close the connection, which is
 * right only for refused requests. */
static enum MHD_Result check(struct http_exchange *exchange, const char *url, const char *method,
                             const char *version)
{
    struct http_request *request = &exchange->request;

    const size_t head =
        request_head_read(request, exchange->mhd, exchange->uri, url, method, version);
    deadline_head_ends(&exchange->deadline, head);
    exchange->close = request->refused != 0;
    exchange->state = STATE_CHECKED;
    return request->refused ? handle(exchange) : MHD_YES;
}

enum MHD_Result exchange_on_request(void *context, struct MHD_Connection *mhd, const char *url,
                                    const char *method, const char *version, const char *upload,
                                    size_t *upload_size, void **exchange_place)
{
    const struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    (void)mhd, (void)upload, (void)upload_size;

    if (!exchange->uri || (http->closing && exchange->state != STATE_RESPONDED) ||
        exchange->deadline.got_408)
        return MHD_NO;
    switch (exchange->state) {
    case STATE_NEW:
        return check(exchange, url, method, version);
    case STATE_CHECKED:
        return handle(exchange);
    case STATE_RESPONDED:
        set_timeout(exchange, 0);
        return queue_response(exchange);
    default:
        return MHD_NO;
    }
}

void exchange_on_completed(void *context, struct MHD_Connection *mhd, void **exchange_place,
                           enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    (void)mhd;

    if (!exchange)
        return;
    if (http->parts.completed && exchange->state == STATE_RESPONDED) {
        const bool known = code == MHD_REQUEST_TERMINATED_COMPLETED_OK && exchange->length > 0;
        http->parts.completed(http->parts.handler_context, exchange,
                              known ? exchange->length : exchange->sent);
    }
    const bool endless = exchange->request.old && exchange->length == 0;
    exchange->ended = exchange->body && (endless || code != MHD_REQUEST_TERMINATED_COMPLETED_OK);
    if (exchange->ended) { /* it may never be ready for anything again */
        set_timeout(exchange, ENDED_SECONDS);
        http->work_due = true;
    }
    exchange_stop_sending(exchange);
    enter(exchange, DEADLINE_IDLE);
    drop_response(exchange);
    drop_uri(exchange);
    *exchange_place = NULL;
}

/* The connection on FD that was adopted and is not started yet, or NULL. */
static struct http_exchange *adopted(const struct http *http, int fd)
{
    struct http_exchange *exchange = STAILQ_FIRST(&http->adopted);
    while (exchange && exchange->deadline.fd != fd)
        exchange = STAILQ_NEXT(exchange, adopted);
    return exchange;
}

/* A connection that was adopted; some versions tell of it in MHD_add_connection, others in MHD_run,
 * in the order in which they were added. */
static void on_started(struct http *http, struct MHD_Connection *mhd, void **place)
{
    const int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    const struct client_limits *clients = http->parts.clients;
    struct http_exchange *exchange = adopted(http, fd);

    assert(exchange);
    STAILQ_REMOVE(&http->adopted, exchange, http_exchange, adopted);
    *place = exchange;
    exchange->mhd = mhd;
    deadlines_add(&http->deadlines, &exchange->deadline, fd,
                  clients ? client_limits_watch(http->parts.clients, exchange_peer(exchange),
                                                CLIENT_CONNECTIONS)
                          : NULL,
                  http_now(http));
}

/* libmicrohttpd has closed the connection, and did not start it. */
void exchange_rejected(struct http_exchange *exchange)
{
    struct http *http = exchange->http;

    STAILQ_REMOVE(&http->adopted, exchange, http_exchange, adopted);
    http->parts.closed(http->parts.closed_context, exchange_peer(exchange));
    free(exchange);
}

/*
 * True if the client of EXCHANGE, whose connection is being closed, may still be sending. It is not
 * after an ordinary response that ended the connection, unless bytes are unread. It may be after a
 * refusal, ours or libmicrohttpd's own. If it has left, lingering_close_add notices; likewise
 * if deadlines.c has shut down reading.
 */
static bool may_be_sending(const struct http_exchange *exchange)
{
    const bool just_responded =
        exchange->state == STATE_RESPONDED &&
        (exchange->ended || exchange->deadline.since == http_now(exchange->http));

    return !just_responded || exchange->close || deadline_has_unread(&exchange->deadline);
}

void exchange_on_connection(void *context, struct MHD_Connection *mhd, void **place,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *place;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        on_started(http, mhd, place);
        return;
    }
    if (!may_be_sending(exchange) ||
        !lingering_close_add(&http->lingering, exchange->deadline.fd, exchange_peer(exchange),
                             exchange->peer_length))
        http->parts.closed(http->parts.closed_context, exchange_peer(exchange));
    drop_uri(exchange);
    drop_response(exchange);
    deadlines_remove(&http->deadlines, &exchange->deadline);
    free(exchange);
    *place = NULL;
}

void http_adopt(struct http *http, int fd, const struct sockaddr *peer, socklen_t length)
{
    struct http_exchange *exchange = calloc(1, sizeof *exchange + http->parts.state_size);

    if (!exchange) {
        close(fd);
        http->parts.closed(http->parts.closed_context, peer);
        return;
    }
    exchange->http = http;
    exchange->deadline.fd = fd;
    memcpy(&exchange->peer, peer, length);
    exchange->peer_length = length;
    STAILQ_INSERT_TAIL(&http->adopted, exchange, adopted);
    if (MHD_add_connection(http->daemon, fd, peer, length) == MHD_NO && adopted(http, fd))
        exchange_rejected(exchange);
    http->work_due = true;
}
