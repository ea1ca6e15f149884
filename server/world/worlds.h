/*
 * Sets of worlds: those of a configuration, and each one that differs from a configured world in
 * the seed. Sets are reference-counted, so that a world outlives a reload as long as a request
 * needs it. Any thread.
 */
#ifndef FARLANDS_WORLD_WORLDS_H
#define FARLANDS_WORLD_WORLDS_H

#include <uv.h>

#include "server/world/world.h"

struct terrain_cache;

struct worlds {
    unsigned references;            /* atomic */
    struct worlds *base;            /* of a derived world: the held set it borrows from; or NULL */
    struct world_config *configs;   /* one per world, NULL if there is a base; */
    struct color_table *colors;     /* the same; one is untouched if an earlier one serves it */
    struct parameters *parameters;  /* the same */
    struct terrain_cache *terrains; /* of derived worlds; NULL if there is a base */
    struct price **prices;          /* one array per world, NULL if there is a base */
    uv_mutex_t lock;                /* of a set without base: for colors that are made */
    int capacity, count;
    struct world world[];
};

/* The worlds of CONFIG, with one reference. Returns 0, -EINVAL or -ENOMEM. */
int worlds_new(struct worlds **out, const struct config *config);

/*
 * A set of one: the configured world BASE with SEED instead of its own, named {name}:{seed}. Has
 * one reference and holds BASE's set. An event loop may make it: it takes 2 us and 1.4 KB,
 * whatever BASE's fields are. Returns 0 or -ENOMEM.
 */
int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed);

/* Drop a reference; the last one frees the set. NULL is allowed. */
void worlds_release(struct worlds *worlds);

/* Take, or drop, a reference to WORLD's set, to use WORLD beyond a reload. */
const struct world *world_hold(const struct world *world);
void world_release(const struct world *world);

/*
 * The terrain of WORLD, for values, into *OUT, until world_terrain_release. Costs nothing in a
 * configured world. That of another seed is compiled if it is none of those used lately: on render
 * threads and in commands, never on an event loop. A thread has one at a time, and releases it
 * before it returns to its queue, so that few exist. Returns 0 or -ENOMEM.
 */
int world_terrain_hold(const struct world *world, const struct farlands_terrain **out);
void world_terrain_release(const struct world *world, const struct farlands_terrain *terrain);

/* The world called NAME, or NULL. */
const struct world *worlds_find(const struct worlds *worlds, const char *name);

/* Make the colors of WORLD's climate, if it has one and they are missing: whoever paints a layer
 * that shows a climate calls this before. The first call for a world and those derived from it
 * takes some 5 ms, and 7 MB. Any thread. Returns 0 or -ENOMEM. */
int world_color_climate(const struct world *world);

#endif
