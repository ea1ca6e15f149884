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
    struct ready ready;
};

struct shelf {
    uint64_t budget, taken, clock;
    unsigned hand; /* where room was last made */
    struct place place[SETS][WAYS];
};

int shelf_new(struct shelf **out, uint64_t budget)
{
    struct shelf *shelf = calloc(1, sizeof *shelf);
    if (!shelf)
        return -ENOMEM;
    shelf->budget = budget;
    *out = shelf;
    return 0;
}

static void drop_responses(struct ready *ready)
{
    response_drop(&ready->full);
    response_drop(&ready->same);
}

static void empty(struct shelf *shelf, struct place *place)
{
    if (!place->texts)
        return;
    drop_responses(&place->ready);
    blob_release(place->ready.blob);
    free(place->texts);
    shelf->taken -= place->cost;
    *place = (struct place){0};
}

void shelf_clear(struct shelf *shelf, uint64_t budget)
{
    for (int set = 0; set < SETS; set++)
        for (int way = 0; way < WAYS; way++)
            empty(shelf, &shelf->place[set][way]);
    shelf->budget = budget;
}

void shelf_free(struct shelf *shelf)
{
    if (!shelf)
        return;
    shelf_clear(shelf, 0);
    free(shelf);
}

/* Where URI is, or else where it would go: what is empty or oldest of its set. */
static struct place *place_of(struct shelf *shelf, const char *uri, uint64_t hash, bool *there)
{
    struct place *set = shelf->place[hash % SETS], *oldest = set;

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

struct ready *shelf_find(struct shelf *shelf, const char *uri)
{
    bool there;
    struct place *place = place_of(shelf, uri, hash_of(uri), &there);
    if (!there)
        return NULL;
    place->used = ++shelf->clock;
    return &place->ready;
}

/* What is hot is found again at once where the hand has taken it away. */
static void make_room(struct shelf *shelf, uint64_t cost, const struct place *but)
{
    for (unsigned i = 0; i < SETS * WAYS && shelf->taken + cost > shelf->budget; i++) {
        shelf->hand = (shelf->hand + 1) % (SETS * WAYS);
        struct place *place = &shelf->place[shelf->hand / WAYS][shelf->hand % WAYS];
        if (place != but && place->ready.blob)
            empty(shelf, place);
    }
}

void shelf_put(struct shelf *shelf, const struct ready *ready)
{
    const size_t uri_size = strlen(ready->uri) + 1, etag_size = strlen(ready->etag) + 1;
    const uint64_t hash = hash_of(ready->uri);
    const uint64_t cost =
        ready->blob ? ready->blob->length + 2 * RESPONSE_COST + uri_size + etag_size : 0;
    struct ready kept = *ready;
    bool there;

    if (cost > shelf->budget) { /* nothing has to go for what can never stay */
        drop_responses(&kept);
        return;
    }
    struct place *place = place_of(shelf, ready->uri, hash, &there);
    empty(shelf, place);
    if (cost > 0)
        make_room(shelf, cost, place);
    char *texts = malloc(uri_size + etag_size);
    if (!texts || (cost > 0 && shelf->taken + cost > shelf->budget)) {
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
    shelf->taken += cost;
    *place = (struct place){hash, ++shelf->clock, cost, texts, kept};
}
