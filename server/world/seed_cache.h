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
enum { SEEDED_MAX = 64 };

struct seeded;

/* FINGERPRINTS outlive it. Returns 0 or -ENOMEM. */
int seeded_new(struct seeded **out, struct fingerprints *fingerprints);
void seeded_free(struct seeded *seeded);

/*
 * The world that BASE is with SEED, or NULL where memory is out. It lasts until the next one is
 * asked for, or seeded_clear; who works with it longer holds it.
 */
const struct world *seeded_find(struct seeded *seeded, const struct world *base, uint64_t seed);

/* Tiles of the world that was found last are asked for: others' are to go from the disk first.
 * Takes a lock only where it is long ago that they were. */
void seeded_keep(struct seeded *seeded);

/* Drop all: other worlds are configured. */
void seeded_clear(struct seeded *seeded);

#endif
