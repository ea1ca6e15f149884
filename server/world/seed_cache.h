/*
 * The most recently requested worlds of other seeds, each derived on its first request. Bounded:
 * a million seeds take no more memory than 64. One thread.
 */
#ifndef FARLANDS_WORLD_SEED_CACHE_H
#define FARLANDS_WORLD_SEED_CACHE_H

#include "server/world/recent_worlds.h"
#include "server/world/worlds.h"

/* 90 KB per shard. A client that cycles through more worlds costs 2 us a request. */
enum { SEED_CACHE_MAX = 64 };

struct seed_cache;

/* RECENT_WORLDS must outlive it. Returns 0 or -ENOMEM. */
int seed_cache_new(struct seed_cache **out, struct recent_worlds *recent_worlds);
void seed_cache_free(struct seed_cache *cache);

/*
 * BASE with SEED, or NULL if out of memory. Valid until the next call, or seed_cache_clear;
 * world_hold it to keep it longer.
 */
const struct world *seed_cache_find(struct seed_cache *cache, const struct world *base,
                                    uint64_t seed);

/* The world found last is asked for tiles of KIND (tile_kind): add it to the recent worlds, whose
 * tiles are evicted from the disk last. Rarely takes a lock. */
void seed_cache_touch(struct seed_cache *cache, int kind);

/* Drop all worlds, since their bases are being replaced. */
void seed_cache_clear(struct seed_cache *cache);

#endif
