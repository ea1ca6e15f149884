/*
 * What the answer about a tile says: all of it is known before there is a
 * tile, but for the length of a picture. On the loop's thread.
 */
#ifndef FARLANDS_TILE_ANSWER_H
#define FARLANDS_TILE_ANSWER_H

#include "server/answer.h"
#include "server/conditional.h"
#include "server/route.h"
#include "server/tile.h"

/* A tile that was asked for. */
struct wanted {
    struct tile tile;
    struct farlands_grid grid;
    const char *cache_control;
    char key[TILE_KEY_MAX];      /* its name among all tiles of all worlds */
    char etag[TILE_KEY_MAX + 2]; /* a key is an identity: in quotes, the strong validator */
    int64_t length;              /* of its bytes, or HTTP_LENGTH_UNKNOWN */
    bool ranged;                 /* the request's Range is in force, whatever it says */
};

/* Fill in the rest of WANTED, whose tile and grid the ROUTE led to. */
void tile_answer_prepare(struct wanted *wanted, const struct route *route,
                         const struct http_request *request);

/* Whether none of the bytes that were asked for can exist: known before there is a tile, but for
 * pictures. */
bool tile_answer_is_beyond(const struct asker *asker, const struct wanted *wanted);

/* 200, 206 or 416 with the tile; without BODY to a HEAD. */
void tile_answer(const struct asker *asker, const struct wanted *wanted, struct blob *body);

/* 304: the asker has it. */
void tile_answer_had(const struct asker *asker, const struct wanted *wanted);

/* What tile_answer gives for the whole of BODY, or, where that is NULL, what tile_answer_had
 * gives: to be given any number of times. Returns 0 or -ENOMEM. */
int tile_answer_make(struct http_response *out, const struct wanted *wanted, struct blob *body);

#endif
