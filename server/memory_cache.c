#include "memory_cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

struct entry {
    UT_hash_handle hh; /* uthash keeps the order of insertion: the first is the oldest */
    struct blob *blob;
    size_t cost;
    char key[];
};

struct memory_cache {
    struct entry *entries;
    uint64_t budget, used;
};

int memory_cache_new(struct memory_cache **out, uint64_t budget)
{
    struct memory_cache *cache = calloc(1, sizeof *cache);
    if (!cache)
        return -ENOMEM;
    cache->budget = budget;
    *out = cache;
    return 0;
}

static void drop(struct memory_cache *cache, struct entry *entry)
{
    HASH_DEL(cache->entries, entry);
    cache->used -= entry->cost;
    blob_release(entry->blob);
    free(entry);
}

void memory_cache_free(struct memory_cache *cache)
{
    if (!cache)
        return;
    while (cache->entries)
        drop(cache, cache->entries);
    free(cache);
}

/* Put ENTRY at the young end; where memory is out it is gone instead. */
static struct entry *add_youngest(struct memory_cache *cache, struct entry *entry)
{
    HASH_ADD_KEYPTR(hh, cache->entries, entry->key, strlen(entry->key), entry);
    if (!entry->hh.tbl) {
        blob_release(entry->blob);
        free(entry);
        return NULL;
    }
    cache->used += entry->cost;
    return entry;
}

struct blob *memory_cache_get(struct memory_cache *cache, const char *key)
{
    struct entry *entry;
    HASH_FIND_STR(cache->entries, key, entry);
    if (!entry)
        return NULL;
    if (entry->hh.next) {
        HASH_DEL(cache->entries, entry);
        cache->used -= entry->cost;
        entry = add_youngest(cache, entry);
    }
    return entry ? entry->blob : NULL;
}

void memory_cache_put(struct memory_cache *cache, const char *key, struct blob *blob)
{
    struct entry *entry;
    size_t length = strlen(key) + 1;
    size_t cost = sizeof *entry + length + sizeof *blob + blob->length;

    HASH_FIND_STR(cache->entries, key, entry);
    if (entry && entry->blob == blob)
        return;
    if (entry)
        drop(cache, entry);
    if (cost > cache->budget)
        return;
    while (cache->entries && cache->used + cost > cache->budget)
        drop(cache, cache->entries); // NOLINT(clang-analyzer-unix.Malloc): uthash unlinked the last
    entry = calloc(1, sizeof *entry + length);
    if (!entry)
        return;
    memcpy(entry->key, key, length);
    entry->blob = blob_hold(blob);
    entry->cost = cost;
    add_youngest(cache, entry);
}
