#include "memory_cache.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <utlist.h>
#include <uv.h>
#include <xxhash.h>

#include "server/core/clock.h"

/*
 * New tiles enter the small queue. At its end a tile that was used more than once moves to the main
 * queue; other tiles are evicted and leave a ghost. A tile with a ghost enters the main queue at
 * once. At the end of the main queue a used tile is queued again, once per use.
 */
enum {
    SMALL_SHARE = 10,        /* the small queue has a tenth of the budget, as in the paper */
    SMALL_USES = 2,          /* uses that move a tile from the small to the main queue */
    BYTES_PER_BUCKET = 4096, /* of the budget; chains are short, because most tiles are larger */
    GHOSTS_PER_BUCKET = 2,
    ALLOCATION = 16, /* malloc's own overhead, about */
    /* Requeued at most under the lock. If all tiles were used, 3 rounds would take too long. */
    REQUEUED_MAX = 512,
};

struct entry {
    struct entry *chain;       /* the next in its bucket */
    struct entry *prev, *next; /* in its queue */
    struct queue *queue;
    struct blob *blob;
    size_t cost;
    uint64_t hash;
    unsigned pins;
    char key[];
};

struct queue {
    struct entry *oldest; /* its prev is the newest (utlist) */
    uint64_t bytes, count;
};

/* A key that was evicted from the small queue. */
struct ghost {
    uint32_t hash;
    uint32_t number; /* of the eviction */
};

struct bucket {
    struct entry *first;
    struct ghost ghosts[GHOSTS_PER_BUCKET];
};

struct memory_cache {
    uv_mutex_t lock;
    uint64_t budget;
    struct queue small, main;
    struct queue pinned; /* beyond the budget, in no order */
    uint32_t evictions;  /* from the small queue; may wrap around */
    uint64_t seed;       /* random, so that clients cannot choose keys for one bucket */
    struct bucket *buckets;
    size_t bucket_count; /* a power of two */
    struct bucket only;  /* the table if the budget is too small for another, or out of memory */
};

static size_t buckets_for(uint64_t budget)
{
    size_t count = 1;
    while (count <= budget / BYTES_PER_BUCKET / 2)
        count *= 2;
    return count;
}

/* A table for BUDGET; NULL if out of memory, or if one bucket is enough. */
static struct bucket *buckets_new(uint64_t budget)
{
    size_t count = buckets_for(budget);
    return count > 1 ? calloc(count, sizeof(struct bucket)) : NULL;
}

static uint64_t table_bytes(const struct memory_cache *cache)
{
    return cache->buckets == &cache->only
               ? 0
               : cache->bucket_count * sizeof *cache->buckets + ALLOCATION;
}

static struct bucket *bucket_of(struct memory_cache *cache, uint64_t hash)
{
    return &cache->buckets[hash & (cache->bucket_count - 1)];
}

static void chain_queue(struct memory_cache *cache, const struct queue *queue)
{
    for (struct entry *entry = queue->oldest; entry; entry = entry->next)
        LL_PREPEND2(bucket_of(cache, entry->hash)->first, entry, chain);
}

/* Move all entries to the table BUCKETS, which has COUNT buckets, or to the only bucket if it is
 * NULL. Drops ghosts. Returns the old table for the caller to free, or NULL. */
static struct bucket *use_table(struct memory_cache *cache, struct bucket *buckets, size_t count)
{
    struct bucket *before = cache->buckets == &cache->only ? NULL : cache->buckets;

    memset(&cache->only, 0, sizeof cache->only);
    cache->buckets = buckets ? buckets : &cache->only;
    cache->bucket_count = buckets ? count : 1;
    chain_queue(cache, &cache->small);
    chain_queue(cache, &cache->main);
    chain_queue(cache, &cache->pinned);
    return before;
}

static struct entry *find(struct memory_cache *cache, const char *key, uint64_t hash)
{
    struct entry *entry = bucket_of(cache, hash)->first;
    while (entry && (entry->hash != hash || strcmp(entry->key, key) != 0))
        entry = entry->chain;
    return entry;
}

/* The high bits: all hashes in a bucket share the low ones. */
static uint32_t ghost_hash(uint64_t hash)
{
    return (uint32_t)(hash >> 32);
}

static uint32_t age(const struct memory_cache *cache, const struct ghost *ghost)
{
    return cache->evictions - ghost->number;
}

static void leave_ghost(struct memory_cache *cache, uint64_t hash)
{
    struct ghost *ghosts = bucket_of(cache, hash)->ghosts, *oldest = ghosts;
    for (int i = 1; i < GHOSTS_PER_BUCKET; i++)
        if (age(cache, &ghosts[i]) > age(cache, oldest))
            oldest = &ghosts[i];
    *oldest = (struct ghost){ghost_hash(hash), cache->evictions++};
}

