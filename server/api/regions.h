/* Handlers of /region and /volume: samples at any place and step. On the loop's thread. */
#ifndef FARLANDS_API_REGIONS_H
#define FARLANDS_API_REGIONS_H

#include "server/api/streamed_job.h"
#include "server/routing/route.h"
#include "server/world/world.h"

/* Respond to CONTEXT, a request for ROUTE, a ROUTE_REGION or ROUTE_VOLUME of WORLD: now, or when
 * the first piece is made, within CONFIG's limits. */
void regions_respond(struct streamed_jobs *jobs, struct request_context *context,
                     const struct world *world, const struct route *route,
                     const struct config *config);

#endif
