#include "documents.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/exact_numbers.h"
#include "config/world_terrain.h"
#include "noise/rivers_params.h"
#include "noise/terrain.h"
#include "server/core/json.h"
#include "server/layers/layer.h"
#include "server/layers/shading.h"
#include "server/routing/route.h"
#include "server/world/tile.h"

/* TileJSON allows zooms up to 30, but MapLibre's end at 25: it fails if maxzoom is larger, and
 * stretches the tiles of maxzoom beyond it. */
enum { TILEJSON_MAX_ZOOM = 25 };

enum { BASE_MAX = 1032 };

static void add_number(struct json *document, cJSON *parent, const char *key, double number)
{
    json_add(document, parent, key, cJSON_CreateNumber(number));
}

static void add_numbers(struct json *document, cJSON *parent, const char *key,
                        const double *numbers, int count)
{
    json_add(document, parent, key, cJSON_CreateDoubleArray(numbers, count));
}

static void add_pair(struct json *document, cJSON *parent, const char *key, double a, double b)
{
    add_numbers(document, parent, key, (double[]){a, b}, 2);
}

static void add_value(struct json *document, cJSON *parent, const char *name,
                      const struct world_key *key)
{
    json_add(document, parent, name,
             key->quoted ? cJSON_CreateString(key->value) : cJSON_CreateRaw(key->value));
}

struct grid {
    struct json *document;
    cJSON *parent;
};

static void add_grid_parameter(void *context, const struct world_key *key)
{
    const struct grid *grid = context;
    add_value(grid->document, grid->parent, key->name, key);
}

/* Only the parameters that place tiles in the world, and its seeds. */
static void add_grid(struct json *document, cJSON *parent, const struct world *world)
{
    static const char *const keys[] = {"seed", "seeds", "native_zoom", "origin", "wrap", NULL};
    struct grid grid = {document, parent};
    struct world_config config;
    world_config_of(&config, world);
    config_world_visit_some(&config, keys, add_grid_parameter, &grid);
}

/* {"name": ..., "noise": {"warp": {...}}} from the keys "name" and "noise.warp.amplitude". */
static void add_parameter(void *context, const struct world_key *key)
{
    struct json *document = context;
    cJSON *parent = document->root;
    const char *name = key->name;
    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        char section[64];
        snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
        cJSON *object = cJSON_GetObjectItemCaseSensitive(parent, section);
        parent = object ? object : json_add(document, parent, section, cJSON_CreateObject());
    }
    add_value(document, parent, name, key);
}

/* The beginning of relative URLs: a name with a colon would be taken for a scheme (RFC 3986,
 * section 4.2). */
static const char *relative(const struct world *world)
{
    return strchr(world->name, ':') ? "./" : "";
}

/* What a URL template has besides a layer. */
struct tile_form {
    enum format format;
    const char *scale, *query; /* "@2x"; what comes before the fingerprint */
};

/* The URL template of the pictures of LAYER, one of FIELD, beginning with BASE. */
static void add_tile_url(struct json *document, cJSON *parent, const char *key,
                         const struct world *world, int layer, int field, const char *base,
                         struct tile_form form)
{
    char name[LAYER_NAME_MAX];
    json_add_text(document, parent, key, "%s%s/%s/{z}/{x}/{y}%s.%s?%sv=%s", base, world->name,
                  layer_name(world, layer, field, name), form.scale, format_extension(form.format),
                  form.query, world->layer_fingerprint[tile_kind(layer, form.format)]);
}

/* The range of a layer's FIELD, and its unit if it has one. */
static void add_scale(struct json *document, cJSON *parent, const struct world *world, int field)
{
    const struct value_range range = world_field_range(world, field);
    const char *unit = world_field_unit(world, field);

    add_pair(document, parent, "range", (double)range.min, (double)range.max);
    if (unit[0])
        json_add_text(document, parent, "unit", "%s", unit);
}

static void add_extensions(struct json *document, cJSON *parent, int layer)
{
    cJSON *extensions = json_add(document, parent, "extensions", cJSON_CreateArray());
    for (unsigned format = 0; format < FORMATS; format++)
        if (layers[layer].formats & 1u << format)
            json_add_text(document, extensions, NULL, "%s", format_extension(format));
}

static void add_encoding(struct json *document, cJSON *parent, int layer)
{
    if (layers[layer].encoding)
        json_add_text(document, parent, "encoding", "%s", layers[layer].encoding);
}

