/*
 * The story of one request: what it asks for, whether the client has it
 * already, whether it is at hand, and otherwise the wait for it. Read this
 * first, then supply.c. Everything here runs on the loop's thread.
 */
#ifndef FARLANDS_SERVICE_H
#define FARLANDS_SERVICE_H

#include "server/http.h"
#include "server/metrics.h"
#include "server/supply.h"
#include "server/world.h"

/* What a service works with; all of it stays its maker's and outlives it. */
struct service_parts {
    const struct site_config *site;
    const struct worlds *worlds;
    struct supply *supply;
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
