/*
 * What the answer about a raster says, be it a tile, a region or a volume: all
 * of it is known before there is one, but for the length of a picture. On the
 * loop's thread.
 */
#ifndef FARLANDS_API_RASTER_RESPONSE_H
#define FARLANDS_API_RASTER_RESPONSE_H

#include "server/api/response.h"
#include "server/http/conditional.h"
#include "server/world/tile.h"

struct raster {
    const struct world *world;
    enum format format;
    struct farlands_grid grid;
    int64_t z; /* units, of the first of DEPTH layers; a DEPTH of 0: it is flat */
    int depth;
    bool cutout; /* no tile: explained in every format, and no parts of pictures are answered */
    char key[TILE_KEY_MAX]; /* its name among all rasters of all worlds */
    /* The rest is raster_response_prepare's. */
    char etag[TILE_KEY_MAX + 2]; /* a key is an identity: in quotes, the strong validator */
    const char *cache_control;
    int64_t length;         /* of its bytes, or HTTP_LENGTH_UNKNOWN */
    bool ranged;            /* the request's Range is in force, whatever it says */
    enum range_kind range;  /* what it asks for, where the length is known, and otherwise all */
    struct byte_range part; /* that, of a RANGE_PART */
};

/* VERSION is what the URL says of the world's fingerprint, or empty. */
void raster_response_prepare(struct raster *raster, const char *version,
                             const struct http_request *request);

/* Bytes of a sample, of a raw raster. */
unsigned raster_response_sample(const struct raster *raster);

/* The status of the answer, where it is known before there is a raster: 412, 304 or, but for
 * pictures, 416, as the asker has it, or wants what is not there. Otherwise 0. */
unsigned raster_response_judge(const struct request_context *context, const struct raster *raster);

/* Answer with STATUS, which raster_response_judge has returned. */
void raster_response_settle(const struct request_context *context, const struct raster *raster,
                            unsigned status);

/* 200, 206 or 416 with the raster, all of it in BODY; without BODY to a HEAD. */
void raster_response_answer(const struct request_context *context, const struct raster *raster,
                            struct blob *body);

/* 200, or 206 for a part, with the bytes of GIVEN, which are those that were asked for. */
void raster_response_give(const struct request_context *context, const struct raster *raster,
                          struct http_response given);

/* What raster_response_answer gives for the whole of BODY, or, where that is NULL, what a
 * status of 304 gives: to be given any number of times. Returns 0 or -ENOMEM. */
int raster_response_make(struct mhd_response *out, const struct raster *raster, struct blob *body);

#endif
