#include "mapping.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/reading/biomes_read.h"
#include "config/reading/expression_read.h"
#include "config/reading/fields_read.h"
#include "config/reading/world_check.h"
#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"
#include "noise/graph/curve.h"

static int read_scalar(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option, void *base)
{
    size_t length;
    const char *text = text_node_text(node, &length);
    if (!text || option_parse(option, text, length, base))
        return node_reader_refuse(reader, node, path, option);
    return 0;
}

static int read_origin(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option, void *base)
{
    struct option axis = *option;
    axis.kind = OPTION_BLOCKS;
    int err = text_node_length(node) == 2 ? 0 : node_reader_refuse(reader, node, path, option);
    for (int i = 0; i < 2 && !err; i++, axis.offset += sizeof(int64_t))
        err = read_scalar(reader, text_node_item(node, i), path, &axis, base);
    return err;
}

/* Numbers in pairs. */
static const struct option noise_number = {
    "", OPTION_REAL, 0, -1000, 1000, .expected = "noise from -1000 to 1000"};
static const struct option metres_number = {
    "", OPTION_REAL, 0, -1e6, 1e6, .expected = "metres from -1000000 to 1000000"};

/* Check that NODE is a pair, and read *FIRST as NUMBER says. */
static int read_pair(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, const struct option *option,
                     const struct option *number, double *first)
{
    if (text_node_length(node) != 2)
        return node_reader_refuse(reader, node, path, option);
    return read_scalar(reader, text_node_item(node, 0), path, number, first);
}

static int refuse_order(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct option *option, float last,
                        float next)
{
    char after[REAL_TEXT], before[REAL_TEXT];
    return node_reader_fail(reader, node, path, "%s follows %s; expected %s",
                            float_format(next, after), float_format(last, before),
                            option->expected);
}

/* Read pairs: a NUMBER, ascending from pair to pair, and a RESULT. */
static int read_knots(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const struct option *option,
                      const struct option *number, const struct option *result,
                      struct farlands_knot *knots, int *knots_count)
{
    int count = text_node_length(node);
    if (count < 2 || count > FARLANDS_MAX_KNOTS)
        return node_reader_refuse(reader, node, path, option);
    *knots_count = count;
    for (int i = 0; i < count; i++) {
        const struct text_node *item = text_node_item(node, i);
        struct key_path at = key_path_index(path, i);
        struct farlands_knot *knot = &knots[i];
        double first = 0, second = 0;
        int err = read_pair(reader, item, &at, option, number, &first);
        if (!err)
            err = read_scalar(reader, text_node_item(item, 1), &at, result, &second);
        if (err)
            return err;
        *knot = (struct farlands_knot){(float)first, (float)second};
        if (i > 0 && !(knot[-1].noise < knot->noise))
            return refuse_order(reader, item, &at, option, knot[-1].noise, knot->noise);
    }
    return 0;
}

static int read_elevation(struct node_reader *reader, const struct text_node *node,
                          const struct key_path *path, const struct option *option,
                          struct farlands_params *params)
{
    return read_knots(reader, node, path, option, &noise_number, &metres_number, params->elevation,
                      &params->knots);
}

static int read_curve(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const struct option *option,
                      struct curve_params *curve)
{
    static const struct option any = {"", OPTION_REAL, .min = -1e9, .max = 1e9};
    return read_knots(reader, node, path, option, &any, &any, curve->knot, &curve->knots);
}

static int read_palette(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct option *option,
                        struct world_config *world)
{
    static const struct option color = {"", OPTION_COLOR,
                                        .offset = offsetof(struct palette_stop, red)};
    int count = text_node_length(node);
    if (count < 2 || count > PALETTE_MAX)
        return node_reader_refuse(reader, node, path, option);
    world->stops = count;
    for (int i = 0; i < count; i++) {
        const struct text_node *item = text_node_item(node, i);
        struct key_path at = key_path_index(path, i);
        struct palette_stop *stop = &world->palette[i];
        double metres = 0;
        int err = read_pair(reader, item, &at, option, &metres_number, &metres);
        if (!err)
            err = read_scalar(reader, text_node_item(item, 1), &at, &color, stop);
        if (err)
            return err;
        stop->metres = (float)metres;
        if (i > 0 && stop[-1].metres > stop->metres)
            return refuse_order(reader, item, &at, option, stop[-1].metres, stop->metres);
    }
    return 0;
}

