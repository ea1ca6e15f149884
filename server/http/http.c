#include "http.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/http/mhd_response.h"
#include "server/http/request_head.h"
#include "server/net/deadlines.h"
#include "server/net/lingering_close.h"
#include "server/telemetry/log.h"

enum {
    /* For the head of a request, 64 bytes for each of its headers, and the head of the response or
     * a chunk of its body. libmicrohttpd clears all of it for every request. */
    CONNECTION_MEMORY = 16 * 1024,
    /* At least so many at a time: after each read, a line is searched from its start again. */
    READ_BYTES = 4 * 1024,
    SHORT_URI = 256, /* bytes: longer ones are allocated */
    SUSPENDED_SECONDS = DEADLINE_IDLE_SECONDS + 1,
    ENDED_SECONDS = 1, /* until libmicrohttpd closes a connection that is at its end */
    SWEEP_MS = 200,    /* a round of checks of all connections, before the next one begins */
    EXPIRE_MS = 250,   /* between two rounds while connections are in use */
    /* Smaller bodies, as of errors, count as a part of the connection. */
    HELD_MIN = 16 * 1024,
};

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
    char *uri; /* of the request: SHORT_URI, or allocated; NULL: none */
    char short_uri[SHORT_URI];
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

const char *http_library(void)
{
    return MHD_get_version();
}

static void on_timer(uv_timer_t *timer);

static const struct sockaddr *peer_of(const struct http_exchange *exchange)
{
    return (const struct sockaddr *)&exchange->peer;
}

static void stop_sending(struct http_exchange *exchange)
{
    if (!exchange->sending.le_prev)
        return;
    LIST_REMOVE(exchange, sending);
    exchange->sending.le_prev = NULL;
}

/* Most responses were sent as they were queued, and are not in the list any more. */
static void check_waiting(struct http *http)
{
    struct http_exchange *exchange;

    while ((exchange = LIST_FIRST(&http->sending))) {
        stop_sending(exchange);
        if (!http->parts.waits(http->parts.handler_context, exchange, exchange->held))
            deadline_reset(&exchange->deadline);
    }
}

static void on_rejected(struct http *http, struct http_exchange *exchange);

static void run_daemon(struct http *http)
{
    struct http_exchange *exchange;

    MHD_run(http->daemon);
    while ((exchange = STAILQ_FIRST(&http->adopted)))
        on_rejected(http, exchange);
}

static void run(struct http *http)
{
    unsigned long long timeout;

    http->work_due = false;
    run_daemon(http);
    check_waiting(http);
    http->active = true;
    if (http->parts.active)
        http->parts.active(http->parts.active_context);
    /* Honour a timeout of 0: libmicrohttpd's fds are edge-triggered, so work that it left over
     * does not make the epoll fd readable again. */
    if (MHD_get_timeout(http->daemon, &timeout) == MHD_YES)
        uv_timer_start(&http->timer, on_timer, timeout, 0);
    else
        uv_timer_stop(&http->timer);
}

static void on_timer(uv_timer_t *timer)
{
    run(timer->data);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    run(poll->data);
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct http *http = prepare->data;
    if (http->work_due)
        run(http);
    if (http->drained && http->deadlines.count == 0) {
        void (*drained)(void *) = http->drained;
        http->drained = NULL;
        drained(http->drained_context);
    }
}

static uint64_t now_ms(const struct http *http)
{
    return clock_loop_ms(http->parts.clock, http->parts.loop);
}