/* True if HASH has a recent ghost, which is removed. Recent evictions are as many as there are
 * entries now; the paper's number, the main queue's entries, would be 0 while it is empty. */
static bool take_ghost(struct memory_cache *cache, uint64_t hash)
{
    struct ghost *ghosts = bucket_of(cache, hash)->ghosts;
    for (int i = 0; i < GHOSTS_PER_BUCKET; i++)
        if (ghosts[i].hash == ghost_hash(hash) &&
            age(cache, &ghosts[i]) <= cache->small.count + cache->main.count) {
            ghosts[i] = (struct ghost){0};
            return true;
        }
    return false;
}

static void enqueue(struct queue *queue, struct entry *entry)
{
    DL_APPEND(queue->oldest, entry);
    entry->queue = queue;
    queue->bytes += entry->cost;
    queue->count++;
}

static void dequeue(struct entry *entry)
{
    struct queue *queue = entry->queue;
    DL_DELETE(queue->oldest, entry);
    queue->bytes -= entry->cost;
    queue->count--;
}

/* Remove ENTRY from its queue and the table. */
static void take_out(struct memory_cache *cache, struct entry *entry)
{
    struct bucket *bucket = bucket_of(cache, entry->hash);
    dequeue(entry);
    LL_DELETE2(bucket->first, entry, chain);
}

/* Remove ENTRY, and add it to *REMOVED, to be freed without the lock. */
static void remove_entry(struct memory_cache *cache, struct entry *entry, struct entry **removed)
{
    take_out(cache, entry);
    LL_PREPEND2(*removed, entry, chain);
}

/* Event loops count uses without the lock; a lost use doesn't matter. */
static unsigned uses(const struct entry *entry)
{
    return __atomic_load_n(&entry->blob->uses, __ATOMIC_RELAXED);
}

static void set_uses(struct entry *entry, unsigned count)
{
    __atomic_store_n(&entry->blob->uses, (uint8_t)count, __ATOMIC_RELAXED);
}

/* Evict the small queue's oldest entry, or move it to the main queue. */
static void evict_small(struct memory_cache *cache, struct entry **removed)
{
    struct entry *entry = cache->small.oldest;
    if (uses(entry) < SMALL_USES) {
        leave_ghost(cache, entry->hash);
        remove_entry(cache, entry, removed);
    } else {
        dequeue(entry);
        set_uses(entry, 0);
        enqueue(&cache->main, entry);
    }
}

/* Evict the main queue's oldest unused entry, unless the first REQUEUED_MAX were all used. */
static void evict_main(struct memory_cache *cache, struct entry **removed)
{
    struct entry *entry = cache->main.oldest;
    for (int i = 0; i < REQUEUED_MAX && uses(entry) > 0; i++) {
        set_uses(entry, uses(entry) - 1);
        dequeue(entry);
        enqueue(&cache->main, entry);
        entry = cache->main.oldest;
    }
    remove_entry(cache, entry, removed);
}

static uint64_t used(const struct memory_cache *cache)
{
    return table_bytes(cache) + cache->small.bytes + cache->main.bytes;
}

/* Evict until COST more bytes fit the budget. COST must fit an empty cache. */
static void make_room(struct memory_cache *cache, size_t cost, struct entry **removed)
{
    while (used(cache) + cost > cache->budget) {
        assert(cache->small.count + cache->main.count > 0);
        const bool small_is_over = cache->small.bytes > cache->budget / SMALL_SHARE;
        if (cache->small.count && (small_is_over || !cache->main.count))
            evict_small(cache, removed);
        else
            evict_main(cache, removed);
    }
}

static struct entry *entry_new(const char *key, size_t length, uint64_t hash, struct blob *blob)
{
    struct entry *entry = calloc(1, sizeof *entry + length + 1);
    if (!entry)
        return NULL;
    memcpy(entry->key, key, length);
    entry->hash = hash;
    entry->blob = blob_hold(blob);
    entry->cost = sizeof *entry + length + 1 + sizeof *blob + blob->length + 2 * ALLOCATION;
    return entry;
}

static void free_entries(struct entry *entry)
{
    for (struct entry *next; entry; entry = next) {
        next = entry->chain;
        blob_release(entry->blob);
        free(entry);
    }
}

/* Add ENTRY to QUEUE, its predecessor's, or if QUEUE is NULL, to the one that its ghost decides. A
 * pinned entry goes to the pinned ones; an entry too large for the budget to *REMOVED. */
