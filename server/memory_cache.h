/*
 * Encoded tiles in memory, by name, within a budget of bytes: the least
 * recently used go first. One thread.
 */
#ifndef FARLANDS_MEMORY_CACHE_H
#define FARLANDS_MEMORY_CACHE_H

#include <stdint.h>

#include "server/blob.h"

struct memory_cache;

/* BUDGET bytes, keys and bookkeeping included; 0 keeps nothing. 0 or -ENOMEM. */
int memory_cache_new(struct memory_cache **out, uint64_t budget);
void memory_cache_free(struct memory_cache *cache);

/* The blob under KEY, the cache's own reference, or NULL. It stays valid until
 * the next memory_cache_put. */
struct blob *memory_cache_get(struct memory_cache *cache, const char *key);

/* Keep BLOB under KEY with a reference of its own. Where memory is out or the
 * blob alone exceeds the budget, nothing is kept. */
void memory_cache_put(struct memory_cache *cache, const char *key, struct blob *blob);

#endif
