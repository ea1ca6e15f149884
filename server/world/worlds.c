#include "worlds.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/world/world_terrain.h"
#include "noise/terrain/price.h"
#include "server/core/decimal.h"
#include "server/layers/climate_colors.h"
#include "server/world/terrain_cache.h"

static struct worlds *allocate(int capacity)
{
    struct worlds *worlds = calloc(1, sizeof *worlds + (size_t)capacity * sizeof *worlds->world);
    if (worlds) {
        worlds->references = 1;
    }
    return worlds;
}

static void find_climate(struct climate *climate, const struct world_fields *fields)
{
    climate->temperature = world_fields_find(fields, "temperature", 11);
    climate->humidity = world_fields_find(fields, "humidity", 8);
    climate->canopy = world_fields_find(fields, "canopy", 6);
    climate->biome = world_fields_find(fields, "biome", 5);
    if (climate->biome >= 0)
        climate->table = world_fields_biomes(fields, climate->biome);
}

/* Add CONFIG's world without its colors. The set owns CONFIG. */
static int add_world(struct worlds *worlds, const struct world_config *config,
                     const struct parameters *parameters, const struct webp_config *webp)
{
    struct world *world = &worlds->world[worlds->count];
    int err = world_config_terrain(&world->base_terrain, config);
    if (err)
        return err;
    world->set = worlds;
    world->config = config;
    world->seed = config->terrain.seed;
    memcpy(world->name, config->name, sizeof world->name);
    world_fields_hold(config->fields);
    if (config->fields)
        find_climate(&world->climate, config->fields);
    if (!world_fields_water(&world->water, config->fields))
        world->water.rivers = NULL;
    world->parameters = parameters;
    world->webp = *webp;
    fingerprints_make(&world->fingerprints, config, parameters, world->seed, webp);
    worlds->count++;
    return 0;
}

/* True if A and B give the same colors to heights and biomes, provided their ranges are equal. */
static bool is_painted_like(const struct world_config *a, const struct world_config *b)
{
    return a->fields == b->fields && a->stops == b->stops &&
           memcmp(a->palette, b->palette, (size_t)a->stops * sizeof *a->palette) == 0;
}

/* The last world's color table: an earlier world's if that is equal, or its own. */
static struct color_table *find_colors(struct worlds *worlds)
{
    const int last = worlds->count - 1;
    const struct world *world = &worlds->world[last];
    float min, max;

    terrain_range(world->base_terrain, &min, &max);
    max = color_table_end(min, max);
    for (int i = 0; i < last; i++) {
        struct color_table *colors = worlds->world[i].colors;
        if (is_painted_like(worlds->world[i].config, world->config) && colors->min == min &&
            colors->max == max)
            return colors;
    }
    color_table_make(&worlds->colors[last], world->config, min, max);
    return &worlds->colors[last];
}

/* Find the prices of WORLD, WORLDS' last. Worlds made by `like` share the other's fields, and so
 * its prices. */
static int add_prices(struct worlds *worlds, struct world *world)
{
    for (const struct world *other = worlds->world; other < world && !world->prices; other++)
        if (other->config->fields && other->config->fields == world->config->fields)
            world->prices = other->prices;
    if (!world->prices)
        world->prices = worlds->prices[worlds->count - 1] = prices_new(world->base_terrain);
    return world->prices ? 0 : -ENOMEM;
}

/* Add CONFIG's world, with everything that derived worlds share. */
static int add_family(struct worlds *worlds, const struct world_config *config,
                      const struct webp_config *webp)
{
    struct world *world = &worlds->world[worlds->count];
    struct parameters *parameters = &worlds->parameters[worlds->count];
    struct world_config *own = &worlds->configs[worlds->count];

    *own = *config;
    parameters_make(parameters, config, webp);
    int err = add_world(worlds, own, parameters, webp);
    if (err)
        return err;
    err = add_prices(worlds, world);
    if (err)
        return err;
    world->colors = find_colors(worlds);
    return 0;
}

