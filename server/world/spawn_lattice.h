/*
 * Node lattices around a spawn search's point. In each one the nodes are twice as far apart as in
 * the one before. They give hints: places where the ground may be within the bounds
 * (spawn_search.h). Private to spawn_search.c.
 */
#ifndef FARLANDS_WORLD_SPAWN_LATTICE_H
#define FARLANDS_WORLD_SPAWN_LATTICE_H

#include "server/world/spawn_search.h"

enum {
    SPAWN_LATTICES = 11, /* all together take a tenth of a second */
    SPAWN_NODES = 49,    /* per side */
};

/* A point: a block, and the units from the block's corner to the point. Distances are in units from
 * the point, and block offsets count from this block: they fit in 31 bits, so the sum of two
 * squared distances fits in 63. */
struct spawn_point {
    int64_t block[2], inside[2];
};

static inline struct spawn_point spawn_point_at(int64_t x, int64_t y)
{
    return (struct spawn_point){{x >> FARLANDS_UNIT_BITS, y >> FARLANDS_UNIT_BITS},
                                {x & (FARLANDS_UNIT - 1), y & (FARLANDS_UNIT - 1)}};
}

/* The signed distance from the point to the block at OFFSET, along one axis. */
static inline int64_t spawn_distance(int offset, int64_t inside)
{
    return (int64_t)offset * FARLANDS_UNIT - inside;
}

/* Candidates are ordered by distance, then by number. */
struct spawn_rank {
    int64_t distance; /* squared */
    int number;
};

static inline bool spawn_rank_less(struct spawn_rank a, struct spawn_rank b)
{
    return a.distance != b.distance ? a.distance < b.distance : a.number < b.number;
}

/* A place, or a line between two nodes, which is searched by bisection. */
struct spawn_hint {
    int number;
    int64_t at[2], apart; /* blocks: AT, or if APART > 1, up to APART east or south of AT */
};

struct spawn_lattice {
    const struct spawn_query *query;
    const struct spawn_fields *fields;
    struct spawn_point point;
    float low, high;        /* a pair of nodes is a hint if it is on both sides of these */
    bool coarse;            /* nodes have filtered heights, as pictures do */
    int number;             /* nodes are 64 << NUMBER blocks apart; SPAWN_LATTICES: all done */
    int rows;               /* evaluated */
    int hints;              /* tried in this lattice */
    struct spawn_rank last; /* the last hint that was tried */
    float height[SPAWN_NODES * SPAWN_NODES];
    float biome[SPAWN_NODES * SPAWN_NODES]; /* if the query has biomes */
};

/* Begin with the first lattice. QUERY and FIELDS stay the caller's, and outlive OUT. If SHORE is
 * true, a pair of nodes is a hint if one is below 0 m and the other above. */
void spawn_lattice_begin(struct spawn_lattice *out, const struct farlands_terrain *terrain,
                         const struct spawn_query *query, const struct spawn_fields *fields,
                         bool shore);

/*
 * Take one step: evaluate rows of nodes, find the next hint, or go to the next lattice. If a hint
 * was found, HINT->apart is positive. If that exceeds 1, call spawn_lattice_halve next. Adds the
 * step's price, in heights, to *SAMPLES. Returns 0 or -ENOMEM.
 */
int spawn_lattice_next(struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                       struct farlands_scratch *scratch, struct spawn_hint *hint, int64_t *samples);

/* Halve HINT. Its APART becomes 1 if a height within the bounds is found, or if one block is left,
 * next to which the ground jumps past the bounds. */
int spawn_lattice_halve(const struct spawn_lattice *lattice, const struct farlands_terrain *terrain,
                        struct farlands_scratch *scratch, struct spawn_hint *hint,
                        int64_t *samples);

/* How far the finished lattices reach around the point, in blocks; 0 if none is finished. */
int spawn_lattice_reach(const struct spawn_lattice *lattice);

#endif
