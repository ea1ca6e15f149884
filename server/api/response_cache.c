#include "response_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    SETS = 512, /* a power of two */
    WAYS = 4,
    RESPONSE_COST = 2048, /* of a response's headers and libmicrohttpd's bookkeeping, about */
};

struct place {
    uint64_t hash;
    uint64_t used; /* when it was last found: the shelf's clock */
    uint64_t cost;
    char *texts; /* of ready, in one piece; NULL: nothing is here */
    struct cached_response ready;
};

struct response_cache {
    uint64_t budget, taken, clock;
    unsigned hand; /* where room was last made */
    struct place place[SETS][WAYS];
};

int response_cache_new(struct response_cache **out, uint64_t budget)
{
    struct response_cache *response_cache = calloc(1, sizeof *response_cache);
    if (!response_cache)
        return -ENOMEM;
    response_cache->budget = budget;
    *out = response_cache;
    return 0;
}

static void drop_responses(struct cached_response *ready)
{
    mhd_response_drop(&ready->full);
    mhd_response_drop(&ready->same);
}

static void empty(struct response_cache *response_cache, struct place *place)
{
    if (!place->texts)
        return;
    drop_responses(&place->ready);
    blob_release(place->ready.blob);
    free(place->texts);
    response_cache->taken -= place->cost;
    *place = (struct place){0};
}

void response_cache_clear(struct response_cache *response_cache, uint64_t budget)
{
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            empty(response_cache, &response_cache->place[set][way]);
    response_cache->budget = budget;
}

void response_cache_free(struct response_cache *response_cache)
{
    if (!response_cache)
        return;
    response_cache_clear(response_cache, 0);
    free(response_cache);
}

/* Where URI is, or else where it would go: what is empty or oldest of its set. */
static struct place *place_of(struct response_cache *response_cache, const char *uri, uint64_t hash,
                              bool *there)
{
    struct place *set = response_cache->place[hash % SETS], *oldest = set;

    for (struct place *place = set; place < set + WAYS; place++) {
        if (place->hash == hash && place->texts && strcmp(place->ready.uri, uri) == 0) {
            *there = true;
            return place;
        }
        if (place->used < oldest->used)
            oldest = place;
    }
    *there = false;
    return oldest;
}

static uint64_t hash_of(const char *uri)
{
    return XXH3_64bits(uri, strlen(uri));
}

struct cached_response *response_cache_find(struct response_cache *response_cache, const char *uri)
{
    bool there;
    struct place *place = place_of(response_cache, uri, hash_of(uri), &there);
    if (!there)
        return NULL;
    place->used = ++response_cache->clock;
    return &place->ready;
}

/* What is hot is found again at once where the hand has taken it away. */
static void make_room(struct response_cache *response_cache, uint64_t cost, const struct place *but)
{
    for (unsigned i = 0; i < SETS * WAYS && response_cache->taken + cost > response_cache->budget;
         i++) {
        response_cache->hand = (response_cache->hand + 1) % (SETS * WAYS);
        struct place *place =
            &response_cache->place[response_cache->hand / WAYS][response_cache->hand % WAYS];
        if (place != but && place->ready.blob)
            empty(response_cache, place);
    }
}

void response_cache_put(struct response_cache *response_cache, const struct cached_response *ready)
{
    const size_t uri_size = strlen(ready->uri) + 1, etag_size = strlen(ready->etag) + 1;
    const uint64_t hash = hash_of(ready->uri);
    const uint64_t cost =
        ready->blob ? ready->blob->length + 2 * RESPONSE_COST + uri_size + etag_size : 0;
    struct cached_response kept = *ready;
    bool there;

    if (cost > response_cache->budget) { /* nothing has to go for what can never stay */
        drop_responses(&kept);
        return;
    }
    struct place *place = place_of(response_cache, ready->uri, hash, &there);
    empty(response_cache, place);
    if (cost > 0)
        make_room(response_cache, cost, place);
    char *texts = malloc(uri_size + etag_size);
    if (!texts || (cost > 0 && response_cache->taken + cost > response_cache->budget)) {
        free(texts);
        drop_responses(&kept);
        return;
    }
    memcpy(texts, ready->uri, uri_size);
    memcpy(texts + uri_size, ready->etag, etag_size);
    kept.uri = texts;
    kept.etag = texts + uri_size;
    if (kept.blob)
        blob_hold(kept.blob);
    response_cache->taken += cost;
    *place = (struct place){hash, ++response_cache->clock, cost, texts, kept};
}
