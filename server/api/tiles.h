/* Handler of tiles. On the loop's thread. */
#ifndef FARLANDS_API_TILES_H
#define FARLANDS_API_TILES_H

#include "server/api/pending.h"
#include "server/api/response_cache.h"
#include "server/core/mailbox.h"
#include "server/routing/route.h"
#include "server/tiles/fetch.h"
#include "server/world/seed_cache.h"

/* What tiles come from; all of it is the caller's. */
struct tile_sources {
    struct fetcher *fetcher;
    struct mailbox *mailbox;
    struct pending_requests *pending;
    struct response_cache *response_cache;
    struct seed_cache *seed_cache;
};

/* The fast path, without a lock or an allocation: respond with a prepared response. Returns false
 * if there is none. */
bool tiles_respond_prepared(const struct tile_sources *sources, struct request_context *context);

/* Respond to CONTEXT, a request for ROUTE, a ROUTE_TILE of WORLD: now, or once it is read or
 * rendered, within CONFIG's limits. */
void tiles_respond(const struct tile_sources *sources, struct request_context *context,
                   const struct world *world, const struct route *route,
                   const struct config *config);

#endif
