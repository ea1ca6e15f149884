/* A configured world's terrain. */
#ifndef FARLANDS_CONFIG_WORLD_TERRAIN_H
#define FARLANDS_CONFIG_WORLD_TERRAIN_H

#include "config/world/world_config.h"
#include "noise/terrain/terrain.h"

/* The generator for worlds with `fields`; other worlds have FARLANDS_GENERATOR. */
#define WORLD_FIELDS_GENERATOR 3

static inline int world_config_generator(const struct world_config *world)
{
    return world->fields ? WORLD_FIELDS_GENERATOR : FARLANDS_GENERATOR;
}

/* Make a terrain from WORLD, which must be valid: from its fields or its noise. The caller frees
 * *OUT. Returns 0, -EINVAL (terrain_kernel_fault) or -ENOMEM. */
int world_config_terrain(struct farlands_terrain **out, const struct world_config *world);

/* The same with SEED in place of WORLD's own. */
int world_config_terrain_of_seed(struct farlands_terrain **out, const struct world_config *world,
                                 uint64_t seed);

#endif
