#include "route.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "config/values/seed.h"
#include "noise/farlands.h"
#include "server/http/url_escapes.h"

enum { SEGMENTS_MAX = 5 };

/* Copy a world's, layer's or extension's name into OUT, SIZE bytes. Returns false if it is empty or
 * too long. */
static bool copy_word(struct span span, char *out, size_t size)
{
    if (span.length == 0 || span.length >= size)
        return false;
    memcpy(out, span.text, span.length);
    out[span.length] = '\0';
    return true;
}

static unsigned parse_integer(struct span span, const char *what, int64_t *out, char *why)
{
    switch (integer_parse(span.text, span.length, out)) {
    case 0:
        return 0;
    case -ERANGE:
        return query_reject(why, 400, "%s: \"%.*s\" is beyond 64 bits", what, span_shown(span),
                            span.text);
    default:
        return query_reject(why, 400,
                            "%s: \"%.*s\" is not a whole number such as 0, 12 or -3 (without +, "
                            "leading zeros or exponent)",
                            what, span_shown(span), span.text);
    }
}

/* NAME or NAME:SEED. */
static unsigned parse_world(struct route *route, struct span name, char *why)
{
    const char *colon = name.length > 0 ? memchr(name.text, ':', name.length) : NULL;
    if (colon) {
        const size_t length = (size_t)(colon - name.text);
        const struct span seed = {colon + 1, name.length - length - 1};
        if (seed_parse(seed.text, seed.length, &route->seed))
            return query_reject(why, 400, "seed: \"%.*s\" is blank; expected " SEED_EXPECTED,
                                span_shown(seed), seed.text);
        route->seeded = true;
        name.length = length;
    }
    if (copy_word(name, route->world, sizeof route->world))
        return 0;
    return query_reject(why, 404, "world: no such world; /worlds.json lists them");
}

#define PARAMETER(text, type, member, ...)                                                \
    {                                                                                     \
        .name = text, .kind = type, .offset = offsetof(struct route, member), __VA_ARGS__ \
    }
#define X PARAMETER("x", QUERY_PLACE, at_x, .required = true)
#define Y PARAMETER("y", QUERY_PLACE, at_y, .required = true)
#define Z PARAMETER("z", QUERY_PLACE, at_z, .required = true)
/* A count from 1 on. A whole number that counts nothing has no .unit, and may be negative. */
#define COUNT(member, ...) PARAMETER(#member, QUERY_WHOLE, member, .min = 1, __VA_ARGS__)
#define SIDE(member) COUNT(member, .required = true, .max = ROUTE_SIDE_MAX, .unit = "samples")
#define STEP PARAMETER("step", QUERY_STEP, step)
#define REAL(member, ...) PARAMETER(#member, QUERY_REAL, member, __VA_ARGS__)
#define VERSION PARAMETER("v", QUERY_TEXT, version)
#define LAYER PARAMETER("layer", QUERY_NAME, layer, .max = ROUTE_LAYER)
#define FIELD PARAMETER("field", QUERY_NAME, field)
#define FIELDS PARAMETER("fields", QUERY_NAMES, fields, .max = ROUTE_FIELDS_MAX)
#define RANGE PARAMETER("range", QUERY_RANGE, range)

/* Open, because maps append tokens and cache-busting numbers to tile URLs. */
static const struct query_table tile_query = {
    "a tile", .open = true, .parameters = {PARAMETER("border", QUERY_FLAG, border), VERSION}};

/* Open, because clients append theirs here, too. */
static const struct query_table tilejson_query = {
    "TileJSON", .open = true, .parameters = {PARAMETER("format", QUERY_FORMAT, format)}};

