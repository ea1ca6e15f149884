#include "daemon.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "config/values/user_error.h"
#include "server/api/forwarded.h"
#include "server/core/clock.h"
#include "server/daemon/server.h"
#include "server/http/http.h"
#include "server/net/listener.h"
#include "server/telemetry/log.h"
#include "server/world/terrain_cache.h"
#include "server/world/worlds.h"

enum {
    DEFAULT_SHARDS_MAX = 8, /* if `shards` is not configured */
    STUCK_MS = 60 * 1000,   /* longer than any render */
    ADDRESS_MAX = 300,
};

/* Any thread. Returns a reference. */
static struct snapshot *current_snapshot(struct server *server)
{
    uv_mutex_lock(&server->snapshot_lock);
    struct snapshot *snapshot = snapshot_hold(server->snapshot);
    uv_mutex_unlock(&server->snapshot_lock);
    return snapshot;
}

/* Any thread. */
static bool is_current(void *context, const char *fingerprint)
{
    struct server *server = context;
    struct snapshot *snapshot = current_snapshot(server);
    const bool current = snapshot_serves(snapshot, server->recent_worlds, fingerprint);
    snapshot_release(snapshot);
    return current;
}

enum readiness server_readiness(void *context)
{
    struct server *server = context;
    if (__atomic_load_n(&server->draining, __ATOMIC_RELAXED))
        return READY_NOT_DRAINING;
    return pipeline_longest_run_ms(server->pipeline) > STUCK_MS ? READY_NOT_STUCK : READY;
}

struct blob *server_scrape(void *context)
{
    struct server *server = context;
    struct snapshot *snapshot = current_snapshot(server);
    const struct config *config = snapshot->config;
    const struct metrics *sets[SHARDS_MAX + 1] = {&server->metrics};
    struct metrics_gauges gauges = {
        .value = {[GAUGE_READY] = server_readiness(server) == READY,
                  [GAUGE_START_TIME] = (uint64_t)server->started,
                  [GAUGE_CONNECTIONS] = acceptor_open(server->acceptor),
                  [GAUGE_QUEUE_LIMIT] = config->limits.queue,
                  [GAUGE_TERRAINS] = (uint64_t)terrain_cache_count(snapshot->worlds->terrains),
                  [GAUGE_RESPONSE_BYTES] = client_limits_held(server->clients),
                  [GAUGE_RESPONSE_LIMIT] = snapshot->response_memory,
                  [GAUGE_MEMORY_LIMIT] = config->cache.memory,
                  [GAUGE_DISK_LIMIT] = config->cache.disk,
                  [GAUGE_DISK_FILES_LIMIT] = config->cache.files,
                  [GAUGE_RESIDENT_BYTES] = metrics_resident_bytes(),
                  [GAUGE_OPEN_FDS] = metrics_open_files()},
        .kernel = terrain_kernel(snapshot->worlds->world[0].base_terrain),
    };

    pipeline_measure(server->pipeline, &gauges);
    for (unsigned i = 0; i < server->shard_count; i++)
        sets[i + 1] = &server->shards[i]->metrics;
    struct blob *text = metrics_text(sets, server->shard_count + 1, &gauges);
    snapshot_release(snapshot);
    return text;
}

/* For the acceptor: trusted proxies are not limited, because they carry many clients. */
static unsigned limit_for(void *context, const struct sockaddr *peer)
{
    const struct server *server = context;
    const struct config *config = server->snapshot->config;
    return forwarded_is_proxy(&config->site, peer) ? 0 : config->limits.connections_per_client;
}

static unsigned connections_of(const struct shard *shard)
{
    return __atomic_load_n(&shard->connections, __ATOMIC_RELAXED);
}

/* For the acceptor: the shard with the fewest connections gets the new one. */
static void hand_off(void *context, int fd, const struct sockaddr *peer, socklen_t length)
{
    struct server *server = context;
    struct shard *least = server->shards[0];
    for (unsigned i = 1; i < server->shard_count; i++)
        if (connections_of(server->shards[i]) < connections_of(least))
            least = server->shards[i];
    shard_adopt(least, fd, peer, length);
}

