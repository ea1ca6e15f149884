#include "route.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/numbers.h"
#include "noise/farlands.h"

/* Part of the URL; not terminated. */
struct span {
    const char *text;
    size_t length;
};

enum { SEGMENTS_MAX = 5 };

__attribute__((format(printf, 3, 4))) static unsigned reject(char why[ROUTE_WHY], unsigned status,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, ROUTE_WHY, format, arguments);
    va_end(arguments);
    return status;
}

static bool span_is(struct span span, const char *text)
{
    return span.length == strlen(text) && memcmp(span.text, text, span.length) == 0;
}

/* Cut SUFFIX off the end, if it is there and something is before it. */
static bool span_cut(struct span *span, const char *suffix)
{
    size_t length = strlen(suffix);
    if (span->length <= length || memcmp(span->text + span->length - length, suffix, length) != 0)
        return false;
    span->length -= length;
    return true;
}

/* Names of worlds, layers and extensions. Anything else exists nowhere. */
static bool span_word(struct span span, char out[ROUTE_WORD])
{
    if (span.length == 0 || span.length >= ROUTE_WORD)
        return false;
    memcpy(out, span.text, span.length);
    out[span.length] = '\0';
    return true;
}

/* How much of a part a message repeats. */
static int shown(struct span span)
{
    return span.length < 40 ? (int)span.length : 40;
}

static unsigned parse_integer(struct span span, const char *what, int64_t *out, char *why)
{
    switch (integer_parse(span.text, span.length, out)) {
    case 0:
        return 0;
    case -ERANGE:
        return reject(why, 400, "%s: \"%.*s\" is beyond 64 bits", what, shown(span), span.text);
    default:
        return reject(why, 400,
                      "%s: \"%.*s\" is not a whole number such as 0, 12 or -3 (without +, leading "
                      "zeros or exponent)",
                      what, shown(span), span.text);
    }
}

static unsigned parse_place(struct span span, const char *what, int64_t *out, char *why)
{
    int err = blocks_parse(span.text, span.length, out);
    if (err == -ERANGE || (!err && (*out < -FARLANDS_LIMIT || *out > FARLANDS_LIMIT)))
        return reject(why, 404, "%s: \"%.*s\" is beyond the limit of 2^52 blocks", what,
                      shown(span), span.text);
    if (err)
        return reject(why, 400,
                      "%s: \"%.*s\" is not a decimal number of blocks in steps of 1/1024, such as "
                      "12, -3.5 or 0.0009765625",
                      what, shown(span), span.text);
    return 0;
}

/* The query's value for KEY. Returns how often the key stands there. */
static int query_value(const char *query, const char *key, struct span *out)
{
    int found = 0;
    size_t key_length = strlen(key);
    for (const char *at = query; at && *at;) {
        size_t length = strcspn(at, "&");
        if (length > key_length && at[key_length] == '=' && memcmp(at, key, key_length) == 0) {
            *out = (struct span){at + key_length + 1, length - key_length - 1};
            found++;
        }
        at += length;
        at += *at == '&';
    }
    return found;
}

static unsigned parse_height(struct route *route, const char *query, char *why)
{
    const struct {
        const char *name;
        int64_t *out;
    } axes[] = {{"x", &route->at_x}, {"y", &route->at_y}};

    route->kind = ROUTE_HEIGHT;
    for (int i = 0; i < 2; i++) {
        struct span value = {0};
        int found = query_value(query, axes[i].name, &value);
        if (found != 1)
            return reject(why, 400, "%s: %s; a height is asked for as ?x=BLOCKS&y=BLOCKS",
                          axes[i].name, found ? "given twice" : "missing");
        unsigned status = parse_place(value, axes[i].name, axes[i].out, why);
        if (status)
            return status;
    }
    return 0;
}

static unsigned parse_tile(struct route *route, const struct span segments[SEGMENTS_MAX],
                           const char *query, char *why)
{
    struct span name = segments[4], version = {0};
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
        return reject(why, 404, "a tile is {world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    if (query_value(query, "v", &version) != 1 || !span_word(version, route->version))
        route->version[0] = '\0';
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
    if (span_cut(&segment, ".json") && span_word(segment, route->world))
        return 0;
    return reject(why, 404, "nothing is at this URL; /worlds.json lists what is");
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
        return reject(why, 400, "URL: nothing in this server's URLs is percent-encoded");
    if (uri[0] != '/')
        return reject(why, 400, "URL: must begin with /");
    bool proper;
    int count = split(uri, length, segments, &proper);
    if (!proper)
        return reject(why, 400, "URL: empty, . and .. are not accepted between slashes");
    if (count == 1)
        return parse_top(route, segments[0], why);
    if (count > SEGMENTS_MAX || count == 3 || count == 4)
        return reject(why, 404,
                      "nothing is at this URL; a tile is "
                      "/{world}/{layer}/{z}/{x}/{y}[@2x].{extension}");
    if (span_is(segments[0], "viewer") && count == 2) {
        route->kind = ROUTE_ASSET;
        return span_word(segments[1], route->layer) ? 0 : reject(why, 404, "no such file");
    }
    if (!span_word(segments[0], route->world))
        return reject(why, 404, "world: no such world; /worlds.json lists them");
    if (count == SEGMENTS_MAX)
        return parse_tile(route, segments, query, why);
    if (span_is(segments[1], "height"))
        return parse_height(route, query, why);
    route->kind = ROUTE_TILEJSON;
    if (span_cut(&segments[1], ".json") && span_word(segments[1], route->layer))
        return 0;
    return reject(why, 404,
                  "nothing is at this URL; /{world}/{layer}.json and /{world}/height are");
}
