/*
 * The plan of an evaluation: which operations a program needs on which domain, in which order, and
 * which buffer each result takes. Private to noise/.
 *
 * A domain is the grid, or the nodes of a lattice (GRAPH_LATTICE). Before a chunk of any domain
 * begins, the nodes that its samples lie between are evaluated, as a chunk of the lattice's domain:
 * so evaluation goes down from the grid to lattices, and from these to others. Lattices that are
 * farther down have smaller numbers.
 */
#ifndef FARLANDS_PLAN_H
#define FARLANDS_PLAN_H

#include "noise/graph/program.h"

enum {
    PLAN_MAX_OUTPUTS = 16,
    /* Rows of one operation that are evaluated at once: few enough that what operations pass to
     * each other stays near the core. */
    PLAN_BAND_ROWS = 8,
};

/* An operation within a domain. */
struct step {
    int operation;
    int buffer; /* of its result */
    int run;    /* of GRAPH_NOISE */
};

/* What is evaluated on a grid, or at the nodes of a lattice. */
struct domain {
    int64_t direct_below; /* lattices with less spacing are their inputs themselves */
    int64_t band_limit;   /* distance of samples if they are filtered; 0: none */
    int constants, steps; /* the first steps are the same everywhere, evaluated once a chunk */
    struct step step[GRAPH_MAX_NODES];
    int buffer[GRAPH_MAX_NODES]; /* of each operation while it is needed */
    int outputs, output[PLAN_MAX_OUTPUTS];
    int lattices, lattice[GRAPH_MAX_NODES]; /* whose patches it needs, in falling order */
    /* Of each operation: its inputs here. Values of lattices come from patches; what the band limit
     * silences has none; a lattice that does not apply is its own input, and so is ground with
     * rivers that are hidden. */
    int inputs[GRAPH_MAX_NODES], input[GRAPH_MAX_NODES][GRAPH_MAX_INPUTS];
    /* Of each operation: how often others read it, or it goes out; which of its inputs is a guard
     * (guards.h), or -1. */
    int16_t reads[GRAPH_MAX_NODES];
    int guard[GRAPH_MAX_NODES];
    /* An operation that each is a guard of, and the next one with the same guard; -1: none. */
    int guarded[GRAPH_MAX_NODES], next_guarded[GRAPH_MAX_NODES];
};

struct plan {
    uint64_t program;
    int outputs, output[PLAN_MAX_OUTPUTS];
    struct domain grid;
    int depth; /* of lattices that need each other; 0: none */
    int64_t least_spacing;
    struct domain *lattice[GRAPH_MAX_NODES]; /* by operation; memory is kept */
};

/*
 * Plan COUNT OUTPUTS, operations of PROGRAM, on a grid; BAND_LIMIT: the distance of its samples if
 * they are filtered, or 0. PLAN is all 0, or has been made before; nothing is done if it is the
 * same. Returns 0 or -ENOMEM.
 */
int plan_make(struct plan *plan, const struct program *program, int64_t band_limit,
              const int *outputs, int count);

/* Free what PLAN refers to. */
void plan_clear(struct plan *plan);

/* True if the band limit leaves nothing of a noise, which is the same everywhere then. */
static inline bool plan_is_silent(const struct domain *domain, const struct operation *o)
{
    return o->noise && domain->band_limit &&
           (o->kind == GRAPH_ERODE ? octave_gully_limit : octave_band_limit)(
               &o->noise->octave[0], domain->band_limit) == 0;
}

/* True if O is of rivers, and the band limit leaves none: ground is as it was, and dry. Four
 * samples show a valley between nodes of the broadest level. */
static inline bool plan_hides_rivers(const struct program *program, const struct domain *domain,
                                     const struct operation *o)
{
    return o->river_source >= 0 &&
           program->operation[o->river_source].rivers->spacing / 4 < domain->band_limit;
}

#endif
