#include "daemon.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "server/api/forwarded.h"
#include "server/daemon/shard.h"
#include "server/net/acceptor.h"
#include "server/net/listener.h"
#include "server/telemetry/log.h"
#include "server/telemetry/process_stats.h"
#include "server/tiles/pipeline.h"

enum {
    SHARDS_MAX = 64,
    SHARDS_ALONE = 8,     /* as many are made at most where the configuration leaves it open */
    OTHER_FILES = 320,    /* what is open besides connections: cache files, the loops' own */
    DRAIN_MS = 25 * 1000, /* slower clients are cut off */
    STUCK_MS = 60 * 1000, /* no render takes so long */
    RELOAD_MS = 50,       /* signals that come together are one */
    BLOCKED_MS = 1000,    /* a loop turns four times in it */
    ADDRESS_MAX = 300,
};

struct server {
    uv_loop_t loop; /* of the main thread: signals, and who comes in */
    daemon_loader *load;
    void *load_context;
    uv_mutex_t setup_lock; /* of which setup is in force; only the main thread changes it */
    struct snapshot *snapshot;
    struct metrics metrics; /* of everything but the shards */
    time_t started;
    struct access_log *access_log; /* or NULL */
    struct client_limits *clients;
    struct recent_worlds *recent_worlds;
    struct pipeline *pipeline;
    struct shard *shards[SHARDS_MAX];
    unsigned shard_count, drained_count; /* the latter atomic */
    unsigned streams;                    /* atomic */
    uv_async_t drained;                  /* all of them */
    struct acceptor *acceptor;
    bool inherited; /* the sockets are the service manager's, who goes on listening */
    char address[ADDRESS_MAX];
    uv_signal_t terminate, interrupt, hang_up;
    uv_timer_t drain_timer, reload_timer, watchdog;
    bool draining; /* atomic */
    bool stopped;
};

static const struct config *config_of(const struct server *server)
{
    return server->snapshot->config;
}

/* --- What every thread may ask --------------------------------------------- */

static struct snapshot *setup_in_force(struct server *server)
{
    uv_mutex_lock(&server->setup_lock);
    struct snapshot *snapshot = snapshot_hold(server->snapshot);
    uv_mutex_unlock(&server->setup_lock);
    return snapshot;
}

static bool is_current(void *context, const char *fingerprint)
{
    struct server *server = context;
    struct snapshot *snapshot = setup_in_force(server);
    const bool current = snapshot_serves(snapshot, server->recent_worlds, fingerprint);
    snapshot_release(snapshot);
    return current;
}

static enum readiness readiness(void *context)
{
    struct server *server = context;
    if (__atomic_load_n(&server->draining, __ATOMIC_RELAXED))
        return READY_NOT_DRAINING;
    return pipeline_longest_run_ms(server->pipeline) > STUCK_MS ? READY_NOT_STUCK : READY;
}

static struct blob *scrape(void *context)
{
    struct server *server = context;
    struct snapshot *snapshot = setup_in_force(server);
    const struct config *config = snapshot->config;
    const struct metrics *sets[SHARDS_MAX + 1] = {&server->metrics};
    struct metrics_gauges gauges = {
        .value = {[GAUGE_READY] = readiness(server) == READY,
                  [GAUGE_START_TIME] = (uint64_t)server->started,
                  [GAUGE_CONNECTIONS] = acceptor_open(server->acceptor),
                  [GAUGE_QUEUE_LIMIT] = config->limits.queue,
                  [GAUGE_MEMORY_LIMIT] = config->cache.memory,
                  [GAUGE_DISK_LIMIT] = config->cache.disk,
                  [GAUGE_DISK_FILES_LIMIT] = config->cache.files,
                  [GAUGE_RESIDENT_BYTES] = process_stats_resident_bytes(),
                  [GAUGE_OPEN_FDS] = process_stats_open_files()},
        .kernel = farlands_kernel(snapshot->worlds->world[0].terrain),
    };

    pipeline_measure(server->pipeline, &gauges);
    for (unsigned i = 0; i < server->shard_count; i++)
        sets[i + 1] = shard_metrics(server->shards[i]);
    struct blob *text = metrics_text(sets, server->shard_count + 1, &gauges);
    snapshot_release(snapshot);
    return text;
}

/* --- Connections ----------------------------------------------------------- */

static unsigned share(void *context, const struct sockaddr *peer)
{
    const struct config *config = config_of(context);
    return forwarded_is_proxy(&config->site, peer) ? 0 : config->limits.connections_per_client;
}

static void give(void *context, int fd, const struct sockaddr *peer, socklen_t length)
{
    struct server *server = context;
    struct shard *least = server->shards[0];
    for (unsigned i = 1; i < server->shard_count; i++)
        if (shard_connections(server->shards[i]) < shard_connections(least))
            least = server->shards[i];
    shard_adopt(least, fd, peer, length);
}

