#include "world.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "server/layers/layer.h"
#include "server/png/image_version.h"
#include "server/world/cost_rates.h"

/* Names and seeds are no parameters: they are not part of, or are hashed apart from, the rest. */
static void write_parameter(void *context, const char *key, const char *value, int quoted)
{
    FILE *out = context;
    (void)quoted;
    if (strcmp(key, "name") == 0 || strcmp(key, "seed") == 0 || strcmp(key, "seeds") == 0)
        return;
    fwrite(key, 1, strlen(key) + 1, out);
    fwrite(value, 1, strlen(value) + 1, out);
}

static int write_parameters(struct parameters *parameters, const struct world_config *config)
{
    FILE *out = open_memstream(&parameters->text, &parameters->length);
    if (!out)
        return -ENOMEM;
    config_world_visit(config, write_parameter, out);
    const bool failed = ferror(out);
    return fclose(out) || failed ? -ENOMEM : 0;
}

/* Hash the versions, the seed, and the PARAMETERS. These take longest to write, so that derived
 * worlds share their base's. */
static int make_fingerprint(char out[FINGERPRINT_TEXT], uint64_t seed,
                            const struct parameters *parameters)
{
    char head[64];
    const int length = snprintf(head, sizeof head, "%d.%d.%d%cseed%c%" PRIu64 "%c",
                                FARLANDS_GENERATOR, LAYERS_VERSION, IMAGE_VERSION, 0, 0, seed, 0);
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return -ENOMEM;
    XXH64_reset(state, 0);
    XXH64_update(state, head, (size_t)length);
    XXH64_update(state, parameters->text, parameters->length);
    snprintf(out, FINGERPRINT_TEXT, "%016" PRIx64, (uint64_t)XXH64_digest(state));
    XXH64_freeState(state);
    return 0;
}

static struct worlds *allocate(int capacity)
{
    struct worlds *worlds = calloc(1, sizeof *worlds + (size_t)capacity * sizeof *worlds->world);
    if (worlds) {
        worlds->references = 1;
        worlds->capacity = capacity;
    }
    return worlds;
}

/* Add the world of CONFIG, without its colors and family. */
static int add_world(struct worlds *worlds, const struct world_config *config,
                     const struct parameters *parameters)
{
    struct world *world = &worlds->world[worlds->count];
    int err = make_fingerprint(world->fingerprint, config->terrain.seed, parameters);
    if (!err)
        err = farlands_terrain_new(&world->terrain, &config->terrain);
    if (err)
        return err;
    world->set = worlds;
    world->config = *config;
    world->parameters = parameters;
    worlds->count++;
    return 0;
}

/* Add the configured world of CONFIG, with what worlds derived from it share. */
static int add_family(struct worlds *worlds, const struct world_config *config)
{
    struct world *world = &worlds->world[worlds->count];
    struct color_table *colors = &worlds->colors[worlds->count];
    struct parameters *parameters = &worlds->parameters[worlds->count];
    float min, max;

    int err = write_parameters(parameters, config);
    if (!err)
        err = add_world(worlds, config, parameters);
    if (err)
        return err;
    world->rates = cost_table_add(worlds->costs, &config->terrain);
    if (!world->rates)
        return -ENOMEM;
    farlands_terrain_range(world->terrain, &min, &max);
    color_table_make(colors, config, min, max);
    world->colors = colors;
    return make_fingerprint(world->family, 0, parameters);
}

int worlds_new(struct worlds **out, const struct config *config, const struct worlds *previous)
{
    const size_t count = (size_t)config->world_count;
    struct worlds *worlds = allocate(config->world_count);
    if (!worlds)
        return -ENOMEM;
    worlds->colors = calloc(count, sizeof *worlds->colors);
    worlds->parameters = calloc(count, sizeof *worlds->parameters);
    int err = worlds->colors && worlds->parameters ? 0 : -ENOMEM;
    if (!err)
        err = cost_table_new(&worlds->costs, previous ? previous->costs : NULL);
    for (int i = 0; i < config->world_count && !err; i++)
        err = add_family(worlds, &config->worlds[i]);
    if (err) {
        worlds_release(worlds);
        return err;
    }
    *out = worlds;
    return 0;
}

int worlds_derive(struct worlds **out, const struct world *base, uint64_t seed)
{
    struct world_config config = base->config;
    struct worlds *worlds = allocate(1);
    if (!worlds)
        return -ENOMEM;
    const size_t length = strlen(config.name);
    assert(!base->set->base && length < WORLD_NAME_MAX);
    config.terrain.seed = seed;
    snprintf(config.name + length, sizeof config.name - length, ":%" PRIu64, seed);
    int err = add_world(worlds, &config, base->parameters);
    if (err) {
        worlds_release(worlds);
        return err;
    }
    /* Neither the palette nor the range of heights, nor their cost, depends on the seed. */
    worlds->base = world_hold(base)->set;
    worlds->world->colors = base->colors;
    worlds->world->rates = base->rates;
    memcpy(worlds->world->family, base->family, FINGERPRINT_TEXT);
    *out = worlds;
    return 0;
}

void worlds_release(struct worlds *worlds)
{
    while (worlds && __atomic_sub_fetch(&worlds->references, 1, __ATOMIC_ACQ_REL) == 0) {
        struct worlds *base = worlds->base;
        for (int i = 0; i < worlds->count; i++)
            farlands_terrain_free(worlds->world[i].terrain);
        for (int i = 0; worlds->parameters && i < worlds->capacity; i++)
            free(worlds->parameters[i].text);
        free(worlds->parameters);
        free(worlds->colors);
        cost_table_free(worlds->costs);
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
        if (strcmp(worlds->world[i].config.name, name) == 0)
            return &worlds->world[i];
    return NULL;
}

bool world_serves(const struct world *world, int layer)
{
    return world->config.layers >> layer & 1;
}

/* Samples are 2^(native_zoom - zoom) blocks apart: from 2^42 blocks down to one unit. */
int world_min_zoom(const struct world *world)
{
    return world->config.native_zoom - 42;
}

int world_max_zoom(const struct world *world, int scale)
{
    return world->config.native_zoom + FARLANDS_UNIT_BITS - (scale == 2);
}

int world_first_zoom(const struct world *world)
{
    const double cell = 1024, blocks = (double)world->config.terrain.wavelength / FARLANDS_UNIT;
    const int zoom = world->config.native_zoom + (int)lround(log2(cell / blocks));
    const int least = world_min_zoom(world), most = world_max_zoom(world, 1);

    return zoom < least ? least : zoom > most ? most : zoom;
}
