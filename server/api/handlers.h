/* An event loop's service, and the handlers. On the loop's thread. */
#ifndef FARLANDS_API_HANDLERS_H
#define FARLANDS_API_HANDLERS_H

#include "server/api/response_cache.h"
#include "server/api/service.h"
#include "server/api/streamed_job.h"
#include "server/routing/route.h"
#include "server/world/seed_cache.h"

struct service {
    struct service_parts parts;
    struct snapshot *snapshot;
    struct pending_requests pending;
    struct response_cache *response_cache;
    struct seed_cache *seed_cache;
    struct streamed_jobs jobs;
    struct token_bucket budget; /* the loop's time to compress documents */
};

/* The fast path for tiles, without a lock or an allocation: send a prepared response. Returns false
 * if there is none. */
bool tiles_respond_prepared(struct service *service, struct request_context *context);

/* Each of the following responds to CONTEXT, a request for ROUTE in WORLD: now, or once the result
 * is read, rendered or computed, within the configured limits. */

/* ROUTE_TILE. */
void tiles_respond(struct service *service, struct request_context *context,
                   const struct world *world, const struct route *route);

/* ROUTE_WMTS_TILE: the same tile, by keys and values. WORLD is NULL if there is no such world; WHY
 * has the reason. */
void wmts_respond(struct service *service, struct request_context *context,
                  const struct world *world, const struct route *route, const char *why);

/* The exception report for FAULT, with the message WHY. */
void wmts_respond_fault(struct request_context *context, const struct wmts_fault *fault,
                        const char *why);

/* ROUTE_REGION and ROUTE_VOLUME: samples at any place and step. */
void regions_respond(struct service *service, struct request_context *context,
                     const struct world *world, const struct route *route);

/* ROUTE_HEIGHT and ROUTE_HEIGHTS. */
void points_respond(struct service *service, struct request_context *context,
                    const struct world *world, const struct route *route);

/* ROUTE_SPAWN. */
void spawns_respond(struct service *service, struct request_context *context,
                    const struct world *world, const struct route *route);

/* ROUTE_DOWNSTREAM. */
void courses_respond(struct service *service, struct request_context *context,
                     const struct world *world, const struct route *route);

#endif
