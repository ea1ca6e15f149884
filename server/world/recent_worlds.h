/*
 * The fingerprints of worlds of other seeds whose tiles were asked for lately: what the disk cache
 * keeps as it keeps those of configured worlds. A bounded set, shared by all shards. Any thread;
 * none waits for more than a few comparisons.
 */
#ifndef FARLANDS_WORLD_RECENT_WORLDS_H
#define FARLANDS_WORLD_RECENT_WORLDS_H

#include <stdbool.h>

#include "server/world/world.h"

/*
 * So many that were noted last are known, but for hardly one in a hundred of them; others perhaps.
 * A first screen of each, 30 tiles of 60 KB, is most of the default quota: the tiles of more worlds
 * do not fit the disk anyway.
 */
enum { RECENT_WORLDS_LATEST = 4096 };

struct recent_worlds;

int recent_worlds_new(struct recent_worlds **out); /* 0 or a negative code */
void recent_worlds_free(struct recent_worlds *recent_worlds);

/* Tiles of WORLD are asked for. Returns what recent_worlds_clock says then. */
uint64_t recent_worlds_add(struct recent_worlds *recent_worlds, const struct world *world);

/* How often any has been noted. Takes no lock. */
uint64_t recent_worlds_clock(const struct recent_worlds *recent_worlds);

/* Whether FINGERPRINT was noted lately; FAMILY is then that world's. */
bool recent_worlds_find(struct recent_worlds *recent_worlds, const char *fingerprint,
                        char family[FINGERPRINT_TEXT]);

#endif
