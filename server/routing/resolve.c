#include "resolve.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "config/values/exact_numbers.h"
#include "config/values/name_distance.h"
#include "noise/terrain/terrain.h"
#include "server/world/worlds.h"

enum { PATH_LONGEST = 1024 };

int resolve_path(const char *path, struct route *route, char why[ROUTE_WHY])
{
    char uri[PATH_LONGEST];
    const int length = snprintf(uri, sizeof uri, "%s%s", path[0] == '/' ? "" : "/", path);

    if (length < PATH_LONGEST) {
        if (route_parse(route, uri, why))
            return -EINVAL;
        if (route->kind == ROUTE_TILE)
            return 0;
    }
    snprintf(why, ROUTE_WHY, "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    return -EINVAL;
}

const struct world *resolve_world(const struct worlds *worlds, const struct route *route,
                                  char why[ROUTE_WHY])
{
    const struct world *world = worlds_find(worlds, route->world);
    if (!world)
        snprintf(why, ROUTE_WHY, "world: no world \"%.40s\"; /worlds.json lists them",
                 route->world);
    if (!world || !route->seeded || world->config->seeds == SEEDS_ANY)
        return world;
    snprintf(why, ROUTE_WHY, "seed: world \"%.40s\" has one configured seed (seeds: fixed)",
             route->world);
    return NULL;
}

const struct world *resolve_hold(const struct worlds *worlds, const struct route *route,
                                 char why[ROUTE_WHY])
{
    const struct world *world = resolve_world(worlds, route, why);
    struct worlds *derived;

    if (!world)
        return NULL;
    if (!route->seeded)
        return world_hold(world);
    if (worlds_derive(&derived, world, route->seed) == 0)
        return derived->world;
    snprintf(why, ROUTE_WHY, "out of memory");
    return NULL;
}

/* COUNT names that a URL may have in one place. AT returns OF's name number I. */
struct names {
    const char *(*at)(const void *of, int i);
    const void *of;
    int count;
};

enum { NAME_SHOWN = 64 };

/* Write name number I as in URLs, without spaces. */
static void write_name(const struct names *names, int i, char out[NAME_SHOWN])
{
    snprintf(out, NAME_SHOWN, "%s", names->at(names->of, i));
    for (; *out; out++)
        if (*out == ' ')
            *out = '_';
}

/* Append to WHY, N bytes long: the name that was probably meant by WRONG, if any, and as many NAMES
 * as have room. */
static void append_names(char why[ROUTE_WHY], int n, const struct names *names, struct span wrong)
{
    static const char more[] = ", ...";
    char name[NAME_SHOWN], nearest[NAME_SHOWN] = "";
    unsigned least = NAME_DISTANCE_NONE;
    for (int i = 0; i < names->count; i++) {
        write_name(names, i, name);
        const unsigned distance = name_distance(wrong.text, wrong.length, name);
        if (distance < least) {
            least = distance;
            memcpy(nearest, name, sizeof nearest);
        }
    }
    if (*nearest)
        n += snprintf(why + n, (size_t)(ROUTE_WHY - n), "did you mean \"%s\"? ", nearest);
    n += snprintf(why + n, (size_t)(ROUTE_WHY - n), "it has ");
    for (int i = 0; i < names->count; i++) {
        write_name(names, i, name);
        const char *text = (size_t)n + 2 + strlen(name) + sizeof more > ROUTE_WHY ? more + 2 : name;
        n += snprintf(why + n, (size_t)(ROUTE_WHY - n), "%s%s", i == 0 ? "" : ", ", text);
        if (text != name)
            break;
    }
}

static const char *field_at(const void *world, int i)
{
    return world_field_name(world, i);
}

int resolve_field(const struct world *world, struct span name, char why[ROUTE_WHY])
{
    const struct names names = {field_at, world, world_field_count(world)};
    const int field = world_field(world, name.text, name.length);
    if (field >= 0)
        return field;
    const int n = snprintf(why, ROUTE_WHY, "field: this world has no field \"%.*s\"; ",
                           span_shown(name), name.text);
    append_names(why, n, &names, name);
    return -1;
}

int resolve_layer(const struct world *world, const struct route *route, int *field,
                  char why[ROUTE_WHY])
{
    const int layer = layer_find(route->layer);
    struct span name = {route->layer, strlen(route->layer)};

    if (layer >= 0 && layers[layer].biomes && !world_climate(world)) {
        snprintf(why, ROUTE_WHY,
                 "layer: this world has no biomes; \"%.40s\" needs a field \"biome\" with a table",
                 route->layer);
        return -1;
    }
    if (layer >= 0 && layers[layer].rivers && !world_water(world)) {
        snprintf(
            why, ROUTE_WHY,
            "layer: this world has no rivers; \"%.40s\" needs the fields \"water\", \"river\" and "
            "\"bank\"",
            route->layer);
        return -1;
    }
    if (layer < 0 || !world_serves(world, layer)) {
        snprintf(why, ROUTE_WHY, "layer: %s \"%.40s\"; the world's JSON lists its layers",
                 layer < 0 ? "no layer" : "this world does not serve", route->layer);
        return -1;
    }
    *field = world_layer_field(world, layer);
    if (!layers[layer].fields)
        return layer;
    span_take(&name, '.');
    *field = resolve_field(world, name, why);
    if (*field < 0 || world_has_layers(world, *field))
        return *field < 0 ? -1 : layer;
    snprintf(why, ROUTE_WHY,
             "layer: a world with \"noise\" has no tiles of its surface; expected a region, "
             "field=surface");
    return -1;
}

unsigned resolve_fields(const struct world *world, const struct route *route,
                        struct chosen_fields *out, char why[ROUTE_WHY])
{
    struct span names = route->fields, name;

    out->count = 0;
    while (query_next_name(&names, &name)) {
        const int field = resolve_field(world, name, why);
        if (field < 0)
            return 404;
        for (int i = 0; i < out->count; i++)
            if (out->field[i] == field)
                return query_reject(why, 400, "fields: \"%.*s\" is given twice; expected once",
                                    span_shown(name), name.text);
        assert(out->count < ROUTE_FIELDS_MAX); /* query_parse has counted them */
        out->field[out->count++] = field;
    }
    return 0;
}

/* True if NAME in a URL means BIOME: as no URL has spaces, _ may stand for one. */
static bool is_biome_name(struct span name, const char *biome)
{
    size_t i = 0;
    while (i < name.length && biome[i] &&
           (name.text[i] == biome[i] || (name.text[i] == '_' && biome[i] == ' ')))
        i++;
    return i == name.length && !biome[i];
}

/* Find TABLE's biome by its name or number. Returns its id, or -1. */
static int find_biome(const struct biome_table *table, struct span name)
{
    uint64_t id;
    for (int i = 0; i < table->rows.rows; i++)
        if (is_biome_name(name, table->look[i].name))
            return table->rows.row[i].id;
    if (unsigned_parse(name.text, name.length, &id) || id > UINT8_MAX ||
        biome_table_row(table, (int)id) < 0)
        return -1;
    return (int)id;
}

static const char *biome_at(const void *table, int i)
{
    return ((const struct biome_table *)table)->look[i].name;
}

static unsigned reject_biome(const struct biome_table *table, struct span name, char why[ROUTE_WHY])
{
    const struct names names = {biome_at, table, table->rows.rows};
    const int n = snprintf(why, ROUTE_WHY, "biome: this world has no biome \"%.*s\"; ",
                           span_shown(name), name.text);
    append_names(why, n, &names, name);
    return 404;
}

unsigned resolve_biomes(const struct world *world, const struct route *route,
                        struct spawn_biomes *out, char why[ROUTE_WHY])
{
    struct span names = route->biomes, name;
    const struct climate *climate = world_climate(world);

    *out = (struct spawn_biomes){{0}};
    if (names.length > 0 && !climate)
        return query_reject(why, 404,
                            "biome: this world has no biomes; it needs a field \"biome\" with a "
                            "table");
    while (query_next_name(&names, &name)) {
        const int id = find_biome(climate->table, name);
        if (id < 0)
            return reject_biome(climate->table, name, why);
        spawn_biomes_add(out, id);
    }
    return 0;
}

int resolve_format(int layer, const struct route *route, char why[ROUTE_WHY])
{
    int format = format_find(route->extension);
    if (format >= 0 && layers[layer].formats & 1u << format)
        return format;
    snprintf(why, ROUTE_WHY,
             "extension: layer %.40s has no \"%.20s\"; the world's JSON lists its formats",
             layers[layer].name, route->extension);
    return -1;
}

bool resolve_tilejson(int layer, const struct route *route, char why[ROUTE_WHY])
{
    if (layers[layer].formats & 1U << route->format)
        return true;
    snprintf(why, ROUTE_WHY, "format: layer %.40s has no \"%s\"; expected png", layers[layer].name,
             format_extension(route->format));
    return false;
}

int resolve_tile(const struct world *world, const struct route *route, struct tile *tile,
                 char why[ROUTE_WHY])
{
    const char *part;
    int field = 0;
    int layer = resolve_layer(world, route, &field, why);
    int format = layer < 0 ? -1 : resolve_format(layer, route, why);

    if (format < 0)
        return -ENOENT;
    int z = route->z < INT16_MIN || route->z > INT16_MAX ? INT16_MAX : (int)route->z;
    const struct tile_address address = {.world = world,
                                         .layer = layer,
                                         .format = (enum format)format,
                                         .scale = route->scale,
                                         .z = z,
                                         .x = route->x,
                                         .y = route->y,
                                         .border = route->border,
                                         .field = field};
    if (tile_resolve(tile, &address, &part) == 0)
        return 0;
    if (part[0] == 'z')
        snprintf(why, ROUTE_WHY, "z: %" PRId64 " is beyond this world's zooms, %d to %d%s",
                 route->z, world_min_zoom(world), world_max_zoom(world, route->scale),
                 route->scale == 2 ? " for @2x" : "");
    else
        snprintf(why, ROUTE_WHY, "%s: tile %" PRId64 "%s is beyond the limit of 2^52 blocks", part,
                 part[0] == 'x' ? route->x : route->y, route->border ? " with its border" : "");
    return -ENOENT;
}
