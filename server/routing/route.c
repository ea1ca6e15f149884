#include "route.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/exact_numbers.h"
#include "noise/farlands.h"

enum { SEGMENTS_MAX = 5 };

/* Names of worlds, layers and extensions. Anything else exists nowhere. */
static bool span_word(struct span span, char out[ROUTE_WORD])
{
    if (span.length == 0 || span.length >= ROUTE_WORD)
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
        return query_reject(
            why, 400,
            "%s: \"%.*s\" is not a whole number such as 0, 12 or -3 (without +, leading "
            "zeros or exponent)",
            what, span_shown(span), span.text);
    }
}

/* A world's name, or NAME:SEED. */
static unsigned parse_world(struct route *route, struct span name, char *why)
{
    const char *colon = name.length > 0 ? memchr(name.text, ':', name.length) : NULL;
    if (colon) {
        const size_t length = (size_t)(colon - name.text);
        const struct span seed = {colon + 1, name.length - length - 1};
        if (unsigned_parse(seed.text, seed.length, &route->seed))
            return query_reject(
                why, 400,
                "seed: \"%.*s\" is not a whole number from 0 to 18446744073709551615 "
                "(without +, leading zeros or exponent)",
                span_shown(seed), seed.text);
        route->seeded = true;
        name.length = length;
    }
    if (span_word(name, route->world))
        return 0;
    return query_reject(why, 404, "world: no such world; /worlds.json lists them");
}

static void parse_version(struct route *route, const char *query)
{
    struct span version = {0};
    if (query_value(query, "v", &version) != 1 || !span_word(version, route->version))
        route->version[0] = '\0';
}

/* What is at {world}/NAME, with a query. */
static const struct question {
    const char *name;
    enum route_kind kind;
    bool extended;   /* as in region.f32 */
    unsigned beyond; /* the status of a place beyond the limit */
    struct query_parameter parameters[8];
} questions[] = {
#define AT(member) offsetof(struct route, member)
#define PLACE                            \
    {"x", QUERY_PLACE, AT(at_x), 0, 0},  \
    {                                    \
        "y", QUERY_PLACE, AT(at_y), 0, 0 \
    }
#define SIDES                                                \
    {"width", QUERY_COUNT, AT(width), ROUTE_SIDE_MAX, 0},    \
    {                                                        \
        "height", QUERY_COUNT, AT(height), ROUTE_SIDE_MAX, 0 \
    }
#define STEP                               \
    {                                      \
        "step", QUERY_STEP, AT(step), 0, 0 \
    }
    {"height", ROUTE_HEIGHT, false, 404, {PLACE}},
    {"heights", ROUTE_HEIGHTS, false, 400, {{"at", QUERY_PLACES, AT(places), 0, 0}}},
    {"spawn",
     ROUTE_SPAWN,
     false,
     400,
     {PLACE,
      {"min", QUERY_REAL, AT(min), 0, -INFINITY},
      {"max", QUERY_REAL, AT(max), 0, -INFINITY},
      {"slope", QUERY_REAL, AT(slope), 0, 0}}},
    {"region", ROUTE_REGION, true, 400, {PLACE, SIDES, STEP}},
    {"volume",
     ROUTE_VOLUME,
     true,
     400,
     {PLACE,
      {"z", QUERY_PLACE, AT(at_z), 0, 0},
      SIDES,
      {"depth", QUERY_COUNT, AT(depth), ROUTE_SIDE_MAX, 0},
      STEP}},
#undef AT
#undef PLACE
#undef SIDES
#undef STEP
};

/* Whether samples FIRST, FIRST + step, ... (COUNT of them) end within the limit. */
static unsigned check_end(const char *name, int64_t first, int64_t step, int count, char *why)
{
    if (first + step * (count - 1) <= FARLANDS_LIMIT)
        return 0;
    return query_reject(why, 400, "%s: the last of %d samples is beyond the limit of 2^52 blocks",
                        name, count);
}

static unsigned check_question(const struct route *route, char *why)
{
    const int64_t samples = (int64_t)route->width * route->height;
    unsigned status = 0;

    switch (route->kind) {
    case ROUTE_SPAWN:
        return route->min <= route->max
                   ? 0
                   : query_reject(why, 400, "min: must not be above max: no height lies between");
    case ROUTE_VOLUME:
        if (samples * route->depth > ROUTE_VOLUME_MAX)
            return query_reject(
                why, 413,
                "width, height, depth: %d * %d * %d samples are too many; at most %d "
                "(2^24)",
                route->width, route->height, route->depth, ROUTE_VOLUME_MAX);
        status = check_end("z", route->at_z, route->step, route->depth, why);
        break;
    case ROUTE_REGION:
        break;
    default:
        return 0;
    }
    if (!status)
        status = check_end("x", route->at_x, route->step, route->width, why);
    return status ? status : check_end("y", route->at_y, route->step, route->height, why);
}

