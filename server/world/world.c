#include "world.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "server/layers/layer.h"
#include "server/png/image_writer.h"

/* What fingerprints go by: not by names, nor by which other seeds there are; nor here by the seed.
 */
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
    const bool whole = !ferror(out);
    return fclose(out) || !whole ? -ENOMEM : 0;
}

/* Hash of the versions, the seed, and then the other PARAMETERS, which take most of the time to
 * write, so that worlds of other seeds borrow them. */
static int make_fingerprint(char out[FINGERPRINT_TEXT], uint64_t seed,
                            const struct parameters *parameters)
{
    static const int versions[] = {FARLANDS_GENERATOR, LAYERS_VERSION, IMAGE_WRITER_VERSION};
    static const char key[] = "seed";
    char text[64];
    XXH64_state_t *state = XXH64_createState();
    if (!state)
        return -ENOMEM;
    XXH64_reset(state, 0);
    int n = snprintf(text, sizeof text, "%d.%d.%d", versions[0], versions[1], versions[2]);
    XXH64_update(state, text, (size_t)n + 1);
    XXH64_update(state, key, sizeof key);
    n = snprintf(text, sizeof text, "%" PRIu64, seed);
    XXH64_update(state, text, (size_t)n + 1);
    XXH64_update(state, parameters->text, parameters->length);
    snprintf(out, FINGERPRINT_TEXT, "%016" PRIx64, (uint64_t)XXH64_digest(state));
    XXH64_freeState(state);
    return 0;
}

/* Room for COUNT worlds, with one reference, or NULL. */
static struct worlds *allocate(int count)
{
    struct worlds *worlds = calloc(1, sizeof *worlds + (size_t)count * sizeof worlds->world[0]);
    if (worlds)
        worlds->references = 1;
    return worlds;
}

/* The next world of WORLDS, which has room for it: of CONFIG, whose PARAMETERS these are, in all
 * but its style and family. */
static int add_world(struct worlds *worlds, const struct world_config *config,
                     const struct parameters *parameters)
{
    struct world *world = &worlds->world[worlds->count];
    int err = make_fingerprint(world->fingerprint, config->terrain.seed, parameters);
    if (!err)
        err = farlands_terrain_new(&world->terrain, &config->terrain);
    if (err)
        return err;
    world->among = worlds;
    world->config = *config;
    world->parameters = parameters;
    worlds->count++;
    return 0;
}

/* The next world, with what all of its family have. */
static int add_family(struct worlds *worlds, const struct world_config *config)
{
    struct world *world = &worlds->world[worlds->count];
    struct color_table *style = &worlds->styles[worlds->count];
    struct parameters *parameters = &worlds->parameters[worlds->count];
    float min, max;

    int err = write_parameters(parameters, config);
    if (!err)
        err = add_world(worlds, config, parameters);
    if (err)
        return err;
    farlands_terrain_range(world->terrain, &min, &max);
    color_table_make(style, config, min, max);
    world->style = style;
    return make_fingerprint(world->family, 0, parameters);
}

int worlds_new(struct worlds **out, const struct config *config)
{
    struct worlds *worlds = allocate(config->world_count);
    if (!worlds)
        return -ENOMEM;
    worlds->room = config->world_count;
    worlds->styles = calloc((size_t)config->world_count, sizeof *worlds->styles);
    worlds->parameters = calloc((size_t)config->world_count, sizeof *worlds->parameters);
    int err = worlds->styles && worlds->parameters ? 0 : -ENOMEM;
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
    assert(!base->among->base && length < WORLD_NAME_MAX);
    config.terrain.seed = seed;
    snprintf(config.name + length, sizeof config.name - length, ":%" PRIu64, seed);
    int err = add_world(worlds, &config, base->parameters);
    if (err) {
        worlds_release(worlds);
        return err;
    }
    /* Neither the palette nor the range of heights depends on the seed. */
    worlds->base = world_hold(base)->among;
    worlds->world->style = base->style;
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
        for (int i = 0; worlds->parameters && i < worlds->room; i++)
            free(worlds->parameters[i].text);
        free(worlds->parameters);
        free(worlds->styles);
        free(worlds);
        worlds = base;
    }
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
