/*
 * A program: a graph of fields, checked and ready for evaluation. It never changes. Private to
 * noise/.
 */
#ifndef FARLANDS_PROGRAM_H
#define FARLANDS_PROGRAM_H

#include "noise/fractal/noise.h"
#include "noise/graph/curve.h"
#include "noise/graph/graph.h"
#include "noise/graph/operations.h"

/* A node. All its inputs have smaller numbers. */
struct operation {
    enum graph_kind kind;
    int inputs, input[GRAPH_MAX_INPUTS];
    float number[GRAPH_MAX_NUMBERS];
    float low, high;              /* bounds for its values */
    bool rests;                   /* may be 0 all over a region, as masks are */
    int64_t broadest;             /* the greatest wavelength among the noises that it depends on */
    struct noise *noise;          /* GRAPH_NOISE, GRAPH_DAMPED, GRAPH_ERODE */
    double move;                  /* units per unit of the inputs */
    struct curve *curve;          /* GRAPH_SPLINE, and GRAPH_NOISE with knots */
    int spacing_bits;             /* GRAPH_LATTICE, or a wavelength: 2 to this, in units */
    struct biomes *biomes;        /* GRAPH_BIOME */
    struct rivers_params *rivers; /* GRAPH_DRAIN */
    struct drainage_params *drainage; /* GRAPH_DRAINAGE */
    int river_source; /* the GRAPH_DRAIN or GRAPH_DRAINAGE whose rivers are read, or this drain; */
                      /* -1: none */
};

struct program {
    uint64_t id; /* programs with the same id compute the same values */
    int count;
    bool light; /* it has a drainage: see octave_is_narrow_in_pictures */
    struct operation *operation;
    int *place; /* each graph node's operation */
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

/* True if values are interpolated between a patch's nodes. */
static inline bool operation_is_patched(const struct operation *operation)
{
    return operation_family(operation) == FAMILY_PATCHED;
}

/* True if values come from the rivers of the last input, whose own values are not read. */
static inline bool operation_is_near_water(const struct operation *operation)
{
    return operation_family(operation) == FAMILY_WATER;
}

/* True if values may replace an input's values in the same buffer. */
static inline bool operation_is_in_place(const struct operation *operation)
{
    return operation_kinds[operation->kind].in_place;
}

/* Make a program from COUNT nodes. Returns 0, -ENOMEM, or -EINVAL and *FAULT. */
int program_new(struct program **out, const struct graph_node *nodes, int count,
                struct graph_fault *fault);
void program_free(struct program *program);

#endif
