/* Walks straight ahead until something changes. Pure. */
#ifndef FARLANDS_DESCRIBE_WALK_H
#define FARLANDS_DESCRIBE_WALK_H

#include "server/describe/ground.h"

/*
 * A walker looks every WALK_STEP blocks; after WALK_PART steps, whenever the distance has grown by
 * a WALK_PART-th. So narrower shapes may be missed. The walk ends at WALK_LIMIT, after at most 1700
 * looks, which take most of a survey's time.
 */
enum { WALK_STEP = 16, WALK_PART = 256, WALK_LIMIT = 1024000, WALK_RISE = 100 };

enum walk_goal {
    WALK_CLIMB, /* the ground is WALK_RISE metres higher or lower than at the start */
    WALK_SEA,   /* the ground is not above 0 m */
    WALK_CLASS, /* the ground is of another class (ground.h) */
    WALK_GOALS
};

struct walk {
    float way[WALK_GOALS]; /* blocks until then; INFINITY: not within WALK_LIMIT */
};

/* Walk from a place in units, in DIRECTION, a unit vector. */
struct walk walk_from(const struct ground *ground, int64_t x, int64_t y, const double direction[2]);

#endif
