/*
 * The courses that rivers follow, whatever found them: a drain, or a drainage. Private to water/.
 *
 * Both have levels of nodes, and each node flows to a neighbor. A drain's lattices are triangular,
 * and each has a quarter of the spacing before; a drainage's are squares, with half of it.
 */
#ifndef FARLANDS_RIVER_NETWORK_H
#define FARLANDS_RIVER_NETWORK_H

#include "noise/drainage/drainage.h"
#include "noise/graph/rivers_params.h"
#include "noise/water/drain.h"

struct river_network {
    struct rivers_params params;
    struct drain *drain; /* one of both; the other is NULL */
    struct drainage *drainage;
};

/* How nodes lie in an array: in rows of WIDE. */
struct river_network_rows {
    const int (*neighbor)[2]; /* columns and rows to the neighbors */
    int neighbors, wide;
};

struct river_network_rows river_network_rows(const struct river_network *network, int wide);

/* NODE's neighbor K. */
static inline const struct course_node *river_network_beside(const struct course_node *node, int k,
                                                             const struct river_network_rows *rows)
{
    return node + rows->neighbor[k][1] * rows->wide + rows->neighbor[k][0];
}

/* The node that NODE flows to; NULL: none. */
static inline const struct course_node *river_network_next(const struct course_node *node,
                                                           const struct river_network_rows *rows)
{
    return node->kind == COURSE_FLOWS ? river_network_beside(node, node->next, rows) : NULL;
}

/* Whether NODE's neighbor K flows to it. */
static inline bool river_network_feeds(const struct course_node *node, int k,
                                       const struct river_network_rows *rows)
{
    const struct course_node *other = river_network_beside(node, k, rows);
    return other->kind == COURSE_FLOWS && river_network_next(other, rows) == node;
}

/* A node's length times this is a length in spacings of the last level. */
float river_network_length(const struct river_network *network, int level);

/* The level that a picture with samples BAND_LIMIT apart shows; 0: the last. */
int river_network_level(const struct river_network *network, int64_t band_limit);

/* The least order of the water that such a picture shows. */
float river_network_from(const struct river_network *network, int64_t band_limit);

/* How far a curve lies from the node in its middle, and how far that is from the node where the
 * curve begins: in quarters of a spacing, along an axis. */
struct river_network_reach {
    int curve, edge;
};
struct river_network_reach river_network_reach(const struct river_network *network);

/* The nodes in a box, in units, with MORE of them on each side. */
struct river_network_area {
    struct drainage_area nodes;
    int more;
};
struct river_network_area river_network_area_of(const struct river_network *network, int level,
                                                int64_t left, int64_t right, int64_t top,
                                                int64_t bottom, int more);

/* The columns of AREA's row J, I to I2 - 1, that have nodes in the box. */
void river_network_columns(const struct river_network *network, int level,
                           const struct river_network_area *area, int64_t j, int64_t *i,
                           int64_t *i2);

/* Write AREA's nodes, row by row. Returns 0 or an error of the ground. */
int river_network_nodes(const struct river_network *network, int level,
                        const struct river_network_area *area, struct course_node *out);

/* The same for the last level's nodes up to AROUND beside (I, J). */
int river_network_around(const struct river_network *network, int64_t i, int64_t j, int around,
                         struct course_node *out);

/* About where the last level's node (I, J) lies, in units. For any I and J. */
void river_network_place(const struct river_network *network, int64_t i, int64_t j, double *x,
                         double *y);

/* A node of the last level near (X, Y). */
void river_network_nearest(const struct river_network *network, int64_t x, int64_t y, int64_t *i,
                           int64_t *j);

#endif