/* If LAYER is shaded, by how much it exaggerates heights: the terms of shading_exaggeration. */
static void add_exaggeration(struct json *document, cJSON *parent, const struct world *world,
                             int layer)
{
    if (!(layers[layer].parts & 1U << WORLD_SHADING))
        return;
    cJSON *terms = json_add(document, parent, "exaggeration", cJSON_CreateObject());
    add_number(document, terms, "least",
               (double)SHADING_LEAST_EXAGGERATION * world->config->exaggeration);
    add_number(document, terms, "spacing", (double)SHADING_SPACING);
}

/* If LAYER's colors are angles, their scale: [[degrees, color], ...]. */
static void add_legend(struct json *document, cJSON *parent, int layer)
{
    if (!layers[layer].scale)
        return;
    cJSON *legend = json_add(document, parent, "legend", cJSON_CreateObject());
    json_add_text(document, legend, "unit", "degrees");
    cJSON *palette = json_add(document, legend, "palette", cJSON_CreateArray());
    for (int i = 0; i < layers[layer].stops; i++) {
        const struct scale_stop *at = &layers[layer].scale[i];
        cJSON *stop = json_add(document, palette, NULL, cJSON_CreateArray());
        json_add(document, stop, NULL, cJSON_CreateNumber((double)at->degrees));
        json_add_text(document, stop, NULL, "#%02x%02x%02x", at->color[0], at->color[1],
                      at->color[2]);
    }
}

/* The biomes of WORLD, if it has some: [{id, name, color}, ...]. */
static void add_biomes(struct json *document, cJSON *parent, const struct world *world)
{
    const struct climate *climate = world_climate(world);
    if (!climate)
        return;
    cJSON *list = json_add(document, parent, "biomes", cJSON_CreateArray());
    for (int i = 0; i < climate->table->rows.rows && document->complete; i++) {
        const struct biome_look *look = &climate->table->look[i];
        cJSON *biome = json_add(document, list, NULL, cJSON_CreateObject());
        add_number(document, biome, "id", climate->table->rows.row[i].id);
        json_add_text(document, biome, "name", "%s", look->name);
        json_add_text(document, biome, "color", "#%02x%02x%02x", look->color[0], look->color[1],
                      look->color[2]);
    }
}

static void add_layer(struct json *document, cJSON *list, const struct world *world, int layer,
                      int field)
{
    char name[LAYER_NAME_MAX];
    cJSON *entry = json_add(document, list, NULL, cJSON_CreateObject());

    layer_name(world, layer, field, name);
    json_add_text(document, entry, "name", "%s", name);
    add_extensions(document, entry, layer);
    add_encoding(document, entry, layer);
    if (layers[layer].fields)
        add_scale(document, entry, world, field);
    add_exaggeration(document, entry, world, layer);
    add_legend(document, entry, layer);
    json_add_text(document, entry, "fingerprint", "%s", world->layer_fingerprint[layer]);
    json_add_text(document, entry, "tilejson", "%s%s/%s.json", relative(world), world->name, name);
    json_add_text(document, entry, "gdal", "%s%s/%s.xml", relative(world), world->name, name);
    if (layer_has_numbers(layer))
        add_number(document, entry, "exact_from", world_exact_zoom(world));
    add_tile_url(document, entry, "tiles", world, layer, field, relative(world),
                 (struct tile_form){FORMAT_PNG, "", ""});
    if (layers[layer].formats & 1U << FORMAT_WEBP)
        add_tile_url(document, entry, "tiles_webp", world, layer, field, relative(world),
                     (struct tile_form){FORMAT_WEBP, "", ""});
}

static void add_layers(struct json *document, cJSON *parent, const struct world *world)
{
    cJSON *list = json_add(document, parent, "layers", cJSON_CreateArray());
    for (int i = 0; layers[i].name && document->complete; i++)
        if (world_lists(world, i))
            add_layer(document, list, world, i, 0);
}

/* The layers of fields, after the others; the height has layers of its own. */
static void add_field_layers(struct json *document, const struct world *world)
{
    cJSON *list = cJSON_GetObjectItemCaseSensitive(document->root, "layers");
    for (int i = 0; layers[i].name; i++)
        for (int field = 0; field < world_field_count(world) && document->complete; field++)
            if (layers[i].fields && world_serves(world, i) && field != world_height_field(world) &&
                world_has_layers(world, field))
                add_layer(document, list, world, i, field);
}

