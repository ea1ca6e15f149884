/*
 * Sets of worlds: a configuration's worlds, or a single world that differs from a configured one in
 * the seed. Sets are reference-counted, so that a world outlives a reload as long as a request
 * needs it. Any thread.
 */
#ifndef FARLANDS_WORLD_WORLDS_H
#define FARLANDS_WORLD_WORLDS_H

#include <uv.h>

#include "server/world/world.h"

struct terrain_cache;

struct worlds {
    unsigned references; /* atomic */
    struct worlds *base; /* of a derived world: the held set that lends parts; or NULL */
    /* NULL if there is a base: */
    struct world_config *configs;   /* one per world */
    struct color_table *colors;     /* likewise; unused if an earlier world's serves the world */
    struct parameters *parameters;  /* likewise */
    struct terrain_cache *terrains; /* of derived worlds */
    struct price **prices;          /* one array per world */
    uv_mutex_t lock;                /* held while colors are made; not in a derived set */
    int count;
    struct world world[];
};

/* The worlds of CONFIG, with one reference. Returns 0; or -EINVAL, -ENOMEM or another negative
 * code. */
int worlds_new(struct worlds **out, const struct config *config);

/*
 * Make a set of one: the configured world BASE with SEED instead of its own, named {name}:{seed}.
 * The set has one reference, and holds BASE's set. Takes 2 us and 1.4 KB whatever fields BASE has,
 * so event loops may call it. Returns 0 or -ENOMEM.
 */
int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed);

/* Drop a reference; dropping the last one frees the set. NULL is allowed. */
void worlds_release(struct worlds *worlds);

/* Take or drop a reference to WORLD's set, to use WORLD beyond a reload. */
const struct world *world_hold(const struct world *world);
void world_release(const struct world *world);

/*
 * Get WORLD's terrain, for values, valid until world_terrain_release. A configured world's costs
 * nothing. Another seed's is compiled unless it was used lately, so only render threads and
 * commands may call this, never event loops. Hold one at a time, and release it before the thread
 * returns to its queue, so that few exist. Returns 0 or -ENOMEM.
 */
int world_terrain_hold(const struct world *world, const struct farlands_terrain **out);
void world_terrain_release(const struct world *world, const struct farlands_terrain *terrain);

/* The world called NAME, or NULL. */
const struct world *worlds_find(const struct worlds *worlds, const char *name);

/* Make the colors of WORLD's climate if they are missing. Call this before painting a layer that
 * shows a climate. The first call for a family of worlds takes some 5 ms and 7 MB; later calls, and
 * worlds without a climate, cost nothing. Any thread. Returns 0 or -ENOMEM. */
int world_color_climate(const struct world *world);

#endif