static void on_closed(void *context, const struct sockaddr *peer)
{
    struct server *server = context;
    acceptor_closed(server->acceptor, peer);
}

/* --- Stopping -------------------------------------------------------------- */

static void stop_shards(struct server *server)
{
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_stop(server->shards[i]);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_join(server->shards[i]);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_free(server->shards[i]);
    server->shard_count = 0;
}

/*
 * Let signals wait, or let those come that have waited. Threads that are made meanwhile hold
 * them for good: between libuv's handlers and none, nobody is there whom a signal could kill.
 */
static void hold_signals(bool hold)
{
    sigset_t signals;

    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &signals, NULL);
}

static void close_handles(struct server *server)
{
    uv_handle_t *const handles[] = {
        (uv_handle_t *)&server->drain_timer, (uv_handle_t *)&server->reload_timer,
        (uv_handle_t *)&server->watchdog,    (uv_handle_t *)&server->terminate,
        (uv_handle_t *)&server->interrupt,   (uv_handle_t *)&server->hang_up,
        (uv_handle_t *)&server->drained,
    };
    for (size_t i = 0; i < sizeof handles / sizeof handles[0]; i++)
        uv_close(handles[i], NULL);
}

static void stop(struct server *server)
{
    if (server->stopped)
        return;
    server->stopped = true;
    acceptor_stop(server->acceptor, false);
    stop_shards(server);
    acceptor_close(server->acceptor);
    hold_signals(true); /* one more would kill what is about to end */
    close_handles(server);
}

static void on_drain_timeout(uv_timer_t *timer)
{
    log_line(LOG_WARNING, "some clients took too long and are cut off");
    stop(timer->data);
}

static void on_all_drained(uv_async_t *drained)
{
    stop(drained->data);
}

/* On a shard's thread. */
static void on_drained(void *context)
{
    struct server *server = context;
    if (__atomic_add_fetch(&server->drained_count, 1, __ATOMIC_ACQ_REL) == server->shard_count)
        uv_async_send(&server->drained); /* or, where it is stopping already, to nobody */
}

static void on_terminate(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    if (server->stopped)
        return;
    if (server->draining) {
        log_line(LOG_INFO, "%s again: stopping now", strsignal(number));
        stop(server);
        return;
    }
    log_line(LOG_INFO, "%s: finishing what has been asked for", strsignal(number));
    sd_notify(0, "STOPPING=1");
    __atomic_store_n(&server->draining, true, __ATOMIC_RELAXED);
    uv_timer_start(&server->drain_timer, on_drain_timeout, DRAIN_MS, 0);
    /* Whoever is in the backlog has connected, and gets an answer: ours, or that of whoever is
     * given the same sockets next. */
    if (!server->inherited)
        listener_raise_file_limit(acceptor_open(server->acceptor) + ACCEPTOR_BACKLOG_MAX +
                                  OTHER_FILES);
    acceptor_stop(server->acceptor, !server->inherited);
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_drain(server->shards[i]);
}

/* --- Reading the configuration again --------------------------------------- */

/* The key that changes with a restart only and has changed, or NULL. */
static const char *fixed_key(const struct config *old, const struct config *new)
{
    if (strcmp(old->listen, new->listen) != 0)
        return "listen";
    if (old->shards != new->shards)
        return "shards";
    if (old->threads != new->threads)
        return "threads";
    if (strcmp(old->access_log, new->access_log) != 0)
        return "access_log";
    if (strcmp(old->cache.path, new->cache.path) != 0)
        return "cache.path";
    return NULL;
}

/* What connections there may be, for want of files perhaps fewer than CONFIG says; 0: hardly any.
 */
static unsigned connections_for(const struct config *config)
{
    const unsigned wanted = config->limits.connections;
    const unsigned files = listener_raise_file_limit(wanted + OTHER_FILES);

    if (files <= OTHER_FILES)
        return 0;
    if (files - OTHER_FILES >= wanted)
        return wanted;
    log_line(LOG_WARNING, "limits.connections is %u, but %u open files (ulimit -Hn) allow %u",
             wanted, files, files - OTHER_FILES);
    return files - OTHER_FILES;
}

/* Nothing here can fail: a configuration is in force as a whole or not at all. */
static void put_in_force(struct server *server, struct snapshot *snapshot)
{
    struct snapshot *old = server->snapshot;

    uv_mutex_lock(&server->setup_lock);
    server->snapshot = snapshot;
    uv_mutex_unlock(&server->setup_lock);
    snapshot_release(old);
    log_set_level(snapshot->config->log);
    pipeline_limit(server->pipeline, snapshot->config);
    acceptor_limit(server->acceptor, connections_for(snapshot->config));
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_use(server->shards[i], snapshot);
}

