#include "tile_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/numbers.h"

enum { VALUE_MAX = 80 };

static bool is_raw(const struct tile *tile)
{
    return tile->format != FORMAT_PNG;
}

static int64_t raw_length(const struct tile *tile)
{
    const int64_t size = tile_size(tile);
    return size * size * (tile->format == FORMAT_F32 ? 4 : 2);
}

static const char *cache_control(const char *version, const char *fingerprint)
{
    if (!version[0])
        return CACHE_SHORT;
    return strcmp(version, fingerprint) == 0 ? CACHE_FOREVER : CACHE_CHECK;
}

void tile_answer_prepare(struct wanted *wanted, const struct route *route,
                         const struct http_request *request)
{
    const struct tile *tile = &wanted->tile;
    const char *fingerprint = tile->world->fingerprint;

    tile_key(tile, wanted->key);
    wanted->etag[0] = '"';
    stpcpy(stpcpy(wanted->etag + 1, wanted->key), "\"");
    wanted->cache_control = cache_control(route->version, fingerprint);
    wanted->length = is_raw(tile) ? raw_length(tile) : HTTP_LENGTH_UNKNOWN;
    wanted->ranged = request->method == HTTP_GET && if_range_holds(request->if_range, wanted->etag);
}

bool tile_answer_is_beyond(const struct asker *asker, const struct wanted *wanted)
{
    struct byte_range part;
    return wanted->ranged && wanted->length != HTTP_LENGTH_UNKNOWN &&
           range_parse(asker->request->range, (uint64_t)wanted->length, &part) ==
               RANGE_UNSATISFIABLE;
}

/* The text of the headers that explain raw samples. */
struct explanation {
    char size[VALUE_MAX], origin[VALUE_MAX], step[BLOCKS_TEXT], range[VALUE_MAX];
};

static void explain(struct headers *headers, struct explanation *text, const struct wanted *wanted)
{
    const struct world *world = wanted->tile.world;
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];

    snprintf(text->size, VALUE_MAX, "%d", tile_size(&wanted->tile));
    snprintf(text->origin, VALUE_MAX, "%s %s", blocks_format(wanted->grid.x, x),
             blocks_format(wanted->grid.y, y));
    snprintf(text->range, VALUE_MAX, "%.9g %.9g", (double)world->style.min,
             (double)world->style.max);
    headers_add(headers, "Farlands-Width", text->size);
    headers_add(headers, "Farlands-Height", text->size);
    headers_add(headers, "Farlands-Origin", text->origin);
    headers_add(headers, "Farlands-Step", blocks_format(wanted->grid.step, text->step));
    headers_add(headers, "Farlands-Range", text->range);
    headers_add(headers, "Farlands-Fingerprint", world->fingerprint);
}

/* The headers that every answer about the tile has, and CONTENT_RANGE. */
static struct headers tile_headers(const struct wanted *wanted, struct explanation *text,
                                   const char *content_range)
{
    struct headers headers = headers_common(wanted->cache_control);

    headers_add(&headers, "ETag", wanted->etag);
    headers_add(&headers, "Accept-Ranges", "bytes");
    headers_add(&headers, "Cross-Origin-Resource-Policy", "cross-origin");
    headers_add(&headers, "Timing-Allow-Origin", "*");
    if (is_raw(&wanted->tile))
        explain(&headers, text, wanted);
    if (content_range)
        headers_add(&headers, "Content-Range", content_range);
    return headers;
}

static void give(const struct asker *asker, const struct wanted *wanted, struct http_answer given,
                 const char *content_range)
{
    struct explanation text = {0};
    struct headers headers = tile_headers(wanted, &text, content_range);
    answer(asker, given, &headers);
}

static struct http_answer whole_or_same(const struct wanted *wanted, struct blob *body, bool same)
{
    if (same)
        return (struct http_answer){.status = 304};
    return (struct http_answer){
        .status = 200,
        .type = format_type(wanted->tile.format),
        .body = body,
        .length = wanted->length,
    };
}

int tile_answer_make(struct http_response *out, const struct wanted *wanted, struct blob *body)
{
    struct explanation text = {0};
    struct headers headers = tile_headers(wanted, &text, NULL);
    struct http_answer made = whole_or_same(wanted, body, !body);
    made.headers = headers.header;
    made.header_count = headers.count;
    return response_make(out, &made, false, false);
}

void tile_answer(const struct asker *asker, const struct wanted *wanted, struct blob *body)
{
    struct http_answer given = whole_or_same(wanted, body, false);
    struct byte_range part;
    char range[VALUE_MAX];

    /* A tile's name decides its bytes, a picture's too: parts of it fit, whoever sent them. */
    enum range_kind kind = RANGE_WHOLE;
    if (body && wanted->ranged)
        kind = range_parse(asker->request->range, body->length, &part);
    if (kind == RANGE_UNSATISFIABLE) {
        answer_unsatisfiable(asker, body->length);
        return;
    }
    if (kind == RANGE_WHOLE) {
        give(asker, wanted, given, NULL);
        return;
    }
    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%zu", part.first,
             part.first + part.length - 1, body->length);
    given.status = 206;
    given.first = (size_t)part.first;
    given.count = (size_t)part.length;
    give(asker, wanted, given, range);
}

void tile_answer_had(const struct asker *asker, const struct wanted *wanted)
{
    give(asker, wanted, whole_or_same(wanted, NULL, true), NULL);
}
