/*
 * Lattices of places around the point of a search, each with nodes twice as far apart as the one
 * before, and the hints that they give: places where the ground may be within the bounds
 * (spawn_search.h). Private to spawn_search.c.
 */
#ifndef FARLANDS_WORLD_SPAWN_LATTICE_H
#define FARLANDS_WORLD_SPAWN_LATTICE_H

#include "server/world/spawn_search.h"

enum {
    SPAWN_LATTICES = 11, /* few enough nodes that all lattices take a tenth of a second */
    SPAWN_NODES = 49,    /* per side */
};

/* A point: its block, and the units from the block's corner to it. Distances are in units from the
 * point, and offsets of blocks count from its block: they need at most 31 bits, so that the sum of
 * two squared distances fits in 63. */
struct spawn_point {
    int64_t block[2], inside[2];
};

static inline struct spawn_point spawn_point_at(int64_t x, int64_t y)
{
    return (struct spawn_point){{x >> FARLANDS_UNIT_BITS, y >> FARLANDS_UNIT_BITS},
                                {x & (FARLANDS_UNIT - 1), y & (FARLANDS_UNIT - 1)}};
}

/* The signed distance along an axis of the block at OFFSET. INSIDE is the point's on this axis. */
static inline int64_t spawn_distance(int offset, int64_t inside)
{
    return (int64_t)offset * FARLANDS_UNIT - inside;
}

/* What comes first: the least distance, then the least number. */
struct spawn_rank {
    int64_t distance; /* squared */
    int number;
};

static inline bool spawn_rank_less(struct spawn_rank a, struct spawn_rank b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.number < b.number;
}

/* A place between two nodes, sought by bisection. */
struct spawn_hint {
    int number;
    int64_t at[2], apart; /* blocks: it is from AT up to APART to the east or the south. 1: at AT */
};

struct spawn_lattice {
    const struct spawn_query *query;
    const struct spawn_fields *fields;
    struct spawn_point point;
    float low, high;        /* what a pair of nodes passes that is a hint */
    bool coarse;            /* nodes have the heights of a picture */
    int number;             /* nodes are 64 << NUMBER blocks apart; SPAWN_LATTICES: all are done */
    int rows;               /* that are evaluated */
    int hints;              /* that were tried, */
    struct spawn_rank last; /* and the last of them */
    float height[SPAWN_NODES * SPAWN_NODES];
    float biome[SPAWN_NODES * SPAWN_NODES]; /* if the query has biomes */
};

/* Begin with the first lattice. QUERY and FIELDS stay the caller's, and outlive OUT. If SHORE is
 * true, pairs of nodes are hints if one is below 0 m and the other above. */
void spawn_lattice_begin(struct spawn_lattice *out, const struct farlands_terrain *terrain,
                         const struct spawn_query *query, const struct spawn_fields *fields,
                         bool shore);

/*
 * Evaluate rows of nodes, or find the next hint, or go to the next lattice. If *HINT is one now,
 * its member APART is positive, and if that is more than 1, spawn_lattice_halve comes next. Adds
 * the heights that this cost to *SAMPLES. Returns 0 or -ENOMEM.
 */
int spawn_lattice_next(struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                       struct farlands_scratch *scratch, struct spawn_hint *hint, int64_t *samples);

/* Halve what is left of HINT. It ends with APART at 1: if a height within the bounds is found, or
 * one block is left, beside which the bounds are passed at once. */
int spawn_lattice_halve(const struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                        struct farlands_scratch *scratch, struct spawn_hint *hint,
                        int64_t *samples);

/* How far around the point the lattices that are done reach, in blocks; 0: none is. */
int spawn_lattice_reach(const struct spawn_lattice *lattice);

#endif
