/*
 * The search for a place near a point whose ground is within bounds, such as to put a player there.
 * The player stands on the ground, under the open sky (surface_is_ground), and not in a river or a
 * lake. Runs in slices, so that it does not hold a thread for long. One thread at a time.
 *
 * Within SPAWN_RADIUS blocks of the point every block is tested, and the nearest wins; of equally
 * near ones the one with the least y, then x. If there is none, lattices around the point are
 * searched, of 49 x 49 nodes with whole coordinates, at first 64 blocks apart, then 128, and so on
 * to 65536. A hint is a node whose height is within the bounds; or a block between two
 * neighbouring nodes, east-west or north-south, of which one is too low and the other too high: it
 * is found by bisection, and its height, too, is within the bounds. In each lattice the 12 hints
 * nearest to the point are tried, by the middle between their nodes; of equally near ones the
 * northern node's first, then the western's, a node before its east and then its south. Hints whose
 * nodes were in the lattice before are left out. All blocks of the square of 126 x 126 around a
 * hint are tested. The first square that has a place ends the search, with the block in it that is
 * nearest to the point.
 *
 * At most 4096 blocks are tested whose height and slope will do; a world without ground to stand on
 * ends the search.
 */
#ifndef FARLANDS_WORLD_SPAWN_SEARCH_H
#define FARLANDS_WORLD_SPAWN_SEARCH_H

#include "server/world/surface.h"

enum {
    SPAWN_RADIUS = 1024,        /* blocks around the point, all of which are tested */
    SPAWN_FAR = 24 * (1 << 16), /* blocks to the last node */
};

/* The bounds are inclusive; infinite means unbounded. */
struct spawn_query {
    int64_t x, y;   /* the point, in units, within FARLANDS_LIMIT */
    float min, max; /* of the height, metres */
    float slope;    /* the steepest, in metres per block, as surface_slope measures it */
};

struct spawn_place {
    int64_t x, y;    /* units: whole blocks, within FARLANDS_LIMIT */
    double distance; /* from the point, in blocks */
    struct surface surface;
};

/* Failed: out of memory. */
enum spawn_state { SPAWN_NOT_YET, SPAWN_FOUND, SPAWN_NONE, SPAWN_FAILED };

struct spawn_search;

/* TERRAIN must outlive the search. WATER is the field that is the level of its rivers and lakes, -1
 * if there are none. Returns 0 or -ENOMEM. */
int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain, int water,
                     const struct spawn_query *query);
void spawn_search_free(struct spawn_search *search);

/* Continue until about SAMPLES more heights have been evaluated: 16,000 at least for a whole
 * search, 6 million if there is no such place. Any result but SPAWN_NOT_YET is final. */
enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples);

/* The result of a search that is SPAWN_FOUND; owned by the search. */
const struct spawn_place *spawn_search_place(const struct spawn_search *search);

#endif
