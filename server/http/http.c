#include "http.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/http/exchange.h"
#include "server/http/request_head.h"
#include "server/telemetry/log.h"

enum {
    /* Room for a request's head, 64 bytes for each header, and the response's head or a chunk.
     * libmicrohttpd clears the whole pool for every request. */
    CONNECTION_MEMORY = 16 * 1024,
    /* Read at least so many bytes at a time: each read searches a line from its start again. */
    READ_BYTES = 4 * 1024,
    SWEEP_MS = 200,  /* one round that checks all connections */
    EXPIRE_MS = 250, /* between two rounds while connections are in use */
};

const char *http_library(void)
{
    return MHD_get_version();
}

static void on_timer(uv_timer_t *timer);

/* Most responses left the list as soon as they were queued, because they were sent at once. */
static void check_waiting(struct http *http)
{
    struct http_exchange *exchange;

    while ((exchange = LIST_FIRST(&http->sending))) {
        const struct blob *body = exchange->held;
        exchange_stop_sending(exchange);
        if (!http->parts.waits(http->parts.handler_context, exchange, body))
            socket_reset(exchange->deadline.fd);
    }
}

static void on_idle(uv_idle_t *idle)
{
    (void)idle; /* while active, the loop polls for events without waiting */
}

/*
 * A turn: each connection that is ready gets one step, such as a read. libmicrohttpd's fds are
 * edge-triggered, so work that is left over does not make the epoll fd readable again. The next
 * turn comes after the loop's other events, such as new connections. A timer with timeout 0 would
 * not do: before libuv 1.48, a timer that is started in its own callback runs again, and the loop
 * never polls.
 */
static void run(struct http *http)
{
    unsigned long long timeout;

    exchange_begin_turn(http);
    http->work_due = false;
    MHD_run(http->daemon);
    check_waiting(http);
    http->deadlines.due = 0;
    if (http->parts.active)
        http->parts.active(http->parts.context);
    const bool timed = MHD_get_timeout(http->daemon, &timeout) == MHD_YES;
    http->work_due |= (timed && timeout == 0) || http->turn.queue.lines > 0;
    if (http->work_due)
        uv_idle_start(&http->idle, on_idle);
    else
        uv_idle_stop(&http->idle);
    if (timed && timeout > 0)
        uv_timer_start(&http->timer, on_timer, timeout, 0);
    else
        uv_timer_stop(&http->timer);
}

static void on_timer(uv_timer_t *timer)
{
    struct http *http = timer->data;
    http->work_due = true;
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct http *http = poll->data;
    (void)status;
    (void)events;
    http->work_due = true;
}

static void on_prepare(uv_prepare_t *prepare)
{
    struct http *http = prepare->data;
    if (http->work_due)
        run(http);
    if (http->deadlines.draining && !http->drained && http->deadlines.count == 0) {
        http->drained = true;
        http->parts.drained(http->parts.context);
    }
}

/* Cut off all bodies from sources; or only those that wait for bytes while their client has left,
 * which a suspended connection does not notice. */
static void cut_sources(struct http *http, bool all)
{
    struct deadline *deadline;

    for (deadline = LIST_FIRST(&http->deadlines.list); deadline;
         deadline = LIST_NEXT(deadline, entry))
        if (all || (deadline->phase == DEADLINE_WAITING && socket_has_left(deadline->fd)))
            exchange_cut((struct http_exchange *)deadline);
}

static void on_sweep(uv_timer_t *timer)
{
    struct http *http = timer->data;

    if (!deadlines_expire(&http->deadlines, &http->slow))
        uv_timer_stop(timer);
}

