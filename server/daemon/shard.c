#include "shard.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/http/http.h"

enum {
    TICK_MS = 250, /* for deadlines */
    BLOCKED_MS = 1000,
    CONNECTIONS_MAX = 1 << 24, /* not limited: the acceptor does that */
};

struct shard {
    struct shard_parts parts;
    struct metrics metrics;
    uv_loop_t loop;
    uv_thread_t thread;
    uv_timer_t tick;
    uv_timer_t stop_timer;
    uint64_t ticked_at; /* ms; atomic */
    struct mailbox *mailbox;
    struct service *service;
    struct http *http;
    unsigned connections;           /* atomic */
    struct snapshot *next_snapshot; /* atomic: to be used, or NULL */
    struct message change, drain, stop;
};

static struct shard *shard_of(struct message *message, size_t offset)
{
    return (struct shard *)((char *)message - offset);
}

static void on_tick(uv_timer_t *timer)
{
    struct shard *shard = timer->data;
    const uint64_t now = uv_hrtime() / 1000000;

    if (now - shard->ticked_at > TICK_MS + BLOCKED_MS)
        metrics_add(&shard->metrics, METRIC_LOOP_BLOCKED);
    __atomic_store_n(&shard->ticked_at, now, __ATOMIC_RELAXED);
    for (unsigned slow = http_expire(shard->http); slow > 0; slow--)
        metrics_add(&shard->metrics, METRIC_CLOSED_DEADLINE);
    service_expire(shard->service);
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    struct shard *shard = context;
    __atomic_fetch_sub(&shard->connections, 1, __ATOMIC_RELAXED);
    shard->parts.closed(shard->parts.context, peer);
}

static void on_drained(void *context)
{
    struct shard *shard = context;
    shard->parts.drained(shard->parts.context);
}

static void deliver_drain(struct message *message)
{
    struct shard *shard = shard_of(message, offsetof(struct shard, drain));
    http_drain(shard->http, on_drained, shard);
}

/* libmicrohttpd must not be stopped while a response is pending. */
static void try_to_stop(uv_timer_t *timer)
{
    struct shard *shard = timer->data;
    if (!service_cancel(shard->service)) {
        uv_timer_start(timer, try_to_stop, 1, 0); /* a result is still in the mailbox */
        return;
    }
    http_close(shard->http);
    uv_close((uv_handle_t *)&shard->tick, NULL);
    uv_close((uv_handle_t *)&shard->stop_timer, NULL);
    mailbox_close(shard->mailbox);
}

static void deliver_stop(struct message *message)
{
    try_to_stop(&shard_of(message, offsetof(struct shard, stop))->stop_timer);
}

/* A connection that is handed over to its shard. */
struct arrival {
    struct message message; /* first, so that it can be cast */
    struct shard *shard;
    int fd;
    socklen_t length;
    struct sockaddr_storage peer;
};

static void deliver_arrival(struct message *message)
{
    struct arrival *arrival = (struct arrival *)message;
    http_adopt(arrival->shard->http, arrival->fd, (const struct sockaddr *)&arrival->peer,
               arrival->length);
    free(arrival);
}

static void deliver_change(struct message *message)
{
    struct shard *shard = shard_of(message, offsetof(struct shard, change));
    struct snapshot *snapshot = __atomic_exchange_n(&shard->next_snapshot, NULL, __ATOMIC_ACQ_REL);
    service_use(shard->service, snapshot);
    snapshot_release(snapshot);
}

static void run(void *context)
{
    struct shard *shard = context;
    uv_run(&shard->loop, UV_RUN_DEFAULT);
}

void shard_adopt(struct shard *shard, int fd, const struct sockaddr *peer, socklen_t length)
{
    struct arrival *arrival = malloc(sizeof *arrival);

    __atomic_fetch_add(&shard->connections, 1, __ATOMIC_RELAXED);
    if (!arrival) {
        close(fd);
        on_closed(shard, peer);
        return;
    }
    arrival->message.deliver = deliver_arrival;
    arrival->shard = shard;
    arrival->fd = fd;
    arrival->length = length;
    memcpy(&arrival->peer, peer, length);
    mailbox_post(shard->mailbox, &arrival->message);
}