int worlds_new(struct worlds **out, const struct config *config)
{
    const size_t count = (size_t)config->world_count;
    struct worlds *worlds = allocate(config->world_count);
    if (!worlds)
        return -ENOMEM;
    int err = uv_mutex_init(&worlds->lock);
    if (err) {
        free(worlds);
        return err;
    }
    worlds->configs = calloc(count, sizeof *worlds->configs);
    worlds->colors = calloc(count, sizeof *worlds->colors);
    worlds->parameters = calloc(count, sizeof *worlds->parameters);
    worlds->prices = calloc(count, sizeof(struct price *));
    err = worlds->configs && worlds->colors && worlds->parameters && worlds->prices
              ? terrain_cache_new(&worlds->terrains)
              : -ENOMEM;
    for (int i = 0; i < config->world_count && !err; i++)
        err = add_family(worlds, &config->worlds[i], &config->webp);
    if (err) {
        worlds_release(worlds);
        return err;
    }
    *out = worlds;
    return 0;
}

int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed)
{
    struct worlds *worlds = allocate(1);
    if (!worlds)
        return -ENOMEM;
    struct world *world = worlds->world;
    assert(!base->set->base && strlen(base->name) < WORLD_NAME_MAX);
    *world = *base;
    world->set = worlds;
    world->seed = seed;
    char *end = world->name + strlen(world->name);
    *end++ = ':';
    *decimal_put(end, seed) = '\0';
    fingerprints_make(&world->fingerprints, world->config, world->parameters, seed, &world->webp);
    worlds->count = 1;
    worlds->base = world_hold(base)->set;
    *out = worlds;
    return 0;
}

/* The configured set of WORLD, or if WORLD is derived, the base's. */
static struct worlds *base_of(const struct world *world)
{
    return world->set->base ? world->set->base : world->set;
}

int world_terrain_hold(const struct world *world, const struct farlands_terrain **out)
{
    if (world->seed != world->config->terrain.seed)
        return terrain_cache_hold(base_of(world)->terrains, world->config, world->seed, out);
    *out = world->base_terrain;
    return 0;
}

void world_terrain_release(const struct world *world, const struct farlands_terrain *terrain)
{
    if (terrain != world->base_terrain)
        terrain_cache_release(base_of(world)->terrains, terrain);
}

int world_color_climate(const struct world *world)
{
    struct worlds *base = base_of(world);
    struct climate_colors **climate = &world->colors->climate;
    if (!world->climate.table || __atomic_load_n(climate, __ATOMIC_ACQUIRE))
        return 0;
    uv_mutex_lock(&base->lock);
    if (!*climate)
        __atomic_store_n(climate, climate_colors_new(world->climate.table, world->colors),
                         __ATOMIC_RELEASE);
    const int err = *climate ? 0 : -ENOMEM;
    uv_mutex_unlock(&base->lock);
    return err;
}

static void free_world(struct world *world)
{
    terrain_free(world->base_terrain);
    world_fields_release(world->config->fields);
}

void worlds_release(struct worlds *worlds)
{
    while (worlds && __atomic_sub_fetch(&worlds->references, 1, __ATOMIC_ACQ_REL) == 0) {
        struct worlds *base = worlds->base;
        for (int i = 0; !base && i < worlds->count; i++)
            free_world(&worlds->world[i]);
        terrain_cache_free(worlds->terrains);
        free(worlds->configs);
        free(worlds->parameters);
        for (int i = 0; worlds->colors && i < worlds->count; i++)
            free(worlds->colors[i].climate);
        free(worlds->colors);
        for (int i = 0; worlds->prices && i < worlds->count; i++)
            free(worlds->prices[i]);
        free((void *)worlds->prices);
        if (!base)
            uv_mutex_destroy(&worlds->lock);
        free(worlds);
        worlds = base;
    }
}

const struct world *world_hold(const struct world *world)
{
    __atomic_fetch_add(&world->set->references, 1, __ATOMIC_RELAXED);
    return world;
}

void world_release(const struct world *world)
{
    worlds_release(world->set);
}

const struct world *worlds_find(const struct worlds *worlds, const char *name)
{
    for (int i = 0; i < worlds->count; i++)
        if (strcmp(worlds->world[i].name, name) == 0)
            return &worlds->world[i];
    return NULL;
}
