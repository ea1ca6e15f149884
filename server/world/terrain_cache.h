/*
 * Terrains for other seeds, each compiled when a value is first needed. Bounded: the terrains in
 * use, one per render thread, and TERRAIN_CACHE_IDLE more. Any thread but event loops: compiling
 * takes 0.1 to 0.2 ms in the built-in worlds, and 90 to 150 KB.
 */
#ifndef FARLANDS_WORLD_TERRAIN_CACHE_H
#define FARLANDS_WORLD_TERRAIN_CACHE_H

#include "config/daemon/config.h"

struct farlands_terrain;
struct terrain_cache;

/* The number of terrains that are kept while nothing uses them. */
enum { TERRAIN_CACHE_IDLE = 16 };

int terrain_cache_new(struct terrain_cache **out); /* 0 or a negative code */

/* All terrains must have been released. NULL is allowed. */
void terrain_cache_free(struct terrain_cache *cache);

/*
 * Get the terrain for CONFIG with SEED, valid until terrain_cache_release. If several threads need
 * it at the same time, one compiles it. CONFIG must outlive the cache. Returns 0 or -ENOMEM.
 */
int terrain_cache_hold(struct terrain_cache *cache, const struct world_config *config,
                       uint64_t seed, const struct farlands_terrain **out);
void terrain_cache_release(struct terrain_cache *cache, const struct farlands_terrain *terrain);

/* The number of terrains compiled so far; the number that exist. */
uint64_t terrain_cache_compiled(struct terrain_cache *cache);
int terrain_cache_count(struct terrain_cache *cache);

#endif
