#include "documents.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "config/world/world_terrain.h"
#include "noise/graph/rivers_params.h"
#include "noise/terrain/terrain.h"
#include "server/core/json.h"
#include "server/layers/layer.h"
#include "server/layers/shading.h"
#include "server/routing/route.h"
#include "server/world/tile.h"
#include "server/world/web_window.h"
#include "server/world/worlds.h"

/* TileJSON allows zooms up to 30, but MapLibre fails if maxzoom is above 25, and stretches the
 * tiles of maxzoom beyond it. */
enum { TILEJSON_MAX_ZOOM = 25 };

enum { BASE_MAX = 1032 };

static void add_pair(struct json *document, const char *key, double a, double b)
{
    json_reals(document, key, (double[]){a, b}, 2);
}

static void add_value(struct json *document, const char *name, const struct world_key *key)
{
    (key->quoted ? json_string : json_raw)(document, name, key->value);
}

static void add_grid_parameter(void *context, const struct world_key *key)
{
    add_value(context, key->name, key);
}

/* Only the parameters that place tiles in the world, and the seeds. */
static void add_grid(struct json *document, const struct world *world)
{
    static const char *const keys[] = {"seed", "seeds", "native_zoom", "origin", "wrap", NULL};
    struct world_config config;
    world_config_of(&config, world);
    config_world_visit_some(&config, keys, add_grid_parameter, document);
}

/* The objects that are open for the parameters so far: "noise.warp." */
struct sections {
    struct json *document;
    char open[128];
};

/* Close the objects that NAME is not in. Returns the rest of NAME. */
static const char *leave_sections(struct sections *sections, const char *name)
{
    const char *open = sections->open, *dot;

    while ((dot = strchr(open, '.')) && strncmp(open, name, (size_t)(dot + 1 - open)) == 0) {
        name += dot + 1 - open;
        open = dot + 1;
    }
    for (const char *rest = open; (rest = strchr(rest, '.')); rest++)
        json_close(sections->document);
    return name;
}

/* {"name": ..., "noise": {"warp": {...}}} from the keys "name" and "noise.warp.amplitude". Those of
 * a section follow one another. */
static void add_parameter(void *context, const struct world_key *key)
{
    struct sections *sections = context;
    const char *name = leave_sections(sections, key->name);

    for (const char *dot; (dot = strchr(name, '.')); name = dot + 1) {
        char section[64];
        snprintf(section, sizeof section, "%.*s", (int)(dot - name), name);
        json_object(sections->document, section);
    }
    snprintf(sections->open, sizeof sections->open, "%.*s", (int)(name - key->name), key->name);
    add_value(sections->document, name, key);
}

static void add_parameters(struct json *document, const struct world *world)
{
    struct sections sections = {.document = document};
    struct world_config config;

    world_config_of(&config, world);
    config_world_visit(&config, add_parameter, &sections);
    leave_sections(&sections, "");
}

/* The beginning of relative URLs: a name with a colon would be taken for a scheme (RFC 3986,
 * section 4.2). */
static const char *relative(const struct world *world)
{
    return strchr(world->name, ':') ? "./" : "";
}

/* Parts of a URL template. */
struct tile_form {
    enum format format;
    const char *scale, *query; /* "@2x"; what comes before the fingerprint */
};

/* The URL template for LAYER's pictures of FIELD, beginning with BASE. */
static void add_tile_url(struct json *document, const char *key, const struct world *world,
                         int layer, int field, const char *base, struct tile_form form)
{
    char name[LAYER_NAME_MAX];
    json_text(document, key, "%s%s/%s/{z}/{x}/{y}%s.%s?%sv=%s", base, world->name,
              layer_name(world, layer, field, name), form.scale, format_extension(form.format),
              form.query, world->fingerprints.tile[tile_kind(layer, form.format)]);
}

/* The range of a layer's FIELD, and the unit if it has one. */
static void add_scale(struct json *document, const struct world *world, int field)
{
    const struct value_range range = world_field_range(world, field);
    const char *unit = world_field_unit(world, field);

    add_pair(document, "range", (double)range.min, (double)range.max);
    if (unit[0])
        json_string(document, "unit", unit);
}

