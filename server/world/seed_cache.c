#include "seed_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/core/lru_index.h"

/* A world's layers are added again after so many other additions, long before they are forgotten.
 */
enum { REFRESH_AFTER = RECENT_WORLDS_MIN / 4 };

struct entry {
    const struct world *base; /* held by worlds */
    struct worlds *worlds;    /* one world; NULL: empty */
    uint64_t added;           /* the time of the first kind, by the clock of recent_worlds */
    uint64_t kinds;           /* a bit for each tile kind that was added */
};

struct seed_cache {
    struct recent_worlds *recent_worlds;
    struct entry *found; /* last, or NULL */
    struct lru_index lru;
    struct lru_slot slots[SEED_CACHE_MAX];
    struct entry entries[SEED_CACHE_MAX];
};

int seed_cache_new(struct seed_cache **out, struct recent_worlds *recent_worlds)
{
    struct seed_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    cache->recent_worlds = recent_worlds;
    cache->lru = (struct lru_index){.slots = cache->slots, .sets = 1, .ways = SEED_CACHE_MAX};
    *out = cache;
    return 0;
}

void seed_cache_clear(struct seed_cache *cache)
{
    for (int slot = 0; slot < SEED_CACHE_MAX; slot++)
        worlds_release(cache->entries[slot].worlds);
    memset(cache->entries, 0, sizeof cache->entries);
    memset(cache->slots, 0, sizeof cache->slots);
    cache->found = NULL;
}

void seed_cache_free(struct seed_cache *cache)
{
    if (!cache)
        return;
    seed_cache_clear(cache);
    free(cache);
}

const struct world *seed_cache_find(struct seed_cache *cache, const struct world *base,
                                    uint64_t seed)
{
    const uint64_t key = seed ^ (uintptr_t)base; /* with the base, the key gives the seed */
    const int slot = lru_find(&cache->lru, key);
    struct worlds *worlds;

    if (slot >= 0 && cache->entries[slot].base == base) {
        lru_touch(&cache->lru, slot);
        cache->found = &cache->entries[slot];
    } else {
        if (worlds_derive(&worlds, base, seed))
            return NULL;
        cache->found = &cache->entries[lru_claim(&cache->lru, key)];
        worlds_release(cache->found->worlds);
        *cache->found = (struct entry){.base = base, .worlds = worlds};
    }
    return cache->found->worlds->world;
}

void seed_cache_touch(struct seed_cache *cache, int kind)
{
    struct entry *entry = cache->found;
    assert(entry);
    if (recent_worlds_clock(cache->recent_worlds) - entry->added > REFRESH_AFTER)
        entry->kinds = 0;
    if (entry->kinds >> kind & 1)
        return;
    const uint64_t now = recent_worlds_add(cache->recent_worlds, entry->worlds->world, kind);
    if (!entry->kinds)
        entry->added = now;
    entry->kinds |= UINT64_C(1) << kind;
}
