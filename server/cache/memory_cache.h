/*
 * Encoded tiles in memory, by key, within a budget in bytes. Eviction is S3-FIFO (Yang et al.,
 * "FIFO queues are all you need for cache eviction", SOSP 2023): a scan of tiles that are requested
 * once doesn't push out those in use. Any thread, except for new and free. The lock is held for
 * table operations only, never while tiles are freed.
 */
#ifndef FARLANDS_CACHE_MEMORY_CACHE_H
#define FARLANDS_CACHE_MEMORY_CACHE_H

#include <stdint.h>

#include "server/core/blob.h"

struct memory_cache;

/*
 * The cache never exceeds BUDGET bytes, including keys and bookkeeping; struct memory_cache itself
 * and pinned entries are not counted. With a budget of 0 only pinned entries are kept. Returns 0,
 * -ENOMEM or -EAGAIN.
 */
int memory_cache_new(struct memory_cache **out, uint64_t budget);
void memory_cache_free(struct memory_cache *cache); /* nothing is pinned, or CACHE is NULL */

/* The blob under KEY, with a reference that the caller releases, or NULL. Counts as a use. A caller
 * that keeps the reference should count further uses with blob_use. */
struct blob *memory_cache_get(struct memory_cache *cache, const char *key);

/* Keep BLOB under KEY with the cache's own reference, replacing another blob. If out of memory, or
 * if BLOB alone exceeds the budget, nothing new is kept, and the old blob may be dropped. */
void memory_cache_put(struct memory_cache *cache, const char *key, struct blob *blob);

/*
 * Keep BLOB under KEY as memory_cache_put does, but even beyond the budget, until
 * memory_cache_unpin has been called as often. For a tile that is to be written to disk, because
 * until then it is nowhere else. If out of memory, nothing is kept under KEY.
 */
void memory_cache_pin(struct memory_cache *cache, const char *key, struct blob *blob);
void memory_cache_unpin(struct memory_cache *cache, const char *key);

/* Change the budget. Entries that exceed it are evicted before this returns. */
void memory_cache_resize(struct memory_cache *cache, uint64_t budget);

/* The part of the budget in use, in bytes. */
uint64_t memory_cache_used(struct memory_cache *cache);

#endif
