/*
 * Configuration files of random bytes. An error names file and line and is one printable line. A
 * valid configuration is within every bound of config.h, and its worlds can be created and have
 * finite heights in their range.
 */
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "server/layers/layer.h"
#include "server/world/worlds.h"
#include "tests/fuzz/fuzz.h"

enum {
    BYTES_MAX = 4096,       /* larger inputs reach nothing new */
    WORLDS_CREATED_MAX = 4, /* more worlds reach nothing new */
};

static const char *file(int *fd)
{
    static char path[32];
    static int opened = -1;
    if (opened < 0) {
        opened = memfd_create("config", 0);
        must(opened >= 0, "memfd_create");
        snprintf(path, sizeof path, "/proc/self/fd/%d", opened);
    }
    *fd = opened;
    return path;
}

static void check_error(int err, const char *path, const char *text, size_t capacity)
{
    must(err < 0, "%d", err);
    must(memchr(text, '\0', capacity), "not terminated");
    must(strncmp(text, path, strlen(path)) == 0 && text[strlen(path)] == ':', "%s", text);
    const char *line = text + strlen(path) + 1;
    const size_t digits = strspn(line, "0123456789");
    must(digits > 0 && line[0] != '0' && strncmp(line + digits, ": ", 2) == 0, "%s", text);
    must(line[digits + 2], "%s", text);
    for (const char *c = text; *c; c++)
        must((unsigned char)*c >= 32 && *c != 127, "%s", text);
}

static void on_parameter(void *context, const struct world_key *key)
{
    int *count = context;
    must(is_printable(key->name) && *key->name, "%s", key->name);
    if (strcmp(key->name, "fields") == 0) /* which have units in any language */
        for (const char *c = key->value; *c; c++)
            must((unsigned char)*c >= 32 && *c != 127, "%s", key->value);
    else
        must(is_printable(key->value), "%s: %s", key->name, key->value);
    must(key->quoted || *key->value, "%s", key->name);
    ++*count;
}

static void check_world(const struct world_config *world)
{
    const struct farlands_params *terrain = &world->terrain;
    int parameters = 0;
    config_world_visit(world, on_parameter, &parameters);
    must(parameters > 10 || world->fields, "%d", parameters);
    must(memchr(world->name, '\0', sizeof world->name) && world->name[0], "no name");
    must(strlen(world->name) < WORLD_NAME_MAX, "%s", world->name);
    must(world->seeds == SEEDS_FIXED || world->seeds == SEEDS_ANY, "%d", (int)world->seeds);
    must(world->native_zoom >= 0 && world->native_zoom <= 32, "%d", world->native_zoom);
    must(world->stops >= 2 && world->stops <= PALETTE_MAX, "%d", world->stops);
    must(terrain->knots >= 2 && terrain->knots <= FARLANDS_MAX_KNOTS, "%d", terrain->knots);
    must(terrain->octaves >= 1 && terrain->octaves <= FARLANDS_MAX_OCTAVES, "%d", terrain->octaves);
    must(!params_fault(terrain, NULL), "%s", params_fault(terrain, NULL));
    must(world->layers, "no layers");
}

/* Each layer that a world serves can hold its heights. */
static void check_layers(const struct world *world, const struct config_layer *known)
{
    float low, high;
    terrain_range(world->base_terrain, &low, &high);
    for (int i = 0; known[i].name; i++) {
        const struct config_layer *layer = &known[i];
        if (world_serves(world, i) && (layer->lowest != 0 || layer->highest != 0))
            must(low >= layer->lowest && high <= layer->highest, "%s cannot hold %g to %g",
                 layer->name, (double)low, (double)high);
    }
}

static void check_worlds(const struct config *config, const struct config_layer *known)
{
    struct worlds *worlds;
    must(worlds_new(&worlds, config) == 0, "accepted, but cannot be created");
    for (int i = 0; i < worlds->count; i++) {
        const struct world *world = &worlds->world[i];
        const int64_t *origin = world->config->origin;
        check_layers(world, known);
        const float height = terrain_height(world->base_terrain, origin[0], origin[1]);
        must(isfinite(height) && isfinite(world->colors->min) && isfinite(world->colors->max),
             "%s: %g", world->name, (double)height);
        must(height >= world->colors->min && height <= world->colors->max, "%s: %g not in %g to %g",
             world->name, (double)height, (double)world->colors->min, (double)world->colors->max);
    }
    worlds_release(worlds);
}

static void check_config(const struct config *config, const struct config_layer *known)
{
    must(config->world_count >= 1 && config->world_count <= WORLDS_MAX, "%d", config->world_count);
    must(memchr(config->listen, '\0', sizeof config->listen), "not terminated");
    must(memchr(config->cache.path, '\0', sizeof config->cache.path), "not terminated");
    must(config->site.proxies.count >= 0 && config->site.proxies.count <= NETWORKS_MAX, "%d",
         config->site.proxies.count);
    must(config->threads <= 256 && config->shards <= 64, "%u, %u", config->threads, config->shards);
    for (int i = 0; i < config->world_count; i++)
        check_world(&config->worlds[i]);
    if (config->world_count <= WORLDS_CREATED_MAX)
        check_worlds(config, known);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct config_layer known[CONFIG_LAYERS_MAX + 1];
    struct config_error error;
    struct config *config = NULL;
    int fd;
    const char *path = file(&fd);

    if (size > BYTES_MAX)
        return 0;
    must(ftruncate(fd, 0) == 0 && pwrite(fd, bytes, size, 0) == (ssize_t)size,
         "cannot write the file");
    layers_known(known);
    memset(&error, '!', sizeof error);
    const int err = config_load(&config, path, known, &error);
    if (err)
        check_error(err, path, error.text, sizeof error.text);
    else
        check_config(config, known);
    config_free(config);
    return 0;
}
