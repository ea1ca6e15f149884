/*
 * A graph of fields. A field is a function from a place to a float: a noise, or an operation on
 * other fields. operations.def has their formulas. Private to noise/ and config/.
 *
 * All operations work in float. Each arithmetic operator in a formula rounds once, in the order in
 * which the formula is written. fma is written out.
 *
 * If a field is an operation and not a noise itself, -0 becomes +0 in its values. So 0 times any
 * value is 0, because values are finite, and the other factor need not be computed (guards.h).
 * Within a graph zeros may have either sign. No other value depends on the sign: no operation
 * divides by a field, and sums, comparisons, floor and the knots of curves treat both zeros alike.
 */
#ifndef FARLANDS_GRAPH_H
#define FARLANDS_GRAPH_H

#include "noise/fractal/params.h"
#include "noise/graph/biomes.h"
#include "noise/graph/curve.h"
#include "noise/graph/drainage_params.h"
#include "noise/graph/rivers_params.h"

enum {
    GRAPH_MAX_NODES = 384,
    GRAPH_MAX_INPUTS = 7,
    GRAPH_MAX_NUMBERS = 2,
    /* An octave takes 100 KB of a scratch, and so does one for a warp; a lattice takes 320 KB. */
    GRAPH_MAX_OCTAVES = 512,
    GRAPH_MAX_LATTICES = 64,
    GRAPH_MAX_DEPTH = 8, /* lattices in a chain, each needing the next */
    /* Each takes up to 12 MB of a scratch, and as much again as its ground does. */
    GRAPH_MAX_DRAINS = 4,
};

/* Bounds for a lattice's spacing, in units: powers of two. */
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
/* A term in a sum cannot be in parentheses: NOLINTNEXTLINE(bugprone-macro-parentheses) */
#define OPERATION(...) +1
#include "noise/graph/operations.def"
#undef OPERATION
};

_Static_assert((int)DRAINAGE_INPUTS <= (int)GRAPH_MAX_INPUTS, "a drainage's inputs are a node's");

struct graph_node {
    enum graph_kind kind;
    int input[GRAPH_MAX_INPUTS]; /* other nodes; -1: none */
    double number[GRAPH_MAX_NUMBERS];
    /* For GRAPH_NOISE, whose knots may be 0; for GRAPH_DAMPED; and for GRAPH_ERODE, which reads
     * seed, hash, wavelength, lacunarity and octaves. The volume is ignored. */
    const struct farlands_params *noise;
    const struct curve_params *curve;       /* GRAPH_SPLINE */
    const struct biome_rows *biomes;        /* GRAPH_BIOME */
    const struct rivers_params *rivers;     /* GRAPH_DRAIN, GRAPH_DRAINAGE */
    const struct drainage_params *drainage; /* GRAPH_DRAINAGE */
};

enum { GRAPH_NAME_MAX = 64 }; /* with its terminating NUL */

/* A field with a name. */
struct graph_field {
    char name[GRAPH_NAME_MAX];
    int node;
};

/* A graph, and its named fields. */
struct graph {
    const struct graph_node *node;
    int nodes;
    const struct graph_field *field;
    int fields;
    int height; /* the field that is the ground's height in metres */
};

/* What is wrong with a graph, and which node is at fault. KEY is the part of the node, such as
 * "noise.octaves" or "input". Both are static strings. */
struct graph_fault {
    int node;
    const char *key, *text;
};

#endif
