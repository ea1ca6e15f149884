#include "raster_response.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "noise/terrain/terrain.h"

static bool is_raw(const struct raster *raster)
{
    return !format_is_picture(raster->format);
}

static int64_t raw_length(const struct raster *raster)
{
    const int64_t layer = (int64_t)raster->grid.width * raster->grid.height;
    return layer * (raster->depth ? raster->depth : 1) * format_sample_bytes(raster->format);
}

bool raster_is_negotiated(const struct raster *raster)
{
    return is_raw(raster) &&
           (!raster->region || (!raster->streamed && raw_length(raster) >= CODING_MIN));
}

/* True if REQUEST's If-Match, or else If-None-Match, lists KEY: the client has those bytes. */
static bool is_named(const struct http_request *request, const char *key)
{
    char etag[RASTER_KEY_MAX + 2];

    snprintf(etag, sizeof etag, "\"%s\"", key);
    return request->if_match ? conditional_if_match(request->if_match, etag)
                             : conditional_if_none_match(request->if_none_match, etag);
}

void raster_choose_coding(struct raster *raster, const struct http_request *request)
{
    const size_t length = strlen(raster->key);

    if (!raster_is_negotiated(raster) || request->range)
        return;
    const enum coding coding = conditional_coding(request->accept_encoding, CODED_BY_ANY);
    if (!coding)
        return;
    const bool has_plain = is_named(request, raster->key);
    snprintf(raster->key + length, sizeof raster->key - length, ".%s", coding_name(coding));
    if (has_plain && !is_named(request, raster->key))
        raster->key[length] = '\0';
    else
        raster->coding = coding;
}

static const char *cache_control(const char *version, const char *fingerprint)
{
    if (!version[0])
        return CACHE_SHORT;
    return strcmp(version, fingerprint) == 0 ? CACHE_FOREVER : CACHE_CHECK;
}

void raster_response_set_length(struct raster_plan *plan, uint64_t length)
{
    if (plan->length != HTTP_LENGTH_UNKNOWN)
        return;
    plan->length = (int64_t)length;
    const enum range_kind kind = conditional_parse_range(plan->range, length, &plan->part);
    if (kind != RANGE_WHOLE)
        plan->status = kind == RANGE_PART ? 206 : 416;
}

void raster_response_plan(struct raster_plan *plan, const struct raster *raster,
                          const char *version, const struct http_request *request,
                          const struct modification *modified)
{
    plan->etag[0] = '"';
    stpcpy(stpcpy(plan->etag + 1, raster->key), "\"");
    plan->modified = *modified;
    plan->cache_control = cache_control(version, raster->fingerprint);
    plan->length = HTTP_LENGTH_UNKNOWN;
    plan->range = NULL;
    plan->status = 200;
    if (!conditional_if_match(request->if_match, plan->etag))
        plan->status = 412;
    else if (conditional_not_modified(request->if_none_match, request->if_modified_since,
                                      plan->etag, modified))
        plan->status = 304;
    else if (request->method == HTTP_GET && (is_raw(raster) || !raster->region) &&
             conditional_if_range(request->if_range, plan->etag))
        plan->range = request->range;
    if (is_raw(raster) && !raster->coding)
        raster_response_set_length(plan, (uint64_t)raw_length(raster));
}

/* The greatest number of samples that are integers over a range, or 0. */
static int most(const struct raster *raster)
{
    switch (raster->format) {
    case FORMAT_R16:
        return UINT16_MAX;
    case FORMAT_U8:
        return UINT8_MAX;
    case FORMAT_PNG:
        return layers[raster->content.layer].pixel == PIXEL_GRAY16 ? UINT16_MAX : 0;
    default:
        return 0;
    }
}

