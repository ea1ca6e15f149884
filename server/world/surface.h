/* The ground at one place: height, slope and normal, and where a player stands if there are caves
 * and overhangs. Any thread. */
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
    float normal[3]; /* unit vector: x east, y south, z up; a block is one metre */
};

/* Heights one block from a place. */
struct around {
    float west, east, north, south;
};

/* The slope by central differences. It is the nearest float on every machine, because float
 * differences are squared exactly in double. */
static inline float surface_slope(struct around around)
{
    const double dx = ((double)around.east - (double)around.west) / 2;
    const double dy = ((double)around.south - (double)around.north) / 2;
    return (float)sqrt(dx * dx + dy * dy);
}

/*
 * True if a player at HEIGHT stands on the ground under the open sky. GROUND is HEIGHT, or moved by
 * overhangs and caves; everything above it is air. Both must have the same highest block.
 */
static inline bool surface_is_ground(float height, float ground)
{
    return ceilf(ground) == ceilf(height);
}

/*
 * The ground at (X, Y), in units, within FARLANDS_LIMIT. Slopes are measured over one block to each
 * side whatever the finest octave, so that a bound means the same in all worlds. At the limit,
 * these neighbors are in every terrain's border. Returns 0 or -ENOMEM.
 */
int surface_at(struct surface *out, const struct farlands_terrain *terrain,
               struct farlands_scratch *scratch, int64_t x, int64_t y);

#endif
