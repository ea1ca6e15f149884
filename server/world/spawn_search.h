/*
 * The search for the place nearest to a point where the ground is as one wishes, say to put a
 * player there. In slices, so that it holds no thread for long. One thread at a time.
 */
#ifndef FARLANDS_WORLD_SPAWN_SEARCH_H
#define FARLANDS_WORLD_SPAWN_SEARCH_H

#include "server/world/surface.h"

/* How far from the point places are looked for, in blocks. */
enum { SPAWN_RADIUS = 4096 };

/* All bounds belong to what they bound; what is not bounded, is by INFINITY or -INFINITY. */
struct spawn_query {
    int64_t x, y;   /* the point, in units, within FARLANDS_LIMIT */
    float min, max; /* of the height, metres */
    float slope;    /* at most, metres a block, as surface_slope measures it */
};

struct spawn_place {
    int64_t x, y;    /* units: a whole number of blocks each, within FARLANDS_LIMIT */
    double distance; /* from the point, in blocks */
    struct surface surface;
};

enum spawn_state { SPAWN_NOT_YET, SPAWN_FOUND, SPAWN_NONE };

struct spawn_search;

/* TERRAIN stays the caller's and outlives the search. Returns 0 or -ENOMEM. */
int spawn_search_new(struct spawn_search **out, const struct farlands_terrain *terrain,
                     const struct spawn_query *wish);
void spawn_search_free(struct spawn_search *search);

/*
 * Search on, until about SAMPLES heights more are known: some 16,000 at least, some 56 million
 * where there is no such place. The answer, once it is another than SPAWN_NOT_YET, is final: of the
 * blocks within SPAWN_RADIUS that are as wished the nearest, and of several just as near
 * that with the least y, and then x.
 */
enum spawn_state spawn_search_run(struct spawn_search *search, struct farlands_scratch *scratch,
                                  int64_t samples);

/* What was found; the search's. */
const struct spawn_place *spawn_search_place(const struct spawn_search *search);

#endif
