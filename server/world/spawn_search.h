/*
 * The search for a place near a point whose ground is within bounds, such as to put a player there.
 * The player stands on the ground, under the open sky (surface_is_ground), and not in a river or a
 * lake. Runs in slices, so that it does not hold a thread for long. One thread at a time.
 *
 * Within SPAWN_RADIUS blocks of the point every block is tested, and the nearest wins; of equally
 * near ones the one with the least y, then x. If there is none, lattices around the point are
 * searched, of 49 x 49 nodes with whole coordinates, at first 64 blocks apart, then 128, and so on
 * to 65536. A hint is a node whose height is within the bounds and whose biome will do; or a block
 * between two neighbouring nodes, east-west or north-south, of which one is too low and the other
 * too high: it is found by bisection. In each lattice the 12 hints nearest to the point are tried,
 * by the middle between their nodes; of equally near ones the northern node's first, then the
 * western's, a node before its east and then its south. Hints whose nodes were in the lattice
 * before are left out. All blocks of the square of 126 x 126 around a hint are tested. The first
 * square that has a place ends the search, with the block in it that is nearest to the point.
 *
 * In a terrain with rivers nodes have the heights of a picture: a grid with a band limit, as exact
 * heights that far apart take milliseconds each. So a search that finds nothing ends after some
 * tenths of a second.
 *
 * Water is near a block if the field `bank` says so, or if a place of the lattice that is a
 * sixteenth of that distance wide, rounded up to a power of two, is below 0 m. If water is wanted
 * in a terrain with a sea, pairs of nodes are hints if one is below 0 m and the other above. Single
 * nodes are hints then only if there are rivers.
 *
 * If several places are wanted, the others stand around the first, at least SPAWN_APART blocks from
 * each other, within SPAWN_RADIUS blocks of it. Squares of 126 x 126 blocks around it are searched,
 * the nearest first, and in each one the blocks nearest to the first place.
 *
 * At most 4096 blocks are tested whose height and slope will do, and at most SPAWN_SAMPLES heights
 * are evaluated. Then the search ends with what it has found. So it looks at the same blocks on
 * every machine.
 */
#ifndef FARLANDS_WORLD_SPAWN_SEARCH_H
#define FARLANDS_WORLD_SPAWN_SEARCH_H

#include "server/world/surface.h"

enum {
    SPAWN_RADIUS = 1024,        /* blocks around the point, all of which are tested */
    SPAWN_FAR = 24 * (1 << 16), /* blocks to the last node */
    SPAWN_APART = 16,           /* blocks between two places */
    SPAWN_PLACES_MAX = 64,
    SPAWN_WATER_MAX = 256, /* blocks to the water: `bank` has no more */
    /* Heights that a search may evaluate; others that take as long count as many. Enough for a
     * whole search without result. In the built-in worlds it takes less than a second. */
    SPAWN_SAMPLES = 24000000,
};

/* Ids of biomes. */
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
    float min, max; /* of the height, metres */
    float slope;    /* the steepest, in metres per block, as surface_slope measures it */
    int near_water; /* blocks to water at most, up to SPAWN_WATER_MAX; 0: any */
    struct spawn_biomes biomes; /* none: any */
    int count;                  /* places, 0 to SPAWN_PLACES_MAX; 0 is 1 */
};

/* Fields of the terrain, -1 if it has none: the level of rivers and lakes, the distance to them,
 * biomes. A query for biomes needs the last. */
struct spawn_fields {
    int water, bank, biome;
};

struct spawn_place {
    int64_t x, y;    /* units: whole blocks, within FARLANDS_LIMIT */
    double distance; /* from the point, in blocks */
    struct surface surface;
};

/* Failed: out of memory. */
enum spawn_state { SPAWN_NOT_YET, SPAWN_FOUND, SPAWN_NONE, SPAWN_FAILED };

struct spawn_search;

/* In TERRAIN, or one of another seed that spawn_search_use gives. Returns 0 or -ENOMEM. */
int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_fields *fields, const struct spawn_query *query);
void spawn_search_free(struct spawn_search *search);

/* Evaluate TERRAIN from now on, which is needed while the search runs. */
void spawn_search_use(struct spawn_search *search, const struct farlands_terrain *terrain);

/* Continue until about SAMPLES more heights have been evaluated. Any result but SPAWN_NOT_YET is
 * final. */
enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples);

/* The places that a search found which is SPAWN_FOUND, the first one first: *COUNT, as many as were
 * wanted or as there are. Owned by the search. */
const struct spawn_place *spawn_search_places(const struct spawn_search *search, int *count);

/* How far a search that has ended has looked, in blocks: around the first place if it is
 * SPAWN_FOUND, SPAWN_RADIUS at most, or around the point if it is SPAWN_NONE, SPAWN_FAR at most. */
int spawn_search_radius(const struct spawn_search *search);

#endif
