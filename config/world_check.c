#include "world_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "exact_numbers.h"
#include "world_options.h"

/* The value of the dotted KEY below NODE, or the nearest section above it: the line of a message.
 */
static const struct yaml_node *find_nearest(const struct yaml_node *node, const char *key)
{
    for (;;) {
        const size_t length = strcspn(key, ".");
        const struct yaml_node *found = yaml_reader_find(node, key, length);
        if (!found)
            return node;
        if (!key[length])
            return found;
        node = found;
        key += length + 1;
    }
}

static bool reserved(const char *name)
{
    /* the first segments of the server's own URLs */
    return strcmp(name, "viewer") == 0 || strcmp(name, "healthz") == 0 ||
           strcmp(name, "readyz") == 0 || strcmp(name, "metrics") == 0 ||
           strcmp(name, "worlds") == 0;
}

/* The key in the file that sets the parameter KEY of a terrain. */
static struct key_path parameter_path(const char *key)
{
    struct key_path path;
    const bool own = strcmp(key, "elevation") == 0 || strncmp(key, "volume.", 7) == 0;
    if (strcmp(key, "period") == 0)
        key = "wrap";
    else if (!own)
        return key_path_join(&(struct key_path){"noise"}, key, strlen(key));
    snprintf(path.text, sizeof path.text, "%s", key);
    return path;
}

/* The wavelength that does not divide WORLD's period, and its UNITS; or NULL. */
static const char *unfit_wavelength(const struct world_config *world, char text[64], int64_t *units)
{
    const struct farlands_params *terrain = &world->terrain;
    const int octaves = terrain->fractal == FARLANDS_NONE ? 1 : terrain->octaves;
    for (int k = 0; k < octaves; k++) {
        *units = params_wavelength(terrain, k);
        if (terrain->period % *units == 0)
            continue;
        snprintf(text, 64, "the wavelength of octave %d", k + 1);
        return text;
    }
    *units = terrain->warp.wavelength;
    return terrain->warp.amplitude > 0 && terrain->period % *units ? "the warp's wavelength" : NULL;
}

/* Check the terrain by params_fault, with the keys and units of the file. */
static int check_terrain(struct yaml_reader *reader, const struct yaml_node *node,
                         const struct key_path *path, const struct world_config *world)
{
    const char *key, *fault = params_fault(&world->terrain, &key);
    if (!fault)
        return 0;
    const struct key_path inner = parameter_path(key);
    const struct key_path at = key_path_join(path, inner.text, strlen(inner.text));
    const struct yaml_node *value = find_nearest(node, inner.text);
    char text[64], window[BLOCKS_TEXT], blocks[BLOCKS_TEXT];
    int64_t units;
    const char *unfit = NULL;
    if (strcmp(key, "period") == 0 && world->terrain.basis != FARLANDS_SIMPLEX)
        unfit = unfit_wavelength(world, text, &units);
    if (!unfit)
        return yaml_reader_fail(reader, value, &at, "invalid value; %s", fault);
    return yaml_reader_fail(reader, value, &at,
                            "%s is %s blocks, which does not divide the window of %s blocks (256 * "
                            "2^native_zoom); expected wavelengths that divide it",
                            unfit, blocks_format(units, blocks),
                            blocks_format(world->terrain.period, window));
}

/* The index of the first height that LAYER cannot encode, or -1. */
static int unfit_knot(const struct world_config *world, const struct config_layer *layer)
{
    if (layer->lowest == 0 && layer->highest == 0)
        return -1;
    for (int i = 0; i < world->terrain.knots; i++) {
        const float metres = world->terrain.elevation[i].metres;
        if (metres < layer->lowest || metres > layer->highest)
            return i;
    }
    return -1;
}

/* Item I of the list KEY below NODE, or the list, or NODE if the file lacks them; extends *PATH. */
static const struct yaml_node *find_item(const struct yaml_node *node, struct key_path *path,
                                         const char *key, int i)
{
    const struct yaml_node *list = yaml_reader_find(node, key, strlen(key));
    *path = key_path_join(path, key, strlen(key));
    if (!list || i < 0 || i >= yaml_reader_length(list))
        return list ? list : node;
    *path = key_path_index(path, i);
    return yaml_reader_item(list, i);
}

/* The index of NAME in the list `layers` below NODE, or -1. */
static int listed_at(const struct yaml_node *node, const char *name)
{
    const struct yaml_node *list = yaml_reader_find(node, "layers", 6);
    for (int i = 0; list && i < yaml_reader_length(list); i++)
        if (yaml_reader_is(yaml_reader_item(list, i), name))
            return i;
    return -1;
}

/* Check that each layer can encode the heights: others would wrap around. */
static int check_layers(struct yaml_reader *reader, const struct yaml_node *node,
                        const struct key_path *path, const struct world_config *world)
{
    for (int i = 0; reader->layers && reader->layers[i].name; i++) {
        const struct config_layer *layer = &reader->layers[i];
        const int knot = world->layers >> i & 1 ? unfit_knot(world, layer) : -1;
        if (knot < 0)
            continue;
        /* The message names the layer if the file lists it, otherwise the height. */
        const int listed = listed_at(node, layer->name);
        struct key_path at = *path;
        const struct yaml_node *item = listed >= 0 ? find_item(node, &at, "layers", listed)
                                                   : find_item(node, &at, "elevation", knot);
        float min = world->terrain.elevation[0].metres, max = min;
        for (int k = 1; k < world->terrain.knots; k++) {
            min = fminf(min, world->terrain.elevation[k].metres);
            max = fmaxf(max, world->terrain.elevation[k].metres);
        }
        char lowest[REAL_TEXT], highest[REAL_TEXT], low[REAL_TEXT], high[REAL_TEXT];
        return yaml_reader_fail(
            reader, item, &at,
            "world \"%s\" has heights from %s to %s metres, which layer %s cannot hold; "
            "expected heights from %s to %s metres, or a list `layers:` without %s",
            world->name, float_format(min, low), float_format(max, high), layer->name,
            float_format(layer->lowest, lowest), float_format(layer->highest, highest),
            layer->name);
    }
    return 0;
}

int world_check(struct yaml_reader *reader, const struct yaml_node *node,
                const struct key_path *path, int index)
{
    const struct world_config *world = &reader->config->worlds[index];
    const struct key_path at = key_path_join(path, "name", 4);
    const struct yaml_node *name = yaml_reader_find(node, "name", 4);

    if (!name)
        return yaml_reader_fail(reader, node, &at, "missing; expected %s",
                                world_options[0].expected);
    if (reserved(world->name))
        return yaml_reader_fail(
            reader, name, &at,
            "\"%s\" is reserved for the server's own URLs; expected any other name", world->name);
    for (int i = 0; i < index; i++)
        if (strcmp(reader->config->worlds[i].name, world->name) == 0)
            return yaml_reader_fail(
                reader, name, &at, "\"%s\" is already the name of a world; expected each name once",
                world->name);
    int err = check_terrain(reader, node, path, world);
    return err ? err : check_layers(reader, node, path, world);
}