uint64_t http_expire(struct http *http, unsigned *slow)
{
    struct deadlines *deadlines = &http->deadlines;
    const uint64_t now = deadlines_now(deadlines);
    /* The round goes on in small steps, because a system call for each of thousands of connections
     * would delay other work. */
    const unsigned pause = SWEEP_MS / (deadlines->count / DEADLINES_SLICE + 1) + 1;
    bool sweeping = uv_is_active((uv_handle_t *)&http->sweep);

    cut_sources(http, false);
    if (!sweeping && deadlines->due <= now) {
        sweeping = deadlines_expire(deadlines, &http->slow);
        if (sweeping)
            uv_timer_start(&http->sweep, on_sweep, pause, pause);
    }
    *slow = http->slow;
    http->slow = 0;
    if (sweeping || deadlines->due == 0)
        return EXPIRE_MS;
    if (deadlines->due == UINT64_MAX)
        return UINT64_MAX;
    return deadlines->due > now ? deadlines->due - now : 0;
}

void http_limit_idle(struct http *http, unsigned seconds)
{
    http->deadlines.idle_ms = seconds * UINT64_C(1000);
    http->deadlines.due = 0; /* deadlines may be sooner now */
    if (http->parts.active)
        http->parts.active(http->parts.context);
}

unsigned http_make_room(struct http *http)
{
    return deadlines_make_room(&http->deadlines);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *context, const char *format,
                                                         va_list arguments)
{
    struct http *http = context;
    char text[512];
    const uint64_t now = deadlines_now(&http->deadlines);

    if (http->logged && now - http->logged < 1000)
        return; /* clients decide how often it logs */
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

/* request_head_read decodes escapes. */
static size_t keep_escapes(void *context, struct MHD_Connection *mhd, char *text)
{
    (void)context, (void)mhd;
    return strlen(text);
}

static int start_daemon(struct http *http)
{
    const unsigned flags =
        MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;

    MHD_set_panic_func(on_panic, NULL);
    http->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, exchange_on_request, http, MHD_OPTION_EXTERNAL_LOGGER, on_log, http,
        MHD_OPTION_CONNECTION_LIMIT, http->parts.connections, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
        (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_MEMORY_INCREMENT, (size_t)READ_BYTES,
        MHD_OPTION_STRICT_FOR_CLIENT, (int)request_head_strict(), MHD_OPTION_SIGPIPE_HANDLED_BY_APP,
        1, MHD_OPTION_URI_LOG_CALLBACK, exchange_on_uri, http, MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, http, MHD_OPTION_NOTIFY_COMPLETED, exchange_on_completed, http,
        MHD_OPTION_NOTIFY_CONNECTION, exchange_on_connection, http, MHD_OPTION_END);
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
    uv_idle_init(http->parts.loop, &http->idle);
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
    fair_queue_init(&http->turn.queue);
    http->deadlines = (struct deadlines){.loop = parts->loop,
                                         .clock = parts->clock,
                                         .idle_ms = parts->idle * UINT64_C(1000),
                                         .step = parts->step};
    http->lingering = (struct lingering_close){.loop = parts->loop,
                                               .clock = parts->clock,
                                               .closed = parts->closed,
                                               .closed_context = parts->context};
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

void http_drain(struct http *http)
{
    http->deadlines.draining = true;
    lingering_close_all(&http->lingering);
    /* From now on http_expire closes idle connections, after a grace period in which a request that
     * is under way may arrive. */
    http->work_due = true;
}

void http_close(struct http *http)
{
    /* MHD_run sends the responses just made. A request that arrives meanwhile is not handled,
     * because it might be suspended, and MHD_stop_daemon aborts if a connection is suspended. */
    http->closing = true;
    exchange_flush(http);
    cut_sources(http, true);
    lingering_close_all(&http->lingering);
    MHD_run(http->daemon);
    uv_poll_stop(&http->poll); /* before its fd is closed */
    uv_close((uv_handle_t *)&http->poll, NULL);
    uv_close((uv_handle_t *)&http->timer, NULL);
    uv_close((uv_handle_t *)&http->sweep, NULL);
    uv_close((uv_handle_t *)&http->idle, NULL);
    uv_close((uv_handle_t *)&http->prepare, NULL);
    MHD_stop_daemon(http->daemon);
    http->daemon = NULL;
}

void http_free(struct http *http)
{
    free(http);
}
