#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/http.h"
#include "server/log.h"
#include "server/render.h"
#include "server/service.h"

enum {
    DRAIN_MS = 25 * 1000, /* slower clients are cut off */
    STOP_POLL_MS = 20,
};

struct server {
    const struct config *config;
    struct worlds *worlds;
    struct metrics metrics;
    unsigned easel_count;
    void **easels;
    struct workers *workers;
    struct flights *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache;
    struct supply *supply;
    struct service *service;
    struct http *http;
    uv_loop_t loop;
    uv_signal_t terminate, interrupt;
    uv_timer_t timer;
    bool draining, closed;
};

/* --- Stopping -------------------------------------------------------------- */

static void close_all(struct server *server)
{
    if (server->closed)
        return;
    server->closed = true;
    http_close(server->http);
    workers_stop(server->workers);
    supply_close(server->supply);
    uv_close((uv_handle_t *)&server->timer, NULL);
    uv_close((uv_handle_t *)&server->terminate, NULL);
    uv_close((uv_handle_t *)&server->interrupt, NULL);
    /* Without libuv's handlers one more signal would kill what is about to end. */
    signal(SIGTERM, SIG_IGN);
    signal(SIGINT, SIG_IGN);
}

static void on_drained(void *context)
{
    close_all(context);
}

/* Whoever waits for a render is answered before libmicrohttpd is stopped: those
 * in the line at once, with a refusal; those whose render runs, in milliseconds. */
static void on_stop(uv_timer_t *timer)
{
    struct server *server = timer->data;
    workers_cancel(server->workers);
    if (supply_under_way(server->supply) == 0)
        close_all(server);
    else
        uv_timer_start(timer, on_stop, STOP_POLL_MS, 0);
}

static void on_drain_timeout(uv_timer_t *timer)
{
    log_line(LOG_WARNING, "some clients took too long and are cut off");
    on_stop(timer);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct server *server = handle->data;
    if (server->closed)
        return;
    if (server->draining) {
        log_line(LOG_INFO, "%s again: stopping now", strsignal(number));
        on_stop(&server->timer);
        return;
    }
    log_line(LOG_INFO, "%s: finishing what has been asked for", strsignal(number));
    server->draining = true;
    service_drain(server->service);
    uv_timer_start(&server->timer, on_drain_timeout, DRAIN_MS, 0);
    http_drain(server->http, on_drained, server);
}

/* --- Starting -------------------------------------------------------------- */

static unsigned render_threads(const struct config *config)
{
    unsigned cores = uv_available_parallelism();
    return config->threads ? config->threads : cores;
}

/* Where the cache goes when the configuration does not say: the XDG base directories. */
static int default_cache_folder(char *out, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/')
        snprintf(out, size, "%s/farlands", cache);
    else if (home && home[0] == '/')
        snprintf(out, size, "%s/.cache/farlands", home);
    else
        return -ENOENT;
    return 0;
}

/* Without a cache the server serves all the same, and says so once. */
static void open_disk_cache(struct server *server, char *folder, size_t size)
{
    int err = 0;
    snprintf(folder, size, "%s", server->config->cache.path);
    if (!folder[0])
        err = default_cache_folder(folder, size);
    const struct footprint quota = {server->config->cache.disk, server->config->cache.files};
    if (!err)
        err = disk_cache_open(&server->disk_cache, folder, &quota, NULL, NULL);
    if (err) {
        log_line(LOG_WARNING, "no disk cache: %s: %s; serving without one",
                 folder[0] ? folder : "neither cache.path nor HOME is set", strerror(-err));
        snprintf(folder, size, "none");
    }
}

static int make_easels(struct server *server)
{
    unsigned count = render_threads(server->config);
    server->easels = calloc(count, sizeof *server->easels);
    if (!server->easels)
        return -ENOMEM;
    for (; server->easel_count < count; server->easel_count++) {
        struct easel *easel;
        int err = easel_new(&easel);
        if (err)
            return err;
        server->easels[server->easel_count] = easel;
    }
    return 0;
}

