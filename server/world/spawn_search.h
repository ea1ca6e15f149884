/*
 * The search for the block nearest to a point whose ground is within bounds, such as to place a
 * player there. Runs in slices, so that it does not hold a thread for long. One thread at a time.
 */
#ifndef FARLANDS_WORLD_SPAWN_SEARCH_H
#define FARLANDS_WORLD_SPAWN_SEARCH_H

#include "server/world/surface.h"

enum { SPAWN_RADIUS = 4096 }; /* blocks around the point */

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

enum spawn_state { SPAWN_NOT_YET, SPAWN_FOUND, SPAWN_NONE };

struct spawn_search;

/* TERRAIN must outlive the search. Returns 0 or -ENOMEM. */
int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_query *query);
void spawn_search_free(struct spawn_search *search);

/*
 * Continue until about SAMPLES more heights have been evaluated: 16,000 at least for a whole
 * search, 56 million if there is no such block. Any result but SPAWN_NOT_YET is final: the
 * nearest block within SPAWN_RADIUS, of equally near ones the one with the least y, then x.
 */
enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples);

/* The result of a search that is SPAWN_FOUND; owned by the search. */
const struct spawn_place *spawn_search_place(const struct spawn_search *search);

#endif
