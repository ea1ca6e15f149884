/* Slopes, in metres per block: central differences that reach beyond the tile, so that tiles join
 * without a seam. */
#ifndef FARLANDS_LAYERS_GRADIENT_H
#define FARLANDS_LAYERS_GRADIENT_H

#include "layer.h"
#include "server/core/multiversion.h"

/* For one row of values. */
struct gradient {
    const float *row, *north, *south;
    int reach;
    float rise; /* per metre of difference */
};

/* Row J of VALUES, which lie as the heights do. */
INLINE struct gradient gradient_of(const struct heights *heights, const float *values, int j)
{
    const float *row = values + j * heights->stride;
    const ptrdiff_t away = heights->reach * heights->stride;
    const float rise = 1 / (2 * (float)heights->reach * heights->spacing);
    return (struct gradient){row, row - away, row + away, heights->reach, rise};
}

INLINE float gradient_east(const struct gradient *at, int i)
{
    return (at->row[i + at->reach] - at->row[i - at->reach]) * at->rise;
}

INLINE float gradient_south(const struct gradient *at, int i)
{
    return (at->south[i] - at->north[i]) * at->rise;
}

#endif
