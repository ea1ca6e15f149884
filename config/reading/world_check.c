#include "world_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "config/reading/fields_check.h"
#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"

static bool reserved(const char *name)
{
    /* the first segments of the server's own URLs */
    return strcmp(name, "viewer") == 0 || strcmp(name, "healthz") == 0 ||
           strcmp(name, "readyz") == 0 || strcmp(name, "metrics") == 0 ||
           strcmp(name, "worlds") == 0;
}

/* The key in a file for the terrain's parameter KEY. */
static struct key_path parameter_path(const char *key)
{
    struct key_path path;
    const bool own = strcmp(key, "elevation") == 0 || strncmp(key, "volume.", 7) == 0;
    if (strcmp(key, "period") == 0)
        key = "wrap";
    else if (!own)
        return key_path_key(&(struct key_path){"noise"}, key);
    snprintf(path.text, sizeof path.text, "%s", key);
    return path;
}

/* Check the terrain by params_fault; messages have a file's keys and units. */
static int check_terrain(struct node_reader *reader, const struct text_node *node,
                         const struct key_path *path, const struct world_config *world)
{
    const char *key, *fault = params_fault(&world->terrain, &key);
    if (!fault)
        return 0;
    const struct key_path inner = parameter_path(key);
    const struct key_path at = key_path_key(path, inner.text);
    const struct text_node *value = text_node_nearest(node, inner.text);
    char text[UNFIT_TEXT], window[BLOCKS_TEXT], blocks[BLOCKS_TEXT];
    int64_t units;
    const char *unfit = NULL;
    if (strcmp(key, "period") == 0 && world->terrain.basis != FARLANDS_SIMPLEX)
        unfit = unfit_wavelength(&world->terrain, text, &units);
    if (!unfit)
        return node_reader_fail(reader, value, &at, "invalid value; %s", fault);
    return node_reader_fail(reader, value, &at,
                            "%s is %s blocks, which does not divide the window of %s blocks (256 * "
                            "2^native_zoom); expected wavelengths that divide it",
                            unfit, blocks_format(units, blocks),
                            blocks_format(world->terrain.period, window));
}

/* The bounds of a world's heights. */
struct range {
    float lowest, highest; /* metres */
};

static bool layer_holds(const struct config_layer *layer, float metres)
{
    const bool limited = layer->lowest != 0 || layer->highest != 0;
    return !limited || (metres >= layer->lowest && metres <= layer->highest);
}

/* The index of the first knot with a height that LAYER cannot encode, or -1. */
static int unfit_knot(const struct world_config *world, const struct config_layer *layer)
{
    for (int i = 0; !world->fields && i < world->terrain.knots; i++)
        if (!layer_holds(layer, world->terrain.elevation[i].metres))
            return i;
    return -1;
}

static struct range range_of_knots(const struct world_config *world)
{
    const struct farlands_knot *knot = world->terrain.elevation;
    struct range range = {knot->metres, knot->metres};
    for (int i = 1; i < world->terrain.knots; i++) {
        range.lowest = fminf(range.lowest, knot[i].metres);
        range.highest = fmaxf(range.highest, knot[i].metres);
    }
    return range;
}

/* Item I of the list KEY below NODE; the list if there is no such item; NODE if there is no list.
 * Extends *PATH. */
static const struct text_node *find_item(const struct text_node *node, struct key_path *path,
                                         const char *key, int i)
{
    const struct text_node *list = text_node_find(node, key, strlen(key));
    *path = key_path_key(path, key);
    if (!list || i < 0 || i >= text_node_length(list))
        return list ? list : node;
    *path = key_path_index(path, i);
    return text_node_item(list, i);
}

/* NAME's index in the list `layers` below NODE, or -1. */
static int listed_at(const struct text_node *node, const char *name)
{
    const struct text_node *list = text_node_find(node, "layers", 6);
    for (int i = 0; list && i < text_node_length(list); i++)
        if (text_node_is(text_node_item(list, i), name))
            return i;
    return -1;
}

/* Where a message about LAYER points to: the layer if the file lists it, otherwise the height. */
static const struct text_node *find_unfit(const struct text_node *node, struct key_path *at,
                                          const struct world_config *world,
                                          const struct config_layer *layer)
{
    const int listed = listed_at(node, layer->name);
    if (listed >= 0)
        return find_item(node, at, "layers", listed);
    if (!world->fields)
        return find_item(node, at, "elevation", unfit_knot(world, layer));
    *at = key_path_key(at, "fields.height");
    return text_node_nearest(node, "fields.height");
}

