/*
 * How long an evaluation takes, known without carrying it out. Times are those of one fixed
 * machine: an x86-64 core of about 3 GHz with AVX2, not disturbed by others. So they are the same
 * everywhere, and a world is too dear or not on every machine alike. Multiplied by factors that are
 * measured (server/world/cost_rates.h) they are those of another machine. Masks are taken to be
 * nowhere 0: what they make irrelevant is counted. Private to the project.
 */
#ifndef FARLANDS_ESTIMATE_H
#define FARLANDS_ESTIMATE_H

#include "evaluate.h"

struct farlands_terrain;

/* Work whose speed differs from one instruction set to the next alike. */
enum estimate_class {
    ESTIMATE_OVERHEAD, /* per chunk, row and column */
    ESTIMATE_HASHES,   /* corners of lattice rows that are made for noise by rows */
    ESTIMATE_TABLES,   /* what corners of any noise take longer with FARLANDS_PERMUTATION */
    ESTIMATE_LINES,    /* samples of these lattice rows */
    ESTIMATE_SUMS,     /* samples from them */
    ESTIMATE_CELLS,    /* the same of cellular noise */
    ESTIMATE_POINTS,   /* noise whose samples have cells of their own: moved, warped, simplex */
    ESTIMATE_FEW,      /* any noise at few samples */
    ESTIMATE_SLOPES,   /* GRAPH_DAMPED */
    ESTIMATE_GULLIES,  /* GRAPH_ERODE */
    /* Splines and elevation curves of at most 8 pieces, and fractals that are no plain sums: both
     * are made of fused multiply-adds, which are calls on machines without the instruction. */
    ESTIMATE_CURVES,
    ESTIMATE_LONG_CURVES,
    ESTIMATE_ARITHMETIC, /* other operations */
    ESTIMATE_LATTICES,   /* interpolation */
    ESTIMATE_CLASSES,
};

struct estimate {
    double ns;
    double class_ns[ESTIMATE_CLASSES];
    double operation_ns[GRAPH_MAX_NODES]; /* of each, on all domains together */
};

/*
 * Estimate the values of OPERATION over GRID, right within a factor of 2 for nearly all grids. Goes
 * through a chunk, which takes tens of microseconds; ends early once the estimate is above MOST
 * ns. *KEPT is memory: NULL before the first call, freed with evaluation_free. Returns 0 or
 * -ENOMEM.
 */
int estimate(struct estimate *out, const struct program *program, int operation,
             const struct farlands_grid *grid, double most, struct evaluation **kept);

/* The same for FIELD of TERRAIN. FIELD_NS, unless it is NULL, gets for each field of the terrain
 * the time that is spent on the operations in its own expression. */
int estimate_field(struct estimate *out, const struct farlands_terrain *terrain, int field,
                   const struct farlands_grid *grid, double *field_ns, struct evaluation **kept);

/* FIELD of TERRAIN at one of many places, each APART units from the one before it: so seldom are
 * nodes of lattices needed anew. Vectors are as long as those of the terrain's kernel. */
int estimate_place(struct estimate *out, const struct farlands_terrain *terrain, int field,
                   double apart, struct evaluation **kept);

/* Rivers farther apart, units, are dear without a band limit: each sample needs nodes of its own.
 */
#define ESTIMATE_FAR (FARLANDS_UNIT << 6)

#endif
