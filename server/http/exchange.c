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

static const struct sockaddr *peer_of(const struct http_exchange *exchange)
{
    return (const struct sockaddr *)&exchange->peer;
}

static void drop_response(struct http_exchange *exchange)
{
    if (exchange->own)
        mhd_response_drop(&exchange->response);
    exchange->response.response = NULL;
}

static void free_exchange(struct http_exchange *exchange)
{
    drop_response(exchange);
    deadlines_remove(&exchange->http->deadlines, &exchange->deadline);
    request_head_free(&exchange->request);
    free(exchange->uri);
    free(exchange);
}

static struct http_exchange *new_exchange(struct http *http, int fd, const struct sockaddr *peer,
                                          socklen_t length)
{
    struct http_exchange *exchange = calloc(1, sizeof *exchange + http->parts.state_size);
    struct client_limits *clients = http->parts.clients;

    if (!exchange)
        return NULL;
    exchange->http = http;
    memcpy(&exchange->peer, peer, length);
    exchange->peer_length = length;
    deadlines_add(&http->deadlines, &exchange->deadline, fd,
                  clients ? client_limits_watch(clients, peer, CLIENT_CONNECTIONS) : NULL);
    return exchange;
}

void http_adopt(struct http *http, int fd, const struct sockaddr *peer, socklen_t length)
{
    struct http_exchange *exchange = new_exchange(http, fd, peer, length);

    if (!exchange) {
        close(fd);
        http->parts.closed(http->parts.context, peer);
        return;
    }
    http->adopting = exchange;
    /* Some versions start the connection now, others when they run. */
    if (MHD_add_connection(http->daemon, fd, peer, length) == MHD_YES && http->adopting)
        MHD_run(http->daemon);
    if (http->adopting) { /* libmicrohttpd has closed it */
        http->adopting = NULL;
        free_exchange(exchange);
        http->parts.closed(http->parts.context, peer);
    }
    http->work_due = true;
}

/* The request line is complete. URI is changed afterwards, so it is copied. */
void *exchange_on_uri(void *context, const char *uri, struct MHD_Connection *mhd)
{
    struct http_exchange *exchange =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    (void)context;

    request_head_free(&exchange->request);
    exchange->request = (struct http_request){.peer = peer_of(exchange), .begun = clock_ns(NULL)};
    exchange->state = STATE_NEW;
    exchange->sent = 0;
    free(exchange->uri);
    exchange->uri = strdup(uri);
    deadline_head(&exchange->deadline);
    return exchange;
}

void *http_state(struct http_exchange *exchange)
{
    return exchange->handler_state;
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

void exchange_stop_sending(struct http_exchange *exchange)
{
    if (exchange->held)
        LIST_REMOVE(exchange, sending);
    exchange->held = NULL;
}

static enum MHD_Result queue_response(struct http_exchange *exchange)
{
    struct http *http = exchange->http;

    if (!exchange->response.response)
        return MHD_NO; /* out of memory even for headers: close the connection */
    deadline_enter(&exchange->deadline, DEADLINE_SENDING);
    const enum MHD_Result queued =
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
    deadline_enter(&exchange->deadline, DEADLINE_HANDLED);
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

bool http_closes(const struct http_exchange *exchange)
{
    return exchange->request.refused || exchange->http->deadlines.draining;
}

int http_socket(const struct http_exchange *exchange)
{
    return exchange->deadline.fd;
}

static void resume(struct http_exchange *exchange)
{
    MHD_resume_connection(exchange->mhd);
    exchange->http->work_due = true;
}

/* The response is made, or is NULL if out of memory. */
static void responded(struct http_exchange *exchange, bool own)
{
    assert(exchange->state == STATE_HANDLED || exchange->state == STATE_SUSPENDED);
    exchange->own = own;
    if (exchange->state == STATE_SUSPENDED)
        resume(exchange);
    exchange->state = STATE_RESPONDED;
}

void http_respond(struct http_exchange *exchange, const struct http_response *response)
{
    mhd_response_make(&exchange->response, response, exchange);
    responded(exchange, true);
}

void http_respond_prepared(struct http_exchange *exchange, struct mhd_response *response)
{
    mhd_response_date(response, &exchange->http->date);
    exchange->response = *response;
    responded(exchange, false);
}

void http_wake(struct http_exchange *exchange)
{
    if (exchange->deadline.phase != DEADLINE_WAITING)
        return;
    deadline_resume(&exchange->deadline);
    resume(exchange);
}

static ssize_t read_no_more(void *context, void *out, size_t max)
{
    (void)context, (void)out, (void)max;
    return UV_ECANCELED;
}

void exchange_cut(struct http_exchange *exchange)
{
    if (!exchange->source.read)
        return;
    exchange->source.read = read_no_more;
    http_wake(exchange);
}

void exchange_on_completed(void *context, struct MHD_Connection *mhd, void **exchange_place,
                           enum MHD_RequestTerminationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *exchange_place;
    (void)mhd;

    if (!exchange)
        return;
    const bool complete = code == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    const uint64_t length =
        exchange->request.method == HTTP_HEAD ? 0 : (uint64_t)exchange->response.length;

    if (http->parts.completed && exchange->state == STATE_RESPONDED)
        http->parts.completed(http->parts.handler_context, exchange,
                              complete && length > 0 ? length : exchange->sent);
    const bool endless = exchange->request.old && length == 0;
    exchange->ended = exchange->source.read && (endless || !complete);
    if (exchange->ended) { /* it may never be ready for anything again */
        set_timeout(exchange, ENDED_SECONDS);
        http->work_due = true;
    }
    exchange_stop_sending(exchange);
    deadline_enter(&exchange->deadline, DEADLINE_IDLE);
    *exchange_place = NULL;
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
        (exchange->ended || exchange->deadline.since == deadlines_now(&exchange->http->deadlines));

    return !just_responded || exchange->request.refused || socket_has_unread(exchange->deadline.fd);
}

static void on_closed(struct http *http, struct http_exchange *exchange)
{
    const struct sockaddr *peer = peer_of(exchange);
    const bool lingers =
        may_be_sending(exchange) &&
        lingering_close_add(&http->lingering, exchange->deadline.fd, peer, exchange->peer_length);

    if (!lingers)
        http->parts.closed(http->parts.context, peer);
    free_exchange(exchange);
}

void exchange_on_connection(void *context, struct MHD_Connection *mhd, void **place,
                            enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        *place = http->adopting;
        http->adopting->mhd = mhd;
        http->adopting = NULL;
    } else {
        on_closed(http, *place);
        *place = NULL;
    }
}
