/*
 * The story of one request: what it asks for, whether the client or a cache has
 * it already, and otherwise one render for all who wait. Read this first.
 * Everything here runs on the loop's thread, but for the renders themselves.
 */
#ifndef FARLANDS_SERVICE_H
#define FARLANDS_SERVICE_H

#include "server/disk_cache.h"
#include "server/flight.h"
#include "server/http.h"
#include "server/memory_cache.h"
#include "server/metrics.h"
#include "server/workers.h"
#include "server/world.h"

/* What a service works with; all of it stays its maker's and outlives it. */
struct service_parts {
    const struct worlds *worlds;
    struct workers *workers; /* whose stations are easels */
    struct flights *flights;
    struct memory_cache *memory_cache;
    struct disk_cache *disk_cache; /* or NULL: nothing is kept on disk */
    struct metrics *metrics;
};

struct service;

int service_new(struct service **out, const struct service_parts *parts); /* 0 or -ENOMEM */
void service_free(struct service *service);

/* An http_handler; CONTEXT is the service. */
void service_handle(void *context, struct http_exchange *exchange,
                    const struct http_request *request);

/* From now on /readyz says 503, so that balancers look elsewhere. */
void service_drain(struct service *service);

#endif