static void enter(struct http_exchange *exchange, enum deadline_phase phase)
{
    deadline_enter(&exchange->deadline, phase, now_ms(exchange->http));
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
static void *on_uri(void *context, const char *uri, struct MHD_Connection *mhd)
{
    struct http_exchange *exchange =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    const size_t length = strlen(uri);
    (void)context;

    exchange->request = (struct http_request){.peer = peer_of(exchange), .begun = clock_ns(NULL)};
    exchange->state = STATE_NEW;
    exchange->sent = 0;
    exchange->uri = length < SHORT_URI ? exchange->short_uri : malloc(length + 1);
    if (exchange->uri)
        memcpy(exchange->uri, uri, length + 1);
    deadline_head(&exchange->deadline, now_ms(exchange->http));
    return exchange;
}

/* Escapes are decoded by request_head_read. */
static size_t keep_escapes(void *context, struct MHD_Connection *mhd, char *text)
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

static enum MHD_Result on_request(void *context, struct MHD_Connection *mhd, const char *url,
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

static void on_completed(void *context, struct MHD_Connection *mhd, void **exchange_place,
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
    stop_sending(exchange);
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
    deadlines_add(
        &http->deadlines, &exchange->deadline, fd,
        clients ? client_limits_watch(http->parts.clients, peer_of(exchange), CLIENT_CONNECTIONS)
                : NULL,
        now_ms(http));
}

/* libmicrohttpd has closed the connection, and did not start it. */
static void on_rejected(struct http *http, struct http_exchange *exchange)
{
    STAILQ_REMOVE(&http->adopted, exchange, http_exchange, adopted);
    http->parts.closed(http->parts.closed_context, peer_of(exchange));
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
        (exchange->ended || exchange->deadline.since == now_ms(exchange->http));

    return !just_responded || exchange->close || deadline_has_unread(&exchange->deadline);
}

static void on_connection(void *context, struct MHD_Connection *mhd, void **place,
                          enum MHD_ConnectionNotificationCode code)
{
    struct http *http = context;
    struct http_exchange *exchange = *place;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        on_started(http, mhd, place);
        return;
    }
    if (!may_be_sending(exchange) || !lingering_close_add(&http->lingering, exchange->deadline.fd,
                                                          peer_of(exchange), exchange->peer_length))
        http->parts.closed(http->parts.closed_context, peer_of(exchange));
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
        on_rejected(http, exchange);
    http->work_due = true;
}

/* Cut off all streamed bodies, or only those that wait for bytes and whose client has left: a
 * suspended connection does not notice that. */
static void cut_bodies(struct http *http, bool all)
{
    for (struct deadline *deadline = LIST_FIRST(&http->deadlines.list); deadline;
         deadline = LIST_NEXT(deadline, entry)) {
        struct streamed_body *body = ((struct http_exchange *)deadline)->body;
        if (body && (all || (deadline->phase == DEADLINE_WAITING && deadline_has_left(deadline))) &&
            streamed_body_cut(body))
            http->work_due = true;
    }
}

static bool sweep(struct http *http)
{
    return deadlines_expire(&http->deadlines, now_ms(http), http->draining, &http->slow);
}

static void on_sweep(uv_timer_t *timer)
{
    if (!sweep(timer->data))
        uv_timer_stop(timer);
}

unsigned http_expire(struct http *http)
{
    /* The round goes on in small steps: a system call for each of thousands of connections would
     * delay other work. */
    const unsigned pause = SWEEP_MS / (http->deadlines.count / DEADLINES_SLICE + 1);

    const bool due = http->active || http->deadlines.due <= now_ms(http);

    cut_bodies(http, false);
    if (due && !uv_is_active((uv_handle_t *)&http->sweep)) {
        http->active = false;
        if (sweep(http))
            uv_timer_start(&http->sweep, on_sweep, pause + 1, pause + 1);
    }
    const unsigned slow = http->slow;
    http->slow = 0;
    return slow;
}

uint64_t http_expire_again(const struct http *http)
{
    const uint64_t due = http->deadlines.due, now = now_ms(http);

    if (http->active || due == 0 || uv_is_active((const uv_handle_t *)&http->sweep))
        return EXPIRE_MS;
    if (due == UINT64_MAX)
        return due;
    return due > now ? due - now : 0;
}

unsigned http_make_room(struct http *http)
{
    return deadlines_make_room(&http->deadlines, now_ms(http));
}

__attribute__((format(printf, 2, 0))) static void on_log(void *context, const char *format,
                                                         va_list arguments)
{
    struct http *http = context;
    char text[512];
    const uint64_t now = now_ms(http);

    if (http->logged && now - http->logged < 1000)
        return; /* it logs what clients do, as often as they do */
    http->logged = now;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    log_line(LOG_DEBUG, "libmicrohttpd: %s", text);
}

static void on_panic(void *context, const char *file, unsigned line, const char *reason)
{
    (void)context;
    log_line(LOG_ERROR, "libmicrohttpd gave up: %s (%s:%u)", reason ? reason : "", file, line);
    abort();
}

static int start_daemon(struct http *http)
{
    const unsigned flags =
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    MHD_set_panic_func(on_panic, NULL);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
        MHD_OPTION_CONNECTION_LIMIT, http->parts.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)READ_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, (int)request_head_strict(), MHD_OPTION_SIGPIPE_HANDLED_BY_APP,
        1, MHD_OPTION_URI_LOG_CALLBACK, on_uri, http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes,
        http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http, MHD_OPTION_NOTIFY_CONNECTION,
        on_connection, http, MHD_OPTION_END);
    return http->daemon ? 0 : -ENOMEM;
}

/* Of the loop's handles, only the poll can fail. */
static int start_loop(struct http *http)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (!info)
        return -EINVAL;
    int err = uv_poll_init(http->parts.loop, &http->poll, info->epoll_fd);
    if (err)
        return err;
    uv_timer_init(http->parts.loop, &http->timer);
    uv_timer_init(http->parts.loop, &http->sweep);
    uv_prepare_init(http->parts.loop, &http->prepare);
    http->poll.data = http->timer.data = http->sweep.data = http->prepare.data = http;
    uv_poll_start(&http->poll, UV_READABLE, on_poll);
    uv_prepare_start(&http->prepare, on_prepare);
    return 0;
}

int http_new(struct http **out, const struct http_parts *parts)
{
    struct http *http = calloc(1, sizeof *http);
    if (!http)
        return -ENOMEM;
    http->parts = *parts;
    STAILQ_INIT(&http->adopted);
    http->deadlines.step = parts->step;
    http->lingering = (struct lingering_close){.loop = parts->loop,
                                               .clock = parts->clock,
                                               .closed = parts->closed,
                                               .closed_context = parts->closed_context};
    int err = start_daemon(http);
    if (err)
        goto fail_daemon;
    err = start_loop(http);
    if (err)
        goto fail_loop;
    *out = http;
    return 0;

fail_loop:
    MHD_stop_daemon(http->daemon);
fail_daemon:
    free(http);
    return err;
}

void http_drain(struct http *http, void (*drained)(void *context), void *context)
{
    http->draining = true;
    http->drained = drained;
    http->drained_context = context;
    lingering_close_all(&http->lingering);
    /* From now on http_expire closes idle connections, after a grace period in which a request
     * on its way may arrive. */
    http->work_due = true;
}

void http_close(struct http *http)
{
    /* MHD_run sends the responses just made. A request that it reads meanwhile is not handled: it
     * could only be suspended, and MHD_stop_daemon aborts if a connection is. */
    http->closing = true;
    cut_bodies(http, true);
    lingering_close_all(&http->lingering);
    run_daemon(http);
    uv_poll_stop(&http->poll); /* before its fd is closed */
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    uv_close((uv_handle_t *)&http->sweep, NULL);
    uv_close((uv_handle_t *)&http->prepare, NULL);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

void http_free(struct http *http)
{
    free(http);
}
