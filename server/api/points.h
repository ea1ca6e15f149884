/* Handlers of /height, /heights and /spawn. On the loop's thread. */
#ifndef FARLANDS_API_POINTS_H
#define FARLANDS_API_POINTS_H

#include "server/api/streamed_job.h"
#include "server/routing/route.h"
#include "server/world/world.h"

/* Respond to CONTEXT, a request for ROUTE, a ROUTE_HEIGHT, ROUTE_HEIGHTS or ROUTE_SPAWN of WORLD:
 * now, or when a render thread has computed it, within CONFIG's limits. */
void points_respond(struct streamed_jobs *jobs, struct request_context *context,
                    const struct world *world, const struct route *route,
                    const struct config *config);

#endif
