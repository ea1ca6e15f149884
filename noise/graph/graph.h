/*
 * A graph of fields. A field is a function from a place to a float: a noise, or an operation on
 * other fields. Private to noise/ and config/.
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

/* a, b, c and d are the values of the inputs, p and q the numbers. */
enum graph_kind {
    /* A noise, see params.h; its elevation curve, if there is one, is applied. With inputs a and
     * b: the noise at (x + p a, y + p b), p in blocks. In a band-limited grid its octaves with
     * cells less than 2^14 samples wide are computed in float. */
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
    GRAPH_SLOPE_X, /* the derivative along x of a, which is a lattice, per block */
    /* ... along y. Both never skip the lattice, so that a field with a lattice cannot be made of
     * the slopes of a finer one. */
    GRAPH_SLOPE_Y,
    /* A noise whose octaves are the flatter the steeper the sum of those before it is. With n_k,
     * a_k and A as in params.h, and d_k the gradient of n_k per cell, sum of a_k n_k / (1 + p
     * |sum up to k of a_j d_j|^2) / A (Quilez, "Value noise derivatives"). Perlin noise, fbm,
     * without warp. */
    GRAPH_DAMPED,
    /*
     * Gullies on ground with slope (a, b), c deep, in the units of a and b times blocks. Octave k
     * has cells w_k blocks wide, each with a point, and around it stripes across the slope,
     * cos(2 pi s . d): s the unit vector along the contour, d the way from the point in cells. C
     * and S are the means of these cosines and of their sines over the nearest points, each
     * weighted by (1 - d^2 / (9/8)^2)^3 within 9/8 of a cell; 0.02 is added to the sum of weights.
     * Then, with g^2 = a^2 + b^2 + 1e-12,
     *
     *     depth = p c g^2 / (g^2 + q^2)
     *     result += w_k depth C
     *     (a, b) += -pi depth S s        which steers the octave after it
     *
     * After a description by Rune Skovbo Johansen (2026), and shaders by Clay John and Felix
     * Westin. a, b and p c are at most 1e9 in size. Points are those of cellular noise, drawn
     * together to 1/8 + 3/4 of their places.
     *
     * In a band-limited grid an octave is left out if samples are 3/8 of w_k or more apart. If it
     * leaves out all, the inputs are not evaluated.
     */
    GRAPH_ERODE,
    /*
     * The id of the row of a table whose box is nearest to temperature a, humidity b, height c and
     * slope d; of rows that are as near, the first. The square of the distance is the sum, in this
     * order and over the ranges that have an end, of
     *
     *     (w max(from - x, x - to, 0))^2        w = 1/10, 1/0.2, 1/200, 1/0.5
     *
     * with w rounded to float. Rows are compared as these floats, so borders are exact.
     */
    GRAPH_BIOME,
    /*
     * a, the ground in metres, with valleys that all lead down to the sea or to an end lake: filled
     * in hollows that hold no lake, and cut down to the beds of rivers (rivers.h). Ground up to 0
     * is the sea. The ground of drains has no drain.
     *
     * In a band-limited grid courses are left out that it cannot show; if samples are more than a
     * quarter of the spacing apart, all of them, so this is a itself. Those that it shows are the
     * same in all grids.
     */
    GRAPH_DRAIN,
    /* Of a, a GRAPH_DRAIN, or a lattice of one: the mean level of the courses around, with water or
     * without, in metres; the nearest count most. 0 farther than RIVERS_REACH from all of them. */
    GRAPH_BASE_LEVEL,
    /* ... metres from the edge of the nearest water of a
     * river, below 0 in it, at most RIVERS_NEAR. In a band-limited grid with samples s > 128 m
     * apart distances above 0 are multiplied by 128 / s. */
    GRAPH_BANK,
    /* ... the order of the river (rivers.h), 0 on land and in lakes. In a band-limited grid rivers
     * reach two samples beyond their edges. */
    GRAPH_RIVER,
    /* The ground a with the beds of the rivers of b, as above, cut into it, banks beside them, and
     * dams around lakes where no hills are. Changes nothing farther than RIVERS_NEAR from rivers,
     * and 1.6 times the finest spacing from lakes. */
    GRAPH_CHANNEL,
    /* The level of the rivers of b, and of their lakes where these are above the ground a;
     * RIVERS_DRY on land. */
    GRAPH_WATER,
};

enum { GRAPH_KINDS = GRAPH_WATER + 1 };

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