/* Common to all documents about a world. */
static void add_identity(struct json *document, cJSON *parent, const struct world *world)
{
    json_add_text(document, parent, "fingerprint", "%s", world->fingerprint);
    add_number(document, parent, "generator", world_config_generator(world->config));
    add_pair(document, parent, "range", (double)world->colors->min, (double)world->colors->max);
    add_number(document, parent, "tile_size", TILE_SIZE);
    cJSON *limits = json_add(document, parent, "limits", cJSON_CreateObject());
    add_number(document, limits, "coordinate", (double)FARLANDS_LIMIT_BLOCKS);
    add_pair(document, limits, "zoom", world_min_zoom(world), world_max_zoom(world, 1));
    add_pair(document, limits, "zoom_2x", world_min_zoom(world), world_max_zoom(world, 2));
    add_number(document, limits, "overview", world_overview_zoom(world));
    add_number(document, limits, "side", ROUTE_SIDE_MAX);
    add_number(document, limits, "volume", ROUTE_VOLUME_MAX);
}

/* URL templates of the other endpoints. */
static void add_endpoints(struct json *document, cJSON *parent, const struct world *world)
{
    const struct {
        const char *name, *template, *version;
    } endpoints[] = {
        {"height", "height?x={x}&y={y}", ""},
        {"heights", "heights?at={x},{y};{x},{y}", ""},
        {"spawn", "spawn?x={x}&y={y}&min={min}&max={max}&slope={slope}", ""},
        {"downstream", "downstream?x={x}&y={y}&limit={limit}", ""},
        {"region", "region.{ext}?x={x}&y={y}&width={width}&height={height}&step={step}&v=",
         world->fingerprint},
        {"region_field",
         "region.{ext}?x={x}&y={y}&width={width}&height={height}&step={step}&field={field}"
         "&range={min},{max}&v=",
         world->fingerprint},
        {"region_layer",
         "region.png?x={x}&y={y}&width={width}&height={height}&step={step}&layer={layer}", ""},
        {"volume",
         "volume.f32?x={x}&y={y}&z={z}&width={width}&height={height}&depth={depth}&step={step}&v=",
         world->volume_fingerprint},
        {"wmts", "wmts.xml", ""},
    };
    cJSON *urls = json_add(document, parent, "urls", cJSON_CreateObject());
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++)
        if (world_course_field(world) >= 0 || strcmp(endpoints[i].name, "downstream") != 0)
            json_add_text(document, urls, endpoints[i].name, "%s%s/%s%s", relative(world),
                          world->name, endpoints[i].template, endpoints[i].version);
}

/* Common to the catalogue and /{world}.json. */
static void add_outline(struct json *document, cJSON *parent, const struct world *world)
{
    add_identity(document, parent, world);
    add_endpoints(document, parent, world);
    add_layers(document, parent, world);
}

struct blob *document_worlds(const struct worlds *worlds, bool watched)
{
    struct json document = json_new();

    json_add_text(&document, document.root, "farlands", "%s", FARLANDS_VERSION);
    if (watched)
        json_add_text(&document, document.root, "changes", "viewer/%s", DOCUMENT_CHANGES);
    cJSON *list = json_add(&document, document.root, "worlds", cJSON_CreateArray());
    for (int i = 0; i < worlds->count && document.complete; i++) {
        const struct world *world = &worlds->world[i];
        cJSON *entry = json_add(&document, list, NULL, cJSON_CreateObject());
        json_add_text(&document, entry, "name", "%s", world->name);
        json_add_text(&document, entry, "url", "%s.json", world->name);
        if (world->config->about[0])
            json_add_text(&document, entry, "about", "%s", world->config->about);
        add_grid(&document, entry, world);
        add_outline(&document, entry, world);
    }
    return json_end(&document, false);
}

/* What the fields can be: bounds of all values, with the unit if there is one. */
static void add_ranges(struct json *document, cJSON *parent, const struct world *world)
{
    const struct world_fields *fields = world->config->fields;
    float min, max;
    if (!fields)
        return;
    cJSON *ranges = json_add(document, parent, "ranges", cJSON_CreateObject());
    for (int i = 0; i < world_fields_count(fields) && document->complete; i++) {
        terrain_field_range(world->base_terrain, i, &min, &max);
        add_pair(document, ranges, world_fields_name(fields, i), (double)min, (double)max);
    }
}

