#include "documents.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/layers/layer.h"
#include "server/routing/route.h"
#include "server/world/tile.h"

/* Of what fits 0 <= x, y < 2^z, TileJSON's tiles, it counts zooms to 30. But MapLibre's end at 25,
 * and it fails when it is told of more, and stretches the last when it is not. */
enum { TILEJSON_MAX_ZOOM = 25 };

enum { BASE_MAX = 1032, TILE_URL_MAX = BASE_MAX + 256 };

/* cJSON's own functions pass NULL through, so one look at the end is enough: a
 * missing part makes the whole document NULL. */
struct document {
    cJSON *root;
    bool whole;
};

static void add(struct document *document, cJSON *parent, const char *key, cJSON *value)
{
    bool added = value && (key ? cJSON_AddItemToObject(parent, key, value)
                               : cJSON_AddItemToArray(parent, value));
    if (!added) {
        cJSON_Delete(value);
        document->whole = false;
    }
}

static void add_text(struct document *document, cJSON *parent, const char *key, const char *text)
{
    add(document, parent, key, cJSON_CreateString(text));
}

static void add_number(struct document *document, cJSON *parent, const char *key, double number)
{
    add(document, parent, key, cJSON_CreateNumber(number));
}

static cJSON *add_object(struct document *document, cJSON *parent, const char *key)
{
    cJSON *object = cJSON_CreateObject();
    add(document, parent, key, object);
    return document->whole ? object : NULL;
}

static cJSON *add_array(struct document *document, cJSON *parent, const char *key)
{
    cJSON *array = cJSON_CreateArray();
    add(document, parent, key, array);
    return document->whole ? array : NULL;
}

static struct document document_new(void)
{
    cJSON *root = cJSON_CreateObject();
    return (struct document){root, root != NULL};
}

static struct blob *document_end(struct document *document)
{
    struct blob *blob = NULL;
    char *text = document->whole ? cJSON_PrintUnformatted(document->root) : NULL;
    if (text) {
        size_t length = strlen(text);
        text[length] = '\n'; /* instead of the NUL: nobody reads it as a string any more */
        blob = blob_copy(text, length + 1);
    }
    cJSON_free(text);
    cJSON_Delete(document->root);
    return blob;
}

struct parameter_place {
    struct document *document;
    cJSON *parent;
};

/* Those of the parameters that place tiles in the world, and its seed, and whether it has others.
 */
static void add_grid_parameter(void *context, const char *key, const char *value, int quoted)
{
    static const char *const keys[] = {"seed", "seeds", "native_zoom", "origin", "wrap"};
    const struct parameter_place *place = context;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strcmp(keys[i], key) == 0)
            add(place->document, place->parent, key,
                quoted ? cJSON_CreateString(value) : cJSON_CreateRaw(value));
}

static void add_grid(struct document *document, cJSON *parent, const struct world *world)
{
    struct parameter_place place = {document, parent};
    config_world_visit(&world->config, add_grid_parameter, &place);
}

/* {"name": ..., "noise": {"warp": {...}}} from the keys "name" and "noise.warp.amplitude". */
static void add_parameter(void *context, const char *key, const char *value, int quoted)
{
    struct document *document = context;
    cJSON *parent = document->root;
    for (const char *dot; (dot = strchr(key, '.')); key = dot + 1) {
        char section[64];
        snprintf(section, sizeof section, "%.*s", (int)(dot - key), key);
        cJSON *object = cJSON_GetObjectItemCaseSensitive(parent, section);
        parent = object ? object : add_object(document, parent, section);
    }
    add(document, parent, key, quoted ? cJSON_CreateString(value) : cJSON_CreateRaw(value));
}

static void add_pair(struct document *document, cJSON *parent, const char *key, double a, double b)
{
    cJSON *pair = add_array(document, parent, key);
    add_number(document, pair, NULL, a);
    add_number(document, pair, NULL, b);
}

/* What relative URLs begin with, as a colon before the first slash would end a scheme (RFC 3986,
 * 4.2). */
static const char *here(const struct world *world)
{
    return strchr(world->config.name, ':') ? "./" : "";
}

/* The template of the URLs of LAYER's pictures, below BASE; DENSITY is "" or "@2x". */
static void tile_url(const struct world *world, int layer, const char *base, const char *density,
                     char *out, size_t size)
{
    snprintf(out, size, "%s%s/%s/{z}/{x}/{y}%s.png?v=%s", base, world->config.name,
             layers[layer].name, density, world->fingerprint);
}

