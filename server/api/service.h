/*
 * The story of one request: what it asks for, whether the client has it
 * already, whether it is at hand, and otherwise the wait for it. Read this
 * first, then supply.c. Each event loop has a service of its own, and
 * everything here runs on its thread.
 */
#ifndef FARLANDS_API_SERVICE_H
#define FARLANDS_API_SERVICE_H

#include "server/api/response.h"
#include "server/api/snapshot.h"
#include "server/core/mailbox.h"
#include "server/http/http.h"
#include "server/net/client_limits.h"
#include "server/telemetry/metrics.h"
#include "server/tiles/fetch.h"
#include "server/world/recent_worlds.h"

enum readiness { READY, READY_NOT_DRAINING, READY_NOT_STUCK };

/* What a service works with; all of it stays its maker's and outlives it. */
struct service_parts {
    struct mailbox *mailbox; /* of its thread */
    struct fetcher *fetcher;
    struct work_queue *renderers; /* whose stations are easels */
    struct client_limits *clients;
    struct recent_worlds *recent_worlds; /* of worlds that no configuration names */
    struct response_sinks sinks;
    unsigned shelves;  /* how many services share what memory there is for ready answers */
    unsigned *streams; /* atomic: how many large answers are being made, of all services */
    /* What only the whole server knows. The text of /metrics: one reference, or NULL where
     * memory is out. */
    struct blob *(*scrape)(void *context);
    enum readiness (*readiness)(void *context);
    void *context;
};

struct service;

/* With a reference to SNAPSHOT of its own. Returns 0 or -ENOMEM. */
int service_new(struct service **out, const struct service_parts *parts, struct snapshot *snapshot);

/* Nobody may be waiting. */
void service_free(struct service *service);

/* The handler of http_parts; CONTEXT is the service. */
void service_handle(void *context, struct http_exchange *exchange,
                    const struct http_request *request);

/* From now on go by SNAPSHOT, of which a reference is taken. */
void service_use(struct service *service, struct snapshot *snapshot);

/* Answer those whose render takes too long, and give up on those who have left; to be called
 * every 250 ms. */
void service_sweep(struct service *service);

/* Answer all who wait with a refusal, and whoever would have to wait from now on. Returns whether
 * nobody waits any more: those whose tile is on its way are answered when it comes. */
bool service_cancel(struct service *service);

#endif