/* For the acceptor: ask the shards in turn, because one may have nothing to close. */
static void make_room(void *context)
{
    struct server *server = context;
    shard_make_room(server->shards[server->room_turn++ % server->shard_count]);
}

static const char *listen_error(int err)
{
    switch (err) {
    case -EADDRINUSE:
        return "the address is in use";
    case -EADDRNOTAVAIL:
        return "no interface has this address now";
    case -EACCES:
        return "ports below 1024 need a privilege; expected a higher one, or farlands.socket";
    case -ENOENT:
        return "unknown host";
    case -EMFILE:
        return "the limit of open files (ulimit -Hn) is too low";
    case -ENOTSOCK:
        return "not a listening stream socket";
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
    if (count == 0)
        count = listener_open(server->snapshot->config->listen, sockets, ACCEPTOR_SOCKETS_MAX);
    return count;
}

static bool is_loopback(const char *address)
{
    static const char *const loopback[] = {"127.", "[::1]:"};

    for (size_t i = 0; i < sizeof loopback / sizeof loopback[0]; i++)
        if (strncmp(address, loopback[i], strlen(loopback[i])) == 0)
            return true;
    return false;
}

/* Warn about loopback in a container. The image's command has --listen, but users may replace that
 * command. */
static void warn_of_container(bool loopback)
{
    if (loopback && getenv("FARLANDS_IN_CONTAINER"))
        log_line(LOG_WARNING, "listen: nothing outside of the container reaches its loopback; "
                              "expected listen: 0.0.0.0:8080");
}

/* ADDRESS becomes the first socket's. */
static int start_acceptor(struct server *server, char address[ADDRESS_MAX])
{
    const struct config *config = server->snapshot->config;
    struct acceptor_parts parts = {
        .loop = &server->loop,
        .clients = server->clients,
        .metrics = &server->metrics,
        .limit_for = limit_for,
        .hand_off = hand_off,
        .make_room = make_room,
        .context = server,
    };
    const unsigned connections = reload_connections(config);
    int count = connections ? open_sockets(server, parts.sockets) : -EMFILE;

    if (count < 0) {
        log_line(LOG_ERROR, "cannot listen on %s: %s",
                 server->inherited ? "the service manager's sockets (LISTEN_FDS)" : config->listen,
                 listen_error(count));
        return count;
    }
    bool loopback = true;
    for (int i = count - 1; i >= 0; i--) {
        listener_address(parts.sockets[i], address, ADDRESS_MAX);
        loopback = loopback && is_loopback(address);
        if (i > 0)
            log_line(LOG_INFO, "listening on %s, too", address);
    }
    warn_of_container(loopback);
    parts.count = count;
    int err = acceptor_new(&server->acceptor, &parts, connections);
    for (int i = 0; err && i < count; i++)
        close(parts.sockets[i]);
    return err;
}

unsigned server_shards(const struct config *config)
{
    const unsigned cores = uv_available_parallelism();
    if (config->shards)
        return config->shards;
    return cores < DEFAULT_SHARDS_MAX ? cores : DEFAULT_SHARDS_MAX;
}

static int open_access_log(struct server *server)
{
    const struct config *config = server->snapshot->config;
    if (!config->access_log[0])
        return 0;
    int err = access_log_open(&server->access_log, config->access_log, server_shards(config));
    char text[USER_ERROR_TEXT];
    if (err)
        log_line(LOG_ERROR, "access_log: %s: %s", config->access_log, user_error(err, text));
    return err;
}

static int make_parts(struct server *server)
{
    int err = shutdown_start(server);
    if (!err)
        err = open_access_log(server);
    if (!err)
        err = client_limits_new(&server->clients);
    if (!err)
        err = recent_worlds_new(&server->recent_worlds);
    if (!err)
        err = pipeline_new(&server->pipeline, server->snapshot->config, &server->metrics,
                           is_current, server);
    for (unsigned i = 0; !err && i < server_shards(server->snapshot->config); i++)
        err = shard_new(server);
    if (err)
        log_line(LOG_ERROR, "cannot start: %s", uv_strerror(err));
    return err;
}

/* If a shard is stuck, the service manager is not notified, so it restarts the daemon. */
static void on_watchdog(uv_timer_t *timer)
{
    const struct server *server = timer->data;
    bool all = true;

    for (unsigned i = 0; i < server->shard_count; i++)
        all = shard_probe(server->shards[i]) && all;
    if (all)
        sd_notify(0, "WATCHDOG=1");
}

static void start_watchdog(struct server *server)
{
    uint64_t microseconds;
    uv_timer_init(&server->loop, &server->watchdog);
    server->watchdog.data = server;
    if (sd_watchdog_enabled(0, &microseconds) > 0)
        uv_timer_start(&server->watchdog, on_watchdog, 0, microseconds / 2000);
}

/* ADDRESS is the server's. */
static void warn_of_watching(const char *address)
{
    if (is_loopback(address))
        return;
    log_line(LOG_WARNING, "--watch: every client of %s can read errors of the configuration",
             address);
}

static void announce(const struct server *server, const char *address)
{
    const struct snapshot *snapshot = server->snapshot;
    const unsigned threads = server->pipeline->threads;
    const int worlds = snapshot->worlds->count;

    printf("farlands: serving http://%s%s/ (%d world%s, %u render thread%s, kernel %s, "
           "libmicrohttpd %s, cache %s)\n",
           address, snapshot->config->site.base_path, worlds, worlds == 1 ? "" : "s", threads,
           threads == 1 ? "" : "s", terrain_kernel(snapshot->worlds->world[0].base_terrain),
           http_library(), server->pipeline->directory);
    fflush(stdout);
    sd_notify(0, "READY=1");
}

/* Free the server after the loop has ended. Nothing is freed that a hanging thread may still
 * use. */
static void free_parts(struct server *server)
{
    if (!reload_stop(server) || (server->pipeline && !pipeline_stop(server->pipeline))) {
        log_line(LOG_WARNING, "a thread is still busy; exiting without waiting for it");
        _exit(0);
    }
    pipeline_free(server->pipeline);
    access_log_close(server->access_log);
    acceptor_free(server->acceptor);
    client_limits_free(server->clients);
    recent_worlds_free(server->recent_worlds);
    snapshot_release(server->snapshot);
    uv_loop_close(&server->loop);
    uv_mutex_destroy(&server->snapshot_lock);
}

static int run(struct server *server)
{
    char address[ADDRESS_MAX];

    shutdown_block_signals(true);
    int err = make_parts(server);
    if (!err)
        err = start_acceptor(server, address);
    if (err) {
        shutdown_now(server);
    } else {
        reload_start(server);
        if (server->options->watch) {
            watch_start(server);
            warn_of_watching(address);
        }
        start_watchdog(server);
        announce(server, address);
        shutdown_block_signals(false);
    }
    uv_run(&server->loop, UV_RUN_DEFAULT);
    return err ? 1 : 0;
}

int daemon_run(const struct daemon_options *options)
{
    struct server server = {.options = options, .started = clock_of_day().tv_sec};
    struct config_error error;
    struct config *config;

    if (options->watch)
        watch_init(&server);
    if (options->file)
        server.loaded = watch_state(options->file);
    if (reload_config(options, &config, &error)) {
        fprintf(stderr, "farlands: %s\n", error.text);
        return 2;
    }
    log_start(config->log);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* writes return EFBIG instead */
    int err = snapshot_new(&server.snapshot, config);
    if (!err) {
        server.snapshot->modified = conditional_modification(server.started);
        err = uv_mutex_init(&server.snapshot_lock);
    }
    if (!err)
        err = uv_loop_init(&server.loop);
    if (err) {
        log_line(LOG_ERROR, "cannot start: %s", uv_strerror(err));
        return 1; /* the process ends and releases everything */
    }
    int code = run(&server);
    free_parts(&server);
    return code;
}
