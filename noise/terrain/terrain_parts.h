/* A terrain as kernels see it: its program and what becomes of it. Private to noise/. */
#ifndef FARLANDS_TERRAIN_PARTS_H
#define FARLANDS_TERRAIN_PARTS_H

#include "noise/evaluate/plan.h"
#include "noise/fractal/noise.h"
#include "noise/space/density.h"
#include "noise/terrain/terrain.h"

/* A field with a name: the values of an operation. */
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
    /* For volumes and noise in other dimensions: their hash and fade, and their noise. That of the
     * height if it is a single noise, or else OWN_NOISE. */
    const struct noise *noise;
    struct noise *own_noise;
    struct density density;
};

/* True if COUNT coordinates from FIRST on, STEP apart, are within the bounds of a grid. */
bool terrain_axis_in_bounds(int64_t first, int64_t step, int count);

/* As terrain_density. KNOWN: the heights and ledges of BOX, no more than KERNEL_STEP columns in a
 * row, are in SCRATCH, in whole KERNEL_STEPs. */
int terrain_density_of(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       const struct farlands_box *box, bool known, float *out);

#endif