static int refuse_layer(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path)
{
    char expected[256] = "all, or a list of";
    size_t used = strlen(expected);
    for (const struct config_layer *l = reader->layers; l->name && used < sizeof expected; l++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s %s",
                                 l == reader->layers ? "" : ",", l->name);
    return node_reader_refuse(reader, node, path, &(struct option){.expected = expected});
}

/* The bit for the layer that NODE names, or 0. */
static uint32_t layer_bit(const struct node_reader *reader, const struct text_node *node)
{
    for (int i = 0; reader->layers[i].name; i++)
        if (text_node_is(node, reader->layers[i].name))
            return UINT32_C(1) << i;
    return 0;
}

static int read_layers(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, uint32_t *layers)
{
    int count = text_node_length(node);
    *layers = text_node_is(node, "all") ? UINT32_MAX : 0;
    if (!*layers && count < 1)
        return refuse_layer(reader, node, path);
    for (int i = 0; i < count; i++) {
        const struct text_node *item = text_node_item(node, i);
        const struct key_path at = key_path_index(path, i);
        const uint32_t bit = layer_bit(reader, item);
        if (!bit)
            return refuse_layer(reader, item, &at);
        if (*layers & bit)
            return node_reader_fail(reader, item, &at, "duplicate layer; expected once");
        *layers |= bit;
    }
    return 0;
}

static int read_list(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, const struct option *option, char *values)
{
    const int count = text_node_length(node), max = (int)option->max;
    if (count < 0 || count > max)
        return node_reader_refuse(reader, node, path, option);
    memcpy(values + (size_t)max * option->size, &count, sizeof count);
    for (int i = 0; i < count; i++) {
        const struct text_node *item = text_node_item(node, i);
        struct key_path at = key_path_index(path, i);
        size_t length;
        const char *text = text_node_text(item, &length);
        if (!text || option->parse(values + (size_t)i * option->size, text, length))
            return node_reader_refuse(reader, item, &at, option);
    }
    return 0;
}

static int read_worlds(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option);

static int read_value(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const struct option *option, void *base)
{
    void *value = (char *)base + option->offset;
    switch (option->kind) {
    case OPTION_SECTION:
        return mapping_read(reader, node, path, option->options, base);
    case OPTION_WORLDS:
        return read_worlds(reader, node, path, option);
    case OPTION_ORIGIN:
        return read_origin(reader, node, path, option, base);
    case OPTION_ELEVATION:
        return read_elevation(reader, node, path, option, value);
    case OPTION_KNOTS:
        return read_curve(reader, node, path, option, value);
    case OPTION_FIELDS:
        return fields_read(reader, node, path, value);
    case OPTION_FIELD:
        return expression_read(reader, node, path, value);
    case OPTION_FIELD_PAIR:
        return expression_read_pair(reader, node, path, option, value);
    case OPTION_BIOMES:
        return biomes_read(reader, node, path, option, value);
    case OPTION_RANGE:
        return biomes_read_range(reader, node, path, value);
    case OPTION_PALETTE:
        return read_palette(reader, node, path, option, base);
    case OPTION_LAYERS:
        return reader->layers ? read_layers(reader, node, path, value) : 0;
    case OPTION_LIKE: /* begin_world has read it */
        return 0;
    case OPTION_LIST:
        return read_list(reader, node, path, option, value);
    default:
        return read_scalar(reader, node, path, option, base);
    }
}

static void known_keys(const struct option *options, char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct option *o = options; o->key && used < size; o++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", o == options ? "" : ", ", o->key);
}

