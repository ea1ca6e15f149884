/*
 * Encoded tiles in memory, by name, within a budget of bytes. A scan of tiles
 * that nobody asks for again pushes out none that is in use: S3-FIFO (Yang et
 * al., "FIFO queues are all you need for cache eviction", SOSP 2023). Any
 * thread; a lock is held for the table alone, never while tiles are freed.
 */
#ifndef FARLANDS_CACHE_MEMORY_CACHE_H
#define FARLANDS_CACHE_MEMORY_CACHE_H

#include <stdint.h>

#include "server/core/blob.h"

struct memory_cache;

/*
 * BUDGET bytes, keys and bookkeeping included: what is used never exceeds it.
 * Only struct memory_cache itself is not counted; 0 keeps nothing. Returns 0,
 * -ENOMEM or -EAGAIN. Free it when no thread uses it any more.
 */
int memory_cache_new(struct memory_cache **out, uint64_t budget);
void memory_cache_free(struct memory_cache *cache);

/* The blob under KEY, with a reference that the caller releases, or NULL. Counts as a use; so
 * should whoever keeps the reference count its own, with blob_use. */
struct blob *memory_cache_get(struct memory_cache *cache, const char *key);

/* Keep BLOB under KEY with a reference of its own, instead of what was there. Where memory is out
 * or the blob alone exceeds the budget, nothing is kept. */
void memory_cache_put(struct memory_cache *cache, const char *key, struct blob *blob);

/* Another budget from now on: what exceeds it is gone when this returns. */
void memory_cache_resize(struct memory_cache *cache, uint64_t budget);

/* Bytes of the budget that are taken. */
uint64_t memory_cache_used(struct memory_cache *cache);

#endif
