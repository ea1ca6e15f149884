/* A terrain as kernels see it: its noise and what becomes of it. Private to noise/. */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "curve.h"
#include "density.h"
#include "noise.h"
#include "program.h"

struct farlands_terrain {
    const struct kernel *kernel;
    struct program *program;
    int height; /* the operation whose values are heights */
    /* Of that operation. */
    const struct noise *noise;
    const struct curve *elevation;
    struct density density;
};

/* As farlands_heights; the caller has checked the bounds. */
int terrain_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride);

#endif
