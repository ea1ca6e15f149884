/* Regions and volumes, cut out of a world wherever the asker wants. On the loop's thread. */
#ifndef FARLANDS_API_REGIONS_H
#define FARLANDS_API_REGIONS_H

#include "server/api/raster_response.h"
#include "server/api/streamed_job.h"
#include "server/routing/route.h"

/* Answer CONTEXT, who asked for the ROUTE_REGION or ROUTE_VOLUME in WORLD; now or, by CONFIG's
 * limits, when the first of it is there. */
void regions_respond(struct streamed_jobs *streamed_jobs, const struct request_context *context,
                     const struct world *world, const struct route *route,
                     const struct config *config);

#endif
