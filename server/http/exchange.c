#include "exchange.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/http/mhd_response.h"
#include "server/http/request_head.h"

enum {
    SUSPENDED_SECONDS = 61, /* any limit: without one a half-closed client gets no response */
    ENDED_SECONDS = 1,      /* until libmicrohttpd closes a connection that has ended */
    /* Smaller bodies, such as errors, count as a part of the connection. */
    HELD_MIN = 16 * 1024,
    /* A turn with so many requests takes one or two ms, which is as long as others wait. */
    TURN_REQUESTS = 32,
    MODEST_REQUESTS = 4, /* per client in a turn */
    FAIR_MS = 1000,
};

static const struct sockaddr *peer_of(const struct http_exchange *exchange)
{
    return (const struct sockaddr *)&exchange->peer;
}

static struct turn_set *set_of(struct http_exchange *exchange)
{
    return &exchange->http->turn.set[exchange->job.client % CLIENT_SETS];
}

static void drop_response(struct http_exchange *exchange)
{
    if (exchange->own)
        mhd_response_drop(&exchange->response);
    exchange->response.response = NULL;
}

static void free_exchange(struct http_exchange *exchange)
{
    assert(exchange->state != STATE_QUEUED);
    if (--set_of(exchange)->connections == 0)
        exchange->http->turn.sets--;
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
    exchange->job.client = clients ? client_limits_hash(clients, peer) : 0;
    if (set_of(exchange)->connections++ == 0)
        http->turn.sets++;
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
    /* Some versions start the connection now, others in their next run. */
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
 * Connections have no timeout, because deadlines_expire times them: that saves reading a clock for
 * each request. A suspended connection has a timeout, because libmicrohttpd looks at such
 * connections first. Without a timeout it would read from a resumed connection before it asks for
 * the response, and close the connection if the client has shut down sending. check_http.c and
 * tests/http/04-protocol check each version.
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

static void resume(struct http_exchange *exchange)
{
    MHD_resume_connection(exchange->mhd);
    exchange->http->work_due = true;
}

/* Count a request in this turn. Returns how many the client has had before. */
static unsigned count_request(struct http_exchange *exchange)
{
    struct turn *turn = &exchange->http->turn;
    struct turn_set *set = set_of(exchange);

    if (set->number != turn->number) {
        set->number = turn->number;
        set->requests = 0;
    }
    const unsigned before = set->requests++;
    turn->modest += before == 0;
    turn->modest -= before == MODEST_REQUESTS;
    turn->left -= turn->left > 0;
    return before;
}

/*
 * Handle the request; or suspend it until a later turn, if this turn is full and the client has had
 * more than a few. A client may have a thousand connections, and libmicrohttpd gives a step to each
 * that is ready: others would wait for all. A suspension takes two system calls, so no request
 * waits unless other clients have a few requests in full turns.
 */
static enum MHD_Result take_turn(struct http_exchange *exchange)
{
    struct http *http = exchange->http;
    const bool full = http->turn.left == 0;

    if (count_request(exchange) < MODEST_REQUESTS || !full || !http->turn.fair || http->closing)
        return handle(exchange);
    exchange->state = STATE_QUEUED;
    deadline_enter(&exchange->deadline, DEADLINE_HANDLED);
    fair_queue_push(&http->turn.queue, &exchange->job);
    set_timeout(exchange, SUSPENDED_SECONDS);
    MHD_suspend_connection(exchange->mhd);
    return MHD_YES;
}

static struct http_exchange *resume_next(struct http *http)
{
    struct job *job = fair_queue_pop(&http->turn.queue);

    if (!job)
        return NULL;
    struct http_exchange *exchange =
        (struct http_exchange *)((char *)job - offsetof(struct http_exchange, job));
    exchange->state = STATE_TURN;
    resume(exchange);
    return exchange;
}

void exchange_begin_turn(struct http *http)
{
    struct turn *turn = &http->turn;
    struct http_exchange *exchange;
    const uint64_t now = deadlines_now(&http->deadlines);

    if (turn->modest > 0 && turn->left == 0 && turn->sets > 1 && turn->number > 0) {
        turn->fair = true;
        turn->fair_at = now;
    } else if (turn->fair && now - turn->fair_at >= FAIR_MS) {
        turn->fair = false;
    }
    turn->number++;
    turn->modest = 0;
    turn->left = TURN_REQUESTS;
    while (turn->left > 0 && (exchange = resume_next(http)))
        count_request(exchange);
}

void exchange_flush(struct http *http)
{
    while (resume_next(http))
        ;
}

/* Judge the head. libmicrohttpd closes the connection if this first call has a response, so only a
 * refused request gets one here. */
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
        return take_turn(exchange);
    case STATE_TURN:
        set_timeout(exchange, 0);
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
    if (exchange->ended) { /* the connection may never be ready again */
        set_timeout(exchange, ENDED_SECONDS);
        http->work_due = true;
    }
    exchange_stop_sending(exchange);
    deadline_enter(&exchange->deadline, DEADLINE_IDLE);
    *exchange_place = NULL;
}

/*
 * True if the client may still be sending while EXCHANGE's connection is closed: after a refusal,
 * ours or libmicrohttpd's own, or if bytes are unread. After any other last response no client
 * sends. lingering_close_add notices if the client has left, or if deadlines.c has shut down
 * reading.
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