static void add_extensions(struct document *document, cJSON *parent, int layer)
{
    cJSON *extensions = add_array(document, parent, "extensions");
    for (unsigned format = 0; format < FORMATS; format++)
        if (layers[layer].formats & 1u << format)
            add_text(document, extensions, NULL, format_extension(format));
}

static void add_encoding(struct document *document, cJSON *parent, int layer)
{
    if (layers[layer].encoding)
        add_text(document, parent, "encoding", layers[layer].encoding);
}

static void add_layers(struct document *document, cJSON *parent, const struct world *world)
{
    cJSON *list = add_array(document, parent, "layers");
    for (int i = 0; layers[i].name && document->whole; i++) {
        char url[256];
        if (!world_serves(world, i))
            continue;
        cJSON *entry = add_object(document, list, NULL);
        add_text(document, entry, "name", layers[i].name);
        add_extensions(document, entry, i);
        add_encoding(document, entry, i);
        snprintf(url, sizeof url, "%s%s/%s.json", here(world), world->config.name, layers[i].name);
        add_text(document, entry, "tilejson", url);
        tile_url(world, i, here(world), "", url, sizeof url);
        add_text(document, entry, "tiles", url);
    }
}

/* What every document about a world tells. */
static void add_identity(struct document *document, cJSON *parent, const struct world *world)
{
    add_text(document, parent, "fingerprint", world->fingerprint);
    add_number(document, parent, "generator", FARLANDS_GENERATOR);
    add_pair(document, parent, "range", (double)world->colors->min, (double)world->colors->max);
    add_number(document, parent, "tile_size", TILE_SIZE);
    cJSON *limits = add_object(document, parent, "limits");
    add_number(document, limits, "coordinate", (double)FARLANDS_LIMIT_BLOCKS);
    add_pair(document, limits, "zoom", world_min_zoom(world), world_max_zoom(world, 1));
    add_pair(document, limits, "zoom_2x", world_min_zoom(world), world_max_zoom(world, 2));
    add_number(document, limits, "side", ROUTE_SIDE_MAX);
    add_number(document, limits, "volume", ROUTE_VOLUME_MAX);
}

/* What game servers ask: templates of URLs, as those of tiles are. */
static void add_questions(struct document *document, cJSON *parent, const struct world *world)
{
    static const struct {
        const char *name, *template;
        bool versioned; /* the fingerprint stands at its end */
    } questions[] = {
        {"height", "height?x={x}&y={y}", false},
        {"heights", "heights?at={x},{y};{x},{y}", false},
        {"spawn", "spawn?x={x}&y={y}&min={min}&max={max}&slope={slope}", false},
        {"region", "region.{ext}?x={x}&y={y}&width={width}&height={height}&step={step}&v=", true},
        {"volume",
         "volume.f32?x={x}&y={y}&z={z}&width={width}&height={height}&depth={depth}&step={step}&v=",
         true},
    };
    cJSON *urls = add_object(document, parent, "urls");
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        char url[WORLD_SEEDED_NAME_MAX + 256];
        snprintf(url, sizeof url, "%s%s/%s%s", here(world), world->config.name,
                 questions[i].template, questions[i].versioned ? world->fingerprint : "");
        add_text(document, urls, questions[i].name, url);
    }
}

/* What the catalogue and /{world}.json both tell. */
static void add_outline(struct document *document, cJSON *parent, const struct world *world)
{
    add_identity(document, parent, world);
    add_questions(document, parent, world);
    add_layers(document, parent, world);
}

struct blob *document_worlds(const struct worlds *worlds)
{
    struct document document = document_new();
    char url[WORLD_SEEDED_NAME_MAX + 8];

    add_text(&document, document.root, "farlands", FARLANDS_VERSION);
    cJSON *list = add_array(&document, document.root, "worlds");
    for (int i = 0; i < worlds->count && document.whole; i++) {
        const struct world *world = &worlds->world[i];
        cJSON *entry = add_object(&document, list, NULL);
        snprintf(url, sizeof url, "%s.json", world->config.name);
        add_text(&document, entry, "name", world->config.name);
        add_text(&document, entry, "url", url);
        add_grid(&document, entry, world);
        add_outline(&document, entry, world);
    }
    return document_end(&document);
}

struct blob *document_world(const struct world *world)
{
    struct document document = document_new();

    config_world_visit(&world->config, add_parameter, &document);
    add_outline(&document, document.root, world);
    return document_end(&document);
}

