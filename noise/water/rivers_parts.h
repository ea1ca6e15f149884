/* What rivers are made of, for rivers.c, which finds water, and river_values.c. Private to them. */
#ifndef FARLANDS_RIVERS_PARTS_H
#define FARLANDS_RIVERS_PARTS_H

#include "noise/water/river_curves.h"
#include "noise/water/rivers.h"

/* Two curves for each node: where its course begins, or ends in an end lake; and over the node that
 * it flows to. */
struct kept_curve {
    int64_t i, j;
    int8_t level;
    bool full, over;
    struct river_curve curve;
};

/* Samples whose valleys were found last, since lattices of one spacing need the same ones; without
 * a width there are none. */
struct found {
    struct chunk chunk;
    int64_t band_limit;
};

struct rivers {
    struct rivers_params params;
    const struct kernel *kernel;
    float half; /* the width of the largest river */
    struct drain *drain;
    struct drain_node *node; /* around a block */
    size_t nodes;            /* there is room for */
    struct kept_curve *kept;
    float near_samples;     /* metres between samples of a picture; 0: exact values */
    bool wet[KERNEL_CHUNK]; /* rows with water near; NEAR has no others */
    struct river_near near;
    struct river_valleys valleys;
    struct found found; /* in VALLEYS */
};

/* How far from its edge a river is known, metres: pictures show it PICTURE_NEAR samples wide. */
static inline float rivers_near_reach(const struct rivers *r)
{
    const float wide = (float)RIVERS_PICTURE_NEAR * r->near_samples;
    return wide > (float)RIVERS_NEAR ? wide : (float)RIVERS_NEAR;
}

#endif
