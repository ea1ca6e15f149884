#include "server.h"

#include <signal.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "server/telemetry/log.h"

void shutdown_block_signals(bool block)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(block ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
}

static void close_handle(uv_handle_t *handle, void *context)
{
    (void)context;
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void shutdown_now(struct server *server)
{
    if (server->stopped)
        return;
    server->stopped = true;
    if (server->acceptor)
        acceptor_stop(server->acceptor, false);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_stop(server->shards[i]);
    for (unsigned i = 0; i < server->shard_count; i++)
        uv_thread_join(&server->shards[i]->thread);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_free(server->shards[i]);
    server->shard_count = 0;
    if (server->acceptor)
        acceptor_close(server->acceptor);
    shutdown_block_signals(true); /* without libuv's handlers a signal would kill the process */
    uv_walk(&server->loop, close_handle, NULL);
}

static void on_drain_timeout(uv_timer_t *timer)
{
    log_line(LOG_WARNING, "drain timed out; closing the remaining connections");
    shutdown_now(timer->data);
}

static void on_drained(uv_async_t *drained)
{
    shutdown_now(drained->data);
}

void shutdown_shard_drained(struct server *server)
{
    if (__atomic_add_fetch(&server->drained_count, 1, __ATOMIC_ACQ_REL) == server->shard_count)
        uv_async_send(&server->drained);
}

static void on_terminate(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    if (server->stopped)
        return;
    if (server->draining) {
        log_line(LOG_INFO, "%s again: stopping now", strsignal(number));
        shutdown_now(server);
        return;
    }
    log_line(LOG_INFO, "%s: draining", strsignal(number));
    sd_notify(0, "STOPPING=1");
    __atomic_store_n(&server->draining, true, __ATOMIC_RELAXED);
    uv_timer_start(&server->drain_timer, on_drain_timeout,
                   server->snapshot->config->limits.drain * UINT64_C(1000), 0);
    /* Connections in the backlog get a response: from this process, or from the next one, which
     * inherits the sockets. */
    if (!server->inherited)
        reload_file_limit(acceptor_open(server->acceptor) + ACCEPTOR_BACKLOG_MAX,
                          server->shard_count);
    acceptor_stop(server->acceptor, !server->inherited);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_drain(server->shards[i]);
}

int shutdown_start(struct server *server)
{
    int err = uv_async_init(&server->loop, &server->drained, on_drained);
    if (err)
        return err;
    uv_timer_init(&server->loop, &server->drain_timer);
    uv_signal_init(&server->loop, &server->terminate);
    uv_signal_init(&server->loop, &server->interrupt);
    server->drained.data = server->drain_timer.data = server;
    server->terminate.data = server->interrupt.data = server;
    uv_signal_start(&server->terminate, on_terminate, SIGTERM);
    uv_signal_start(&server->interrupt, on_terminate, SIGINT);
    return 0;
}
