/*
 * The fingerprints of layers, in worlds of other seeds, whose tiles were requested lately: the disk
 * cache keeps their tiles as it keeps those of configured worlds. A bounded set, shared by all
 * shards. Any thread; the lock is held for a few comparisons.
 */
#ifndef FARLANDS_WORLD_RECENT_WORLDS_H
#define FARLANDS_WORLD_RECENT_WORLDS_H

#include <stdbool.h>

#include "server/world/world.h"

/*
 * The latest additions that are known, all but one in a hundred; older ones may be. They are four
 * layers each of 4096 worlds: a first screen of each world, 30 tiles of 60 KB, is most of the
 * default quota, so the tiles of more worlds would not fit the disk anyway.
 */
enum { RECENT_WORLDS_MIN = 4 * 4096 };

struct recent_worlds;

int recent_worlds_new(struct recent_worlds **out); /* 0 or a negative code */
void recent_worlds_free(struct recent_worlds *recent);

/* Add tiles of KIND of WORLD (tile_kind), or renew them. Returns recent_worlds_clock. */
uint64_t recent_worlds_add(struct recent_worlds *recent, const struct world *world, int kind);

/* The number of additions so far. Takes no lock. */
uint64_t recent_worlds_clock(const struct recent_worlds *recent);

/* Whether FINGERPRINT is that of a layer that was added lately; if so, FAMILY is set to that
 * layer's. */
bool recent_worlds_find(struct recent_worlds *recent, const char *fingerprint,
                        char family[FINGERPRINT_TEXT]);

#endif