static bool has_biomes(const struct world_fields *fields)
{
    const int biome = fields ? world_fields_find(fields, "biome", 5) : -1;
    return biome >= 0 && world_fields_biomes(fields, biome);
}

/* Check that the file lists no layer for biomes or rivers that WORLD does not have. */
static int check_shown(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct world_config *world)
{
    struct world_water water;
    const bool biomes = has_biomes(world->fields);
    const bool rivers = world_fields_water(&water, world->fields);
    for (int i = 0; reader->layers && reader->layers[i].name; i++) {
        const struct config_layer *layer = &reader->layers[i];
        const int listed = listed_at(node, layer->name);
        if (listed < 0 || ((biomes || !layer->biomes) && (rivers || !layer->rivers)))
            continue;
        struct key_path at = *path;
        const struct text_node *item = find_item(node, &at, "layers", listed);
        return node_reader_fail(
            reader, item, &at,
            "world \"%s\" has no %s; expected %s, or a list `layers:` without %s", world->name,
            layer->biomes ? "biomes to show" : "rivers to show",
            layer->biomes
                ? "a field \"biome\" that is a node biome"
                : "fields \"water\", \"river\" and \"bank\" that are nodes of these names",
            layer->name);
    }
    return 0;
}

/* Check that each layer can encode the heights, since values must not wrap around. */
static int check_layers(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct world_config *world,
                        struct range range)
{
    for (int i = 0; reader->layers && reader->layers[i].name; i++) {
        const struct config_layer *layer = &reader->layers[i];
        if (!(world->layers >> i & 1) ||
            (layer_holds(layer, range.lowest) && layer_holds(layer, range.highest)))
            continue;
        struct key_path at = *path;
        const struct text_node *item = find_unfit(node, &at, world, layer);
        char lowest[REAL_TEXT], highest[REAL_TEXT], low[REAL_TEXT], high[REAL_TEXT];
        return node_reader_fail(
            reader, item, &at,
            "world \"%s\" has heights from %s to %s metres, which layer %s cannot hold; "
            "expected heights from %s to %s metres, or a list `layers:` without %s",
            world->name, float_format(range.lowest, low), float_format(range.highest, high),
            layer->name, float_format(layer->lowest, lowest), float_format(layer->highest, highest),
            layer->name);
    }
    return 0;
}

/* Check that there are either fields or `noise` and `elevation`. */
static int check_forms(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path)
{
    static const char *const keys[] = {"noise", "elevation"};
    for (int i = 0; i < 2; i++) {
        const struct text_node *value = text_node_find(node, keys[i], strlen(keys[i]));
        const struct key_path at = key_path_key(path, keys[i]);
        if (value)
            return node_reader_fail(reader, value, &at,
                                    "this world has `fields`, too; expected either `fields`, or "
                                    "`noise` and `elevation`");
    }
    return 0;
}

static int check_heights(struct node_reader *reader, const struct text_node *node,
                         const struct key_path *path, const struct world_config *world,
                         struct range *range)
{
    const struct key_path at = key_path_key(path, "fields");
    *range = range_of_knots(world);
    if (!world->fields)
        return 0;
    int err = check_forms(reader, node, path);
    return err ? err
               : fields_check(reader, text_node_nearest(node, "fields"), &at, world, &range->lowest,
                              &range->highest);
}

int world_check(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, int index)
{
    const struct world_config *world = &reader->worlds->world[index];
    const struct key_path at = key_path_key(path, "name");
    const struct text_node *given = text_node_find(node, "name", 4), *name = given ? given : node;

    if (!world->name[0])
        return node_reader_fail(reader, node, &at, "missing; expected %s",
                                world_options[0].expected);
    if (reserved(world->name))
        return node_reader_fail(
            reader, name, &at,
            "\"%s\" is reserved for the server's own URLs; expected any other name", world->name);
    for (int i = 0; i < index; i++)
        if (strcmp(reader->worlds->world[i].name, world->name) == 0)
            return node_reader_fail(
                reader, name, &at, "\"%s\" is already the name of a world; expected each name once",
                world->name);
    struct range range;
    int err = check_terrain(reader, node, path, world);
    if (!err)
        err = check_shown(reader, node, path, world);
    if (!err)
        err = check_heights(reader, node, path, world, &range);
    return err ? err : check_layers(reader, node, path, world, range);
}
