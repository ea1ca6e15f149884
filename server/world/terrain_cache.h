/*
 * The terrains of other seeds, compiled when a value is first wanted. Bounded: those in use, one
 * per render thread, and a few more. Shared by all threads but event loops, which never compile
 * one: that takes 0.1 to 0.2 ms in the built-in worlds, and 90 to 150 KB.
 */
#ifndef FARLANDS_WORLD_TERRAIN_CACHE_H
#define FARLANDS_WORLD_TERRAIN_CACHE_H

#include "config/daemon/config.h"

struct farlands_terrain;
struct terrain_cache;

/* The most terrains that are kept while nothing uses them. */
enum { TERRAIN_CACHE_IDLE = 16 };

int terrain_cache_new(struct terrain_cache **out); /* 0 or a negative code */

/* Every terrain must have been released. NULL is allowed. */
void terrain_cache_free(struct terrain_cache *cache);

/*
 * The terrain of CONFIG with SEED into *OUT, until terrain_cache_release. Threads that want the
 * same one at a time compile it once. CONFIG must outlive the cache. Returns 0 or -ENOMEM.
 */
int terrain_cache_hold(struct terrain_cache *cache, const struct world_config *config,
                       uint64_t seed, const struct farlands_terrain **out);
void terrain_cache_release(struct terrain_cache *cache, const struct farlands_terrain *terrain);

/* How many terrains have been compiled so far, and how many exist. */
uint64_t terrain_cache_compiled(struct terrain_cache *cache);
int terrain_cache_count(struct terrain_cache *cache);

#endif
