/* Walks straight ahead until something changes. Pure. */
#ifndef FARLANDS_DESCRIBE_WALK_H
#define FARLANDS_DESCRIBE_WALK_H

#include "server/describe/ground.h"

/*
 * A walker looks every WALK_STEP blocks, and from WALK_PART steps on whenever the way has grown by
 * a WALK_PART-th: what is narrower may be missed. It ends at WALK_LIMIT. Looks cost most of a
 * survey's time; this takes 1700 of them, at most.
 */
enum { WALK_STEP = 16, WALK_PART = 256, WALK_LIMIT = 1024000, WALK_RISE = 100 };

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
