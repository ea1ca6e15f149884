/*
 * Answers about tiles that have been asked for more than once, ready to be
 * given again, by the request's URI: each loop has a shelf of its own, so that
 * what is hot costs neither a lock nor an allocation. One thread.
 */
#ifndef FARLANDS_API_RESPONSE_CACHE_H
#define FARLANDS_API_RESPONSE_CACHE_H

#include <stdint.h>

#include "server/http/mhd_response.h"

/* One tile's answers; a response that is not there is all zero. */
struct cached_response {
    const char *uri, *etag;
    struct blob *blob;        /* what is in full, or NULL */
    struct mhd_response full; /* 200 with the tile */
    struct mhd_response same; /* 304 */
};

struct response_cache;

/* BUDGET bytes of tiles, at most; without tiles (304s alone) it has room even of 0. Returns 0 or
 * -ENOMEM. */
int response_cache_new(struct response_cache **out, uint64_t budget);
void response_cache_free(struct response_cache *response_cache);

/* What there is for URI, or NULL; until the next response_cache_put or response_cache_clear. */
struct cached_response *response_cache_find(struct response_cache *response_cache, const char *uri);

/*
 * Put READY where what is there for the same URI, or has not been asked for in
 * the longest time, has been: texts are copied, a reference to the blob is
 * taken, and the responses are taken over, to be dropped where there is no room.
 */
void response_cache_put(struct response_cache *response_cache, const struct cached_response *ready);

/* Drop everything, and have another budget. */
void response_cache_clear(struct response_cache *response_cache, uint64_t budget);

#endif