/* The headers about values: a number N stands for N times scale plus offset. */
static void describe_values(struct raster_headers *out, const struct raster *raster)
{
    struct response_headers *headers = &out->headers;
    const double min = (double)raster->content.range.min, max = (double)raster->content.range.max;

    if (raster->content.field != world_height_field(raster->content.world))
        response_headers_add(headers, "Farlands-Field",
                             world_field_name(raster->content.world, raster->content.field));
    snprintf(out->range, sizeof out->range, "%.9g %.9g", min, max);
    response_headers_add(headers, "Farlands-Range", out->range);
    if (most(raster) == 0)
        return;
    response_headers_add(headers, "Farlands-Scale",
                         real_format((max - min) / most(raster), out->scale));
    response_headers_add(headers, "Farlands-Offset", real_format(min, out->offset));
}

/* The headers about the samples' place and shape. */
static void describe(struct raster_headers *out, const struct raster *raster)
{
    const struct farlands_grid *grid = &raster->grid;
    struct response_headers *headers = &out->headers;
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], z[BLOCKS_TEXT] = "";

    if (raster->depth)
        blocks_format(raster->z, z);
    snprintf(out->width, sizeof out->width, "%d", grid->width);
    snprintf(out->height, sizeof out->height, "%d", grid->height);
    snprintf(out->depth, sizeof out->depth, "%d", raster->depth);
    snprintf(out->origin, sizeof out->origin, "%s %s%s%s", blocks_format(grid->x, x),
             blocks_format(grid->y, y), z[0] ? " " : "", z);
    response_headers_add(headers, "Farlands-Width", out->width);
    response_headers_add(headers, "Farlands-Height", out->height);
    if (raster->depth)
        response_headers_add(headers, "Farlands-Depth", out->depth);
    response_headers_add(headers, "Farlands-Origin", out->origin);
    response_headers_add(headers, "Farlands-Step", blocks_format(grid->step, out->step));
    if (!raster->depth)
        describe_values(out, raster);
    response_headers_add(headers, "Farlands-Fingerprint", raster->fingerprint);
}

/* True if numbers leave out detail finer than a sample. Near surfaces never do. */
static bool is_filtered(const struct raster *raster)
{
    return !raster->depth && layer_has_numbers(raster->content.layer) && raster->grid.band_limit &&
           !world_is_surface(
               raster->content.world,
               world_field_over(raster->content.world, raster->content.field, &raster->grid));
}

void raster_response_headers(struct raster_headers *out, const struct raster *raster,
                             const struct raster_plan *plan)
{
    struct response_headers *headers = &out->headers;

    *headers = response_headers(plan->cache_control);
    response_validators(headers, plan->etag, &plan->modified);
    if (raster_is_negotiated(raster))
        response_headers_add(headers, "Vary", "Accept-Encoding");
    if (raster->coding && plan->status != 304)
        response_headers_add(headers, "Content-Encoding", coding_name(raster->coding));
    response_headers_add(headers, "Accept-Ranges",
                         raster->region && (!is_raw(raster) || raster->coding) ? "none" : "bytes");
    if (is_raw(raster) || raster->region)
        describe(out, raster);
    if (is_filtered(raster))
        response_headers_add(headers, "Farlands-Filtered", "true");
    if (plan->status != 206)
        return;
    snprintf(out->part, sizeof out->part, "bytes %" PRIu64 "-%" PRIu64 "/%" PRId64,
             plan->part.first, plan->part.first + plan->part.length - 1, plan->length);
    response_headers_add(headers, "Content-Range", out->part);
}

void raster_response_send(struct request_context *context, const struct raster *raster,
                          const struct raster_plan *plan, struct http_response bytes)
{
    struct raster_headers out;

    if (plan->status == 412) {
        response_precondition_failed(context, plan->etag);
        return;
    }
    if (plan->status == 416) {
        response_unsatisfiable(context, (uint64_t)plan->length);
        return;
    }
    raster_response_headers(&out, raster, plan);
    bytes.status = plan->status;
    bytes.type = plan->status == 304 ? NULL : format_type(raster->format);
    if (!bytes.body && !bytes.source)
        bytes.length = plan->length;
    response_send(context, bytes, &out.headers);
}
