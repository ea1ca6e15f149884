/* Walks straight ahead until something changes. Pure. */
#ifndef FARLANDS_DESCRIBE_WALK_H
#define FARLANDS_DESCRIBE_WALK_H

#include "server/describe/ground.h"

/*
 * A walker looks every WALK_STEP blocks, and from 1024 steps on every 1024th part of the way: what
 * is narrower may be missed, and a way is right to a step or a thousandth. It ends at WALK_LIMIT.
 */
enum { WALK_STEP = 16, WALK_LIMIT = 1024000, WALK_RISE = 100 };

enum walk_goal {
    WALK_CLIMB, /* the ground is WALK_RISE metres higher or lower than at the start */
    WALK_SEA,   /* it is not above 0 m */
    WALK_CLASS, /* it is of another class (ground.h) */
    WALK_GOALS
};

struct walk {
    float way[WALK_GOALS]; /* blocks until then; INFINITY: not within WALK_LIMIT */
};

/* From a place in units, in DIRECTION, a unit vector. */
struct walk walk_from(const struct ground *ground, int64_t x, int64_t y, const double direction[2]);

#endif