static int reload(struct server *server)
{
    struct config_error error;
    struct config *config;
    struct snapshot *snapshot;

    if (server->load(server->load_context, &config, &error)) {
        log_line(LOG_ERROR, "SIGHUP: %s; nothing was changed", error.text);
        return -EINVAL;
    }
    const char *key = fixed_key(config_of(server), config);
    if (key) {
        log_line(LOG_ERROR, "SIGHUP: %s: changes with a restart only; nothing was changed", key);
        config_free(config);
        return -EINVAL;
    }
    int err = snapshot_new(&snapshot, config);
    if (err) {
        log_line(LOG_ERROR, "SIGHUP: %s; nothing was changed", strerror(-err));
        return err;
    }
    put_in_force(server, snapshot);
    if (server->access_log)
        access_log_reopen(server->access_log);
    log_line(LOG_INFO, "SIGHUP: the configuration was read again and is in force");
    return 0;
}

static void on_reload(uv_timer_t *timer)
{
    struct server *server = timer->data;
    char began[64];

    if (server->stopped || server->draining)
        return;
    snprintf(began, sizeof began, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, uv_hrtime() / 1000);
    sd_notify(0, began);
    int err = reload(server);
    metrics_add(&server->metrics, err ? METRIC_RELOADS_REFUSED : METRIC_RELOADS_OK);
    sd_notify(0, "READY=1");
}

static void on_hang_up(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    (void)number;
    if (!uv_is_active((uv_handle_t *)&server->reload_timer))
        uv_timer_start(&server->reload_timer, on_reload, RELOAD_MS, 0);
}

/* --- Starting -------------------------------------------------------------- */

static const char *listen_error(int err)
{
    switch (err) {
    case -EADDRINUSE:
        return "the address is in use";
    case -ENOENT:
        return "unknown host";
    case -EMFILE:
        return "too few files may be open (see ulimit -Hn)";
    case -ENOTSOCK:
        return "not a stream socket that listens";
    case -E2BIG:
        return "too many sockets";
    default:
        return uv_strerror(err);
    }
}

static int open_sockets(struct server *server, int *sockets)
{
    int count = listener_inherit(sockets, ACCEPTOR_SOCKETS_MAX);
    server->inherited = count != 0;
    if (count == 0) {
        sockets[0] = listener_open(config_of(server)->listen);
        count = sockets[0] < 0 ? sockets[0] : 1;
    }
    if (count > 0)
        listener_address(sockets[0], server->address, sizeof server->address);
    return count;
}

static int start_acceptor(struct server *server)
{
    int sockets[ACCEPTOR_SOCKETS_MAX];
    const unsigned connections = connections_for(config_of(server));
    int count = connections ? open_sockets(server, sockets) : -EMFILE;

    if (count < 0) {
        log_line(LOG_ERROR, "cannot listen on %s: %s",
                 server->inherited ? "what the service manager gives (LISTEN_FDS)"
                                   : config_of(server)->listen,
                 listen_error(count));
        return count;
    }
    const struct acceptor_parts parts = {
        .loop = &server->loop,
        .sockets = sockets,
        .count = count,
        .clients = server->clients,
        .metrics = &server->metrics,
        .share = share,
        .give = give,
        .context = server,
    };
    int err = acceptor_new(&server->acceptor, &parts, connections);
    for (int i = 0; err && i < count; i++)
        close(sockets[i]);
    return err;
}

static unsigned shards_for(const struct config *config)
{
    const unsigned cores = uv_available_parallelism();
    return config->shards ? config->shards : cores < SHARDS_ALONE ? cores : SHARDS_ALONE;
}

static int open_access_log(struct server *server)
{
    const struct config *config = config_of(server);
    if (!config->access_log[0])
        return 0;
    int err = access_log_open(&server->access_log, config->access_log, shards_for(config));
    if (err)
        log_line(LOG_ERROR, "access_log: %s: %s", config->access_log, strerror(-err));
    return err;
}

static int start_shards(struct server *server)
{
    const unsigned count = shards_for(config_of(server));
    struct shard_parts parts = {
        .service = {.sinks.access_log = server->access_log,
                    .fetcher = pipeline_fetcher(server->pipeline),
                    .renderers = pipeline_renderers(server->pipeline),
                    .clients = server->clients,
                    .recent_worlds = server->recent_worlds,
                    .streams = &server->streams,
                    .shelves = count,
                    .scrape = scrape,
                    .readiness = readiness,
                    .context = server},
        .closed = on_closed,
        .drained = on_drained,
        .context = server,
    };

    for (; server->shard_count < count; server->shard_count++) {
        parts.service.sinks.ring = server->shard_count;
        int err = shard_new(&server->shards[server->shard_count], &parts, server->snapshot);
        if (err)
            return err;
    }
    return 0;
}

