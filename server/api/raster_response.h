/*
 * Responses about rasters: tiles, regions and volumes. Everything about a response is known before
 * the raster is rendered, except the length of a picture.
 */
#ifndef FARLANDS_API_RASTER_RESPONSE_H
#define FARLANDS_API_RASTER_RESPONSE_H

#include "config/values/exact_numbers.h"
#include "server/api/response.h"
#include "server/http/conditional.h"
#include "server/world/tile.h"

/* The longest key of a tile, region or volume. */
enum { RASTER_KEY_MAX = TILE_KEY_MAX + 112 + sizeof ".gzip" };

struct raster {
    struct content content; /* of a volume only the world counts */
    struct farlands_grid grid;
    const char *fingerprint; /* hash of all that decides the bytes */
    enum format format;
    int64_t z;          /* units: the first of DEPTH layers */
    int depth;          /* 0: flat */
    bool region;        /* or volume: headers describe it in every format, and a picture has no
                           ranges */
    bool streamed;      /* a region that is made in several pieces: never compressed */
    enum coding coding; /* the body's */
    char key[RASTER_KEY_MAX]; /* unique among all rasters of all worlds */
};

struct raster_plan {
    unsigned status;               /* 200 or 206: the bytes are needed; or 304, 412 or 416 */
    char etag[RASTER_KEY_MAX + 2]; /* the key in quotes; strong */
    struct modification modified;
    const char *cache_control;
    int64_t length;         /* the whole raster's in bytes, or HTTP_LENGTH_UNKNOWN */
    const char *range;      /* the Range header, if it applies and LENGTH is unknown; or NULL */
    struct byte_range part; /* the bytes to send, if STATUS is 206 */
    bool may_be_prepared;   /* the URL has no query, or only today's fingerprint: tiles.c sets it */
};

/* Plan the response about RASTER to REQUEST. VERSION is the fingerprint in the URL, or "". MODIFIED
 * is when the configuration last changed. Pure. */
void raster_response_plan(struct raster_plan *plan, const struct raster *raster,
                          const char *version, const struct http_request *request,
                          const struct modification *modified);

/* True if the client's Accept-Encoding decides whether RASTER is compressed. */
bool raster_is_negotiated(const struct raster *raster);

/*
 * Choose RASTER's coding for REQUEST, and append it to the key. Numbers are compressed if the
 * client accepts that, wants all bytes, and does not have the plain ones. Pure.
 */
void raster_choose_coding(struct raster *raster, const struct http_request *request);

/* The picture is made and has LENGTH bytes; does nothing if the plan knows the length. Pure. */
void raster_response_set_length(struct raster_plan *plan, uint64_t length);

/* A response's headers and the texts of their values. */
struct raster_headers {
    struct response_headers headers;
    char width[12], height[12], depth[12], step[BLOCKS_TEXT], origin[3 * BLOCKS_TEXT];
    char range[48], scale[REAL_TEXT], offset[REAL_TEXT], part[80];
};

/* The headers for status 200, 206 or 304. They point into OUT, RASTER and PLAN. Pure. */
void raster_response_headers(struct raster_headers *out, const struct raster *raster,
                             const struct raster_plan *plan);

/* Send the response. BYTES has a body or source for the planned part; neither for HEAD, or if the
 * status is not 200 or 206. On the loop's thread. */
void raster_response_send(struct request_context *context, const struct raster *raster,
                          const struct raster_plan *plan, struct http_response bytes);

#endif
