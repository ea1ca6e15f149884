/*
 * A graph of fields. A field is a function from a place to a float: a noise, or an operation on
 * other fields. Their formulas are in operations.def. Private to noise/ and config/.
 *
 * All operations work in float and round once for each arithmetic operator in their formula, in
 * the order in which it is written. fma is written out.
 *
 * The values of a field that is an operation, not a noise itself, have no -0: it becomes +0. So 0
 * times any value is 0, values being finite, and need not be computed (guards.h). Within a graph
 * zeros may have either sign. No other value depends on it: no operation divides by a field or
 * looks at a sign, and sums, comparisons, floor and knots of curves take both zeros alike.
 */
#ifndef FARLANDS_GRAPH_H
#define FARLANDS_GRAPH_H

#include "noise/fractal/params.h"
#include "noise/graph/biomes.h"
#include "noise/graph/curve.h"
#include "noise/graph/rivers_params.h"

enum {
    GRAPH_MAX_NODES = 384,
    GRAPH_MAX_INPUTS = 4,
    GRAPH_MAX_NUMBERS = 2,
    /* Each octave takes 100 KB of a scratch, those of a warp too; each lattice 320 KB. */
    GRAPH_MAX_OCTAVES = 512,
    GRAPH_MAX_LATTICES = 64,
    GRAPH_MAX_DEPTH = 8, /* lattices of which each needs the next */
    /* Each takes up to 12 MB of a scratch, and as much again as its ground does. */
    GRAPH_MAX_DRAINS = 4,
};

/* Bounds of a lattice's spacing, in units: powers of two. */
#define GRAPH_MIN_SPACING FARLANDS_UNIT
#define GRAPH_MAX_SPACING (FARLANDS_UNIT << 24)
/* How far a noise may be moved, in units. */
#define GRAPH_MAX_MOVE (FARLANDS_UNIT << 30)

enum graph_kind {
#define OPERATION(kind, ...) GRAPH_##kind,
#include "noise/graph/operations.def"
#undef OPERATION
};

enum {
    GRAPH_KINDS = 0
/* A term of the sum cannot be in parentheses: NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define OPERATION(...) +1
#include "noise/graph/operations.def"
#undef OPERATION
};

struct graph_node {
    enum graph_kind kind;
    int input[GRAPH_MAX_INPUTS]; /* nodes of the graph; -1: none */
    double number[GRAPH_MAX_NUMBERS];
    /* Of GRAPH_NOISE, whose knots may be 0; of GRAPH_DAMPED; of GRAPH_ERODE: seed, hash,
     * wavelength, lacunarity and octaves. The volume is ignored. */
    const struct farlands_params *noise;
    const struct curve_params *curve;   /* of GRAPH_SPLINE */
    const struct biome_rows *biomes;    /* of GRAPH_BIOME */
    const struct rivers_params *rivers; /* of GRAPH_DRAIN */
};

enum { GRAPH_NAME_MAX = 64 }; /* with its terminating NUL */

/* A field that can be asked for by its name. */
struct graph_field {
    char name[GRAPH_NAME_MAX];
    int node;
};

/* A graph, and its fields with names. */
struct graph {
    const struct graph_node *node;
    int nodes;
    const struct graph_field *field;
    int fields;
    int height; /* the field that is the ground's height in metres */
};

/* What is wrong with a graph, and with which of its nodes. KEY is the part of the node, such as
 * "noise.octaves" or "input"; both are static strings. */
struct graph_fault {
    int node;
    const char *key, *text;
};

#endif
