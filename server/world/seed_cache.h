/*
 * The most recently requested worlds of other seeds. A world is derived on its first request. The
 * cache is bounded: a million seeds take no more memory than 64. One thread.
 */
#ifndef FARLANDS_WORLD_SEED_CACHE_H
#define FARLANDS_WORLD_SEED_CACHE_H

#include "server/world/recent_worlds.h"
#include "server/world/worlds.h"

/* 90 KB per shard. If a client cycles through more worlds, each request costs 2 us. */
enum { SEED_CACHE_MAX = 64 };

struct seed_cache;

/* RECENT_WORLDS must outlive the cache. Returns 0 or -ENOMEM. */
int seed_cache_new(struct seed_cache **out, struct recent_worlds *recent_worlds);
void seed_cache_free(struct seed_cache *cache);

/*
 * BASE with SEED, or NULL if out of memory. Valid until the next call or seed_cache_clear; use
 * world_hold to keep the world longer.
 */
const struct world *seed_cache_find(struct seed_cache *cache, const struct world *base,
                                    uint64_t seed);

/* Call this if tiles with KIND (tile_kind) are requested from the world found last. Adds it to the
 * recent worlds, because the disk cache evicts their tiles last. Rarely takes a lock. */
void seed_cache_touch(struct seed_cache *cache, int kind);

/* Drop all worlds, because their bases are being replaced. */
void seed_cache_clear(struct seed_cache *cache);

#endif
