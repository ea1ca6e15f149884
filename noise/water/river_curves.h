/*
 * Courses as curves. Private to water/.
 *
 * Between the middles of two edges a course is a quadratic curve, with the node in between as the
 * third point, so there are no corners. Where courses join, the one that comes from farther around
 * begins to turn nearer to the node, so that the two do not cross. Straight pieces replace
 * the curve. A smooth noise, the meanders, moves the ends of pieces. All curves have the same
 * meanders, so they stay joined and do not cross.
 */
#ifndef FARLANDS_RIVER_CURVES_H
#define FARLANDS_RIVER_CURVES_H

#include "noise/graph/rivers_params.h"
#include "noise/kernel/river_rows.h"
#include "noise/water/river_network.h"

enum {
    CURVE_PIECES = 9,
    CURVE_SIDES = 3, /* longer pieces, for valleys, and for rivers in pictures that show no more */
};

struct river_curve {
    int64_t x, y;                   /* pieces are relative to this place */
    float left, right, top, bottom; /* box around the pieces' ends */
    float half;                     /* the greatest */
    float order;                    /* where it ends */
    int pieces, sides;              /* PIECES is 0 if only the sides are known */
    struct river_piece piece[CURVE_PIECES], side[CURVE_SIDES];
};

/* The length upstream of a river of ORDER, in spacings on the last level. */
float river_length_of(float order);

/* A course from node FROM over node ON to the next one. */
struct river_bend {
    const struct course_node *from, *on; /* FROM is NULL: it begins at ON */
    const struct course_node *to;        /* NULL: it ends at ON */
    float start; /* where the curve begins: at ON (0) or in the middle of the edge (1) */
    bool joins;  /* a longer course flows over ON, too */
};

/* The bend on LEVEL from node FROM, which flows, over the next node. FROM is in ROWS, with two
 * nodes more on each side. */
struct river_bend river_bend_from(const struct course_node *from,
                                  const struct river_network_rows *rows, int level);

/* The curve for BEND on LEVEL. Without pieces unless FINE. */
void river_curve_make(struct river_curve *curve, const struct river_network *network, int level,
                      struct river_bend bend, bool fine);

/* An end lake at NODE: a curve that is a point. */
void river_curve_make_end(struct river_curve *curve, const struct river_network *network, int level,
                          const struct course_node *node);

#endif
