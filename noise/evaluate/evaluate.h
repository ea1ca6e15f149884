/* The evaluation of a program over a grid. Private to noise/. */
#ifndef FARLANDS_EVALUATE_H
#define FARLANDS_EVALUATE_H

#include "noise/evaluate/patch.h"
#include "noise/evaluate/plan.h"
#include "noise/kernel/kernel.h"

/* One of the fields that an evaluation writes: OPERATION of the program, into rows of OUT. */
struct output {
    int operation;
    float *out;
};

/*
 * Evaluate COUNT fields, 1 to PLAN_MAX_OUTPUTS, over GRID, which is within bounds; rows of each
 * begin STRIDE floats apart. Returns 0, or -ENOMEM: a scratch grows to what a program needs.
 */
int evaluate(const struct program *program, const struct kernel *kernel,
             struct farlands_scratch *scratch, const struct farlands_grid *grid,
             const struct output *outputs, int count, size_t stride);

/* The same for one OPERATION, and its derivatives along x and y, per block, into DX and DY (see
 * derivatives.h); if these do not exist, differences over a block. GRID must not be band-limited.
 */
int evaluate_derivatives(const struct program *program, const struct kernel *kernel,
                         struct farlands_scratch *scratch, const struct farlands_grid *grid,
                         int operation, float *value, float *dx, float *dy, size_t stride);

/* The rivers of OPERATION, a GRAPH_WATER, into *OUT: they are SCRATCH's, until its next evaluation.
 * Returns 0 or -ENOMEM. */
struct rivers;
int evaluate_rivers(const struct program *program, const struct kernel *kernel,
                    struct farlands_scratch *scratch, int operation, struct rivers **out);

struct evaluation;
void evaluation_free(struct evaluation *evaluation);

#endif
