/*
 * The worlds of other seeds that were asked for last, each made when it is first asked for. A
 * bounded number of them: a million seeds take no more memory than a hundred. One thread.
 */
#ifndef FARLANDS_WORLD_SEED_CACHE_H
#define FARLANDS_WORLD_SEED_CACHE_H

#include "server/world/recent_worlds.h"
#include "server/world/world.h"

/*
 * At 18 KB each they are 1.2 MB a shard. Whoever asks in more worlds than that in turn pays 3 us a
 * request, and nothing for what is on the shelf.
 */
enum { SEED_CACHE_MAX = 64 };

struct seed_cache;

/* RECENT_WORLDS outlive it. Returns 0 or -ENOMEM. */
int seed_cache_new(struct seed_cache **out, struct recent_worlds *recent_worlds);
void seed_cache_free(struct seed_cache *seeded);

/*
 * The world that BASE is with SEED, or NULL where memory is out. It lasts until the next one is
 * asked for, or seed_cache_clear; who works with it longer holds it.
 */
const struct world *seed_cache_find(struct seed_cache *seeded, const struct world *base,
                                    uint64_t seed);

/* Tiles of the world that was found last are asked for: others' are to go from the disk first.
 * Takes a lock only where it is long ago that they were. */
void seed_cache_touch(struct seed_cache *seeded);

/* Drop all: other worlds are configured. */
void seed_cache_clear(struct seed_cache *seeded);

#endif
