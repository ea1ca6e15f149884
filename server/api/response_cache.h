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
struct ready {
    const char *uri, *etag;
    struct blob *blob;         /* what is in full, or NULL */
    struct http_response full; /* 200 with the tile */
    struct http_response same; /* 304 */
};

/* All shelves together may have one part in so many of the memory for tiles. */
enum { SHELF_SHARE = 4 };

struct shelf;

/* BUDGET bytes of tiles, at most; without tiles (304s alone) it has room even of 0. Returns 0 or
 * -ENOMEM. */
int shelf_new(struct shelf **out, uint64_t budget);
void shelf_free(struct shelf *shelf);

/* What there is for URI, or NULL; until the next shelf_put or shelf_clear. */
struct ready *shelf_find(struct shelf *shelf, const char *uri);

/*
 * Put READY where what is there for the same URI, or has not been asked for in
 * the longest time, has been: texts are copied, a reference to the blob is
 * taken, and the responses are taken over, to be dropped where there is no room.
 */
void shelf_put(struct shelf *shelf, const struct ready *ready);

/* Drop everything, and have another budget. */
void shelf_clear(struct shelf *shelf, uint64_t budget);

#endif