static void admit(struct memory_cache *cache, struct entry *entry, struct queue *queue,
                  struct entry **removed)
{
    if (entry->pins > 0) {
        queue = &cache->pinned;
    } else if (entry->cost > cache->budget - table_bytes(cache)) {
        LL_PREPEND2(*removed, entry, chain);
        return;
    } else {
        if (!queue)
            queue = take_ghost(cache, entry->hash) ? &cache->main : &cache->small;
        make_room(cache, entry->cost, removed);
    }
    enqueue(queue, entry);
    LL_PREPEND2(bucket_of(cache, entry->hash)->first, entry, chain);
}

struct blob *memory_cache_get(struct memory_cache *cache, const char *key)
{
    const uint64_t hash = XXH64(key, strlen(key), cache->seed);

    uv_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, key, hash);
    struct blob *blob = entry ? blob_hold(entry->blob) : NULL;
    uv_mutex_unlock(&cache->lock);
    if (blob)
        blob_use(blob);
    return blob;
}

/* Keep BLOB under KEY, and add PINS. */
static void put(struct memory_cache *cache, const char *key, struct blob *blob, unsigned pins)
{
    const size_t length = strlen(key);
    const uint64_t hash = XXH64(key, length, cache->seed);
    struct entry *entry = entry_new(key, length, hash, blob), *removed = NULL;
    struct queue *queue = NULL;

    uv_mutex_lock(&cache->lock);
    struct entry *before = find(cache, key, hash);
    if (before && before->blob == blob && !pins) { /* keep the position in the queue */
        if (entry)
            LL_PREPEND2(removed, entry, chain);
    } else {
        if (before) {
            queue = before->pins ? NULL : before->queue;
            pins += before->pins;
            remove_entry(cache, before, &removed);
        }
        if (entry) {
            entry->pins = pins;
            admit(cache, entry, queue, &removed);
        }
    }
    uv_mutex_unlock(&cache->lock);
    free_entries(removed);
}

void memory_cache_put(struct memory_cache *cache, const char *key, struct blob *blob)
{
    put(cache, key, blob, 0);
}

void memory_cache_pin(struct memory_cache *cache, const char *key, struct blob *blob)
{
    put(cache, key, blob, 1);
}

void memory_cache_unpin(struct memory_cache *cache, const char *key)
{
    const uint64_t hash = XXH64(key, strlen(key), cache->seed);
    struct entry *removed = NULL;

    uv_mutex_lock(&cache->lock);
    struct entry *entry = find(cache, key, hash);
    if (entry && entry->pins > 0 && --entry->pins == 0) {
        take_out(cache, entry);
        admit(cache, entry, NULL, &removed);
    }
    uv_mutex_unlock(&cache->lock);
    free_entries(removed);
}

void memory_cache_resize(struct memory_cache *cache, uint64_t budget)
{
    struct bucket *buckets = buckets_new(budget), *before = NULL;
    struct entry *removed = NULL;

    uv_mutex_lock(&cache->lock);
    /* If out of memory, keep the old table unless it alone exceeds the budget. */
    if (buckets || buckets_for(budget) == 1 || table_bytes(cache) > budget)
        before = use_table(cache, buckets, buckets_for(budget));
    cache->budget = budget;
    make_room(cache, 0, &removed);
    uv_mutex_unlock(&cache->lock);
    free(before);
    free_entries(removed);
}

uint64_t memory_cache_used(struct memory_cache *cache)
{
    uv_mutex_lock(&cache->lock);
    const uint64_t bytes = used(cache);
    uv_mutex_unlock(&cache->lock);
    return bytes;
}

int memory_cache_new(struct memory_cache **out, uint64_t budget)
{
    struct memory_cache *cache = calloc(1, sizeof *cache);
    struct bucket *buckets = buckets_new(budget);
    int err = -ENOMEM;
    if (!cache || (!buckets && buckets_for(budget) > 1))
        goto fail;
    err = uv_mutex_init(&cache->lock);
    if (err)
        goto fail;
    cache->budget = budget;
    cache->buckets = &cache->only;
    use_table(cache, buckets, buckets_for(budget));
    /* Without randomness clients might choose keys for one bucket, but tiles are served. */
    if (getrandom(&cache->seed, sizeof cache->seed, GRND_NONBLOCK) != sizeof cache->seed)
        cache->seed = clock_ns(NULL);
    *out = cache;
    return 0;

fail:
    free(buckets);
    free(cache);
    return err;
}

void memory_cache_free(struct memory_cache *cache)
{
    if (!cache)
        return;
    assert(cache->pinned.count == 0);
    memory_cache_resize(cache, 0);
    uv_mutex_destroy(&cache->lock);
    free(cache);
}