/* Endpoints {world}/NAME?... or {world}/NAME.{ext}?..., named in their queries. */
static const struct endpoint {
    enum route_kind kind;
    bool has_extension;
    struct query_table query;
} endpoints[] = {
    {ROUTE_HEIGHT, false, {"height", .parameters = {X, Y, FIELDS}}},
    {ROUTE_HEIGHTS,
     false,
     {"heights", .parameters = {PARAMETER("at", QUERY_PLACES, places, .required = true), FIELDS}}},
    {ROUTE_SPAWN,
     false,
     {"spawn", .parameters = {X, Y, REAL(min, .min = -INFINITY), REAL(max, .min = -INFINITY),
                              REAL(slope), PARAMETER("under_water", QUERY_FLAG, under_water),
                              COUNT(near_water, .max = SPAWN_WATER_MAX, .unit = "blocks"),
                              PARAMETER("biome", QUERY_NAMES, biomes, .max = ROUTE_BIOMES_MAX),
                              COUNT(count, .max = SPAWN_PLACES_MAX, .unit = "places")}}},
    {ROUTE_DOWNSTREAM,
     false,
     {"downstream",
      .parameters = {X, Y, COUNT(limit, .max = ROUTE_POINTS_MAX, .unit = "points"),
                     PARAMETER("after", QUERY_COURSE, after), PARAMETER("crs", QUERY_CRS, crs)}}},
    {ROUTE_REGION,
     true,
     {"region",
      .parameters = {X, Y, SIDE(width), SIDE(height), STEP, LAYER, FIELD, RANGE, VERSION}}},
    {ROUTE_VOLUME,
     true,
     {"volume", .parameters = {X, Y, Z, SIDE(width), SIDE(height), SIDE(depth), STEP, VERSION}}},
};

/* Check that the last sample, COUNT - 1 steps after FIRST, is within the limit. */
static unsigned check_end(const char *name, int64_t first, int64_t step, int count, char *why)
{
    if (first + step * (count - 1) <= FARLANDS_LIMIT)
        return 0;
    return query_reject(why, 404, "%s: the last of %d samples is beyond the limit of 2^52 blocks",
                        name, count);
}

static unsigned check_arguments(const struct route *route, char *why)
{
    const int64_t samples = (int64_t)route->width * route->height;
    unsigned status = 0;

    switch (route->kind) {
    case ROUTE_SPAWN:
        return route->min <= route->max ? 0 : query_reject(why, 400, "min: must not exceed max");
    case ROUTE_VOLUME:
        if (samples * route->depth > ROUTE_VOLUME_MAX)
            return query_reject(why, 413,
                                "width, height, depth: %d * %d * %d samples are too many; at most "
                                "%d (2^24)",
                                route->width, route->height, route->depth, ROUTE_VOLUME_MAX);
        status = check_end("z", route->at_z, route->step, route->depth, why);
        break;
    case ROUTE_REGION:
        if (route->layer[0] && (route->field[0] || route->range[0] < route->range[1]))
            return query_reject(why, 400,
                                "layer: a layer has its own field and range; expected "
                                "layer without field and range");
        if (route->range[0] < route->range[1] && strcmp(route->extension, "f32") == 0)
            return query_reject(why, 400,
                                "range: f32 are the values themselves; expected r16, u8 or png");
        break;
    default:
        return 0;
    }
    if (!status)
        status = check_end("x", route->at_x, route->step, route->width, why);
    return status ? status : check_end("y", route->at_y, route->step, route->height, why);
}

/* Find the endpoint NAME, or NULL, and split off its EXTENSION. */
static const struct endpoint *find_endpoint(struct span name, struct span *extension)
{
    *extension = name;
    const struct span stem = span_take(extension, '.');
    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++)
        if (span_is(endpoints[i].has_extension ? stem : name, endpoints[i].query.name))
            return &endpoints[i];
    return NULL;
}

/* Reject TEXT, which has escapes that url_escapes_decode refused. */
static unsigned reject_escape(const char *text, char *why)
{
    const char *at = url_escapes_refused(text);
    if (at && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]))
        return query_reject(why, 400, "URL: %.3s: no name or number has this character", at);
    return query_reject(why, 400, "URL: %.3s: expected %% and two hexadecimal digits, such as %%3A",
                        at ? at : strchr(text, '%'));
}

static unsigned parse_endpoint(struct route *route, const struct endpoint *endpoint,
                               struct span extension, const char *query, char *why)
{
    route->kind = endpoint->kind;
    route->min = -INFINITY;
    route->max = route->slope = INFINITY;
    route->limit = ROUTE_POINTS;
    route->after.step = ROUTE_FROM_PLACE;
    if (strchr(query, '%'))
        return reject_escape(query, why);
    if (endpoint->has_extension && !copy_word(extension, route->extension, sizeof route->extension))
        return query_reject(why, 404, "%s: expected %s.f32?...", endpoint->query.name,
                            endpoint->query.name);
    unsigned status = query_parse(&endpoint->query, query, route, &route->others, why);
    return status ? status : check_arguments(route, why);
}

