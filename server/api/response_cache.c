#include "response_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "server/core/lru_index.h"

enum {
    SETS = 512,
    WAYS = 4,
    SLOTS = SETS * WAYS,
    RESPONSE_COST = 2048, /* about one response's headers and libmicrohttpd's bookkeeping */
};

struct entry {
    uint64_t cost;
    char *texts; /* the response's URI and ETag, one allocation; NULL: empty */
    struct cached_response response;
};

struct response_cache {
    uint64_t budget, used;
    int hand; /* the slot last considered for eviction */
    struct lru_index lru;
    struct lru_slot slots[SLOTS];
    struct entry entries[SLOTS];
};

int response_cache_new(struct response_cache **out, uint64_t budget)
{
    struct response_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    cache->budget = budget;
    cache->lru = (struct lru_index){.slots = cache->slots, .sets = SETS, .ways = WAYS};
    *out = cache;
    return 0;
}

static void drop_responses(struct cached_response *response)
{
    mhd_response_drop(&response->whole);
    mhd_response_drop(&response->not_modified);
}

static void empty(struct response_cache *cache, struct entry *entry)
{
    if (!entry->texts)
        return;
    drop_responses(&entry->response);
    blob_release(entry->response.blob);
    free(entry->texts);
    cache->used -= entry->cost;
    *entry = (struct entry){0};
}

static void evict(struct response_cache *cache, int slot)
{
    empty(cache, &cache->entries[slot]);
    lru_drop(&cache->lru, slot);
}

void response_cache_clear(struct response_cache *cache, uint64_t budget)
{
    for (int slot = 0; slot < SLOTS; slot++)
        evict(cache, slot);
    cache->budget = budget;
}

void response_cache_free(struct response_cache *cache)
{
    if (!cache)
        return;
    response_cache_clear(cache, 0);
    free(cache);
}

static uint64_t key_of(const char *uri)
{
    return XXH3_64bits(uri, strlen(uri));
}

struct cached_response *response_cache_find(struct response_cache *cache, const char *uri)
{
    const int slot = lru_find(&cache->lru, key_of(uri));
    if (slot < 0 || strcmp(cache->entries[slot].response.uri, uri) != 0)
        return NULL;
    lru_touch(&cache->lru, slot);
    return &cache->entries[slot].response;
}

/* Evict tiles in turn until COST fits the budget: a hot tile is soon stored again. */
static void make_room(struct response_cache *cache, uint64_t cost)
{
    while (cache->used + cost > cache->budget) {
        cache->hand = (cache->hand + 1) % SLOTS;
        if (cache->entries[cache->hand].response.blob)
            evict(cache, cache->hand);
    }
}

void response_cache_put(struct response_cache *cache, const struct cached_response *response)
{
    const size_t uri_size = strlen(response->uri) + 1, etag_size = strlen(response->etag) + 1;
    struct entry entry = {.response = *response};

    if (response->blob)
        entry.cost = response->blob->length + 2 * RESPONSE_COST + uri_size + etag_size;
    if (entry.cost <= cache->budget) /* otherwise no other tile has to go */
        entry.texts = malloc(uri_size + etag_size);
    if (!entry.texts) {
        drop_responses(&entry.response);
        return;
    }
    entry.response.uri = memcpy(entry.texts, response->uri, uri_size);
    entry.response.etag = memcpy(entry.texts + uri_size, response->etag, etag_size);
    if (response->blob)
        blob_hold(response->blob);
    struct entry *kept = &cache->entries[lru_claim(&cache->lru, key_of(response->uri))];
    empty(cache, kept);
    make_room(cache, entry.cost);
    cache->used += entry.cost;
    *kept = entry;
}