struct blob *document_world(const struct world *world)
{
    struct json document = json_new();
    struct world_config config;

    world_config_of(&config, world);
    config_world_visit(&config, add_parameter, &document);
    add_ranges(&document, document.root, world);
    add_biomes(&document, document.root, world);
    add_outline(&document, document.root, world);
    add_field_layers(&document, world);
    return json_end(&document, false);
}

/* The step between neighboring values of LAYER's pictures of heights, in metres; 0 if it has none.
 */
static double height_step(const struct world *world, int layer, int field)
{
    if (layers[layer].encoding)
        return ldexp((double)layers[layer].highest - (double)layers[layer].lowest, -24);
    const struct content content = world_content(world, layer, field);
    const bool heights = content.field == world_height_field(world) ||
                         strcmp(world_field_unit(world, content.field), "m") == 0;
    if (!layer_has_numbers(layer) || !heights)
        return 0;
    return ((double)content.range.max - (double)content.range.min) / UINT16_MAX;
}

/*
 * The finest zoom for maps. Beyond it the step between heights is more than 1/40 of the distance
 * between samples, so that gentle slopes are stairs; maps do better to enlarge its tiles.
 */
static int tilejson_max_zoom(const struct world *world, int layer, int field)
{
    const double step = height_step(world, layer, field);
    const int most = world_max_zoom(world, 1);
    const int high = most < TILEJSON_MAX_ZOOM ? most : TILEJSON_MAX_ZOOM;
    const double fine = step > 0 ? floor(world->config->native_zoom - log2(40 * step)) : high;
    return (int)fmin(fmax(fine, 0), high);
}

/* The position of PLACE in the window of web maps, which is 0 to 1; all in units. */
static double window_position(int64_t place, int64_t origin, int native_zoom)
{
    return (double)((__int128)place - origin) / ldexp(TILE_SIZE * FARLANDS_UNIT, native_zoom);
}

/* Degrees, at a position in the window, which is Web Mercator's square (EPSG:3857). */
static double longitude_at(double position)
{
    return 360 * position - 180;
}

static double latitude_at(double position)
{
    return atan(sinh(M_PI * (1 - 2 * position))) * 180 / M_PI;
}

/* The middle of the window if POSITION is outside. */
static double within_window(double position)
{
    return position >= 0 && position <= 1 ? position : 0.5;
}

/* The first view of a map: longitude and latitude of block (0, 0), and a zoom up to MOST. */
static void add_center(struct json *document, cJSON *parent, const struct world *world, int most)
{
    const struct world_config *config = world->config;
    const double u = window_position(0, config->origin[0], config->native_zoom);
    const double v = window_position(0, config->origin[1], config->native_zoom);
    const double center[] = {longitude_at(within_window(u)), latitude_at(within_window(v)),
                             fmin(fmax(world_first_zoom(world), 0), most)};

    add_numbers(document, parent, "center", center, 3);
}

/* The plane beyond what TileJSON can describe: signed tiles, any zoom, @2x, borders, raw heights.
 */
static void add_plane(struct json *document, cJSON *parent, const struct world *world, int layer,
                      int field, enum format format, const char *base)
{
    char name[LAYER_NAME_MAX];
    cJSON *plane = json_add(document, parent, "farlands", cJSON_CreateObject());
    json_add_text(document, plane, "world", "%s", world->name);
    json_add_text(document, plane, "layer", "%s", layer_name(world, layer, field, name));
    add_grid(document, plane, world);
    add_identity(document, plane, world);
    if (layers[layer].fields) {
        cJSON_DeleteItemFromObjectCaseSensitive(plane, "range");
        add_scale(document, plane, world, field);
    }
    add_exaggeration(document, plane, world, layer);
    add_legend(document, plane, layer);
    if (layers[layer].biomes)
        add_biomes(document, plane, world);
    add_extensions(document, plane, layer);
    add_tile_url(document, plane, "tiles_2x", world, layer, field, base,
                 (struct tile_form){format, "@2x", ""});
    add_tile_url(document, plane, "tiles_border", world, layer, field, base,
                 (struct tile_form){format, "", "border=1&"});
}