static void add_extensions(struct json *document, int layer)
{
    json_list(document, "extensions");
    for (unsigned format = 0; format < FORMATS; format++)
        if (layers[layer].formats & 1u << format)
            json_string(document, NULL, format_extension(format));
    json_close(document);
}

static void add_encoding(struct json *document, int layer)
{
    if (layers[layer].encoding)
        json_string(document, "encoding", layers[layer].encoding);
}

/* If LAYER is shaded, how much heights are exaggerated: the terms of shading_exaggeration. */
static void add_exaggeration(struct json *document, const struct world *world, int layer)
{
    if (!(layers[layer].parts & 1U << WORLD_SHADING))
        return;
    json_object(document, "exaggeration");
    json_real(document, "least", (double)SHADING_LEAST_EXAGGERATION * world->config->exaggeration);
    json_real(document, "spacing", (double)SHADING_SPACING);
    json_close(document);
}

/* If LAYER's colors are angles, the scale: [[degrees, color], ...]. */
static void add_legend(struct json *document, int layer)
{
    if (!layers[layer].scale)
        return;
    json_object(document, "legend");
    json_text(document, "unit", "degrees");
    json_list(document, "palette");
    for (int i = 0; i < layers[layer].stops; i++) {
        const struct scale_stop *at = &layers[layer].scale[i];
        json_list(document, NULL);
        json_float(document, NULL, at->degrees);
        json_text(document, NULL, "#%02x%02x%02x", at->color[0], at->color[1], at->color[2]);
        json_close(document);
    }
    json_close(document);
    json_close(document);
}

/* WORLD's biomes, if any: [{id, name, color}, ...]. */
static void add_biomes(struct json *document, const struct world *world)
{
    const struct climate *climate = world_climate(world);
    if (!climate)
        return;
    json_list(document, "biomes");
    for (int i = 0; i < climate->table->rows.rows; i++) {
        const struct biome_look *look = &climate->table->look[i];
        json_object(document, NULL);
        json_integer(document, "id", climate->table->rows.row[i].id);
        json_string(document, "name", look->name);
        json_text(document, "color", "#%02x%02x%02x", look->color[0], look->color[1],
                  look->color[2]);
        json_close(document);
    }
    json_close(document);
}

static void add_layer(struct json *document, const struct world *world, int layer, int field)
{
    char name[LAYER_NAME_MAX];

    json_object(document, NULL);
    layer_name(world, layer, field, name);
    json_string(document, "name", name);
    add_extensions(document, layer);
    add_encoding(document, layer);
    if (layers[layer].fields)
        add_scale(document, world, field);
    add_exaggeration(document, world, layer);
    add_legend(document, layer);
    json_string(document, "fingerprint", world->fingerprints.tile[layer]);
    json_text(document, "tilejson", "%s%s/%s.json", relative(world), world->name, name);
    json_text(document, "gdal", "%s%s/%s.xml", relative(world), world->name, name);
    if (layer_has_numbers(layer))
        json_integer(document, "exact_from", world_exact_zoom(world));
    add_tile_url(document, "tiles", world, layer, field, relative(world),
                 (struct tile_form){FORMAT_PNG, "", ""});
    if (layers[layer].formats & 1U << FORMAT_WEBP)
        add_tile_url(document, "tiles_webp", world, layer, field, relative(world),
                     (struct tile_form){FORMAT_WEBP, "", ""});
    json_close(document);
}

static void add_layers(struct json *document, const struct world *world)
{
    for (int i = 0; layers[i].name; i++)
        if (world_lists(world, i))
            add_layer(document, world, i, 0);
}

/* The `field` layers; the height has other layers. */
static void add_field_layers(struct json *document, const struct world *world)
{
    for (int i = 0; layers[i].name; i++)
        for (int field = 0; field < world_field_count(world); field++)
            if (layers[i].fields && world_serves(world, i) && field != world_height_field(world) &&
                world_has_layers(world, field))
                add_layer(document, world, i, field);
}

