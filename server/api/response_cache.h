/*
 * Prepared responses for tiles that were requested more than once, by the request's URI. Each loop
 * has its own cache, so that a hot tile costs neither a lock nor an allocation. One thread.
 */
#ifndef FARLANDS_API_RESPONSE_CACHE_H
#define FARLANDS_API_RESPONSE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "server/http/mhd_response.h"

/* The responses for one tile. A response that is not prepared is all zero. */
struct cached_response {
    const char *uri, *etag;
    bool plain;                /* not for clients that accept compression: they get another body */
    struct blob *blob;         /* WHOLE's body, or NULL */
    struct mhd_response whole; /* 200 with the tile */
    struct mhd_response not_modified; /* 304 */
};

struct response_cache;

/* At most BUDGET bytes of tiles; entries without a blob (only a 304) cost nothing. Returns 0 or
 * -ENOMEM. */
int response_cache_new(struct response_cache **out, uint64_t budget);
void response_cache_free(struct response_cache *cache);

/* The responses for URI, or NULL. Valid until the next response_cache_put or
 * response_cache_clear. */
struct cached_response *response_cache_find(struct response_cache *cache, const char *uri);

/*
 * Store RESPONSE in place of the one for the same URI, or of the least recently used one in its
 * set; evicts others to stay within the budget. Copies the texts, takes a reference to the blob,
 * and takes over the MHD responses, which it drops if they do not fit.
 */
void response_cache_put(struct response_cache *cache, const struct cached_response *response);

/* Drop everything and set another budget. */
void response_cache_clear(struct response_cache *cache, uint64_t budget);

#endif