struct blob *document_tilejson(const struct world *world, int layer, int field, enum format format,
                               const char *base)
{
    char name[LAYER_NAME_MAX];
    struct json document = json_new();
    cJSON *root = document.root;
    char below[BASE_MAX];

    snprintf(below, sizeof below, "%s/", base);
    json_add_text(&document, root, "tilejson", "3.0.0");
    layer_name(world, layer, field, name);
    json_add_text(&document, root, "name", "%s %s", world->name, name);
    const char *about = world->config->about;
    json_add_text(&document, root, "description",
                  "Layer %s of the world %s, an endless seeded terrain%s%s", name, world->name,
                  about[0] ? ": " : "", about);
    json_add_text(&document, root, "scheme", "xyz");
    cJSON *tiles = json_add(&document, root, "tiles", cJSON_CreateArray());
    add_tile_url(&document, tiles, NULL, world, layer, field, below,
                 (struct tile_form){format, "", ""});
    add_number(&document, root, "tileSize", TILE_SIZE);
    add_encoding(&document, root, layer);
    const int most = tilejson_max_zoom(world, layer, field);
    add_number(&document, root, "minzoom", 0);
    add_number(&document, root, "maxzoom", most);
    if (layer_has_numbers(layer))
        add_number(&document, root, "exact_from", world_exact_zoom(world));
    /* The window 0 <= x, y < 2^z is Web Mercator's square, here in WGS 84. */
    static const double bounds[] = {-180, -85.0511287798066, 180, 85.0511287798066};
    add_numbers(&document, root, "bounds", bounds, 4);
    add_center(&document, root, world, most);
    json_add_text(&document, root, "fingerprint", "%s",
                  world->layer_fingerprint[tile_kind(layer, format)]);
    add_plane(&document, root, world, layer, field, format, below);
    return json_end(&document, false);
}

struct blob *document_changes(const char *etag, const char *error)
{
    struct json document = json_new();
    json_add_text(&document, document.root, "worlds", "%s", etag);
    json_add(&document, document.root, "error",
             error[0] ? cJSON_CreateString(error) : cJSON_CreateNull());
    return json_end(&document, false);
}

struct blob *document_message(const char *key, const char *text)
{
    struct json document = json_new();
    json_add_text(&document, document.root, key, "%s", text);
    return json_end(&document, false);
}

/* Formatted by hand, not with cJSON: up to 2000 numbers per document, some of them with more
 * digits than a double, which is all that it has. */

enum { SURFACE_TEXT = 2 * BLOCKS_TEXT + 6 * REAL_TEXT + 80 };

/* The document about a place, without its closing brace. Returns its length. */
static int surface_format(char text[SURFACE_TEXT], int64_t x, int64_t y,
                          const struct surface *surface)
{
    char place_x[BLOCKS_TEXT], place_y[BLOCKS_TEXT], metres[REAL_TEXT], slope[REAL_TEXT];
    char normal[3][REAL_TEXT], ground[REAL_TEXT];

    return snprintf(
        text, SURFACE_TEXT,
        "{\"x\":%s,\"y\":%s,\"height\":%s,\"surface\":%s,\"slope\":%s,\"normal\":[%s,%s,%s]",
        blocks_format(x, place_x), blocks_format(y, place_y), float_format(surface->height, metres),
        float_format(surface->ground, ground), float_format(surface->slope, slope),
        float_format(surface->normal[0], normal[0]), float_format(surface->normal[1], normal[1]),
        float_format(surface->normal[2], normal[2]));
}

/* Put VALUE, and a comma before it unless it is the FIRST. Returns its end. */
static char *put_float(char *at, float value, bool first)
{
    if (!first)
        *at++ = ',';
    float_format(value, at); /* 15 characters at most */
    return at + strlen(at);
}

enum { FIELD_TEXT = QUERY_WORD + sizeof ",\"\":[]" };

/* Put the values of FIELDS at COUNT places, as arrays; or if COUNT is 0, at one place. */
static char *put_fields(char *at, const struct field_values *fields, size_t count)
{
    if (fields->count == 0)
        return at;
    at = stpcpy(at, ",\"fields\":{");
    for (int i = 0; i < fields->count; i++) {
        at += sprintf(at, "%s\"%s\":%s", i > 0 ? "," : "", fields->name[i], count ? "[" : "");
        for (size_t j = 0; j < (count ? count : 1); j++)
            at = put_float(at, fields->value[j * (size_t)fields->count + (size_t)i], j == 0);
        at = stpcpy(at, count ? "]" : "");
    }
    return stpcpy(at, "}");
}

/* Put TEXT as a string of JSON: it is UTF-8 without control characters. */
static char *put_string(char *at, const char *text)
{
    *at++ = '"';
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            *at++ = '\\';
        *at++ = *text;
    }
    *at++ = '"';
    return at;
}

