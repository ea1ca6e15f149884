/*
 * Drainage: which way water flows, as a pure function of the place. Private to noise/.
 *
 * Each level is a triangular lattice of nodes, a quarter as far apart as those of the level before.
 * Node (i, j) of a lattice with spacing s lies at the lowest of some random places within s / 4 of
 * (s i + s j / 2, s j). Neighbours are joined by edges, which never cross.
 *
 *  - Level 0, the broadest: a node flows to the neighbour behind the lowest pass, if that is lower;
 *    if there is none, it is an end lake. Ground below 0 is the sea.
 *  - From a node to the next one, water takes a way through the nodes of the next level: the one of
 *    least work, climbing and length. Its bed falls with the ground, but arrives where it has to:
 *    it may lie above the ground, in a hollow, or below, in a gorge. Each node of the next level
 *    belongs to the nearest node of this one; a way uses only those of the two that it joins. So
 *    ways meet only if their courses do on this level, too, and then go on together.
 *  - A node of levels 1 and up that is on no way flows to a neighbour that is nearer to one, the
 *    lowest of these; if no way is near, to a lower neighbour, as in level 0.
 *
 * So every bed is above the next one and no length is greater than the next one: water ends in the
 * sea or in an end lake, rivers only grow, and courses never cross. All is computed in integers
 * from the ground, whose values are the same everywhere.
 *
 * A node depends on the ground within DRAIN_FAR s of it along each axis, s the spacing of level 0,
 * but as a rule on that within 4 s. Of level 0: 5 nodes on the chains that flow to it and beside
 * them, each moved by up to 1/4, which looks 3/4 around itself: 6. Of each other level: up to 15/4
 * of the spacing before it to where ways begin, and then 5 nodes downstream and beside these, of
 * which the second one's length counts: 6 + 1 + 15/4, and 35/4 times 1/4, 1/16 and 1/64.
 *
 * After Gaillard et al., "Dendry: a procedural model for dendritic patterns" (2019), where lattices
 * of ever smaller spacing join those before them.
 */
#ifndef FARLANDS_DRAIN_H
#define FARLANDS_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct farlands_grid;

enum {
    DRAIN_MAX_LEVELS = 5,
    DRAIN_RATIO = 4,     /* of the spacings of two levels */
    DRAIN_METRE = 65536, /* heights are integers */
    DRAIN_LENGTH = 256,  /* a spacing, in lengths */
    DRAIN_FAR = 14,
};

struct drain_shape {
    int64_t spacing; /* of level 0, in units: a power of two, at least 4^(levels + 1) */
    int levels;      /* 2 to DRAIN_MAX_LEVELS */
};

enum drain_kind {
    DRAIN_FLOWS,
    DRAIN_SEA,
    DRAIN_END, /* an end lake */
};

struct drain_node {
    int64_t x, y;   /* units */
    int32_t ground; /* 1/65536 m */
    int32_t bed;    /* 1/65536 m: the surface of the water; 0 in the sea */
    int32_t length; /* of the water upstream, in 1/256 of the level's spacing; of courses, it never
                       falls */
    int8_t next;    /* which neighbour it flows to; -1: none */
    uint8_t kind;   /* enum drain_kind */
    uint8_t birth;  /* the level on which its course begins */
};

/* The ground over GRID into OUT, in metres, rows without gaps. Returns 0 or a negative errno. The
 * grid is band-limited: octaves that it cannot show are of no consequence. */
typedef int drain_ground(void *context, const struct farlands_grid *grid, float *out);

/* Memory of what was computed, of a fixed size. For one thread. */
struct drain;

/* SHAPE is copied. Returns 0 or -ENOMEM; the caller frees *OUT. */
int drain_new(struct drain **out, const struct drain_shape *shape, drain_ground *ground,
              void *context);
void drain_free(struct drain *drain);

/* Columns and rows from a node to its neighbours; that of neighbour k is k + 3 modulo 6. */
enum { DRAIN_NEIGHBOURS = 6 };
extern const int drain_neighbour[DRAIN_NEIGHBOURS][2];

/* Neighbour K of NODE, in rows WIDE nodes long. */
static inline const struct drain_node *drain_beside(const struct drain_node *node, int k, int wide)
{
    return node + drain_neighbour[k][1] * wide + drain_neighbour[k][0];
}

/* The node that NODE flows to; NULL: none. */
static inline const struct drain_node *drain_next(const struct drain_node *node, int wide)
{
    return node->kind == DRAIN_FLOWS ? drain_beside(node, node->next, wide) : NULL;
}

/* The level of the water, in metres. */
static inline float drain_water(const struct drain_node *node)
{
    return (float)node->bed / (float)DRAIN_METRE;
}

/* The nodes of LEVEL from (I, J) on, WIDTH x HEIGHT, row by row. Returns 0 or what GROUND does. */
int drain_nodes(struct drain *drain, int level, int64_t i, int64_t j, int width, int height,
                struct drain_node *out);

/* A / B, rounded down; B is above 0. */
static inline int64_t drain_floor(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* Where column I and row J are remembered, of SIDE x SIDE slots: all of a square that wide have
 * slots of their own. SIDE is a power of two. */
static inline unsigned drain_slot(int64_t i, int64_t j, unsigned side)
{
    return ((unsigned)i & (side - 1)) + ((unsigned)j & (side - 1)) * side;
}

/* The node of LEVEL whose place in the undisturbed lattice is nearest to (X, Y). */
void drain_nearest(const struct drain *drain, int level, int64_t x, int64_t y, int64_t *i,
                   int64_t *j);

#endif