static int make_parts(struct server *server)
{
    const struct pipeline_parts pipeline = {config_of(server), &server->metrics, is_current,
                                            server};
    int err = open_access_log(server);
    if (!err)
        err = client_limits_new(&server->clients);
    if (!err)
        err = recent_worlds_new(&server->recent_worlds);
    if (!err)
        err = pipeline_new(&server->pipeline, &pipeline);
    if (!err)
        err = start_shards(server);
    if (err)
        log_line(LOG_ERROR, "cannot start: %s", uv_strerror(err));
    return err;
}

/* Where a shard is stuck, the service manager hears nothing, and starts the daemon anew. */
static void on_watchdog(uv_timer_t *timer)
{
    const struct server *server = timer->data;
    const uint64_t now = uv_hrtime() / 1000000;

    for (unsigned i = 0; i < server->shard_count; i++)
        if (now - shard_turned(server->shards[i]) > BLOCKED_MS + uv_timer_get_repeat(timer))
            return;
    sd_notify(0, "WATCHDOG=1");
}

static void start_handles(struct server *server)
{
    uv_signal_init(&server->loop, &server->terminate);
    uv_signal_init(&server->loop, &server->interrupt);
    uv_signal_init(&server->loop, &server->hang_up);
    uv_timer_init(&server->loop, &server->drain_timer);
    uv_timer_init(&server->loop, &server->reload_timer);
    uv_timer_init(&server->loop, &server->watchdog);
    server->terminate.data = server->interrupt.data = server->hang_up.data = server;
    server->drain_timer.data = server->reload_timer.data = server->watchdog.data = server;
    server->drained.data = server;
    uv_signal_start(&server->terminate, on_terminate, SIGTERM);
    uv_signal_start(&server->interrupt, on_terminate, SIGINT);
    uv_signal_start(&server->hang_up, on_hang_up, SIGHUP);
}

static void start_watchdog(struct server *server)
{
    uint64_t watchdog;
    if (sd_watchdog_enabled(0, &watchdog) > 0)
        uv_timer_start(&server->watchdog, on_watchdog, 0, watchdog / 2000);
}

static void announce(const struct server *server)
{
    const unsigned threads = pipeline_threads(server->pipeline);
    const int worlds = server->snapshot->worlds->count;

    printf("farlands: serving http://%s%s/ (%d world%s, %u render thread%s, kernel %s, cache %s)\n",
           server->address, config_of(server)->site.base_path, worlds, worlds == 1 ? "" : "s",
           threads, threads == 1 ? "" : "s",
           farlands_kernel(server->snapshot->worlds->world[0].terrain),
           pipeline_directory(server->pipeline));
    fflush(stdout);
    sd_notify(0, "READY=1");
}

/* What was made; the loop has nothing left to do. Nothing is freed that a thread is still at. */
static void free_parts(struct server *server)
{
    if (server->pipeline && !pipeline_stop(server->pipeline)) {
        log_line(LOG_WARNING, "a render or a read from the disk does not end; leaving it behind");
        _exit(0);
    }
    pipeline_free(server->pipeline);
    if (server->access_log)
        access_log_close(server->access_log);
    acceptor_free(server->acceptor);
    client_limits_free(server->clients);
    recent_worlds_free(server->recent_worlds);
    snapshot_release(server->snapshot);
    uv_loop_close(&server->loop);
    uv_mutex_destroy(&server->setup_lock);
}

static int run(struct server *server)
{
    hold_signals(true);
    start_handles(server);
    int err = make_parts(server);
    if (!err)
        err = start_acceptor(server);
    if (err) {
        stop_shards(server);
        close_handles(server);
        uv_run(&server->loop, UV_RUN_DEFAULT);
        return 1;
    }
    start_watchdog(server);
    announce(server);
    hold_signals(false);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    return 0;
}

int daemon_run(struct config *config, daemon_loader *load, void *context)
{
    struct server server = {.load = load, .load_context = context, .started = time(NULL)};

    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that must not be so large: EFBIG says so, too */
    int err = snapshot_new(&server.snapshot, config);
    if (!err)
        err = uv_mutex_init(&server.setup_lock);
    if (!err)
        err = uv_loop_init(&server.loop);
    if (!err)
        err = uv_async_init(&server.loop, &server.drained, on_all_drained);
    if (err) {
        log_line(LOG_ERROR, "cannot start: %s", uv_strerror(err));
        return 1; /* and whatever was made goes with the process */
    }
    int code = run(&server);
    free_parts(&server);
    return code;
}
