#include "acceptor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/net/lingering_close.h"
#include "server/net/refusal.h"
#include "server/telemetry/log.h"

enum {
    ROUND = 64,       /* connections from one socket before the next socket's turn */
    BACKOFF_MS = 100, /* after an error such as EMFILE, which would recur at once */
    ROOM_MS = 25,     /* until more room is asked for: clients may reconnect at once */
};

struct acceptor {
    struct acceptor_parts parts;
    unsigned limit;
    unsigned open; /* atomic */
    bool paused;   /* atomic: at the limit, and connections wait */
    bool stopped;
    uint64_t warned_at; /* ms */
    uv_async_t resume;  /* a connection was closed, or the limit raised */
    uv_timer_t backoff, retry;
    struct lingering_close refused;
    uv_poll_t polls[ACCEPTOR_SOCKETS_MAX];
};

unsigned acceptor_open(const struct acceptor *acceptor)
{
    return __atomic_load_n(&acceptor->open, __ATOMIC_SEQ_CST);
}

static bool is_full(const struct acceptor *acceptor)
{
    return acceptor_open(acceptor) >= acceptor->limit;
}

static void watch(struct acceptor *acceptor, bool on);

static void on_backoff(uv_timer_t *timer)
{
    watch(timer->data, true);
}

static void back_off(struct acceptor *acceptor, int err)
{
    const uint64_t now = clock_loop_ms(acceptor->parts.clock, acceptor->parts.loop);

    metrics_add(acceptor->parts.metrics, METRIC_ACCEPT_FAILURES);
    if (now - acceptor->warned_at >= 1000) {
        log_line(LOG_WARNING, "cannot accept connections: %s; retrying", strerror(err));
        acceptor->warned_at = now;
    }
    watch(acceptor, false);
    uv_timer_start(&acceptor->backoff, on_backoff, BACKOFF_MS, 0);
}

static void on_refused_closed(void *context, const struct sockaddr *peer)
{
    (void)context, (void)peer; /* PEER was never counted */
}

static void refuse(struct acceptor *acceptor, int fd, const struct sockaddr *peer, socklen_t length)
{
    refusal_send(fd, REFUSAL_CONNECTIONS);
    lingering_close_add(&acceptor->refused, fd, peer, length);
    close(fd);
}

static void admit(struct acceptor *acceptor, int fd, const struct sockaddr_storage *peer,
                  socklen_t length)
{
    const struct acceptor_parts *parts = &acceptor->parts;
    const struct sockaddr *address = (const struct sockaddr *)peer;

    metrics_add(parts->metrics, METRIC_CONNECTIONS);
    if (!client_limits_enter(parts->clients, address, CLIENT_CONNECTIONS,
                             parts->limit_for(parts->context, address))) {
        metrics_add(parts->metrics, METRIC_CLOSED_LIMIT);
        refuse(acceptor, fd, address, length);
        return;
    }
    __atomic_fetch_add(&acceptor->open, 1, __ATOMIC_SEQ_CST);
    parts->hand_off(parts->context, fd, address, length);
}

/* Errors that concern the new connection, not the listening socket; see accept(2). */
static bool is_peer_error(int err)
{
    return err == ECONNABORTED || err == EINTR || err == EPROTO || err == ENETDOWN ||
           err == ENOPROTOOPT || err == EHOSTDOWN || err == ENONET || err == EHOSTUNREACH ||
           err == EOPNOTSUPP || err == ENETUNREACH || err == EPERM;
}

/* Returns true if more connections may be waiting. */
static bool accept_one(struct acceptor *acceptor, int socket)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof peer;
    int fd = accept4(socket, (struct sockaddr *)&peer, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd >= 0) {
        admit(acceptor, fd, &peer, length);
    } else if (errno == EAGAIN) {
        return false;
    } else if (!is_peer_error(errno)) {
        back_off(acceptor, errno);
        return false;
    }
    return true;
}

static void on_retry(uv_timer_t *timer)
{
    watch(timer->data, true);
}

/* Connections wait, and all are in use. */
static void wait_for_room(struct acceptor *acceptor)
{
    watch(acceptor, false);
    __atomic_store_n(&acceptor->paused, true, __ATOMIC_SEQ_CST);
    if (!is_full(acceptor)) { /* a connection closed before PAUSED was set */
        uv_async_send(&acceptor->resume);
        return;
    }
    if (uv_is_active((uv_handle_t *)&acceptor->retry))
        return;
    acceptor->parts.make_room(acceptor->parts.context);
    uv_timer_start(&acceptor->retry, on_retry, ROOM_MS, 0);
}

