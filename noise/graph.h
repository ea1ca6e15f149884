/*
 * A graph of fields. A field is a function from a place to a float: a noise, or an operation on
 * other fields. Private to noise/ and config/.
 *
 * All operations work in float and round once for each arithmetic operator in their formula, in
 * the order in which it is written. fma is written out.
 */
#ifndef FARLANDS_GRAPH_H
#define FARLANDS_GRAPH_H

#include "curve.h"
#include "farlands.h"

enum {
    GRAPH_MAX_NODES = 256,
    GRAPH_MAX_INPUTS = 3,
    GRAPH_MAX_NUMBERS = 2,
};

/* Bounds of a lattice's spacing, in units: powers of two. */
#define GRAPH_MIN_SPACING FARLANDS_UNIT
#define GRAPH_MAX_SPACING (FARLANDS_UNIT << 24)
/* How far a noise may be moved, in units. */
#define GRAPH_MAX_MOVE (FARLANDS_UNIT << 30)

/* a, b and c are the values of the inputs, p and q the numbers. */
enum graph_kind {
    /* A noise, see farlands.h; its elevation curve, if there is one, is applied. With inputs a and
     * b: the noise at (x + p a, y + p b), p in blocks. */
    GRAPH_NOISE,
    GRAPH_CONSTANT, /* p */
    GRAPH_ADD,      /* a + b */
    GRAPH_SUBTRACT, /* a - b */
    GRAPH_MULTIPLY, /* a b */
    GRAPH_MIN,      /* the lesser of a and b */
    GRAPH_MAX,
    /* The lesser of a and b, less h^2 p / 4 with h = 1 - |a - b| / p if that is above 0: within p
     * of each other they are joined by a parabola (Quilez, "Smooth minimum", polynomial). */
    GRAPH_SMOOTH_MIN,
    GRAPH_SMOOTH_MAX, /* -smooth_min(-a, -b) */
    GRAPH_ABS,        /* |a| */
    GRAPH_CLAMP,      /* a within p .. q */
    GRAPH_MIX,        /* a + c (b - a) */
    GRAPH_SPLINE,     /* the curve at a */
    /* t^2 (3 - 2 t), t = (a - p) / (q - p) within 0 .. 1; q may be less than p */
    GRAPH_STEP,
    GRAPH_RIDGE, /* the same of t = 1 - |a| / p */
    /* Steps p high: p (floor(a / p) + s). s is GRAPH_STEP of the rest of a / p between 1/2 - q / 2
     * and 1/2 + q / 2: q is the share of a step that slopes. */
    GRAPH_TERRACE,
    /* a, defined by its values at the nodes of a square lattice, p units apart and one of them at
     * (0, 0): the uniform cubic B-spline over them, which is smooth up to its second derivatives.
     * At these nodes other lattices with less spacing do not apply. In a band-limited grid whose
     * samples are p or more apart it is a itself. */
    GRAPH_LATTICE,
};

enum { GRAPH_KINDS = GRAPH_LATTICE + 1 };

struct graph_node {
    enum graph_kind kind;
    int input[GRAPH_MAX_INPUTS]; /* nodes of the graph; -1: none */
    double number[GRAPH_MAX_NUMBERS];
    const struct farlands_params *noise; /* of GRAPH_NOISE; knots may be 0; volume is ignored */
    const struct curve_params *curve;    /* of GRAPH_SPLINE */
};

/* What is wrong with a graph, and with which of its nodes. KEY is the part of the node, such as
 * "noise.octaves" or "input"; both are static strings. */
struct graph_fault {
    int node;
    const char *key, *text;
};

#endif
