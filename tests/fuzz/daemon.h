/* A daemon in the fuzz target's process: one loop, which the target runs. */
#ifndef FARLANDS_FUZZ_DAEMON_H
#define FARLANDS_FUZZ_DAEMON_H

#include <arpa/inet.h>

#include "server/api/service.h"
#include "server/layers/layer.h"
#include "server/telemetry/log.h"
#include "server/tiles/pipeline.h"
#include "tests/fuzz/fuzz.h"
#include "tests/worlds/fractal.h"

enum { DAEMON_MEMORY = 1 << 23, DAEMON_REQUESTS_MAX = 1 << 10 };

struct daemon {
    struct metrics metrics;
    uv_loop_t loop;
    struct config *config; /* owned by the snapshot */
    struct snapshot *snapshot;
    struct client_limits *clients;
    struct recent_worlds *recent_worlds;
    struct pipeline *pipeline;
    struct mailbox *mailbox;
    struct service *service;
    struct http *http;
    unsigned streams;
    unsigned adopted, closed; /* connections */
    size_t requests;          /* of the current input */
    size_t completed;         /* of these */
    struct asked {
        bool head, refused, last;
        bool region; /* or volume: may be cut off if the client has half-closed */
    } asked[DAEMON_REQUESTS_MAX];
};

static inline void daemon_on_request(void *context, struct http_exchange *exchange,
                                     const struct http_request *request)
{
    struct daemon *daemon = context;
    must(daemon->requests < DAEMON_REQUESTS_MAX, "too many requests");
    must(request->refused || is_printable(request->uri), "%s", request->uri);
    daemon->asked[daemon->requests++] = (struct asked){
        .head = request->method == HTTP_HEAD,
        .refused = request->refused != 0,
        .last = request->last,
        .region = strstr(request->uri, "/region.") || strstr(request->uri, "/volume."),
    };
    service_handle(daemon->service, exchange, request);
}

static inline void daemon_on_completed(void *context, struct http_exchange *exchange, uint64_t sent)
{
    struct daemon *daemon = context;
    daemon->completed++;
    service_completed(daemon->service, exchange, sent);
}

static inline void daemon_on_closed(void *context, const struct sockaddr *peer)
{
    struct daemon *daemon = context;
    must(peer && peer->sa_family == AF_INET, "wrong peer");
    daemon->closed++;
}

static inline bool daemon_is_current(void *context, const char *fingerprint)
{
    (void)context, (void)fingerprint;
    return true;
}

static inline struct blob *daemon_scrape(void *context)
{
    const struct daemon *daemon = context;
    const struct metrics *sets[] = {&daemon->metrics};
    const struct metrics_gauges gauges = {.kernel = "scalar"};
    return metrics_text(sets, 1, &gauges);
}

static inline enum readiness daemon_readiness(void *context)
{
    (void)context;
    return READY;
}

static inline void daemon_configure(struct daemon *daemon, const char *worlds)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    layers_known(known);
    must(config_load(&daemon->config, worlds, known, &error) == 0, "%s", error.text);
    daemon->config->threads = 1;
    daemon->config->cache.memory = DAEMON_MEMORY;
    /* An impossible path: no disk cache. */
    snprintf(daemon->config->cache.path, sizeof daemon->config->cache.path, "/dev/null/none");
    must(snapshot_new(&daemon->snapshot, daemon->config) == 0, "out of memory");
}

/* Serves the WORLDS of a file. */
static inline struct daemon *daemon_new(const char *worlds)
{
    static struct daemon daemon;
    log_start(LOG_ERROR);
    daemon_configure(&daemon, worlds);
    must(uv_loop_init(&daemon.loop) == 0, "no loop");
    must(mailbox_new(&daemon.mailbox, &daemon.loop) == 0, "no mailbox");
    must(client_limits_new(&daemon.clients) == 0, "out of memory");
    must(recent_worlds_new(&daemon.recent_worlds) == 0, "out of memory");
    must(pipeline_new(&daemon.pipeline, daemon.config, &daemon.metrics, daemon_is_current,
                      &daemon) == 0,
         "no pipeline");
    const struct service_parts service = {.loop = &daemon.loop,
                                          .mailbox = daemon.mailbox,
                                          .fetcher = &daemon.pipeline->fetcher,
                                          .clients = daemon.clients,
                                          .recent_worlds = daemon.recent_worlds,
                                          .sinks = {.metrics = &daemon.metrics},
                                          .streams = &daemon.streams,
                                          .services = 1,
                                          .scrape = daemon_scrape,
                                          .readiness = daemon_readiness,
                                          .context = &daemon};
    must(service_new(&daemon.service, &service, daemon.snapshot) == 0, "out of memory");
    const struct http_parts http = {.loop = &daemon.loop,
                                    .idle = 60,
                                    .connections = 16,
                                    .state_size = sizeof(struct request_context),
                                    .handler = daemon_on_request,
                                    .completed = daemon_on_completed,
                                    .waits = service_waits,
                                    .handler_context = &daemon,
                                    .closed = daemon_on_closed,
                                    .context = &daemon};
    must(http_new(&daemon.http, &http) == 0, "out of memory");
    return &daemon;
}

/* Reset the counts of requests and empty the caches. */
static inline void daemon_forget(struct daemon *daemon)
{
    daemon->requests = daemon->completed = 0;
    service_use(daemon->service, daemon->snapshot);
    daemon->config->cache.memory = 0;
    pipeline_limit(daemon->pipeline, daemon->config);
    daemon->config->cache.memory = DAEMON_MEMORY;
    pipeline_limit(daemon->pipeline, daemon->config);
}

/* True if a job is queued or running, or a request is pending. */
static inline bool daemon_is_busy(const struct daemon *daemon)
{
    struct work_queue *renderers = daemon->pipeline->fetcher.renderers;
    return client_limits_count(daemon->clients) > 0 || work_queue_waiting(renderers) > 0 ||
           work_queue_running(renderers) > 0;
}

static inline void daemon_adopt(struct daemon *daemon, int fd)
{
    const struct sockaddr_in peer = {.sin_family = AF_INET,
                                     .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    daemon->adopted++;
    http_adopt(daemon->http, fd, (const struct sockaddr *)&peer, sizeof peer);
}

#endif
