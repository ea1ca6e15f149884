#include "raster_response.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "config/exact_numbers.h"

enum { VALUE_MAX = 80 };

static bool is_raw(const struct raster *raster)
{
    return raster->format != FORMAT_PNG;
}

unsigned raster_response_sample(const struct raster *raster)
{
    return raster->format == FORMAT_F32 ? 4 : 2;
}

static int64_t raw_length(const struct raster *raster)
{
    const int64_t flat = (int64_t)raster->grid.width * raster->grid.height;
    return flat * (raster->depth ? raster->depth : 1) * raster_response_sample(raster);
}

static const char *cache_control(const char *version, const char *fingerprint)
{
    if (!version[0])
        return CACHE_SHORT;
    return strcmp(version, fingerprint) == 0 ? CACHE_FOREVER : CACHE_CHECK;
}

void raster_response_prepare(struct raster *raster, const char *version,
                             const struct http_request *request)
{
    raster->etag[0] = '"';
    stpcpy(stpcpy(raster->etag + 1, raster->key), "\"");
    raster->cache_control = cache_control(version, raster->world->fingerprint);
    raster->length = is_raw(raster) ? raw_length(raster) : HTTP_LENGTH_UNKNOWN;
    raster->ranged =
        request->method == HTTP_GET && conditional_if_range(request->if_range, raster->etag);
    raster->range = RANGE_WHOLE;
    if (raster->ranged && raster->length != HTTP_LENGTH_UNKNOWN)
        raster->range =
            conditional_parse_range(request->range, (uint64_t)raster->length, &raster->part);
}

unsigned raster_response_judge(const struct request_context *context, const struct raster *raster)
{
    const struct http_request *request = context->request;

    if (!conditional_if_match(request->if_match, raster->etag))
        return 412;
    if (conditional_if_none_match(request->if_none_match, raster->etag))
        return 304;
    return raster->range == RANGE_UNSATISFIABLE ? 416 : 0;
}

/* The text of the headers that explain raw samples. */
struct explanation {
    char width[VALUE_MAX], height[VALUE_MAX], depth[VALUE_MAX];
    char origin[VALUE_MAX + BLOCKS_TEXT], step[BLOCKS_TEXT], range[VALUE_MAX];
};

static void explain(struct headers *headers, struct explanation *text, const struct raster *raster)
{
    const struct world *world = raster->world;
    const struct farlands_grid *grid = &raster->grid;
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], z[BLOCKS_TEXT];

    snprintf(text->width, VALUE_MAX, "%d", grid->width);
    snprintf(text->height, VALUE_MAX, "%d", grid->height);
    snprintf(text->depth, VALUE_MAX, "%d", raster->depth);
    snprintf(text->origin, sizeof text->origin, "%s %s%s%s", blocks_format(grid->x, x),
             blocks_format(grid->y, y), raster->depth ? " " : "",
             raster->depth ? blocks_format(raster->z, z) : "");
    snprintf(text->range, VALUE_MAX, "%.9g %.9g", (double)world->colors->min,
             (double)world->colors->max);
    headers_add(headers, "Farlands-Width", text->width);
    headers_add(headers, "Farlands-Height", text->height);
    if (raster->depth)
        headers_add(headers, "Farlands-Depth", text->depth);
    headers_add(headers, "Farlands-Origin", text->origin);
    headers_add(headers, "Farlands-Step", blocks_format(grid->step, text->step));
    if (!raster->depth)
        headers_add(headers, "Farlands-Range", text->range);
    headers_add(headers, "Farlands-Fingerprint", world->fingerprint);
}

/* The headers that every answer about the raster has, and CONTENT_RANGE. */
static struct headers raster_headers(const struct raster *raster, struct explanation *text,
                                     const char *content_range)
{
    struct headers headers = headers_common(raster->cache_control);

    headers_add(&headers, "ETag", raster->etag);
    headers_add(&headers, "Accept-Ranges", raster->cutout && !is_raw(raster) ? "none" : "bytes");
    headers_add(&headers, "Cross-Origin-Resource-Policy", "cross-origin");
    headers_add(&headers, "Timing-Allow-Origin", "*");
    if (is_raw(raster) || raster->cutout)
        explain(&headers, text, raster);
    if (content_range)
        headers_add(&headers, "Content-Range", content_range);
    return headers;
}

static struct http_response whole_or_same(const struct raster *raster, struct blob *body, bool same)
{
    if (same)
        return (struct http_response){.status = 304};
    return (struct http_response){.status = 200, .body = body, .length = raster->length};
}

int raster_response_make(struct mhd_response *out, const struct raster *raster, struct blob *body)
{
    struct explanation text = {0};
    struct headers headers = raster_headers(raster, &text, NULL);
    struct http_response made = whole_or_same(raster, body, !body);
    made.type = body ? format_type(raster->format) : NULL;
    made.headers = headers.header;
    made.header_count = headers.count;
    return mhd_response_make(out, &made, false, false);
}

static void give(const struct request_context *context, const struct raster *raster,
                 struct http_response given, const char *content_range)
{
    struct explanation text = {0};
    struct headers headers = raster_headers(raster, &text, content_range);
    given.type = given.status == 304 ? NULL : format_type(raster->format);
    response_send(context, given, &headers);
}

/* Of a raster of LENGTH bytes. */
static void give_part(const struct request_context *context, const struct raster *raster,
                      struct http_response given, const struct byte_range *part, uint64_t length)
{
    char range[VALUE_MAX];

    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, part->first,
             part->first + part->length - 1, length);
    given.status = 206;
    give(context, raster, given, range);
}

void raster_response_give(const struct request_context *context, const struct raster *raster,
                          struct http_response given)
{
    if (raster->range == RANGE_PART)
        give_part(context, raster, given, &raster->part, (uint64_t)raster->length);
    else
        give(context, raster, given, NULL);
}

void raster_response_answer(const struct request_context *context, const struct raster *raster,
                            struct blob *body)
{
    struct http_response given = whole_or_same(raster, body, false);
    struct byte_range part;

    /* A tile's name decides its bytes, a picture's too: parts of it fit, whoever sent them. */
    enum range_kind kind = RANGE_WHOLE;
    if (body && raster->ranged)
        kind = conditional_parse_range(context->request->range, body->length, &part);
    if (kind == RANGE_UNSATISFIABLE) {
        response_unsatisfiable(context, body->length);
    } else if (kind == RANGE_WHOLE) {
        give(context, raster, given, NULL);
    } else {
        given.first = (size_t)part.first;
        given.count = (size_t)part.length;
        give_part(context, raster, given, &part, body->length);
    }
}

void raster_response_settle(const struct request_context *context, const struct raster *raster,
                            unsigned status)
{
    if (status == 412)
        response_precondition_failed(context, raster->etag);
    else if (status == 416)
        response_unsatisfiable(context, (uint64_t)raster->length);
    else
        give(context, raster, whole_or_same(raster, NULL, true), NULL);
}
