/* What decides how long a computation in a world takes: the kind under which a queue learns its
 * time (core/run_times.h). Any thread. */
#ifndef FARLANDS_WORLD_RUN_KIND_H
#define FARLANDS_WORLD_RUN_KIND_H

#include "server/core/run_times.h"
#include "server/world/tile.h"

enum run { RUN_TILE, RUN_REGION, RUN_VOLUME, RUN_PLACE, RUN_HEIGHTS, RUN_SPAWN, RUN_COURSE };

struct run_of {
    enum run run;
    int layer, size; /* size: log2 of the samples. So far, the family */
    int field, format, coding;
    int spacing; /* log2 of the units between samples */
};

/* The seed does not matter. */
struct run_kind run_kind(const struct world *world, const struct run_of *of);

/* The kind of a render of TILE. */
struct run_kind run_kind_of_tile(const struct tile_address *tile);

#endif
