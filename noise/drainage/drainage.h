/*
 * Ground that is built by its drainage. Private to noise/. README.md has a drawing.
 *
 * Where uplift and erosion balance, a river that drains an area A falls by k A^-theta (Flint 1974),
 * and no hillside is steeper than its rock and soil bear. With s the lesser of both slopes, three
 * equations hold for the nodes of a lattice:
 *
 *     z(p) = min over neighbors q of z(q) + s(p) |p - q|    the ground
 *     r(p) = the neighbor to which p falls most steeply     its receiver
 *     A(p) = own area + sum of A(q) over q with r(q) = p    what it drains
 *
 * So every node has a lower neighbor, rivers run in the bottoms of their valleys, and a crest is
 * where the slopes of two valleys meet.
 *
 * Levels are lattices, each with half the spacing of the one before, and each turned by another
 * angle, so that the ground shows no direction of a lattice. Where the water of a level drains more
 * than 6 cells, its way is a course: an upper bound for the ground of the next level,
 * which solves the equations anew.
 *
 * A level is solved in blocks of nodes with a margin around. What a block finds for the nodes
 * within its margin is their definition. So each value depends on its place alone, and needs the
 * world within DRAINAGE_REACH spacings of level 0.
 */
#ifndef FARLANDS_DRAINAGE_H
#define FARLANDS_DRAINAGE_H

#include <stddef.h>
#include <stdint.h>

#include "noise/graph/drainage_params.h"

struct farlands_grid;

/* How far a height depends on the world's fields along each axis, in spacings of level 0: on each
 * level 160 cells across a block, and 10 more to the blocks before. */
enum { DRAINAGE_REACH = 340 };

/* What a world says about its ground: fields. */
enum drainage_input {
    DRAINAGE_ENVELOPE,  /* metres: the beds of the greatest rivers; 0 or less is the sea */
    DRAINAGE_STEEPNESS, /* k: how much a river falls that drains 1 km2 */
    DRAINAGE_SIDE,      /* the slope of the steepest hillsides */
    DRAINAGE_INPUTS,
};

/* Write the field INPUT over GRID, which is band-limited, into OUT, rows without gaps. Returns 0 or
 * a negative errno. */
typedef int drainage_source(void *context, enum drainage_input input,
                            const struct farlands_grid *grid, float *out);

/* The ground of a world, and the blocks that were solved so far and fit its memory. For one thread.
 */
struct drainage;

/* Returns 0 or -ENOMEM. PARAMS are copied. */
int drainage_new(struct drainage **out, const struct drainage_params *params,
                 drainage_source *source, void *context);
void drainage_free(struct drainage *drainage);

/* Sample places in rows and columns: units, ascending. */
struct drainage_samples {
    const int64_t *x, *y;
    int width, height;
};

/* Write heights at SAMPLES, in metres, into OUT, rows STRIDE apart. BAND_LIMIT: the distance of
 * samples in a picture, which gets the ground of the level that it can show, with the mean of what
 * finer levels add; 0: the ground itself. Returns 0 or an error of the source. */
int drainage_heights(struct drainage *drainage, const struct drainage_samples *samples,
                     int64_t band_limit, float *out, size_t stride);

#endif