/* ZOOM, or the nearest one that both TileJSON and the world have. */
static int tilejson_zoom(const struct world *world, int zoom)
{
    const int low = world_min_zoom(world) > 0 ? world_min_zoom(world) : 0;
    const int most = world_max_zoom(world, 1);
    const int high = most < TILEJSON_MAX_ZOOM ? most : TILEJSON_MAX_ZOOM;
    return zoom < low ? low : zoom > high ? high : zoom;
}

/* How far BLOCK is into the window that web maps see, 0 to 1; what is outside begins in the middle.
 */
static double into_window(int64_t block, int64_t origin, int native_zoom)
{
    const double place = ((double)block - (double)origin) / ldexp(256 * FARLANDS_UNIT, native_zoom);
    return place >= 0 && place <= 1 ? place : 0.5;
}

/*
 * Where a map begins: longitude and latitude of block (0, 0), whose window is
 * Web Mercator's square, and the zoom at which a cell of the broadest octave is
 * FIRST_CELL pixels wide, so that a few of its features fill a screen.
 */
static void add_center(struct document *document, cJSON *parent, const struct world *world)
{
    enum { FIRST_CELL = 1024 };
    const struct world_config *config = &world->config;
    const double u = into_window(0, config->origin[0], config->native_zoom);
    const double v = into_window(0, config->origin[1], config->native_zoom);
    const double blocks = (double)config->terrain.wavelength / FARLANDS_UNIT;
    const long zoom = config->native_zoom + lround(log2(FIRST_CELL / blocks));

    cJSON *center = add_array(document, parent, "center");
    add_number(document, center, NULL, 360 * u - 180);
    add_number(document, center, NULL, atan(sinh(M_PI * (1 - 2 * v))) * 180 / M_PI);
    add_number(document, center, NULL, tilejson_zoom(world, (int)zoom));
}

/* The plane that TileJSON cannot tell of: signed tiles, any zoom, @2x, raw heights. */
static void add_plane(struct document *document, cJSON *parent, const struct world *world,
                      int layer, const char *base)
{
    char url[TILE_URL_MAX];
    cJSON *plane = add_object(document, parent, "farlands");
    add_text(document, plane, "world", world->config.name);
    add_text(document, plane, "layer", layers[layer].name);
    add_grid(document, plane, world);
    add_identity(document, plane, world);
    add_extensions(document, plane, layer);
    tile_url(world, layer, base, "@2x", url, sizeof url);
    add_text(document, plane, "tiles_2x", url);
}

struct blob *document_tilejson(const struct world *world, int layer, const char *base)
{
    struct document document = document_new();
    cJSON *root = document.root;
    char url[TILE_URL_MAX], below[BASE_MAX], text[WORLD_SEEDED_NAME_MAX + 128];

    snprintf(below, sizeof below, "%s/", base);
    tile_url(world, layer, below, "", url, sizeof url);
    add_text(&document, root, "tilejson", "3.0.0");
    snprintf(text, sizeof text, "%s %s", world->config.name, layers[layer].name);
    add_text(&document, root, "name", text);
    snprintf(text, sizeof text, "Layer %s of the world %s, an endless seeded terrain",
             layers[layer].name, world->config.name);
    add_text(&document, root, "description", text);
    add_text(&document, root, "scheme", "xyz");
    cJSON *tiles = add_array(&document, root, "tiles");
    add_text(&document, tiles, NULL, url);
    add_number(&document, root, "tileSize", TILE_SIZE);
    add_encoding(&document, root, layer);
    add_number(&document, root, "minzoom", tilejson_zoom(world, 0));
    add_number(&document, root, "maxzoom", tilejson_zoom(world, TILEJSON_MAX_ZOOM));
    /* Web Mercator's square, as WGS 84, is the window that 0 <= x, y < 2^z sees. */
    static const double bounds[] = {-180, -85.0511287798066, 180, 85.0511287798066};
    cJSON *box = add_array(&document, root, "bounds");
    for (int i = 0; i < 4; i++)
        add_number(&document, box, NULL, bounds[i]);
    add_center(&document, root, world);
    add_array(&document, root, "vector_layers");
    add_text(&document, root, "fingerprint", world->fingerprint);
    add_plane(&document, root, world, layer, below);
    return document_end(&document);
}

static struct blob *one_text(const char *key, const char *text)
{
    struct document document = document_new();
    add_text(&document, document.root, key, text);
    return document_end(&document);
}

struct blob *document_error(const char *message)
{
    return one_text("error", message);
}

struct blob *document_status(const char *status)
{
    return one_text("status", status);
}
