/*
 * A set of recently requested layers in worlds of other seeds, by fingerprint. The disk cache keeps
 * their tiles like those of configured worlds. Bounded, and shared by all shards. Any thread; the
 * lock is held for a few comparisons.
 */
#ifndef FARLANDS_WORLD_RECENT_WORLDS_H
#define FARLANDS_WORLD_RECENT_WORLDS_H

#include <stdbool.h>

#include "server/world/world.h"

/*
 * The set knows at least 99 % of this many latest additions, and perhaps older ones: four layers in
 * each of 4096 worlds. More would not help, because the tiles would not fit the disk: a first
 * screen of each world, 30 tiles of 60 KB, takes most of the default quota.
 */
enum { RECENT_WORLDS_MIN = 4 * 4096 };

struct recent_worlds;

int recent_worlds_new(struct recent_worlds **out); /* 0 or a negative code */
void recent_worlds_free(struct recent_worlds *recent);

/* Add or renew WORLD's tiles of KIND (tile_kind). Returns recent_worlds_clock. */
uint64_t recent_worlds_add(struct recent_worlds *recent, const struct world *world, int kind);

/* The number of additions so far. Takes no lock. */
uint64_t recent_worlds_clock(const struct recent_worlds *recent);

/* True if a layer with FINGERPRINT was added lately. FAMILY then gets the layer's fingerprint with
 * seed 0. */
bool recent_worlds_find(struct recent_worlds *recent, const char *fingerprint,
                        char family[FINGERPRINT_TEXT]);

#endif
