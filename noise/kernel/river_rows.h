/*
 * Rows of samples near rivers: what the kernels compute of them. Private to noise/.
 *
 * Places are in metres from the node of a curve.
 */
#ifndef FARLANDS_RIVER_ROWS_H
#define FARLANDS_RIVER_ROWS_H

#include "noise/graph/rivers_params.h"
#include "scratch.h"

/* Valleys change nothing farther away, in metres. */
enum { RIVERS_REACH = 1024 };

/* How far a node counts, in spacings of its level. */
#define RIVERS_SPREAD 1.6f

/* The sum of lake nodes' weights from which on there is a lake: a node alone has one of 1. */
#define RIVERS_SHORE 0.6f
/* Metres by which a course may be above a lake that it crosses. */
#define RIVERS_COURSE 0.1f

/* A course counts by 1 / (d^2 + RIVERS_CLOSE^2)^2 d metres away, up to RIVERS_REACH, in the base
 * level; the sea as if it were 900 m away. */
enum { RIVERS_CLOSE = 30 };
#define RIVERS_SEA_NEARNESS (1 / (900.0f * 900 * 900 * 900))

/* A straight piece of a course, from (x, y) to (x + along_x, y + along_y). */
struct river_piece {
    float x, y, along_x, along_y;
    float inverse;        /* of its squared length; 0: a point */
    float level, fall;    /* of the water: at the beginning, and what is added up to the end */
    float half, widening; /* half the width, in the same way */
    float order, depth;   /* depth in the middle */
    float flat, slope;    /* of the valley: how round its bottom is, metres; of its sides */
};

/* A node: its bed counts within REACH of it. */
struct river_node {
    float bed, reach;
    float share; /* how much of it is a lake, 0 to 1 */
};

/* A chunk's values. */
typedef float river_values[KERNEL_CHUNK][KERNEL_CHUNK];

/* Sums over nodes that are lakes: of weighted levels, of weights. */
struct river_lakes {
    river_values level, weight;
};

/* What is known of the water near samples. */
struct river_near {
    river_values bank, level, order, half, depth; /* of the nearest river */
    struct river_lakes lakes;
};

/* What is known of valleys around samples: the ground is at most UPPER, at least LOWER. */
struct river_valleys {
    river_values upper, lower;
    river_values base, nearness; /* sums over courses: of weighted levels, of weights */
    river_values level, weight;  /* sums over all nodes: of weighted beds, of weights */
    struct river_lakes lakes;
};

/* Samples of columns I to I2 - 1 and rows J to J2 - 1, at (X[i], Y[j]). Columns of large windows
 * are whole KERNEL_STEPs. */
struct river_window {
    int i, i2, j, j2;
    const float *x, *y;
};

#endif
