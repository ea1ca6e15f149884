/* A thread reads and checks the configuration and makes a snapshot, because files may be slow and
 * worlds many. Meanwhile the main thread goes on and polls for the result. */
#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "server/core/clock.h"
#include "server/core/thread_group.h"
#include "server/layers/layer.h"
#include "server/telemetry/log.h"

enum {
    RELOAD_DELAY_MS = 50,  /* requests within this time cause one reload */
    RELOAD_POLL_MS = 10,   /* between two checks for the result */
    RELOAD_STOP_MS = 2000, /* time limit for a reload at shutdown */
    OTHER_FILES = 272,     /* cache files, logs */
    SHARD_FILES = 6,       /* per event loop */
};

/* A reload in progress. The members below THREAD belong to that thread until it has ended. */
struct reload {
    const struct daemon_options *options;
    const struct snapshot *current; /* the server's, which stays until the thread has ended */
    struct thread_group *thread;
    struct snapshot *snapshot; /* or NULL, with an error */
    uv_stat_t before;          /* the file's state before reading */
    struct config_error error;
    bool is_torn; /* a program was writing the watched file: no result */
};

int reload_config(const struct daemon_options *options, struct config **config,
                  struct config_error *error)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];

    layers_known(known);
    int err = config_load(config, options->file, known, error);
    if (!err && options->saved && !(*config)->saved) {
        snprintf(error->text, sizeof error->text,
                 "%s: a configuration; expected a saved /{world}.json, or --config", options->file);
        config_free(*config);
        err = -EINVAL;
    }
    if (err)
        return err;
    if (options->listen)
        snprintf((*config)->listen, sizeof(*config)->listen, "%s", options->listen);
    if (options->cache)
        snprintf((*config)->cache.path, sizeof(*config)->cache.path, "%s", options->cache);
    (*config)->watch = options->watch;
    return 0;
}

/* Returns the first changed key among those that only a restart can change, or NULL. */
static const char *changed_key(const struct config *old, const struct config *new)
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

unsigned reload_file_limit(unsigned connections, unsigned shards)
{
    const rlim_t others = OTHER_FILES + (rlim_t)SHARD_FILES * shards, files = connections + others;
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < files) {
        limit.rlim_cur = limit.rlim_max < files ? limit.rlim_max : files;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= files)
        return connections;
    return limit.rlim_cur > others ? (unsigned)(limit.rlim_cur - others) : 0;
}

unsigned reload_connections(const struct config *config)
{
    const unsigned wanted = config->limits.connections;
    const unsigned possible = reload_file_limit(wanted, server_shards(config));
    if (possible > 0 && possible < wanted)
        log_line(LOG_WARNING,
                 "limits.connections is %u, but the limit of open files (ulimit -Hn) allows %u",
                 wanted, possible);
    return possible;
}

/* Cannot fail: so a configuration is applied as a whole. */
static void apply(struct server *server, const struct reload *reload)
{
    struct snapshot *old = server->snapshot, *snapshot = reload->snapshot;

    /* Use the next second, because in this one clients may have got responses from the old
     * configuration. */
    snapshot->modified = watch_is_same(&reload->before, &server->loaded)
                             ? old->modified
                             : conditional_modification(clock_of_day().tv_sec + 1);
    server->loaded = reload->before;
    uv_mutex_lock(&server->snapshot_lock);
    server->snapshot = snapshot;
    uv_mutex_unlock(&server->snapshot_lock);
    snapshot_release(old);
    log_set_level(snapshot->config->log);
    pipeline_limit(server->pipeline, snapshot->config);
    acceptor_limit(server->acceptor, reload_connections(snapshot->config));
    for (unsigned i = 0; i < server->shard_count; i++)
        shard_use(server->shards[i], snapshot);
}

/* Returns the configuration; NULL with an error, or because the text is torn. */
static struct config *read_config(struct reload *reload)
{
    const char *file = reload->options->file;
    const bool watch = reload->options->watch;
    struct config *config = NULL;

    reload->before = file ? watch_state(file) : (uv_stat_t){0};
    if (reload_config(reload->options, &config, &reload->error))
        config = NULL;
    reload->is_torn = watch && !watch_is_whole(file, &reload->before);
    if (reload->is_torn) {
        config_free(config);
        return NULL;
    }
    return config;
}

