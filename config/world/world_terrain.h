/* The terrain of a configured world. */
#ifndef FARLANDS_CONFIG_WORLD_TERRAIN_H
#define FARLANDS_CONFIG_WORLD_TERRAIN_H

#include "config/world/world_config.h"
#include "noise/terrain/terrain.h"

/* The generator of worlds with `fields`; that of others is FARLANDS_GENERATOR. */
#define WORLD_FIELDS_GENERATOR 3

static inline int world_config_generator(const struct world_config *world)
{
    return world->fields ? WORLD_FIELDS_GENERATOR : FARLANDS_GENERATOR;
}

/* Make the terrain of WORLD, which is valid: of its fields, or of its noise. The caller frees it.
 * Returns 0, -EINVAL (terrain_kernel_fault) or -ENOMEM. */
int world_config_terrain(struct farlands_terrain **out, const struct world_config *world);

/* The same of WORLD with SEED instead of its own. */
int world_config_terrain_of_seed(struct farlands_terrain **out, const struct world_config *world,
                                 uint64_t seed);

#endif
