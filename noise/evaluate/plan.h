/*
 * The plan for an evaluation: the operations that a program needs on each domain, their order, and
 * a buffer for each result. Private to noise/.
 *
 * A domain is the grid, or a lattice's nodes (GRAPH_LATTICE). Before a chunk in any domain begins,
 * the nodes around its samples are evaluated, as a chunk in the lattice's domain. So evaluation
 * goes down from the grid to lattices, and from them to other lattices, whose numbers are always
 * smaller.
 */
#ifndef FARLANDS_PLAN_H
#define FARLANDS_PLAN_H

#include "noise/graph/program.h"

enum {
    PLAN_MAX_OUTPUTS = 16,
    /* Rows in an evaluation's band. Few, so that values stay near the core between operations. */
    PLAN_BAND_ROWS = 8,
};

/* An operation in a domain. */
struct step {
    int operation;
    int buffer; /* for its result */
    int run;    /* number of the noise, if there is one */
};

/* The steps for a grid, or for a lattice's nodes. */
struct domain {
    int64_t direct_below; /* lattices with less spacing are skipped here */
    int64_t band_limit;   /* distance between samples if they are filtered; 0: none */
    int constants, steps; /* the first CONSTANTS steps are evaluated once per chunk */
    struct step step[GRAPH_MAX_NODES];
    int buffer[GRAPH_MAX_NODES]; /* for each operation, until its last reader */
    int outputs, output[PLAN_MAX_OUTPUTS];
    int lattices, lattice[GRAPH_MAX_NODES]; /* whose patches this needs, in falling order */
    /* Each operation's inputs in this domain. None for a lattice, whose values come from a patch,
     * and for a noise that the band limit silences. Lattices that do not apply, and ground with
     * hidden rivers, are replaced by their own input. */
    int inputs[GRAPH_MAX_NODES], input[GRAPH_MAX_NODES][GRAPH_MAX_INPUTS];
    /* For each operation: how many operations and outputs read it; which input is the guard
     * (guards.h), or -1. */
    int16_t reads[GRAPH_MAX_NODES];
    int guard[GRAPH_MAX_NODES];
    /* Lists of operations with the same guard: the first for each guard, and the next for each
     * member. -1: none. */
    int guarded[GRAPH_MAX_NODES], next_guarded[GRAPH_MAX_NODES];
};

struct plan {
    uint64_t program;
    int outputs, output[PLAN_MAX_OUTPUTS];
    struct domain grid;
    int depth; /* the longest chain of lattices; 0: none */
    int64_t least_spacing;
    /* By operation: the domain, whose memory stays for the next plan; and the distance between
     * nodes, 2 to this, in units. Slopes of a lattice that is finer than the grid's samples are
     * taken on one as coarse as these, whose values are filtered like theirs. */
    struct domain *lattice[GRAPH_MAX_NODES];
    int bits[GRAPH_MAX_NODES];
};

/*
 * Plan COUNT OUTPUTS, operations in PROGRAM, on a grid. BAND_LIMIT: the distance between its
 * samples if they are filtered, or 0. PLAN is all 0 at first. Nothing is done if PLAN is already
 * the same. Returns 0 or -ENOMEM.
 */
int plan_make(struct plan *plan, const struct program *program, int64_t band_limit,
              const int *outputs, int count);

/* Free all memory that PLAN refers to, but not PLAN. */
void plan_clear(struct plan *plan);

/* True if the band limit leaves no octave of a noise. Such a noise is the same everywhere. */
static inline bool plan_is_silent(const struct domain *domain, const struct operation *o)
{
    return o->noise && domain->band_limit &&
           (o->kind == GRAPH_ERODE ? octave_gully_limit : octave_band_limit)(
               &o->noise->octave[0], domain->band_limit) == 0;
}

/* True if O needs rivers and the band limit hides them: then ground is unchanged, and dry. A valley
 * between nodes on the broadest level needs four samples to show. */
static inline bool plan_hides_rivers(const struct program *program, const struct domain *domain,
                                     const struct operation *o)
{
    return o->river_source >= 0 &&
           program->operation[o->river_source].rivers->spacing / 4 < domain->band_limit;
}

#endif
