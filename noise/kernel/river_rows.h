/*
 * Rows of samples near rivers, as kernels compute them. Private to noise/.
 *
 * Places are in metres from a curve's node.
 */
#ifndef FARLANDS_RIVER_ROWS_H
#define FARLANDS_RIVER_ROWS_H

#include "noise/graph/rivers_params.h"
#include "scratch.h"

/* How far a valley changes the ground, in metres. */
enum { RIVERS_REACH = 1024 };

/* How far a node counts, in spacings on the same level. */
#define RIVERS_SPREAD 1.6f

/* The least sum of lake nodes' weights that makes a lake. A single node has the weight 1 in the
 * middle. */
#define RIVERS_SHORE 0.6f
/* How far above a lake a course may be that crosses it, in metres. */
#define RIVERS_COURSE 0.1f

/* In the base level a course d metres away counts by 1 / (d^2 + RIVERS_CLOSE^2)^2, up to
 * RIVERS_REACH. The sea counts as if it were 900 m away. */
enum { RIVERS_CLOSE = 30 };
#define RIVERS_SEA_NEARNESS (1 / (900.0f * 900 * 900 * 900))

/* A straight piece of a course, from (x, y) to (x + along_x, y + along_y). */
struct river_piece {
    float x, y, along_x, along_y;
    float inverse;        /* 1 / the squared length; 0: a point */
    float level, fall;    /* the water: at the beginning, and what is added up to the end */
    float half, widening; /* half the width, in the same way */
    float order, depth;   /* depth in the middle */
    float flat, slope;    /* the valley: how round the bottom is, in metres; how steep sides are */
};

/* A node, whose bed counts within REACH. */
struct river_node {
    float bed, reach;
    float share; /* part that is a lake, 0 to 1 */
};

/* A chunk's values. */
typedef float river_values[KERNEL_CHUNK][KERNEL_CHUNK];

/* Sums over lake nodes: weighted levels, weights. */
struct river_lakes {
    river_values level, weight;
};

/* The water near samples. */
struct river_near {
    river_values bank, level, order, half, depth; /* the nearest river */
    struct river_lakes lakes;
    float sea; /* 1 / the depth, in metres, from which channels leave the floor of the sea and of
                  lakes; or 0: at none */
};

/* The valleys around samples: the ground is at most UPPER, at least LOWER. */
struct river_valleys {
    river_values upper, lower;
    river_values base, nearness; /* sums over courses: weighted levels, weights */
    river_values level, weight;  /* sums over all nodes: weighted beds, weights */
    struct river_lakes lakes;
};

/* The samples in columns I to I2 - 1 and rows J to J2 - 1, at (X[i], Y[j]). Large windows have
 * whole KERNEL_STEPs of columns. */
struct river_window {
    int i, i2, j, j2;
    const float *x, *y;
};

#endif