/* Common to all documents about a world. */
static void add_identity(struct json *document, const struct world *world)
{
    json_string(document, "fingerprint", world->fingerprints.region);
    json_integer(document, "generator", world_config_generator(world->config));
    json_integer(document, "tile_size", TILE_SIZE);
    json_object(document, "limits");
    json_integer(document, "coordinate", FARLANDS_LIMIT_BLOCKS);
    add_pair(document, "zoom", world_min_zoom(world), world_max_zoom(world, 1));
    add_pair(document, "zoom_2x", world_min_zoom(world), world_max_zoom(world, 2));
    json_integer(document, "first", world_first_zoom(world));
    json_integer(document, "overview", world_overview_zoom(world));
    json_integer(document, "side", ROUTE_SIDE_MAX);
    json_integer(document, "volume", ROUTE_VOLUME_MAX);
    json_close(document);
}

/* The heights that the colors show. */
static void add_range(struct json *document, const struct world *world)
{
    add_pair(document, "range", (double)world->colors->min, (double)world->colors->max);
}

/* URL templates of the other endpoints. */
static void add_endpoints(struct json *document, const struct world *world)
{
    const struct {
        const char *name, *template, *version;
    } endpoints[] = {
        {"height", "height?x={x}&y={y}", ""},
        {"heights", "heights?at={x},{y};{x},{y}", ""},
        {"spawn", "spawn?x={x}&y={y}&min={min}&max={max}&slope={slope}", ""},
        {"downstream", "downstream?x={x}&y={y}&limit={limit}", ""},
        {"region", "region.{ext}?x={x}&y={y}&width={width}&height={height}&step={step}&v=",
         world->fingerprints.region},
        {"region_field",
         "region.{ext}?x={x}&y={y}&width={width}&height={height}&step={step}&field={field}"
         "&range={min},{max}&v=",
         world->fingerprints.region},
        {"region_layer",
         "region.png?x={x}&y={y}&width={width}&height={height}&step={step}&layer={layer}", ""},
        {"volume",
         "volume.f32?x={x}&y={y}&z={z}&width={width}&height={height}&depth={depth}&step={step}&v=",
         world->fingerprints.volume},
        {"wmts", "wmts.xml", ""},
    };
    json_object(document, "urls");
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++)
        if (world_course_field(world) >= 0 || strcmp(endpoints[i].name, "downstream") != 0)
            json_text(document, endpoints[i].name, "%s%s/%s%s", relative(world), world->name,
                      endpoints[i].template, endpoints[i].version);
    json_close(document);
}

/* Common to the catalogue and /{world}.json. WHOLE: with the layers of fields. */
static void add_outline(struct json *document, const struct world *world, bool whole)
{
    add_identity(document, world);
    add_range(document, world);
    add_endpoints(document, world);
    json_list(document, "layers");
    add_layers(document, world);
    if (whole)
        add_field_layers(document, world);
    json_close(document);
}

struct blob *document_worlds(const struct worlds *worlds, bool watched)
{
    struct json document = json_new(false);

    json_string(&document, "farlands", FARLANDS_VERSION);
    if (watched)
        json_text(&document, "changes", "viewer/%s", DOCUMENT_CHANGES);
    json_list(&document, "worlds");
    for (int i = 0; i < worlds->count; i++) {
        const struct world *world = &worlds->world[i];
        json_object(&document, NULL);
        json_string(&document, "name", world->name);
        json_text(&document, "url", "%s.json", world->name);
        if (world->config->about[0])
            json_string(&document, "about", world->config->about);
        add_grid(&document, world);
        add_outline(&document, world, false);
        json_close(&document);
    }
    return json_end(&document);
}

/* For each field, bounds of all values. */
static void add_ranges(struct json *document, const struct world *world)
{
    const struct world_fields *fields = world->config->fields;
    float min, max;
    if (!fields)
        return;
    json_object(document, "ranges");
    for (int i = 0; i < world_fields_count(fields); i++) {
        terrain_field_range(world->base_terrain, i, &min, &max);
        add_pair(document, world_fields_name(fields, i), (double)min, (double)max);
    }
    json_close(document);
}

struct blob *document_world(const struct world *world)
{
    struct json document = json_new(false);

    add_parameters(&document, world);
    add_ranges(&document, world);
    add_biomes(&document, world);
    add_outline(&document, world, true);
    return json_end(&document);
}

/* The step between two values in LAYER's pictures of heights, in metres; 0 if LAYER has no such
 * pictures. */
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
 * The finest zoom for maps. Beyond it, the step between heights is more than 1/40 of the samples'
 * distance, so gentle slopes look like stairs, and a map looks better with enlarged tiles.
 */
