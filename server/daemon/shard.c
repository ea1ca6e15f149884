#include "server.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/core/clock.h"
#include "server/http/http.h"

enum {
    TICK_MS = 250, /* for deadlines, while connections are in use */
    BLOCKED_MS = 1000,
    QUIET_MS = 1000, /* mean time between wake-ups for idle connections, over all shards */
    CONNECTIONS_MAX = 1 << 24, /* no limit here: the acceptor has one */
};

static struct shard *shard_of(struct message *message, size_t offset)
{
    return (struct shard *)((char *)message - offset);
}

static void on_tick(uv_timer_t *timer);

static void tick_in(struct shard *shard, uint64_t ms)
{
    shard->due = clock_loop_ms(NULL, &shard->loop) + ms;
    shard->busy = ms <= TICK_MS;
    uv_timer_start(&shard->tick, on_tick, ms, 0);
}

static void on_tick(uv_timer_t *timer)
{
    struct shard *shard = timer->data;
    unsigned slow;

    shard->busy = false;
    if (clock_ms(NULL) > shard->due + BLOCKED_MS)
        metrics_add(&shard->metrics, METRIC_LOOP_BLOCKED);
    const uint64_t ms = http_expire(shard->http, &slow);
    for (; slow > 0; slow--)
        metrics_add(&shard->metrics, METRIC_CLOSED_DEADLINE);
    service_expire(shard->service);
    if (ms != UINT64_MAX)
        tick_in(shard, ms);
}

static void on_active(void *context)
{
    struct shard *shard = context;

    if (!shard->busy)
        tick_in(shard, TICK_MS);
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    struct shard *shard = context;
    __atomic_fetch_sub(&shard->connections, 1, __ATOMIC_RELAXED);
    acceptor_closed(shard->server->acceptor, peer);
}

static void on_drained(void *context)
{
    const struct shard *shard = context;
    shutdown_shard_drained(shard->server);
}

static void deliver_drain(struct message *message)
{
    struct shard *shard = shard_of(message, offsetof(struct shard, drain));
    http_drain(shard->http);
    service_drain(shard->service);
}

/* Wait, because libmicrohttpd must not be stopped while a response is pending. */
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

/* A connection on its way to its shard. */
struct arrival {
    struct message message; /* first, for casts from the message */
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
    http_limit_idle(shard->http, snapshot->config->limits.idle);
    snapshot_release(snapshot);
}

static void deliver_make_room(struct message *message)
{
    struct shard *shard = shard_of(message, offsetof(struct shard, room));

    __atomic_store_n(&shard->room_wanted, false, __ATOMIC_RELEASE);
    for (unsigned closed = http_make_room(shard->http); closed > 0; closed--)
        metrics_add(&shard->metrics, METRIC_CLOSED_FULL);
}

static void deliver_probe(struct message *message)
{
    struct shard *shard = shard_of(message, offsetof(struct shard, probe));
    __atomic_store_n(&shard->probed, false, __ATOMIC_RELEASE);
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

void shard_use(struct shard *shard, struct snapshot *snapshot)
{
    struct snapshot *last =
        __atomic_exchange_n(&shard->next_snapshot, snapshot_hold(snapshot), __ATOMIC_ACQ_REL);
    if (!last)
        mailbox_post(shard->mailbox, &shard->change);
    snapshot_release(last); /* the message is still queued, and will deliver the new snapshot */
}

void shard_make_room(struct shard *shard)
{
    if (!__atomic_exchange_n(&shard->room_wanted, true, __ATOMIC_ACQUIRE))
        mailbox_post(shard->mailbox, &shard->room);
}

bool shard_probe(struct shard *shard)
{
    if (__atomic_exchange_n(&shard->probed, true, __ATOMIC_ACQUIRE))
        return false;
    mailbox_post(shard->mailbox, &shard->probe);
    return true;
}

void shard_drain(struct shard *shard)
{
    mailbox_post(shard->mailbox, &shard->drain);
}

void shard_stop(struct shard *shard)
{
    mailbox_post(shard->mailbox, &shard->stop);
}

static int make_parts(struct shard *shard)
{
    struct server *server = shard->server;
    int err = mailbox_new(&shard->mailbox, &shard->loop);
    if (err)
        return err;
    const struct service_parts service = {
        .loop = &shard->loop,
        .mailbox = shard->mailbox,
        .fetcher = &server->pipeline->fetcher,
        .clients = server->clients,
        .recent_worlds = server->recent_worlds,
        .sinks = {.metrics = &shard->metrics,
                  .access_log = server->access_log,
                  .ring = server->shard_count},
        .services = server_shards(server->snapshot->config),
        .streams = &server->streams,
        .scrape = server_scrape,
        .readiness = server_readiness,
        .reload_error = reload_last_error,
        .context = server,
    };
    err = service_new(&shard->service, &service, server->snapshot);
    if (err)
        return err;
    const struct http_parts http = {
        .loop = &shard->loop,
        .connections = CONNECTIONS_MAX,
        .clients = server->clients,
        .state_size = sizeof(struct request_context),
        .handler = service_handle,
        .completed = service_completed,
        .waits = service_waits,
        .handler_context = shard->service,
        .closed = on_closed,
        .active = on_active,
        .drained = on_drained,
        .context = shard,
        .idle = server->snapshot->config->limits.idle,
        .step = QUIET_MS * server_shards(server->snapshot->config),
    };
    return http_new(&shard->http, &http);
}

int shard_new(struct server *server)
{
    struct shard *shard = aligned_alloc(_Alignof(struct shard), sizeof *shard);
    if (!shard)
        return -ENOMEM;
    memset(shard, 0, sizeof *shard);
    shard->server = server;
    int err = uv_loop_init(&shard->loop);
    if (!err)
        err = make_parts(shard);
    if (err)
        return err;
    uv_timer_init(&shard->loop, &shard->tick);
    uv_timer_init(&shard->loop, &shard->stop_timer);
    shard->tick.data = shard->stop_timer.data = shard;
    shard->change.deliver = deliver_change;
    shard->room.deliver = deliver_make_room;
    shard->drain.deliver = deliver_drain;
    shard->stop.deliver = deliver_stop;
    shard->probe.deliver = deliver_probe;
    err = uv_thread_create(&shard->thread, run, shard);
    if (!err)
        server->shards[server->shard_count++] = shard;
    return err;
}

void shard_free(struct shard *shard)
{
    http_free(shard->http);
    service_free(shard->service);
    mailbox_free(shard->mailbox);
    uv_loop_close(&shard->loop);
    free(shard);
}