enum {
    BIOME_TEXT = sizeof ",\"biome\":{\"id\":255,\"name\":\"\"}" + 2 * BIOME_NAME_MAX,
    WATER_TEXT =
        sizeof ",\"water\":[],\"depth\":[],\"river\":[],\"width\":[],\"kind\":[,\"river\"]" +
        4 * REAL_TEXT,
    CLIMATE_TEXT = BIOME_TEXT + sizeof ",\"temperature\":[],\"humidity\":[]" + 2 * REAL_TEXT,
};

static char *put_biome(char *at, const struct climate *climate, int id)
{
    const int row = biome_table_row(climate->table, id);
    at += sprintf(at, ",\"biome\":{\"id\":%d,\"name\":", id);
    at = put_string(at, row < 0 ? "" : climate->table->look[row].name);
    return stpcpy(at, "}");
}

/* Put the values of one field of the climate at COUNT places, as an array; or if COUNT is 0, at one
 * place. */
static char *put_values(char *at, const struct climate_values *values, enum climate_field field,
                        size_t count)
{
    static const char *const names[] = {"temperature", "humidity", "biome"};
    at += sprintf(at, ",\"%s\":%s", names[field], count ? "[" : "");
    for (size_t i = 0; i < (count ? count : 1); i++)
        at = put_float(at, values->value[i][field], i == 0);
    return stpcpy(at, count ? "]" : "");
}

/* Put the climate at COUNT places, or if COUNT is 0, at one place. */
static char *put_climate(char *at, const struct climate_values *values, size_t count)
{
    const struct climate *climate = values->climate;
    if (!climate)
        return at;
    at = count ? put_values(at, values, CLIMATE_BIOME, count)
               : put_biome(at, climate, (int)values->value[0][CLIMATE_BIOME]);
    if (climate->temperature >= 0)
        at = put_values(at, values, CLIMATE_TEMPERATURE, count);
    if (climate->humidity >= 0)
        at = put_values(at, values, CLIMATE_HUMIDITY, count);
    return at;
}

/* Put TEXT, or null unless THERE. */
static char *put_optional(char *at, bool there, float value, bool first)
{
    if (there)
        return put_float(at, value, first);
    return stpcpy(at, first ? "null" : ",null");
}

static char *put_kind(char *at, const char *kind, bool first)
{
    at = stpcpy(at, first ? "" : ",");
    return kind ? put_string(at, kind) : stpcpy(at, "null");
}

/* Put the water at COUNT places with their heights, or if COUNT is 0, at one place. */
static char *put_water(char *at, const struct climate_values *values, const float *height,
                       size_t count)
{
    static const char *const names[] = {"water", "depth", "river", "width", "kind"};
    for (int k = 0; values->rivers && k < 5; k++) {
        at += sprintf(at, ",\"%s\":%s", names[k], count ? "[" : "");
        for (size_t i = 0; i < (count ? count : 1); i++) {
            const float *value = values->water[i];
            const struct water_here w =
                world_water_here(values->rivers, value[WATER_LEVEL], value[WATER_ORDER], height[i]);
            if (k == 0)
                at = put_optional(at, w.kind, w.level, i == 0);
            else if (k == 1)
                at = put_optional(at, w.kind, w.depth, i == 0);
            else if (k == 2)
                at = put_optional(at, w.order > 0, w.order, i == 0);
            else if (k == 3)
                at = put_optional(at, w.order > 0, w.width, i == 0);
            else
                at = put_kind(at, w.kind, i == 0);
        }
        at = stpcpy(at, count ? "]" : "");
    }
    return at;
}

struct blob *document_height(int64_t x, int64_t y, const struct surface *surface,
                             const struct climate_values *climate,
                             const struct field_values *fields)
{
    char text[SURFACE_TEXT + CLIMATE_TEXT + WATER_TEXT + sizeof ",\"fields\":{}}\n" +
              ROUTE_FIELDS_MAX * (FIELD_TEXT + REAL_TEXT)];
    char *at = put_climate(text + surface_format(text, x, y, surface), climate, 0);
    at = put_water(at, climate, &surface->height, 0);
    at = put_fields(at, fields, 0);
    at = stpcpy(at, "}\n");
    return blob_copy(text, (size_t)(at - text));
}

