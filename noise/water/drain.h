/*
 * Drainage: which way water flows, as a pure function of the place. Private to noise/. README.md
 * has a drawing and an example.
 *
 * Each level is a triangular lattice of nodes, with a quarter of the spacing on the level before.
 * Node (i, j) in a lattice with spacing s lies at the lowest of some random places within s / 4 of
 * (s i + s j / 2, s j). Neighbors are joined by edges, which never cross.
 *
 *  - Level 0, the broadest: a node flows to the neighbor behind the lowest pass, if that neighbor
 *    is lower. If none is, the node is an end lake. Ground below 0 is the sea.
 *  - From a node to the next one, water takes a way through nodes on the next level, with the least
 *    work, climbing and length. The bed falls with the ground, but must arrive at the next node's
 *    bed: so it may lie above the ground, in a hollow, or below, in a gorge. Each node on the next
 *    level belongs to the nearest node on this one, and a way uses nodes that belong to one of its
 *    ends. So ways meet only if their courses also meet on this level, and then go on together.
 *  - A node on level 1 or finer that is on no way flows to the lowest neighbor that is nearer to
 *    one. If no way is near, it flows to a lower neighbor, as on level 0.
 *
 * So every bed is above the next one, and no length is greater than the next one: water ends in the
 * sea or in an end lake, rivers only grow, and courses never cross. Everything is computed in
 * integers from the ground, whose values are the same on every machine.
 *
 * With s the spacing on level 0, a node depends on the ground within DRAIN_FAR s along each axis,
 * but as a rule on the ground within 4 s. Level 0: 5 nodes on the chains that flow to it and beside
 * them, each moved by up to 1/4, which looks 3/4 around itself: 6. Each other level: up to 15/4 in
 * the spacing before to where ways begin, and then 5 nodes downstream and beside these, of which
 * the second one's length counts: 6 + 1 + 15/4, and 35/4 times 1/4, 1/16 and 1/64.
 *
 * After Gaillard et al., "Dendry: a procedural model for dendritic patterns" (2019), where lattices
 * with ever smaller spacing join those before them.
 */
#ifndef FARLANDS_DRAIN_H
#define FARLANDS_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "noise/drainage/course_node.h"

struct farlands_grid;

enum {
    DRAIN_MAX_LEVELS = 5,
    DRAIN_RATIO = 4, /* a level's spacing in spacings of the next one */
    DRAIN_FAR = 14,
};

struct drain_shape {
    int64_t spacing; /* on level 0, in units: a power of two, at least 4^(levels + 1) */
    int levels;      /* 2 to DRAIN_MAX_LEVELS */
};

/* Write the ground over GRID into OUT, in metres, rows without gaps. Returns 0 or a negative errno.
 * The grid is band-limited, because octaves that it cannot show have no influence on water. */
typedef int drain_ground(void *context, const struct farlands_grid *grid, float *out);

/* A drainage, with everything computed so far that fits a fixed memory. For one thread. */
struct drain;

/* SHAPE is copied. Returns 0 or -ENOMEM; the caller frees *OUT. */
int drain_new(struct drain **out, const struct drain_shape *shape, drain_ground *ground,
              void *context);
void drain_free(struct drain *drain);

/* Columns and rows from a node to its neighbors. The way back from neighbor k has number k + 3
 * modulo 6. */
enum { DRAIN_NEIGHBORS = 6 };
extern const int drain_neighbor[DRAIN_NEIGHBORS][2];

/* Write LEVEL's nodes from (I, J) on, WIDTH x HEIGHT, row by row. Returns 0 or GROUND's error. */
int drain_nodes(struct drain *drain, int level, int64_t i, int64_t j, int width, int height,
                struct course_node *out);

/* Which of SIDE x SIDE slots column I and row J have. A square that wide has a slot for each place.
 * SIDE is a power of two. */
static inline unsigned drain_slot(int64_t i, int64_t j, unsigned side)
{
    return ((unsigned)i & (side - 1)) + ((unsigned)j & (side - 1)) * side;
}

/* The node on LEVEL whose place in the undisturbed lattice is nearest to (X, Y). */
void drain_nearest(const struct drain *drain, int level, int64_t x, int64_t y, int64_t *i,
                   int64_t *j);

#endif
