#include "server.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <systemd/sd-daemon.h>

#include "server/layers/layer.h"
#include "server/telemetry/log.h"

enum {
    RELOAD_DELAY_MS = 50, /* signals within it cause one reload */
    OTHER_FILES = 320,    /* cache files, event loops, logs */
};

int reload_config(const struct daemon_options *options, struct config **config,
                  struct config_error *error)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];

    layers_known(known);
    int err = config_load(config, options->file, known, error);
    if (err)
        return err;
    if (options->listen)
        snprintf((*config)->listen, sizeof(*config)->listen, "%s", options->listen);
    if (options->cache)
        snprintf((*config)->cache.path, sizeof(*config)->cache.path, "%s", options->cache);
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

unsigned reload_file_limit(unsigned connections)
{
    const rlim_t files = (rlim_t)connections + OTHER_FILES;
    struct rlimit limit = {0};

    getrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < files) {
        limit.rlim_cur = limit.rlim_max < files ? limit.rlim_max : files;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    if (limit.rlim_cur >= files)
        return connections;
    return limit.rlim_cur > OTHER_FILES ? (unsigned)limit.rlim_cur - OTHER_FILES : 0;
}

unsigned reload_connections(const struct config *config)
{
    const unsigned wanted = config->limits.connections, possible = reload_file_limit(wanted);
    if (possible > 0 && possible < wanted)
        log_line(LOG_WARNING,
                 "limits.connections is %u, but the limit of open files (ulimit -Hn) allows %u",
                 wanted, possible);
    return possible;
}

/* Cannot fail, so that a configuration is applied as a whole. */
static void apply(struct server *server, struct snapshot *snapshot)
{
    struct snapshot *old = server->snapshot;

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

static int reload(struct server *server)
{
    struct config_error error;
    struct config *config;
    struct snapshot *snapshot;

    if (reload_config(server->options, &config, &error)) {
        log_line(LOG_ERROR, "SIGHUP: %s; nothing was changed", error.text);
        return -EINVAL;
    }
    const char *key = changed_key(server->snapshot->config, config);
    if (key) {
        log_line(LOG_ERROR, "SIGHUP: %s: needs a restart; nothing was changed", key);
        config_free(config);
        return -EINVAL;
    }
    int err = snapshot_new(&snapshot, config);
    if (err) {
        log_line(LOG_ERROR, "SIGHUP: %s; nothing was changed", strerror(-err));
        return err;
    }
    apply(server, snapshot);
    if (server->access_log)
        access_log_reopen(server->access_log);
    log_line(LOG_INFO, "SIGHUP: configuration reloaded");
    return 0;
}

static void on_reload(uv_timer_t *timer)
{
    struct server *server = timer->data;
    char state[64];

    if (server->stopped || server->draining)
        return;
    snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, uv_hrtime() / 1000);
    sd_notify(0, state);
    int err = reload(server);
    metrics_add(&server->metrics, err ? METRIC_RELOADS_REFUSED : METRIC_RELOADS_OK);
    sd_notify(0, "READY=1");
}

static void on_hang_up(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    (void)number;
    if (!uv_is_active((uv_handle_t *)&server->reload_timer))
        uv_timer_start(&server->reload_timer, on_reload, RELOAD_DELAY_MS, 0);
}

void reload_start(struct server *server)
{
    uv_timer_init(&server->loop, &server->reload_timer);
    uv_signal_init(&server->loop, &server->hang_up);
    server->reload_timer.data = server->hang_up.data = server;
    uv_signal_start(&server->hang_up, on_hang_up, SIGHUP);
}
