/* Kinds of work in a world: a queue learns how long each kind takes (core/run_times.h). Any thread.
 */
#ifndef FARLANDS_WORLD_RUN_KIND_H
#define FARLANDS_WORLD_RUN_KIND_H

#include "server/core/run_times.h"
#include "server/world/tile.h"

enum run { RUN_TILE, RUN_REGION, RUN_VOLUME, RUN_PLACE, RUN_HEIGHTS, RUN_SPAWN, RUN_COURSE };

struct run_of {
    enum run run;
    int layer, size; /* size: log2 of the samples. RUN, LAYER and SIZE make the family */
    int field, format, coding;
    int spacing; /* log2 of the units between samples */
};

/* Worlds that differ only in the seed have the same kinds. */
struct run_kind run_kind(const struct world *world, const struct run_of *of);

/* The kind for rendering TILE. */
struct run_kind run_kind_of_tile(const struct tile_address *tile);

#endif