static void on_connections(uv_poll_t *poll, int status, int events)
{
    struct acceptor *acceptor = poll->data;
    (void)events;

    if (status < 0) {
        back_off(acceptor, -status);
        return;
    }
    if (is_full(acceptor)) {
        wait_for_room(acceptor);
        return;
    }
    for (int i = 0; i < ROUND && !is_full(acceptor); i++)
        if (!accept_one(acceptor, acceptor->parts.sockets[poll - acceptor->polls]))
            break;
}

static void watch(struct acceptor *acceptor, bool on)
{
    if (acceptor->stopped)
        return;
    for (int i = 0; i < acceptor->parts.count; i++)
        if (on)
            uv_poll_start(&acceptor->polls[i], UV_READABLE, on_connections);
        else
            uv_poll_stop(&acceptor->polls[i]);
}

static void on_resume(uv_async_t *resume)
{
    struct acceptor *acceptor = resume->data;
    if (is_full(acceptor) || !__atomic_exchange_n(&acceptor->paused, false, __ATOMIC_SEQ_CST))
        return;
    if (!uv_is_active((uv_handle_t *)&acceptor->backoff))
        watch(acceptor, true);
}

void acceptor_closed(struct acceptor *acceptor, const struct sockaddr *peer)
{
    client_limits_leave(acceptor->parts.clients, peer, CLIENT_CONNECTIONS);
    __atomic_fetch_sub(&acceptor->open, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&acceptor->paused, __ATOMIC_SEQ_CST))
        uv_async_send(&acceptor->resume);
}

void acceptor_limit(struct acceptor *acceptor, unsigned connections)
{
    acceptor->limit = connections;
    uv_async_send(&acceptor->resume);
}

int acceptor_new(struct acceptor **out, const struct acceptor_parts *parts, unsigned connections)
{
    struct acceptor *acceptor = calloc(1, sizeof *acceptor);
    if (!acceptor)
        return -ENOMEM;
    acceptor->parts = *parts;
    acceptor->limit = connections;
    int err = uv_async_init(parts->loop, &acceptor->resume, on_resume);
    if (err) {
        free(acceptor);
        return err;
    }
    uv_timer_init(parts->loop, &acceptor->backoff);
    uv_timer_init(parts->loop, &acceptor->retry);
    acceptor->resume.data = acceptor->backoff.data = acceptor->retry.data = acceptor;
    acceptor->refused = (struct lingering_close){
        .loop = parts->loop, .clock = parts->clock, .closed = on_refused_closed};
    for (int i = 0; i < parts->count; i++) {
        uv_poll_init(parts->loop, &acceptor->polls[i], parts->sockets[i]);
        acceptor->polls[i].data = acceptor;
    }
    watch(acceptor, true);
    *out = acceptor;
    return 0;
}

void acceptor_stop(struct acceptor *acceptor, bool accept_backlog)
{
    if (acceptor->stopped)
        return;
    watch(acceptor, false);
    acceptor->stopped = true;
    uv_timer_stop(&acceptor->backoff);
    uv_timer_stop(&acceptor->retry);
    for (int i = 0; i < acceptor->parts.count; i++) {
        /* Closing the socket would reset connections in the backlog. */
        for (int n = 0; accept_backlog && n < ACCEPTOR_BACKLOG_MAX; n++)
            if (!accept_one(acceptor, acceptor->parts.sockets[i]))
                break;
        uv_close((uv_handle_t *)&acceptor->polls[i], NULL);
        close(acceptor->parts.sockets[i]);
    }
    uv_timer_stop(&acceptor->backoff); /* accept_one may have started it */
    lingering_close_all(&acceptor->refused);
}

void acceptor_close(struct acceptor *acceptor)
{
    uv_close((uv_handle_t *)&acceptor->resume, NULL);
    uv_close((uv_handle_t *)&acceptor->backoff, NULL);
    uv_close((uv_handle_t *)&acceptor->retry, NULL);
}

void acceptor_free(struct acceptor *acceptor)
{
    free(acceptor);
}
