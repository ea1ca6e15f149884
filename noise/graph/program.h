/*
 * A program: a graph of fields that is checked and ready to be evaluated. It never changes. Private
 * to noise/.
 */
#ifndef FARLANDS_PROGRAM_H
#define FARLANDS_PROGRAM_H

#include "noise/fractal/noise.h"
#include "noise/graph/curve.h"
#include "noise/graph/graph.h"
#include "noise/graph/operations.h"

/* A node whose inputs have smaller numbers than itself. */
struct operation {
    enum graph_kind kind;
    int inputs, input[GRAPH_MAX_INPUTS];
    float number[GRAPH_MAX_NUMBERS];
    float low, high;              /* bounds of its values */
    bool rests;                   /* may be 0 all over a region, as masks are */
    int64_t broadest;             /* the greatest wavelength of the noises that it is made of */
    struct noise *noise;          /* of GRAPH_NOISE */
    double move;                  /* units for each unit of its inputs */
    struct curve *curve;          /* of GRAPH_SPLINE, and of GRAPH_NOISE with knots */
    int spacing_bits;             /* of GRAPH_LATTICE: its spacing is 2 to this, in units */
    struct biomes *biomes;        /* of GRAPH_BIOME */
    struct rivers_params *rivers; /* of GRAPH_DRAIN */
    int river_source;             /* the GRAPH_DRAIN whose rivers it needs, itself if it is one; */
                                  /* -1: none */
};

struct program {
    uint64_t id; /* two programs with the same one compute the same */
    int count;
    struct operation *operation;
    int *place; /* of each node of the graph: its operation */
};

static inline int64_t lattice_spacing(const struct operation *operation)
{
    return INT64_C(1) << operation->spacing_bits;
}

static inline enum operation_family operation_family(const struct operation *operation)
{
    return operation_kinds[operation->kind].family;
}

static inline bool operation_is_slope(const struct operation *operation)
{
    return operation->kind == GRAPH_SLOPE_X || operation->kind == GRAPH_SLOPE_Y;
}

/* True if the values are interpolated between the nodes of a patch. */
static inline bool operation_is_patched(const struct operation *operation)
{
    return operation_family(operation) == FAMILY_PATCHED;
}

/* True if the values are those of the rivers of its last input, whose own values it does not need.
 */
static inline bool operation_is_near_water(const struct operation *operation)
{
    return operation_family(operation) == FAMILY_WATER;
}

/* True if the values may take the place of an input's values. */
static inline bool operation_is_in_place(const struct operation *operation)
{
    return operation_kinds[operation->kind].in_place;
}

/* Make a program of COUNT nodes. Returns 0, -ENOMEM, or -EINVAL and *FAULT. */
int program_new(struct program **out, const struct graph_node *nodes, int count,
                struct graph_fault *fault);
void program_free(struct program *program);

#endif
