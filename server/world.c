#include "world.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "server/layers/layer.h"
#include "server/png_writer.h"

static void hash_parameter(void *context, const char *key, const char *value, int quoted)
{
    XXH64_state_t *state = context;
    (void)quoted;
    if (strcmp(key, "name") == 0 || strcmp(key, "seeds") == 0)
        return;
    XXH64_update(state, key, strlen(key) + 1);
    XXH64_update(state, value, strlen(value) + 1);
}

static void make_fingerprint(struct world *world)
{
    static const int versions[] = {FARLANDS_GENERATOR, LAYERS_VERSION, PNG_WRITER_VERSION};
    char text[64];
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        abort(); /* under a hundred bytes, at start */
    XXH64_reset(state, 0);
    int n = snprintf(text, sizeof text, "%d.%d.%d", versions[0], versions[1], versions[2]);
    XXH64_update(state, text, (size_t)n + 1);
    config_world_visit(&world->config, hash_parameter, state);
    snprintf(world->fingerprint, sizeof world->fingerprint, "%016" PRIx64,
             (uint64_t)XXH64_digest(state));
    XXH64_freeState(state);
}

int worlds_new(struct worlds **out, const struct config *config)
{
    size_t count = (size_t)config->world_count;
    struct worlds *worlds = calloc(1, sizeof *worlds + count * sizeof worlds->world[0]);
    if (!worlds)
        return -ENOMEM;
    worlds->references = 1;
    for (int i = 0; i < config->world_count; i++) {
        struct world *world = &worlds->world[i];
        float min, max;
        world->among = worlds;
        world->config = config->worlds[i];
        int err = farlands_terrain_new(&world->terrain, &world->config.terrain);
        if (err) {
            worlds_release(worlds);
            return err;
        }
        worlds->count++;
        farlands_terrain_range(world->terrain, &min, &max);
        style_make(&world->style, &world->config, min, max);
        make_fingerprint(world);
    }
    *out = worlds;
    return 0;
}

void worlds_release(struct worlds *worlds)
{
    if (!worlds || __atomic_sub_fetch(&worlds->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    for (int i = 0; i < worlds->count; i++)
        farlands_terrain_free(worlds->world[i].terrain);
    free(worlds);
}

const struct world *world_hold(const struct world *world)
{
    __atomic_fetch_add(&world->among->references, 1, __ATOMIC_RELAXED);
    return world;
}

void world_release(const struct world *world)
{
    worlds_release(world->among);
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
