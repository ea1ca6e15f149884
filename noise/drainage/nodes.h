/*
 * The nodes of a block with its margin, while they are solved. Private to drainage/.
 *
 * Heights are metres, areas km2, lengths in cells. Arrays have rows of STRIDE nodes. Beside the
 * block's nodes there are others, NODES_PAD on each side, which are higher than all water.
 */
#ifndef FARLANDS_NODES_H
#define FARLANDS_NODES_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/drainage/drainage.h"

enum {
    BLOCK_SIDE = 48,   /* nodes that a block defines, along a side */
    BLOCK_MARGIN = 10, /* nodes around them that it solves, too */
    BLOCK_NODES = BLOCK_SIDE * BLOCK_SIDE,
    NODES_SIDE = BLOCK_SIDE + 2 * BLOCK_MARGIN,
    NODES_PAD = 8,
    NODES_STRIDE = NODES_SIDE + 2 * NODES_PAD,
    NODES = NODES_STRIDE * (NODES_SIDE + 2),
    NODES_FIRST = NODES_STRIDE + NODES_PAD, /* node (0, 0) */
    NODES_END = NODES_STRIDE * (NODES_SIDE + 1) - NODES_PAD,
};

/* Where the neighbors (drainage_neighbor) are in arrays. Back from neighbor k is k ^ 4. */
enum { NEIGHBORS = DRAINAGE_NEIGHBORS, NO_RECEIVER = -1 };
extern const int neighbor_step[NEIGHBORS];

enum node_kind {
    NODE_PLAIN,
    NODE_COURSE, /* a course of the level before leads through it */
    NODE_SEA,
};

/* How far a valley's floor flattens the ground, in half widths of the floor. */
#define NODES_FLOOR_REACH 2.0f

#define NODES_HIGH 1e9f /* above all ground */

/* Courses cross ground between this and the level of the sea or of the base, as over flats that
 * tides cover. It is just above the least height of ground ashore, drainage_ashore's. */
#define NODES_DROWNED (-0.45f)

/* How high the last node of a course is above the sea, in metres. */
#define NODES_TIDE 0.05f

typedef float node_values[NODES];

struct nodes {
    float base;                  /* metres: the level to which rivers flow */
    node_values x, y;            /* the place in its cell, 0 to 1 */
    node_values upper;           /* the height is at most this */
    node_values height, next;    /* NEXT: of the next step */
    node_values own, area;       /* what belongs to the node; what it drains */
    node_values most;            /* the most that a node drains which drains to this one */
    node_values steepness, side; /* see drainage_input; with the node's rock */
    node_values gain;            /* a factor of slopes */
    node_values slope;           /* times the spacing */
    node_values bed_slope;       /* the same, along a course */
    node_values off_floor;       /* the square of the distance from a course, in half widths of its
                                    floor */
    node_values floor_area;      /* the logarithm to base 2 of what that course drains */
    node_values off_wall;        /* the distance from a glacier's course, in half widths */
    node_values wall_half;       /* that half width, in cells */
    node_values rock[2];         /* logarithms: of SIDE, of STEEPNESS */
    node_values mean; /* the height with what finer levels will add; the envelope, if rivers
                         do not build */
    node_values before, target; /* the height of the level before, its mean */
    node_values filled;         /* how deep water has filled the envelope there */
    node_values envelope, top;
    bool has_ice;                          /* ICE is not 0 everywhere */
    node_values ice;                       /* see drainage_input */
    node_values lakes;                     /* see drainage_input */
    bool turns;                            /* JUNCTION is not 0 everywhere */
    node_values junction;                  /* see drainage_input */
    node_values course_lake, course_depth; /* of the lake that a course brings; depth 0: none */
    bool course_wet[NODES];                /* whether the course is below that lake's level */
    node_values lake, depth;               /* the node's own (lakes.h) */
    node_values fade; /* how much less deep a new lake is at the next node upstream */
    node_values edge[NEIGHBORS / 2]; /* lengths of edges to the first four neighbors */
    node_values sum[2];              /* scratch */
    int32_t receiver[NODES];         /* a neighbor's number, or NO_RECEIVER */
    int32_t steepest[NODES];         /* the same, whatever courses say */
    int32_t order[NODES], donors[NODES];
    uint64_t heap[NODES];
    uint8_t kind[NODES];
    uint32_t draw[NODES]; /* random bits, for new lakes */
    bool is_sill[NODES];  /* of a new lake */
    int8_t way[NODES];    /* of a course's node: the neighbor to which it leads, or NO_RECEIVER */
};

/* Where side valleys hang above a glacier's, so many cells beyond its walls, courses of the level
 * before do not say how high they are. */
#define NODES_HANGING 2.2f

/* The least that a glacier's course drains, as a logarithm to base 2 of km2. */
#define NODES_GLACIER 6.0f

static inline int node_at(int column, int row)
{
    return NODES_FIRST + row * NODES_STRIDE + column;
}

/* The node to which P drains; node 0, beside the block, if there is none. */
static inline int node_receiver(const struct nodes *n, int p)
{
    const int k = n->receiver[p];
    return k == NO_RECEIVER ? 0 : p + neighbor_step[k];
}

/* The edges of a node, in loops whose counter is p: DO(k, neighbor, length). */
enum { ROW = NODES_STRIDE };
#define EDGES(n)                                                                   \
    const float *restrict east = (n)->edge[0], *restrict southeast = (n)->edge[1]; \
    const float *restrict south = (n)->edge[2], *restrict southwest = (n)->edge[3]
#define EACH_EDGE(DO)                           \
    DO(0, p + 1, east[p]);                      \
    DO(1, p + ROW + 1, southeast[p]);           \
    DO(2, p + ROW, south[p]);                   \
    DO(3, p + ROW - 1, southwest[p]);           \
    DO(4, p - 1, east[p - 1]);                  \
    DO(5, p - ROW - 1, southeast[p - ROW - 1]); \
    DO(6, p - ROW, south[p - ROW]);             \
    DO(7, p - ROW + 1, southwest[p - ROW + 1]);

#endif
