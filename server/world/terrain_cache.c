#include "terrain_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <uv.h>

#include "config/world/world_terrain.h"

struct entry {
    struct entry *next; /* the next one by last use */
    const struct world_config *config;
    uint64_t seed;
    unsigned users; /* holders, and threads waiting for the entry */
    bool done;      /* compiled, or failed */
    struct farlands_terrain *terrain;
};

struct terrain_cache {
    uv_mutex_t lock;
    uv_cond_t compiled; /* an entry is done */
    struct entry *first;
    uint64_t count; /* compiled so far */
};

int terrain_cache_new(struct terrain_cache **out)
{
    struct terrain_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    int err = uv_mutex_init(&cache->lock);
    if (err)
        goto fail_lock;
    err = uv_cond_init(&cache->compiled);
    if (err)
        goto fail_compiled;
    *out = cache;
    return 0;

fail_compiled:
    uv_mutex_destroy(&cache->lock);
fail_lock:
    free(cache);
    return err;
}

static void free_entry(struct entry *entry)
{
    terrain_free(entry->terrain);
    free(entry);
}

void terrain_cache_free(struct terrain_cache *cache)
{
    if (!cache)
        return;
    for (struct entry *entry = cache->first, *next; entry; entry = next) {
        next = entry->next;
        assert(entry->users == 0);
        free_entry(entry);
    }
    uv_cond_destroy(&cache->compiled);
    uv_mutex_destroy(&cache->lock);
    free(cache);
}

/* Unlink ENTRY, which has no users. Under the lock. */
static void unlink_entry(struct terrain_cache *cache, const struct entry *entry)
{
    struct entry **at = &cache->first;
    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
}

/* Move or add the entry for CONFIG and SEED to the front; NULL if out of memory. If *IS_NEW, the
 * caller must compile it. Under the lock; the list has TERRAIN_CACHE_IDLE entries and one per
 * thread. */
static struct entry *find(struct terrain_cache *cache, const struct world_config *config,
                          uint64_t seed, bool *is_new)
{
    struct entry *entry = cache->first;
    while (entry && !(entry->config == config && entry->seed == seed))
        entry = entry->next;
    *is_new = !entry;
    if (entry) {
        unlink_entry(cache, entry);
    } else {
        entry = calloc(1, sizeof *entry);
        if (!entry)
            return NULL;
        entry->config = config;
        entry->seed = seed;
    }
    entry->next = cache->first;
    cache->first = entry;
    return entry;
}

/* If too many terrains are idle, unlink the least recently used. Returns it or NULL. Under the
 * lock. */
static struct entry *take_surplus(struct terrain_cache *cache)
{
    struct entry *last = NULL;
    int idle = 0;
    for (struct entry *entry = cache->first; entry; entry = entry->next)
        if (entry->users == 0) {
            last = entry;
            idle++;
        }
    if (idle <= TERRAIN_CACHE_IDLE)
        return NULL;
    unlink_entry(cache, last);
    return last;
}

/* Drop a use of ENTRY. Called under the lock, and releases it. */
static void leave(struct terrain_cache *cache, struct entry *entry)
{
    struct entry *surplus = NULL;
    if (--entry->users == 0) {
        if (entry->terrain) {
            surplus = take_surplus(cache);
        } else { /* compiling failed: the next user tries again */
            unlink_entry(cache, entry);
            surplus = entry;
        }
    }
    uv_mutex_unlock(&cache->lock);
    if (surplus)
        free_entry(surplus);
}

int terrain_cache_hold(struct terrain_cache *cache, const struct world_config *config,
                       uint64_t seed, const struct farlands_terrain **out)
{
    bool is_new;
    uv_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, config, seed, &is_new);
    if (!entry) {
        uv_mutex_unlock(&cache->lock);
        return -ENOMEM;
    }
    entry->users++;
    if (is_new) {
        struct farlands_terrain *terrain = NULL;
        uv_mutex_unlock(&cache->lock);
        const int err = world_config_terrain_of_seed(&terrain, config, seed);
        uv_mutex_lock(&cache->lock);
        entry->terrain = err ? NULL : terrain;
        entry->done = true;
        cache->count += !err;
        uv_cond_broadcast(&cache->compiled);
    }
    while (!entry->done)
        uv_cond_wait(&cache->compiled, &cache->lock);
    if (!entry->terrain) {
        leave(cache, entry);
        return -ENOMEM;
    }
    *out = entry->terrain;
    uv_mutex_unlock(&cache->lock);
    return 0;
}

void terrain_cache_release(struct terrain_cache *cache, const struct farlands_terrain *terrain)
{
    uv_mutex_lock(&cache->lock);
    struct entry *entry = cache->first;
    while (entry->terrain != terrain)
        entry = entry->next;
    leave(cache, entry);
}

uint64_t terrain_cache_compiled(struct terrain_cache *cache)
{
    uv_mutex_lock(&cache->lock);
    const uint64_t count = cache->count;
    uv_mutex_unlock(&cache->lock);
    return count;
}

int terrain_cache_count(struct terrain_cache *cache)
{
    int count = 0;
    uv_mutex_lock(&cache->lock);
    for (const struct entry *entry = cache->first; entry; entry = entry->next)
        count++;
    uv_mutex_unlock(&cache->lock);
    return count;
}