struct blob *document_heights(const float *heights, const int64_t (*places)[2], size_t count,
                              const struct climate_values *climate,
                              const struct field_values *fields)
{
    static const char begin[] = "{\"heights\":[", middle[] = "],\"at\":[";
    enum { PLACE_TEXT = 2 * BLOCKS_TEXT + sizeof "[,],", END = sizeof "],\"fields\":{}}\n" };
    char *text = malloc(sizeof begin + sizeof middle + END + CLIMATE_TEXT + WATER_TEXT +
                        count * ((1 + CLIMATE_FIELDS) * REAL_TEXT + PLACE_TEXT +
                                 (climate->rivers ? WATER_TEXT : 0)) +
                        (size_t)fields->count * (FIELD_TEXT + count * REAL_TEXT));
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];
    if (!text)
        return NULL;
    char *at = stpcpy(text, begin);
    for (size_t i = 0; i < count; i++)
        at = put_float(at, heights[i], i == 0);
    at = stpcpy(at, middle);
    for (size_t i = 0; i < count; i++)
        at += sprintf(at, "%s[%s,%s]", i > 0 ? "," : "", blocks_format(places[i][0], x),
                      blocks_format(places[i][1], y));
    at = put_climate(stpcpy(at, "]"), climate, count);
    at = put_water(at, climate, heights, count);
    at = stpcpy(put_fields(at, fields, count), "}\n");
    struct blob *blob = blob_copy(text, (size_t)(at - text));
    free(text);
    return blob;
}

enum { SPAWN_TEXT = SURFACE_TEXT + CLIMATE_TEXT + WATER_TEXT + REAL_TEXT + 32 };

/* The document about PLACE, number I of those in CLIMATE, without its closing brace. */
static char *put_spawn(char *at, const struct spawn_place *place,
                       const struct climate_values *climate, int i)
{
    char distance[REAL_TEXT];
    struct climate_values here = *climate;
    here.value = here.climate ? here.value + i : NULL;
    here.water = here.rivers ? here.water + i : NULL;
    at += surface_format(at, place->x, place->y, &place->surface);
    at = put_climate(at, &here, 0);
    at = put_water(at, &here, &place->surface.height, 0);
    return at + sprintf(at, ",\"distance\":%s", real_format(place->distance, distance));
}

static char *put_from(char *at, int64_t x, int64_t y)
{
    char from_x[BLOCKS_TEXT], from_y[BLOCKS_TEXT];
    return at +
           sprintf(at, ",\"from\":[%s,%s]}\n", blocks_format(x, from_x), blocks_format(y, from_y));
}

struct blob *document_spawn(const struct spawn_place *place, const struct climate_values *climate,
                            int64_t x, int64_t y)
{
    char text[SPAWN_TEXT + 2 * BLOCKS_TEXT];
    const char *end = put_from(put_spawn(text, place, climate, 0), x, y);
    return blob_copy(text, (size_t)(end - text));
}

struct blob *document_spawns(const struct spawn_place *places, int count,
                             const struct climate_values *climate, int64_t x, int64_t y,
                             int searched)
{
    char *text = malloc((size_t)count * SPAWN_TEXT + 2 * BLOCKS_TEXT + 64);
    if (!text)
        return NULL;
    char *at = stpcpy(text, "{\"places\":[");
    for (int i = 0; i < count; i++)
        at = stpcpy(put_spawn(stpcpy(at, i > 0 ? "," : ""), &places[i], climate, i), "}");
    at = stpcpy(at, "]");
    if (searched >= 0)
        at += sprintf(at, ",\"searched\":%d", searched);
    at = put_from(at, x, y);
    struct blob *blob = blob_copy(text, (size_t)(at - text));
    free(text);
    return blob;
}

/* --- Courses --- */

enum {
    COURSE_TEXT = 2 * BLOCKS_TEXT + 4 * REAL_TEXT + sizeof "[,,],,,,,\"end lake\"", /* of a point */
    COURSE_ENDS = 4 * BLOCKS_TEXT + 1024,
};

static char *put_numbers(char *at, const char *name, const struct course_part *part, size_t offset)
{
    at += sprintf(at, ",\"%s\":[", name);
    for (size_t i = 0; i < part->count; i++) {
        float number;
        memcpy(&number, (const char *)&part->point[i] + offset, sizeof number);
        at = put_float(at, number, i == 0);
    }
    return stpcpy(at, "]");
}

