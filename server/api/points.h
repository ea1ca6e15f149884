/* What game servers ask about places and what takes more than a moment: lists of heights, and the
 * search for a place to spawn at. On the loop's thread. */
#ifndef FARLANDS_API_POINTS_H
#define FARLANDS_API_POINTS_H

#include "server/api/streamed_job.h"
#include "server/routing/route.h"
#include "server/world/world.h"

/* Have CONTEXT, who asked for the ROUTE_HEIGHTS or ROUTE_SPAWN in WORLD, answered by CONFIG's
 * limits. */
void points_answer(struct streamed_jobs *streamed_jobs, const struct request_context *context,
                   const struct world *world, const struct route *route,
                   const struct config *config);

#endif
