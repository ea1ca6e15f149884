/*
 * URLs. An error has status 400, 404 or 413 and a message, which is printable if the URL is. An
 * accepted route has terminated names and a place within the limits, and a tile has one URL only:
 * its path is the text that was parsed. If all characters but separators are percent-encoded, the
 * decoded URL is the same; decoded URLs have no escapes.
 */
#include <inttypes.h>

#include "config/values/exact_numbers.h"
#include "config/values/seed.h"
#include "server/http/url_escapes.h"
#include "server/routing/resolve.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/world.h"

static void check_word(const char *word, size_t size)
{
    must(memchr(word, '\0', size), "not terminated");
}

static void check_place(int64_t units)
{
    char text[BLOCKS_TEXT];
    int64_t again;
    must(units >= -FARLANDS_LIMIT && units <= FARLANDS_LIMIT, "%lld", (long long)units);
    blocks_format(units, text);
    must(blocks_parse(text, strlen(text), &again) == 0 && again == units, "%s", text);
}

static void check_tile(const struct route *route, const char *uri)
{
    char path[TILE_PATH_MAX], why[ROUTE_WHY];
    struct tile resolved;
    must(route->scale == 1 || route->scale == 2, "%d", route->scale);
    if (resolve_tile(&fuzz_worlds()->world[0], route, &resolved, why))
        return;
    struct tile_address tile = resolved.address;
    must(tile.border == route->border, "another border than that of %s", uri);
    tile.border = false; /* it is in the query */
    tile_url(&tile, path);
    const char *rest = strchr(uri + 1, '/') + 1;
    must(strlen(path) == strcspn(rest, "?") && strncmp(rest, path, strlen(path)) == 0,
         "%s is also %s", path, uri);
}

static void check_grid(const struct route *route)
{
    if (route->kind != ROUTE_REGION && route->kind != ROUTE_VOLUME)
        return;
    must(route->width >= 1 && route->width <= ROUTE_SIDE_MAX && route->height >= 1 &&
             route->height <= ROUTE_SIDE_MAX,
         "%d x %d", route->width, route->height);
    check_place(route->at_x + route->step * (route->width - 1));
    check_place(route->at_y + route->step * (route->height - 1));
    if (route->kind == ROUTE_VOLUME)
        check_place(route->at_z + route->step * (route->depth - 1));
}

/* The world is the text that was parsed, and its seed that of the text behind it, and its own. */
static void check_world(const struct route *route, const char *uri)
{
    char text[32];
    uint64_t seed;
    if (!route->world[0])
        return;
    const size_t length = strlen(route->world);
    const char *rest = uri + 1 + length;
    must(strncmp(uri + 1, route->world, length) == 0, "%s is also %s", route->world, uri);
    if (!route->seeded) {
        must(*rest == '/' || *rest == '.', "%s is also %s", route->world, uri);
        return;
    }
    size_t end = strcspn(rest, "/?");
    end -= rest[end] == '/' ? 0 : strlen(".json");
    must(*rest == ':' && seed_parse(rest + 1, end - 1, &seed) == 0 && seed == route->seed,
         "another seed in %s", uri);
    snprintf(text, sizeof text, "%" PRIu64, seed);
    must(seed_parse(text, strlen(text), &seed) == 0 && seed == route->seed, "%s", text);
}

static void check_escapes(const char *uri)
{
    char *decoded = strdup(uri), *encoded = malloc(3 * strlen(uri) + 1), *out = encoded;

    must(decoded && encoded, "out of memory");
    if (url_escapes_decode(decoded))
        must(strchr(uri, '%') && !strchr(decoded, '%'), "%s is %s", uri, decoded);
    else
        must(strcmp(decoded, uri) == 0, "%s is %s", uri, decoded);
    for (const char *at = uri; *at; at++)
        if (*at > ' ' && *at < 127 && !strchr("/?&=#%\"<>\\^`{|}", *at))
            out += sprintf(out, "%%%02X", (unsigned)*at);
        else
            *out++ = *at;
    *out = '\0';
    const bool changed = url_escapes_decode(encoded);
    must(strchr(uri, '%') || strcmp(encoded, uri) == 0, "%s is %s", uri, encoded);
    must(changed || strchr(uri, '%') || out == encoded + strlen(uri), "%s", uri);
    free(decoded);
    free(encoded);
}

/* There is a place more than semicolons, and all of them can be taken. */
static void check_places(struct query_places places)
{
    const size_t count = places.count;
    size_t listed = places.text.text ? 1 : 0, taken = 0;
    int64_t x, y;
    for (size_t i = 0; i < places.text.length; i++)
        listed += places.text.text[i] == ';';
    for (; query_next_place(&places, &x, &y); taken++) {
        check_place(x);
        check_place(y);
    }
    must(count == listed && taken == count && places.text.length == 0, "another number of places");
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct route route;
    char why[ROUTE_WHY];
    char *uri = malloc(size + 1);
    memcpy(uri, bytes, size);
    uri[size] = '\0';
    memset(why, '!', sizeof why);
    check_escapes(uri);

    unsigned status = route_parse(&route, uri, why);
    if (status) {
        must(status == 400 || status == 404 || status == 413 || (status == 501 && route.fault.code),
             "%u", status);
        must(memchr(route.fault.locator, '\0', sizeof route.fault.locator), "an endless locator");
        must(memchr(why, '\0', sizeof why) && why[0], "%u without a message", status);
        must(is_printable(why) || !is_printable(uri), "%s", why);
    } else {
        check_word(route.world, sizeof route.world);
        check_word(route.layer, sizeof route.layer);
        check_word(route.extension, sizeof route.extension);
        check_word(route.version, sizeof route.version);
        check_word(route.field, sizeof route.field);
        check_word(route.set, sizeof route.set);
        if (route.kind != ROUTE_WMTS_TILE) /* its world is in the query */
            check_world(&route, uri);
        if (route.kind == ROUTE_TILE)
            check_tile(&route, uri);
        check_place(route.at_x);
        check_place(route.at_y);
        check_place(route.at_z);
        check_grid(&route);
        check_places(route.places);
    }
    free(uri);
    return 0;
}
