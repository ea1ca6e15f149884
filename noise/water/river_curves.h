/*
 * The curves of courses. Private to rivers.c.
 *
 * Between the middles of two of its edges a course is a quadratic curve, with the node between them
 * as its third point, so it has no corners. Where courses join, those that come from farther around
 * begin to turn nearer to the node, so that they do not cross the others. Straight pieces stand in
 * for the curve. The ends of
 * pieces are moved by a smooth noise, the meanders, which is the same for all curves: so they stay
 * joined and do not cross.
 */
#ifndef FARLANDS_RIVER_CURVES_H
#define FARLANDS_RIVER_CURVES_H

#include "noise/graph/rivers_params.h"
#include "noise/kernel/river_rows.h"
#include "noise/water/drain.h"

enum {
    CURVE_PIECES = 9,
    CURVE_SIDES = 3, /* longer pieces, of valleys, and of rivers in pictures that show no more */
};

struct river_curve {
    int64_t x, y;                   /* what the pieces are relative to */
    float left, right, top, bottom; /* of the pieces' ends */
    float half;                     /* the greatest */
    float order;                    /* where it ends */
    int pieces, sides;              /* no pieces: only its sides are known */
    struct river_piece piece[CURVE_PIECES], side[CURVE_SIDES];
};

/* A course from one node over another, ON, to the next one. */
struct river_bend {
    const struct drain_node *from, *on; /* FROM is NULL: it begins at ON */
    const struct drain_node *to;        /* NULL: it ends at ON */
    float start; /* where the curve begins: 0 at ON, 1 in the middle of the edge */
};

/* The bend of the course of LEVEL from node FROM, which flows, over the next one. FROM is in rows
 * WIDE nodes long, with two nodes more on each side. */
struct river_bend river_bend_from(const struct drain_node *from, int wide, int level);

/* The curve of BEND at LEVEL of a drainage; without its pieces unless FINE. */
void river_curve_make(struct river_curve *curve, const struct rivers_params *params, int level,
                      struct river_bend bend, bool fine);

/* An end lake at NODE: a curve that is a point. */
void river_curve_make_end(struct river_curve *curve, const struct rivers_params *params, int level,
                          const struct drain_node *node);

#endif