unsigned shard_connections(const struct shard *shard)
{
    return __atomic_load_n(&shard->connections, __ATOMIC_RELAXED);
}

uint64_t shard_ticked_at(const struct shard *shard)
{
    return __atomic_load_n(&shard->ticked_at, __ATOMIC_RELAXED);
}

const struct metrics *shard_metrics(const struct shard *shard)
{
    return &shard->metrics;
}

void shard_use(struct shard *shard, struct snapshot *snapshot)
{
    struct snapshot *last =
        __atomic_exchange_n(&shard->next_snapshot, snapshot_hold(snapshot), __ATOMIC_ACQ_REL);
    if (!last)
        mailbox_post(shard->mailbox, &shard->change);
    snapshot_release(last); /* its message is still queued, and will deliver the new one */
}

void shard_drain(struct shard *shard)
{
    mailbox_post(shard->mailbox, &shard->drain);
}

void shard_stop(struct shard *shard)
{
    mailbox_post(shard->mailbox, &shard->stop);
}

static int make_parts(struct shard *shard, struct snapshot *snapshot)
{
    struct service_parts service = shard->parts.service;
    int err = mailbox_new(&shard->mailbox, &shard->loop);
    if (err)
        return err;
    service.mailbox = shard->mailbox;
    service.sinks.metrics = &shard->metrics;
    err = service_new(&shard->service, &service, snapshot);
    if (err)
        return err;
    const struct http_parts http = {
        .loop = &shard->loop,
        .connections = CONNECTIONS_MAX,
        .state_size = sizeof(struct request_context),
        .handler = service_handle,
        .completed = service_completed,
        .handler_context = shard->service,
        .closed = on_closed,
        .closed_context = shard,
    };
    return http_new(&shard->http, &http);
}

static void free_parts(struct shard *shard)
{
    http_free(shard->http);
    service_free(shard->service);
    mailbox_free(shard->mailbox);
    uv_loop_close(&shard->loop);
    free(shard);
}

/* Free a shard whose thread was not started. */
static void discard(struct shard *shard)
{
    uv_close((uv_handle_t *)&shard->tick, NULL);
    uv_close((uv_handle_t *)&shard->stop_timer, NULL);
    if (shard->http)
        http_close(shard->http);
    if (shard->mailbox)
        mailbox_close(shard->mailbox);
    run(shard);
    free_parts(shard);
}

int shard_new(struct shard **out, const struct shard_parts *parts, struct snapshot *snapshot)
{
    struct shard *shard = aligned_alloc(_Alignof(struct shard), sizeof *shard);
    if (!shard)
        return -ENOMEM;
    memset(shard, 0, sizeof *shard);
    shard->parts = *parts;
    int err = uv_loop_init(&shard->loop);
    if (err) {
        free(shard);
        return err;
    }
    uv_timer_init(&shard->loop, &shard->tick);
    uv_timer_init(&shard->loop, &shard->stop_timer);
    shard->tick.data = shard->stop_timer.data = shard;
    shard->change.deliver = deliver_change;
    shard->drain.deliver = deliver_drain;
    shard->stop.deliver = deliver_stop;
    err = make_parts(shard, snapshot);
    if (err) {
        discard(shard);
        return err;
    }
    shard->ticked_at = uv_hrtime() / 1000000;
    uv_timer_start(&shard->tick, on_tick, TICK_MS, TICK_MS);
    err = uv_thread_create(&shard->thread, run, shard);
    if (err) {
        discard(shard);
        return err;
    }
    *out = shard;
    return 0;
}

void shard_join(struct shard *shard)
{
    uv_thread_join(&shard->thread);
}

void shard_free(struct shard *shard)
{
    if (shard)
        free_parts(shard);
}
