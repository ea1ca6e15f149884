/* A world's keys as text. */
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"

static void format_elevation(const struct farlands_params *params, char *buffer, size_t size)
{
    char noise[REAL_TEXT], metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < params->knots && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,%s]", i ? "," : "[",
                                 float_format(params->elevation[i].noise, noise),
                                 float_format(params->elevation[i].metres, metres));
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

static void format_palette(const struct world_config *world, char *buffer, size_t size)
{
    char metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < world->stops && used < size; i++) {
        const struct palette_stop *stop = &world->palette[i];
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,\"#%02x%02x%02x\"]",
                                 i ? "," : "[", float_format(stop->metres, metres), stop->red,
                                 stop->green, stop->blue);
    }
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

bool world_option_format(const struct option *option, const struct world_config *world,
                         char *buffer, size_t size)
{
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];

    switch (option->kind) {
    case OPTION_ORIGIN:
        snprintf(buffer, size, "[%s,%s]", blocks_format(world->origin[0], x),
                 blocks_format(world->origin[1], y));
        return false;
    case OPTION_ELEVATION:
        format_elevation(&world->terrain, buffer, size);
        return false;
    case OPTION_PALETTE:
        format_palette(world, buffer, size);
        return false;
    default:
        return option_format(option, world, buffer, size);
    }
}

struct visit {
    const struct world_config *world;
    world_visitor *visitor;
    void *context;
    const char *const *keys; /* NULL: all */
};

/* True if WORLD does not have OPTION: an empty line, or keys of the other form, since a world has
 * either `fields` or `noise` and `elevation`. */
static bool is_absent(const struct world_config *world, const struct option *option)
{
    if (option->offset == offsetof(struct world_config, about))
        return !world->about[0];
    if (option->kind == OPTION_FIELDS)
        return !world->fields;
    return world->fields && option->part == WORLD_HEIGHTS;
}

static bool is_visited(const struct visit *visit, const char *key)
{
    for (const char *const *other = visit->keys; other && *other; other++)
        if (strcmp(*other, key) == 0)
            return true;
    return !visit->keys;
}

static void visit_fields(const struct visit *visit, const struct option *option)
{
    const struct world_key key = {.name = option->key,
                                  .value = world_fields_text(visit->world->fields),
                                  .plain_value = world_fields_plain_text(visit->world->fields),
                                  .part = (enum world_part)option->part};
    visit->visitor(visit->context, &key);
}

/* Visit OPTIONS; names begin with PREFIX. All belong to PART, or each to its own if PART is 0. */
static void visit_options(const struct visit *visit, const struct option *options,
                          const char *prefix, int part)
{
    for (; options->key; options++) {
        char name[64], value[OPTION_TEXT_MAX], other[OPTION_TEXT_MAX];
        const bool section = options->kind == OPTION_SECTION;
        const int own = part ? part : options->part;
        if (options->kind == OPTION_LAYERS || options->kind == OPTION_LIKE ||
            is_absent(visit->world, options) || !is_visited(visit, options->key))
            continue;
        if (options->kind == OPTION_FIELDS) {
            visit_fields(visit, options);
            continue;
        }
        snprintf(name, sizeof name, "%s%s%s", prefix, options->key, section ? "." : "");
        if (section) {
            visit_options(visit, options->options, name, own);
            continue;
        }
        struct world_key key = {.name = name, .value = value, .part = (enum world_part)own};
        key.quoted = world_option_format(options, visit->world, value, sizeof value);
        world_option_format(options, &world_defaults, other, sizeof other);
        key.is_default = strcmp(value, other) == 0;
        visit->visitor(visit->context, &key);
    }
}

void config_world_visit(const struct world_config *world, world_visitor *visitor, void *context)
{
    config_world_visit_some(world, NULL, visitor, context);
}

void config_world_visit_some(const struct world_config *world, const char *const *keys,
                             world_visitor *visitor, void *context)
{
    const struct visit visit = {world, visitor, context, keys};
    visit_options(&visit, world_options, "", WORLD_IDENTITY);
}
