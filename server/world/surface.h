/* The ground at one place: how high and how steep it is, its normal, and where one stands if there
 * are caves and overhangs. Any thread. */
#ifndef FARLANDS_WORLD_SURFACE_H
#define FARLANDS_WORLD_SURFACE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "noise/terrain/terrain.h"

struct surface {
    float height;    /* metres */
    float ground;    /* metres: terrain_surface */
    float slope;     /* metres per block, rise over run: the length of the gradient */
    float normal[3]; /* unit vector: x east, y south, z up, a block being one metre */
};

/* Heights one block from a place. */
struct around {
    float west, east, north, south;
};

/* The slope by central differences: the nearest float on every machine, since the differences of
 * floats are squared exactly in double. */
static inline float surface_slope(struct around around)
{
    const double dx = ((double)around.east - (double)around.west) / 2;
    const double dy = ((double)around.south - (double)around.north) / 2;
    return (float)sqrt(dx * dx + dy * dy);
}

/*
 * True if a player at the height stands on the ground: GROUND, which is at HEIGHT or moved by
 * overhangs and caves, has the same highest block. Everything above it is air.
 */
static inline bool surface_is_ground(float height, float ground)
{
    return ceilf(ground) == ceilf(height);
}

/*
 * The ground at (X, Y), in units, within FARLANDS_LIMIT. Slopes are measured over one block to each
 * side, whatever the finest octave, so that a bound means the same in all worlds. At the limit,
 * these neighbors are in the border that every terrain has. Returns 0 or -ENOMEM.
 */
int surface_at(struct surface *out, const struct farlands_terrain *terrain,
               struct farlands_scratch *scratch, int64_t x, int64_t y);

#endif