static unsigned parse_tile(struct route *route, const struct span segments[SEGMENTS_MAX],
                           const char *query, char *why)
{
    struct span extension = segments[4];
    struct span name = span_take(&extension, '.');
    unsigned status;

    route->kind = ROUTE_TILE;
    route->scale = span_cut(&name, "@2x") ? 2 : 1;
    if ((status = parse_integer(segments[2], "z", &route->z, why)) ||
        (status = parse_integer(segments[3], "x", &route->x, why)) ||
        (status = parse_integer(name, "y", &route->y, why)))
        return status;
    if (!copy_word(segments[1], route->layer, sizeof route->layer) ||
        !copy_word(extension, route->extension, sizeof route->extension))
        return query_reject(why, 404, "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    return query_parse(&tile_query, query, route, &route->others, why);
}

/* Parse NAME, a layer's identifier in the capabilities: world:layer or world:seed:layer. */
static unsigned parse_identifier(struct route *route, const char *name, char *why)
{
    const char *colon = strrchr(name, ':');
    const struct span layer = {colon ? colon + 1 : "", colon ? strlen(colon + 1) : 0};

    if (strchr(name, '%')) /* left from bytes that are not printable */
        return wmts_reject(&route->fault, why, WMTS_INVALID_PARAMETER_VALUE, "layer",
                           "layer: \"%.40s\" has an escape that no name has; expected a seed of "
                           "such text by its number",
                           name);
    if (copy_word(layer, route->layer, sizeof route->layer) &&
        !parse_world(route, (struct span){name, (size_t)(colon - name)}, why))
        return 0;
    return wmts_reject(&route->fault, why, WMTS_INVALID_PARAMETER_VALUE, "layer",
                       "layer: \"%.40s\" is not a layer of the capabilities, such as "
                       "default:relief",
                       name);
}

/* DOCUMENT is true for wmts.xml, the capabilities, to which clients append queries. The path's
 * world, if any, is parsed already. */
static unsigned parse_wmts(struct route *route, bool document, const char *query, char *why)
{
    const struct route outer = *route;
    struct wmts_query parsed;
    unsigned status = wmts_query_parse(&parsed, query, document, &route->fault, why);

    route->kind = parsed.tile ? ROUTE_WMTS_TILE : ROUTE_WMTS;
    if (status || !parsed.tile)
        return status;
    route->seeded = false;
    status = parse_identifier(route, parsed.layer, why);
    if (status)
        return status;
    if (outer.world[0] && (strcmp(outer.world, route->world) != 0 ||
                           outer.seeded != route->seeded || outer.seed != route->seed))
        return wmts_reject(&route->fault, why, WMTS_INVALID_PARAMETER_VALUE, "layer",
                           "layer: \"%.40s\" is not one of the world in the path", parsed.layer);
    route->z = parsed.matrix;
    route->x = parsed.col;
    route->y = parsed.row;
    route->scale = 1;
    route->others = parsed.others;
    memcpy(route->set, parsed.set, sizeof route->set);
    strcpy(route->extension, "png");
    return 0;
}

/* Names at the root besides worlds. Those for operators are hidden from error messages. */
static const struct {
    const char *name;
    enum route_kind kind;
    bool hidden;
} fixed[] = {
    {"", ROUTE_VIEWER, false},
    {"worlds.json", ROUTE_WORLDS, false},
    {"wmts.xml", ROUTE_WMTS, false},
    {"wmts", ROUTE_WMTS, false},
    {"robots.txt", ROUTE_ASSET, false},
    {"favicon.ico", ROUTE_ASSET, false},
    {"apple-touch-icon.png", ROUTE_ASSET, false},
    {"healthz", ROUTE_HEALTH, true},
    {"readyz", ROUTE_READY, true},
    {"metrics", ROUTE_METRICS, true},
};

/* Append formatted text to TEXT, SIZE bytes, after USED bytes. Returns the bytes used afterwards.
 */
__attribute__((format(printf, 4, 5))) static size_t append(char *text, size_t size, size_t used,
                                                           const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    const int length = used < size ? vsnprintf(text + used, size - used, format, arguments) : 0;
    va_end(arguments);
    return length > 0 ? used + (size_t)length : used;
}

static unsigned reject_top(char *why)
{
    char names[QUERY_WHY] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (!fixed[i].hidden && fixed[i].kind != ROUTE_WORLDS)
            used = append(names, sizeof names, used, ", /%s", fixed[i].name);
    return query_reject(why, 404,
                        "nothing is at this URL; /worlds.json lists worlds, and there are "
                        "/{world}.json%s",
                        names);
}

static unsigned reject_below_world(char *why)
{
    char names[QUERY_WHY] = "";
    size_t used = 0;

    for (size_t i = 0; i < sizeof endpoints / sizeof endpoints[0]; i++)
        used = append(names, sizeof names, used, endpoints[i].has_extension ? ", %s.f32" : ", %s",
                      endpoints[i].query.name);
    return query_reject(why, 404,
                        "nothing is at this URL; /{world}/ has {layer}.json, {layer}.xml, "
                        "wmts.xml, wmts%s",
                        names);
}

static unsigned parse_top(struct route *route, struct span segment, const char *query, char *why)
{
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (span_is(segment, fixed[i].name)) {
            route->kind = fixed[i].kind;
            if (route->kind == ROUTE_ASSET)
                copy_word(segment, route->layer, ROUTE_WORD);
            return route->kind == ROUTE_WMTS
                       ? parse_wmts(route, span_is(segment, "wmts.xml"), query, why)
                       : 0;
        }
    route->kind = ROUTE_WORLD;
    if (span_cut(&segment, ".json"))
        return parse_world(route, segment, why);
    return reject_top(why);
}

/* Split PATH after its leading slash. Segments beyond SEGMENTS_MAX are counted, but not stored.
 * *PROPER is false if a segment is "." or "..", or if one of several is empty. */
static int split(struct span path, struct span segments[SEGMENTS_MAX], bool *proper)
{
    int count = 0;
    bool empty = false, dots = false, more;
    do {
        more = memchr(path.text, '/', path.length) != NULL;
        const struct span segment = span_take(&path, '/');
        if (count < SEGMENTS_MAX)
            segments[count] = segment;
        dots = dots || span_is(segment, ".") || span_is(segment, "..");
        empty = empty || (count < SEGMENTS_MAX && segment.length == 0);
        count++;
    } while (more);
    *proper = !dots && !(empty && count > 1);
    return count;
}

/* A second slash at the start most often comes from nginx, if its location doesn't end in a slash
 * but its proxy_pass does. */
static unsigned reject_segments(const char *uri, char *why)
{
    if (strncmp(uri, "//", 2) == 0)
        return query_reject(why, 400,
                            "URL: begins with //; if a proxy sent it, expected lines such as "
                            "location /map/ { proxy_pass http://HOST:PORT/; }");
    return query_reject(why, 400, "URL: empty segments, . and .. are not accepted");
}

unsigned route_parse(struct route *route, const char *uri, char why[ROUTE_WHY])
{
    struct span segments[SEGMENTS_MAX] = {0};
    size_t length = strcspn(uri, "?");
    const char *query = uri[length] ? uri + length + 1 : "";

    memset(route, 0, sizeof *route);
    if (memchr(uri, '%', length))
        return reject_escape(uri, why);
    if (uri[0] != '/')
        return query_reject(why, 400, "URL: must begin with /");
    bool proper;
    int count = split((struct span){uri + 1, length - 1}, segments, &proper);
    if (!proper)
        return reject_segments(uri, why);
    if (count == 1)
        return parse_top(route, segments[0], query, why);
    if (count > SEGMENTS_MAX || count == 3 || count == 4)
        return query_reject(why, 404,
                            "nothing is at this URL; a tile is "
                            "/{world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    if (span_is(segments[0], "viewer") && count == 2) {
        route->kind = ROUTE_ASSET;
        return copy_word(segments[1], route->layer, ROUTE_WORD)
                   ? 0
                   : query_reject(why, 404, "no such file");
    }
    unsigned status = parse_world(route, segments[0], why);
    if (status)
        return status;
    if (count == SEGMENTS_MAX)
        return parse_tile(route, segments, query, why);
    struct span extension;
    const struct endpoint *endpoint = find_endpoint(segments[1], &extension);
    if (endpoint)
        return parse_endpoint(route, endpoint, extension, query, why);
    const bool document = span_is(segments[1], "wmts.xml");
    if (document || span_is(segments[1], "wmts"))
        return parse_wmts(route, document, query, why);
    route->kind = span_cut(&segments[1], ".json")  ? ROUTE_TILEJSON
                  : span_cut(&segments[1], ".xml") ? ROUTE_GDAL
                                                   : ROUTE_WORLD;
    if (route->kind != ROUTE_WORLD && copy_word(segments[1], route->layer, sizeof route->layer))
        return route->kind == ROUTE_TILEJSON
                   ? query_parse(&tilejson_query, query, route, &route->others, why)
                   : 0;
    return reject_below_world(why);
}