static int tilejson_max_zoom(const struct world *world, int layer, int field)
{
    const double step = height_step(world, layer, field);
    const int most = world_max_zoom(world, 1);
    const int high = most < TILEJSON_MAX_ZOOM ? most : TILEJSON_MAX_ZOOM;
    const double fine = step > 0 ? floor(world->config->native_zoom - log2(40 * step)) : high;
    return (int)fmin(fmax(fine, 0), high);
}

/* The middle of the window if POSITION is outside. */
static double within_window(double position)
{
    return position >= 0 && position <= 1 ? position : 0.5;
}

/* A map's first view: longitude and latitude of block (0, 0), and a zoom up to MOST. */
static void add_center(struct json *document, const struct world *world, int most)
{
    const struct world_config *config = world->config;
    const double u = web_window_position(0, config->origin[0], config->native_zoom);
    const double v = web_window_position(0, config->origin[1], config->native_zoom);
    const double center[] = {web_longitude(within_window(u)), web_latitude(within_window(v)),
                             fmin(fmax(world_first_zoom(world), 0), most)};

    json_reals(document, "center", center, 3);
}

/* The plane beyond what TileJSON can describe: signed tiles, any zoom, @2x, borders, raw heights.
 */
static void add_plane(struct json *document, const struct world *world, int layer, int field,
                      enum format format, const char *base)
{
    char name[LAYER_NAME_MAX];
    json_object(document, "farlands");
    json_string(document, "world", world->name);
    json_string(document, "layer", layer_name(world, layer, field, name));
    add_grid(document, world);
    add_identity(document, world);
    if (layers[layer].fields)
        add_scale(document, world, field);
    else
        add_range(document, world);
    add_exaggeration(document, world, layer);
    add_legend(document, layer);
    if (layers[layer].biomes)
        add_biomes(document, world);
    add_extensions(document, layer);
    add_tile_url(document, "tiles_2x", world, layer, field, base,
                 (struct tile_form){format, "@2x", ""});
    add_tile_url(document, "tiles_border", world, layer, field, base,
                 (struct tile_form){format, "", "border=1&"});
    json_close(document);
}

struct blob *document_tilejson(const struct world *world, int layer, int field, enum format format,
                               const char *base)
{
    char name[LAYER_NAME_MAX];
    struct json document = json_new(false);
    char below[BASE_MAX];

    snprintf(below, sizeof below, "%s/", base);
    json_text(&document, "tilejson", "3.0.0");
    layer_name(world, layer, field, name);
    json_text(&document, "name", "%s %s", world->name, name);
    const char *about = world->config->about;
    json_text(&document, "description", "Layer %s of the world %s, an endless seeded terrain%s%s",
              name, world->name, about[0] ? ": " : "", about);
    json_text(&document, "scheme", "xyz");
    json_list(&document, "tiles");
    add_tile_url(&document, NULL, world, layer, field, below, (struct tile_form){format, "", ""});
    json_close(&document);
    json_integer(&document, "tileSize", TILE_SIZE);
    add_encoding(&document, layer);
    const int most = tilejson_max_zoom(world, layer, field);
    json_integer(&document, "minzoom", 0);
    json_integer(&document, "maxzoom", most);
    if (layer_has_numbers(layer))
        json_integer(&document, "exact_from", world_exact_zoom(world));
    /* The window 0 <= x, y < 2^z is Web Mercator's square, here in WGS 84. */
    static const double bounds[] = {-180, -85.0511287798066, 180, 85.0511287798066};
    json_reals(&document, "bounds", bounds, 4);
    add_center(&document, world, most);
    json_text(&document, "fingerprint", "%s", world->fingerprints.tile[tile_kind(layer, format)]);
    add_plane(&document, world, layer, field, format, below);
    return json_end(&document);
}

struct blob *document_changes(const char *etag, const char *error)
{
    struct json document = json_new(false);
    json_string(&document, "worlds", etag);
    json_string(&document, "error", error[0] ? error : NULL);
    return json_end(&document);
}

struct blob *document_message(const char *key, const char *text)
{
    struct json document = json_new(false);
    json_string(&document, key, text);
    return json_end(&document);
}
