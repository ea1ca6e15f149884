/* The parts of struct rivers. rivers.c finds water, river_values.c reads what was found. Private to
 * them. */
#ifndef FARLANDS_RIVERS_PARTS_H
#define FARLANDS_RIVERS_PARTS_H

#include "noise/water/river_curves.h"
#include "noise/water/rivers.h"

/* Each node has two curves. One is over the next node that it flows to. The other begins at the
 * node, if it is a course's first, or is an end lake there. */
struct kept_curve {
    int64_t i, j;
    int8_t level;
    bool full, over, fine;
    struct river_curve curve;
};

/* The samples whose valleys were found last; no width: none. Lattices with the same spacing need
 * the same samples. */
struct found {
    struct chunk chunk;
    int64_t band_limit;
};

struct rivers {
    struct river_network network;
    const struct kernel *kernel;
    float half;               /* half the width of the largest river */
    struct course_node *node; /* around a block */
    size_t nodes;             /* that NODE has room for */
    struct kept_curve *kept;
    float near_samples;     /* metres between samples in a picture; 0: exact values */
    bool wet[KERNEL_CHUNK]; /* rows with water near; NEAR has only these */
    struct river_near near;
    struct river_valleys valleys;
    struct found found; /* the samples in VALLEYS */
};

/* How far from its edge a river is near, in metres. In a picture at least RIVERS_PICTURE_NEAR
 * samples. */
static inline float rivers_near_reach(const struct rivers *r)
{
    const float wide = (float)RIVERS_PICTURE_NEAR * r->near_samples;
    return wide > (float)RIVERS_NEAR ? wide : (float)RIVERS_NEAR;
}

#endif