int mapping_read(struct node_reader *reader, const struct text_node *node,
                 const struct key_path *path, const struct option *options, void *base)
{
    char keys[256];

    known_keys(options, keys, sizeof keys);
    if (node->kind != TEXT_MAPPING)
        return node_reader_fail(reader, node, path, "not a mapping; expected the keys %s", keys);
    for (size_t i = 0; i < node->length; i += 2) {
        const struct text_node *key = &node->items[i];
        size_t length = 0;
        const char *text = text_node_text(key, &length);
        if (!text)
            return node_reader_fail(reader, key, path, "a key is not a word; expected one of %s",
                                    keys);
        struct key_path at = key_path_join(path, text, length);
        const struct option *option = option_find(options, text, length);
        if (!option)
            return node_reader_fail(reader, key, &at, "unknown key; expected one of %s", keys);
        reader->error->steps += 1 + i / 2;
        for (size_t before = 0; before < i; before += 2) /* at most one per option */
            if (text_node_is(&node->items[before], option->key))
                return node_reader_fail(reader, key, &at, "duplicate key; expected once");
        int err = read_value(reader, &node->items[i + 1], &at, option, base);
        if (err)
            return err;
    }
    return 0;
}

/* In a world with fields, the noise remains for terrain_noise3 and the like alone. Its wavelength
 * divides the period of any world. */
static void take_default_noise(struct farlands_params *terrain)
{
    terrain->octaves = 1;
    terrain->wavelength = 256 * FARLANDS_UNIT;
}

int mapping_read_world(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, int index)
{
    struct world_config *world = &reader->worlds->world[index];
    int err = mapping_read(reader, node, path, world_options, world);
    if (err)
        return err;
    if (world->fields)
        take_default_noise(&world->terrain);
    /* Keys come in any order, so the period is known only now. */
    world->terrain.period = world_config_period(world);
    return world_check(reader, node, path, index);
}

static int refuse_likeness(struct node_reader *reader, const struct text_node *node,
                           const struct key_path *path)
{
    const struct world_list *builtin = reader->builtin;
    const struct key_path at = key_path_key(path, "like");
    char expected[256] = "a built-in world:";
    size_t used = strlen(expected);
    for (int i = 0; i < builtin->count && used < sizeof expected; i++)
        used += (size_t)snprintf(expected + used, sizeof expected - used, "%s %s", i ? "," : "",
                                 builtin->world[i].name);
    return node_reader_refuse(reader, node, &at, &(struct option){.expected = expected});
}

static int read_file(struct node_reader *reader, const struct text_node *item,
                     const struct text_node *file, const struct key_path *path,
                     struct world_config *world)
{
    const struct key_path at = key_path_key(path, "file");
    const struct world_fields *fields = NULL;
    if (text_node_find(item, "like", 4))
        return node_reader_fail(reader, file, &at, "not with `like`; expected one of them");
    if (!reader->read_file)
        return node_reader_fail(reader, file, &at, "not accepted in a text; expected in a file");
    int err = reader->read_file(reader, file, &at, world);
    if (!err && text_node_find(item, "fields", 6)) {
        fields = world->fields;
        world->fields = NULL;
    }
    world_fields_release(fields);
    return err;
}

/* Set WORLD to the values of keys that ITEM omits: the defaults, or those of another world. */
static int begin_world(struct node_reader *reader, const struct text_node *item,
                       const struct key_path *path, struct world_config *world)
{
    const struct world_list *builtin = reader->builtin;
    const struct text_node *like = text_node_find(item, "like", 4);
    const struct text_node *file = text_node_find(item, "file", 4);
    *world = world_defaults;
    if (file)
        return read_file(reader, item, file, path, world);
    for (int i = 0; like && i < builtin->count; i++)
        if (text_node_is(like, builtin->world[i].name)) {
            *world = builtin->world[i];
            if (text_node_find(item, "fields", 6))
                world->fields = NULL;
            world_fields_hold(world->fields);
            return 0;
        }
    return like ? refuse_likeness(reader, like, path) : 0;
}

/* Read the list NODE, and add its worlds to the reader's. */
static int read_worlds(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option)
{
    struct world_list *worlds = reader->worlds;
    const int count = text_node_length(node), first = worlds->count;
    if (count < 1 || count > WORLDS_MAX)
        return node_reader_refuse(reader, node, path, option);
    struct world_config *world = realloc(worlds->world, (size_t)(first + count) * sizeof *world);
    if (!world)
        return node_reader_no_memory(reader);
    worlds->world = world;
    for (int i = 0; i < count; i++) {
        const struct text_node *item = text_node_item(node, i);
        struct key_path at = key_path_index(path, i);
        int err = begin_world(reader, item, &at, &world[worlds->count++]);
        if (!err)
            err = mapping_read_world(reader, item, &at, first + i);
        if (err)
            return err;
    }
    return 0;
}
