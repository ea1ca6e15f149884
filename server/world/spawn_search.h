/*
 * The search for a place near a point where a player can be put: its ground is within bounds, under
 * the open sky (surface_is_ground), and not in a river or a lake. Runs in slices, so that no thread
 * is held for long. One thread at a time.
 *
 * Every block within SPAWN_RADIUS blocks is tested. The nearest block wins, among equally near ones
 * the one with the least y, then x. If there is none, lattices around the point are searched. Each
 * has 49 x 49 nodes with whole coordinates, 64 blocks apart in the first lattice, then 128, and so
 * on to 65536. A hint is one of these:
 *
 * - a node whose height and biome are within the bounds;
 * - a block between two neighboring nodes, east-west or north-south, one of which is too low and
 *   the other too high. Bisection finds this block.
 *
 * In each lattice the 12 hints nearest to the point are tried. A pair's distance is measured from
 * the middle between its nodes. Among equally near hints the northern node's come first, then the
 * western's; a node comes before its pair to the east, then that to the south. Hints whose nodes
 * were in the previous lattice are left out. All 126 x 126 blocks around a hint are tested. The
 * first square that has a place ends the search: its block nearest to the point is the result.
 *
 * In a terrain with rivers nodes have filtered heights as pictures do (band_limit), because exact
 * heights that far apart take milliseconds each.
 *
 * Water is near a block if the field `bank` says so, or if there is ground below 0 m within that
 * distance. The ground is sampled at multiples of a sixteenth of the distance, rounded up to a
 * power of two. If water is wanted in a terrain with a sea, a pair of nodes is a hint if one is
 * below 0 m and the other above, and single nodes are hints only if there are rivers.
 *
 * If several places are wanted, the others stand around the first, at least SPAWN_APART blocks from
 * each other and within SPAWN_RADIUS blocks of the first. Squares of 126 x 126 blocks are searched,
 * the nearest to the first place first, and in each square the nearest blocks first.
 *
 * The search ends with what it has found after 4096 tests of the ground, each of a block whose
 * height and slope are within the bounds, or after SPAWN_SAMPLES heights. Counts end a search
 * rather than times, so every machine looks at the same blocks.
 */
#ifndef FARLANDS_WORLD_SPAWN_SEARCH_H
#define FARLANDS_WORLD_SPAWN_SEARCH_H

#include "server/world/surface.h"

enum {
    SPAWN_RADIUS = 1024,        /* blocks around the point, all of which are tested */
    SPAWN_FAR = 24 * (1 << 16), /* blocks to the last node */
    SPAWN_APART = 16,           /* blocks between two places */
    SPAWN_PLACES_MAX = 64,
    SPAWN_WATER_MAX = 256, /* blocks to the water: `bank` has no larger values */
    /* A search's budget in heights; other steps count as the heights that take as long. A search
     * that finds nothing takes a second or two of a core in the built-in worlds. Without a drainage
     * it gets to the last lattice; with one, which makes far squares dear, to the fifth or so. */
    SPAWN_SAMPLES = 24000000,
};

/* A set of biome ids. */
struct spawn_biomes {
    uint64_t bits[4];
};

static inline void spawn_biomes_add(struct spawn_biomes *biomes, int id)
{
    biomes->bits[id / 64 & 3] |= UINT64_C(1) << id % 64;
}

/* The bounds are inclusive; infinite means unbounded. */
struct spawn_query {
    int64_t x, y;   /* the point, in units, within FARLANDS_LIMIT */
    float min, max; /* height, metres */
    float slope;    /* the steepest, in metres per block, as surface_slope measures it */
    int near_water; /* at most so many blocks to water, up to SPAWN_WATER_MAX; 0: any */
    struct spawn_biomes biomes; /* none: any */
    int count;                  /* places, 0 to SPAWN_PLACES_MAX; 0 means 1 */
};

/* The terrain's fields; -1 if there is no such field. WATER is the level in rivers and lakes, BANK
 * the distance to them. A query for biomes needs BIOME. */
struct spawn_fields {
    int water, bank, biome;
};

struct spawn_place {
    int64_t x, y;    /* units: whole blocks, within FARLANDS_LIMIT */
    double distance; /* from the point, in blocks */
    struct surface surface;
};

/* SPAWN_FAILED: out of memory. */
enum spawn_state { SPAWN_NOT_YET, SPAWN_FOUND, SPAWN_NONE, SPAWN_FAILED };

struct spawn_search;

/* Search TERRAIN, or later another one by spawn_search_use. Returns 0 or -ENOMEM. */
int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_fields *fields, const struct spawn_query *query);
void spawn_search_free(struct spawn_search *search);

/* Evaluate TERRAIN from now on. It must stay while spawn_search_run is called. */
void spawn_search_use(struct spawn_search *search, const struct farlands_terrain *terrain);

/* Continue until about SAMPLES more heights have been evaluated. Every result but SPAWN_NOT_YET is
 * final. */
enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples);

/* The places found, the first one first; only after SPAWN_FOUND. *COUNT is the number wanted, or
 * less if there are no more. Owned by the search. */
const struct spawn_place *spawn_search_places(const struct spawn_search *search, int *count);

/* How far the finished search has looked, in blocks: around the first place if it is SPAWN_FOUND,
 * at most SPAWN_RADIUS; around the point if it is SPAWN_NONE, at most SPAWN_FAR. */
int spawn_search_radius(const struct spawn_search *search);

#endif