static const char *listen_error(int err)
{
    switch (err) {
    case -EADDRINUSE:
        return "the address is in use";
    case -ENOENT:
        return "unknown host";
    case -EMFILE:
        return "too few files may be open (see ulimit -Hn)";
    default:
        return uv_strerror(err);
    }
}

/* Everything that does not need the loop. What was made before an error, free_parts frees. */
static int make_parts(struct server *server)
{
    const struct config *config = server->config;
    int err = worlds_new(&server->worlds, config);
    if (!err)
        err = make_easels(server);
    if (!err)
        err = workers_new(&server->workers, server->easels, server->easel_count,
                          config->limits.queue, config->limits.wait);
    if (!err)
        err = flights_new(&server->flights);
    if (!err)
        err = memory_cache_new(&server->memory_cache, config->cache.memory);
    if (err)
        return err;
    const struct supply_parts supply_parts = {
        .loop = &server->loop,
        .workers = server->workers,
        .flights = server->flights,
        .memory_cache = server->memory_cache,
        .disk_cache = server->disk_cache,
        .metrics = &server->metrics,
    };
    err = supply_new(&server->supply, &supply_parts);
    if (err)
        return err;
    const struct service_parts parts = {&config->site, server->worlds, server->supply,
                                        &server->metrics};
    return service_new(&server->service, &parts);
}

static void free_parts(struct server *server)
{
    service_free(server->service);
    supply_free(server->supply);
    disk_cache_close(server->disk_cache);
    memory_cache_free(server->memory_cache);
    flights_free(server->flights);
    workers_free(server->workers);
    for (unsigned i = 0; i < server->easel_count; i++)
        easel_free(server->easels[i]);
    free(server->easels);
    worlds_free(server->worlds);
}

static void start_signals(struct server *server)
{
    signal(SIGPIPE, SIG_IGN);
    uv_signal_init(&server->loop, &server->terminate);
    uv_signal_init(&server->loop, &server->interrupt);
    uv_timer_init(&server->loop, &server->timer);
    server->terminate.data = server->interrupt.data = server->timer.data = server;
    uv_signal_start(&server->terminate, on_signal, SIGTERM);
    uv_signal_start(&server->interrupt, on_signal, SIGINT);
}

static void announce(const struct server *server, const char *folder)
{
    printf("farlands: serving http://%s%s/ (%d world%s, %u render thread%s, kernel %s, cache %s)\n",
           http_address(server->http), server->config->site.base_path, server->worlds->count,
           server->worlds->count == 1 ? "" : "s", server->easel_count,
           server->easel_count == 1 ? "" : "s", farlands_kernel(server->worlds->world[0].terrain),
           folder);
    fflush(stdout);
}

int serve(const struct config *config)
{
    struct server server = {.config = config};
    char folder[CONFIG_TEXT_MAX + 16];
    int code = 1;

    int err = uv_loop_init(&server.loop);
    if (err) {
        log_line(LOG_ERROR, "cannot start: %s", uv_strerror(err));
        return 1;
    }
    open_disk_cache(&server, folder, sizeof folder);
    err = make_parts(&server);
    if (err) {
        log_line(LOG_ERROR, "cannot start: %s", strerror(-err));
        goto out;
    }
    err = http_new(&server.http, &server.loop, config->listen, config->limits.connections,
                   service_handle, server.service);
    if (err) {
        log_line(LOG_ERROR, "cannot listen on %s: %s", config->listen, listen_error(err));
        goto out;
    }
    start_signals(&server);
    announce(&server, folder);
    uv_run(&server.loop, UV_RUN_DEFAULT);
    http_free(server.http);
    code = 0;

out:
    if (server.supply && !server.closed) {
        supply_close(server.supply);
        uv_run(&server.loop, UV_RUN_DEFAULT);
    }
    uv_loop_close(&server.loop);
    free_parts(&server);
    return code;
}