/* What NAME asks, or NULL; what has its extension in EXTENSION has one. */
static const struct question *find_question(struct span name, struct span *extension)
{
    *extension = name;
    const struct span stem = span_take(extension, '.');
    for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
        const struct question *question = &questions[i];
        if (span_is(question->extended ? stem : name, question->name))
            return question;
    }
    return NULL;
}

static unsigned parse_question(struct route *route, const struct question *question,
                               struct span extension, const char *query, char *why)
{
    route->kind = question->kind;
    route->min = -INFINITY;
    route->max = route->slope = INFINITY;
    parse_version(route, query);
    if (question->extended && !span_word(extension, route->extension))
        return query_reject(why, 404, "%s: as %s.f32?...", question->name, question->name);
    unsigned status = query_parse(question->parameters, query, question->beyond, route, why);
    return status ? status : check_question(route, why);
}

static unsigned parse_tile(struct route *route, const struct span segments[SEGMENTS_MAX],
                           const char *query, char *why)
{
    struct span name = segments[4];
    const char *point = memchr(name.text, '.', name.length);
    struct span extension = {"", 0};
    unsigned status;

    route->kind = ROUTE_TILE;
    if (point) {
        extension = (struct span){point + 1, (size_t)(name.text + name.length - point - 1)};
        name.length = (size_t)(point - name.text);
    }
    route->scale = span_cut(&name, "@2x") ? 2 : 1;
    if ((status = parse_integer(segments[2], "z", &route->z, why)) ||
        (status = parse_integer(segments[3], "x", &route->x, why)) ||
        (status = parse_integer(name, "y", &route->y, why)))
        return status;
    if (!span_word(segments[1], route->layer) || !span_word(extension, route->extension))
        return query_reject(why, 404, "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    parse_version(route, query);
    return 0;
}

static unsigned parse_top(struct route *route, struct span segment, char *why)
{
    static const struct {
        const char *name;
        enum route_kind kind;
    } fixed[] = {
        {"", ROUTE_VIEWER},      {"worlds.json", ROUTE_WORLDS}, {"healthz", ROUTE_HEALTH},
        {"readyz", ROUTE_READY}, {"metrics", ROUTE_METRICS},
    };
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        if (span_is(segment, fixed[i].name)) {
            route->kind = fixed[i].kind;
            return 0;
        }
    route->kind = ROUTE_WORLD;
    if (span_cut(&segment, ".json"))
        return parse_world(route, segment, why);
    return query_reject(why, 404, "nothing is at this URL; /worlds.json lists what is");
}

/* Split PATH at its slashes; more than there is room for are counted, not kept. *PROPER: none is
 * ".", "..", or, where there are several, and kept, empty. */
static int split(const char *path, size_t length, struct span segments[SEGMENTS_MAX], bool *proper)
{
    int count = 0;
    bool empty = false;
    *proper = true;
    const char *end = path + length;
    for (const char *at = path + 1; at <= end; count++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const char *stop = slash ? slash : end;
        const struct span segment = {at, (size_t)(stop - at)};
        if (count < SEGMENTS_MAX)
            segments[count] = segment;
        if (span_is(segment, ".") || span_is(segment, ".."))
            *proper = false;
        empty = empty || (count < SEGMENTS_MAX && segment.length == 0);
        at = stop + 1;
    }
    if (empty && count > 1)
        *proper = false;
    return count;
}

unsigned route_parse(struct route *route, const char *uri, char why[ROUTE_WHY])
{
    struct span segments[SEGMENTS_MAX] = {0};
    size_t length = strcspn(uri, "?");
    const char *query = uri[length] ? uri + length + 1 : "";

    memset(route, 0, sizeof *route);
    if (memchr(uri, '%', length))
        return query_reject(why, 400, "URL: nothing in this server's URLs is percent-encoded");
    if (uri[0] != '/')
        return query_reject(why, 400, "URL: must begin with /");
    bool proper;
    int count = split(uri, length, segments, &proper);
    if (!proper)
        return query_reject(why, 400, "URL: empty, . and .. are not accepted between slashes");
    if (count == 1)
        return parse_top(route, segments[0], why);
    if (count > SEGMENTS_MAX || count == 3 || count == 4)
        return query_reject(why, 404,
                            "nothing is at this URL; a tile is "
                            "/{world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    if (span_is(segments[0], "viewer") && count == 2) {
        route->kind = ROUTE_ASSET;
        return span_word(segments[1], route->layer) ? 0 : query_reject(why, 404, "no such file");
    }
    unsigned status = parse_world(route, segments[0], why);
    if (status)
        return status;
    if (count == SEGMENTS_MAX)
        return parse_tile(route, segments, query, why);
    struct span extension;
    const struct question *question = find_question(segments[1], &extension);
    if (question)
        return parse_question(route, question, extension, query, why);
    route->kind = ROUTE_TILEJSON;
    if (span_cut(&segments[1], ".json") && span_word(segments[1], route->layer))
        return 0;
    return query_reject(
        why, 404,
        "nothing is at this URL; below /{world}/ are {layer}.json, height, heights, spawn, "
        "region.f32 and volume.f32");
}