/* NUMBER in as many decimals as tell units apart, so that the last bits of other machines' sines
 * do not matter. */
static char *put_degrees(char *at, double number)
{
    char text[REAL_TEXT];
    return stpcpy(at, real_format(floor(number * 1e9 + 0.5) / 1e9, text));
}

/* Put a place as longitude and latitude of PART's window. */
static char *put_lnglat(char *at, const struct course_part *part, int64_t x, int64_t y)
{
    const double u = window_position(x, part->origin[0], part->native_zoom);
    const double v = window_position(y, part->origin[1], part->native_zoom);
    return put_degrees(stpcpy(put_degrees(at, longitude_at(u)), ","), latitude_at(v));
}

static char *put_position(char *at, const struct course_part *part, int64_t x, int64_t y)
{
    char text[BLOCKS_TEXT];
    if (part->crs == CRS_LNGLAT)
        return put_lnglat(at, part, x, y);
    at = stpcpy(stpcpy(at, blocks_format(x, text)), ",");
    return stpcpy(at, blocks_format(part->crs == CRS_NORTH ? -y : y, text));
}

/* GDAL and QGIS take coordinates for those of WGS 84 unless this says otherwise. */
#define CRS_MEMBER                                                                                 \
    "\"crs\":{\"type\":\"name\",\"properties\":{\"name\":\"ENGCRS[\\\"blocks, y to the north\\\"," \
    "EDATUM[\\\"Farlands\\\"],CS[Cartesian,2],AXIS[\\\"x\\\",east],AXIS[\\\"y\\\",north],"         \
    "LENGTHUNIT[\\\"metre\\\",1]]\"}},"

static char *put_line(char *at, const struct course_part *part)
{
    char level[REAL_TEXT];
    const bool is_line = part->limit > 1;
    at += sprintf(at, "{\"type\":\"%s\",\"coordinates\":%s", is_line ? "LineString" : "Point",
                  is_line ? "[" : "");
    for (size_t i = 0; i < part->count; i++) {
        const struct farlands_course_point *p = &part->point[i];
        at = put_position(stpcpy(at, i > 0 ? ",[" : "["), part, p->x, p->y);
        at += sprintf(at, ",%s]", float_format(p->level, level));
    }
    return stpcpy(at, is_line ? "]}" : "}");
}

static char *put_next(char *at, const struct course_part *part)
{
    static const char *const names[] = {"land", "river", "lake", "sea", "end lake"};
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];
    at = stpcpy(at, ",\"kind\":[");
    for (size_t i = 0; i < part->count; i++)
        at = put_kind(at, names[part->point[i].kind], i == 0);
    at = stpcpy(at, "],\"end\":");
    at = put_kind(at, part->has_ended ? names[part->point[part->count - 1].kind] : NULL, true);
    at = stpcpy(at, ",\"next\":");
    if (part->has_ended)
        return stpcpy(at, "null");
    return at + sprintf(at,
                        "\"downstream?x=%s&y=%s&limit=%d%s%s&after=%" PRId64 ",%" PRId64 ",%d\"",
                        blocks_format(part->x, x), blocks_format(part->y, y), part->limit,
                        part->crs == CRS_BLOCKS ? "" : "&crs=",
                        part->crs == CRS_BLOCKS ? "" : query_crs_name(part->crs), part->course.i,
                        part->course.j, part->course.step);
}

struct blob *document_course(const struct course_part *part)
{
    char *text = malloc(COURSE_ENDS + part->count * COURSE_TEXT);
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];
    if (!text)
        return NULL;
    char *at = stpcpy(text, "{\"type\":\"Feature\",");
    at = stpcpy(at, part->crs == CRS_NORTH ? CRS_MEMBER : "");
    at = put_line(stpcpy(at, "\"geometry\":"), part);
    at += sprintf(at, ",\"properties\":{\"from\":[%s,%s]", blocks_format(part->x, x),
                  blocks_format(part->y, y));
    at = put_numbers(at, "level", part, offsetof(struct farlands_course_point, level));
    at = put_numbers(at, "bed", part, offsetof(struct farlands_course_point, bed));
    at = put_numbers(at, "width", part, offsetof(struct farlands_course_point, width));
    at = put_numbers(at, "order", part, offsetof(struct farlands_course_point, order));
    at = stpcpy(put_next(at, part), "}}\n");
    struct blob *blob = blob_copy(text, (size_t)(at - text));
    free(text);
    return blob;
}
