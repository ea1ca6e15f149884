/* The ground at one place: how high, how steep, which way it faces. Any thread. */
#ifndef FARLANDS_WORLD_SURFACE_H
#define FARLANDS_WORLD_SURFACE_H

#include <math.h>
#include <stdint.h>

#include "noise/farlands.h"

struct surface {
    float height;    /* metres */
    float slope;     /* metres a block, rise over run: the length of the gradient, >= 0 */
    float normal[3]; /* of length 1: x east, y south, z up, where a block is as long as a metre */
};

/* Heights one block from a place. */
struct around {
    float west, east, north, south;
};

/*
 * The slope between heights AROUND, by central differences: the float nearest to it, the same
 * everywhere, for the differences of floats are squared without loss in double.
 */
static inline float surface_slope(struct around around)
{
    const double dx = ((double)around.east - (double)around.west) / 2;
    const double dy = ((double)around.south - (double)around.north) / 2;
    return (float)sqrt(dx * dx + dy * dy);
}

/*
 * The ground at (X, Y), in units, within FARLANDS_LIMIT. The slope is measured between places one
 * block to each side, whatever the terrain's finest octave: what one walks over from block to
 * block, and so a bound on it means the same in all worlds. At the limit these places are the
 * border that every terrain has.
 */
struct surface surface_at(const struct farlands_terrain *terrain, int64_t x, int64_t y);

#endif
