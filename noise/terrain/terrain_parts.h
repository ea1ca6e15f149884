/* The parts of a terrain: its program, kernel and fields. Private to noise/. */
#ifndef FARLANDS_TERRAIN_PARTS_H
#define FARLANDS_TERRAIN_PARTS_H

#include "noise/evaluate/plan.h"
#include "noise/fractal/noise.h"
#include "noise/space/density.h"
#include "noise/terrain/terrain.h"

/* A field with a name: an operation's values. */
struct field {
    char name[GRAPH_NAME_MAX];
    int operation;
};

struct farlands_terrain {
    const struct kernel *kernel;
    struct program *program;
    struct field *field;
    int fields;
    int height; /* the field whose values are heights */
    /* Volumes and noise in other dimensions take their hash and fade from here, and noise also its
     * octaves. The height's noise if the height is a single noise, or else OWN_NOISE. */
    const struct noise *noise;
    struct noise *own_noise;
    struct density density;
};

/* True if COUNT coordinates from FIRST on, STEP apart, are within a grid's bounds. */
bool terrain_axis_in_bounds(int64_t first, int64_t step, int count);

/* Like terrain_density. KNOWN: SCRATCH has the heights and ledges of BOX, at most KERNEL_STEP
 * columns in a row, in whole KERNEL_STEPs. */
int terrain_density_of(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       const struct farlands_box *box, bool known, float *out);

#endif
