/* Regions and volumes, cut out of a world wherever the asker wants. On the loop's thread. */
#ifndef FARLANDS_CUTOUT_H
#define FARLANDS_CUTOUT_H

#include "server/calculation.h"
#include "server/raster.h"
#include "server/route.h"

/* Answer ASKER, who asked for the ROUTE_REGION or ROUTE_VOLUME in WORLD; now or, by CONFIG's
 * limits, when the first of it is there. */
void cutout_answer(struct calculations *calculations, const struct asker *asker,
                   const struct world *world, const struct route *route,
                   const struct config *config);

#endif
