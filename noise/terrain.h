/*
 * A terrain: the fields of a world, ready to be evaluated. Private to the project; farlands.h has
 * what others may use. A terrain never changes, any number of threads may use it at once.
 */
#ifndef FARLANDS_TERRAIN_H
#define FARLANDS_TERRAIN_H

#include "curve.h"
#include "density.h"
#include "graph.h"
#include "noise.h"
#include "plan.h"

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

/*
 * Make a terrain of GRAPH, which the caller frees with farlands_terrain_free. Volumes are made from
 * PARAMS, which must be valid; their octaves and curve are of no consequence. Returns 0; -ENOMEM;
 * or -EINVAL, and *FAULT, whose text is NULL if the kernel is at fault (farlands_kernel_fault).
 * GRAPH and PARAMS are not kept.
 */
int terrain_new(struct farlands_terrain **out, const struct graph *graph,
                const struct farlands_params *params, struct graph_fault *fault);

/* The number of the field NAME, LENGTH bytes, or -1. Fields are numbered from 0 on in the order of
 * the graph. A terrain of a single noise has one field, "height". */
int terrain_field(const struct farlands_terrain *terrain, const char *name, size_t length);
int terrain_field_count(const struct farlands_terrain *terrain);
const char *terrain_field_name(const struct farlands_terrain *terrain, int field);

/* Bounds of a field's values: none is outside of them, though they may be far from any value. */
void terrain_field_range(const struct farlands_terrain *terrain, int field, float *min, float *max);

enum { TERRAIN_MAX_FIELDS = PLAN_MAX_OUTPUTS }; /* in one evaluation */

/*
 * COUNT fields, 1 to TERRAIN_MAX_FIELDS, over GRID: FIELD[i] into OUT[i], whose rows begin STRIDE
 * floats apart, as for farlands_heights. What they have in common is computed once. Returns 0;
 * -EINVAL if the grid is out of bounds; -ENOMEM.
 */
int terrain_fields(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_grid *grid, const int *field, int count, float *const *out,
                   size_t stride);

/*
 * A field at one place, the same bits as in a grid; NAN beyond the bounds of a grid, or without
 * memory. A SCRATCH remembers what it computed for places nearby; if it is NULL, a new one is made
 * for this call, which takes much longer unless the terrain is a single noise.
 */
float terrain_field_at(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       int field, int64_t x, int64_t y);

/* As farlands_heights; the caller has checked the bounds. */
int terrain_heights(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride);

#endif