static void read_snapshot(void *context, unsigned number)
{
    struct reload *reload = context;
    struct config *config = read_config(reload);
    char *why = reload->error.text;
    const size_t size = sizeof reload->error.text;

    (void)number;
    if (!config)
        return;
    const char *key = changed_key(reload->current->config, config);
    if (key) {
        snprintf(why, size, "%s: needs a restart", key);
        config_free(config);
        return;
    }
    int err = snapshot_new(&reload->snapshot, config);
    if (err) {
        reload->snapshot = NULL;
        snprintf(why, size, "%s", strerror(-err));
    }
}

void reload_last_error(void *context, struct config_error *error)
{
    struct server *server = context;

    uv_mutex_lock(&server->snapshot_lock);
    *error = server->reload_error;
    uv_mutex_unlock(&server->snapshot_lock);
}

/* ERROR without the configuration file's directory, which clients need not know. */
static const char *without_directory(const char *error, const char *file)
{
    const char *slash = file ? strrchr(file, '/') : NULL;
    const size_t length = slash ? (size_t)(slash - file) + 1 : 0;
    return length > 0 && strncmp(error, file, length) == 0 ? error + length : error;
}

static void report(struct server *server, const char *error)
{
    const struct daemon_options *options = server->options;
    const char *cause = options->watch ? "reload" : "SIGHUP";
    const char *shown = error ? without_directory(error, options->file) : "";

    if (error)
        log_line(LOG_ERROR, "%s: %s; nothing was changed", cause, error);
    else
        log_line(LOG_INFO, "%s: configuration reloaded", cause);
    uv_mutex_lock(&server->snapshot_lock);
    snprintf(server->reload_error.text, sizeof server->reload_error.text, "%s", shown);
    uv_mutex_unlock(&server->snapshot_lock);
    metrics_add(&server->metrics, error ? METRIC_RELOADS_REFUSED : METRIC_RELOADS_OK);
    sd_notify(0, "READY=1");
}

/* Wait up to MS for the thread. Returns false if it has not ended. Otherwise *RESULT is its reload,
 * and the caller owns the snapshot. */
static bool finish(struct server *server, long ms, struct reload *result)
{
    struct reload *reload = server->reload;
    if (!thread_group_wait(reload->thread, ms))
        return false;
    thread_group_free(reload->thread);
    *result = *reload;
    free(reload);
    server->reload = NULL;
    return true;
}

static void begin_later(struct server *server);

static void on_poll(uv_timer_t *timer)
{
    struct server *server = timer->data;
    struct reload result;

    if (!finish(server, 0, &result))
        return;
    uv_timer_stop(timer);
    if (server->draining) {
        snapshot_release(result.snapshot);
        return;
    }
    if (result.snapshot)
        apply(server, &result);
    if (result.is_torn)
        sd_notify(0, "READY=1"); /* once the text is written, the watch requests a reload */
    else
        report(server, result.snapshot ? NULL : result.error.text);
    if (server->reload_again)
        begin_later(server);
}

static void on_begin(uv_timer_t *timer)
{
    struct server *server = timer->data;
    char state[64];
    if (server->draining)
        return;
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_ns(NULL) / 1000);
    sd_notify(0, state);

    struct reload *reload = calloc(1, sizeof *reload);
    int err = reload ? 0 : -ENOMEM;
    if (!err) {
        reload->options = server->options;
        reload->current = server->snapshot;
        err = thread_group_start(&reload->thread, 1, read_snapshot, reload);
    }
    if (err) {
        free(reload);
        report(server, strerror(-err));
        return;
    }
    server->reload = reload;
    server->reload_again = false;
    uv_timer_start(timer, on_poll, RELOAD_POLL_MS, RELOAD_POLL_MS);
}

static void begin_later(struct server *server)
{
    uv_timer_start(&server->reload_timer, on_begin, RELOAD_DELAY_MS, 0);
}

void reload_request(struct server *server)
{
    if (server->reload)
        server->reload_again = true;
    else if (!uv_is_active((uv_handle_t *)&server->reload_timer))
        begin_later(server);
}

static void on_hang_up(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    (void)number;
    if (server->access_log) /* a rotated log must not wait for a valid configuration */
        access_log_reopen(server->access_log);
    reload_request(server);
}

bool reload_stop(struct server *server)
{
    struct reload result = {0};
    const bool ended = !server->reload || finish(server, RELOAD_STOP_MS, &result);
    snapshot_release(result.snapshot);
    return ended;
}

void reload_start(struct server *server)
{
    uv_timer_init(&server->loop, &server->reload_timer);
    uv_signal_init(&server->loop, &server->hang_up);
    server->reload_timer.data = server->hang_up.data = server;
    uv_signal_start(&server->hang_up, on_hang_up, SIGHUP);
}
