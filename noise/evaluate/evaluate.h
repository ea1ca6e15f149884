/* The evaluation of a program over a grid. Private to noise/. */
#ifndef FARLANDS_EVALUATE_H
#define FARLANDS_EVALUATE_H

#include "noise/evaluate/patch.h"
#include "noise/evaluate/plan.h"
#include "noise/kernel/kernel.h"

/* One output of an evaluation: OPERATION's values, and where their rows go. */
struct output {
    int operation;
    float *out;
};

/*
 * Evaluate COUNT outputs, 1 to PLAN_MAX_OUTPUTS, over GRID, which is within bounds. Their rows
 * begin STRIDE floats apart. Returns 0, or -ENOMEM, because a scratch grows to what a program
 * needs.
 */
int evaluate(const struct program *program, const struct kernel *kernel,
             struct farlands_scratch *scratch, const struct farlands_grid *grid,
             const struct output *outputs, int count, size_t stride);

/* The same for one OPERATION, with derivatives along x and y, per block, in DX and DY
 * (derivatives.h), or with differences over a block if there are none. GRID must not be
 * band-limited.
 */
int evaluate_derivatives(const struct program *program, const struct kernel *kernel,
                         struct farlands_scratch *scratch, const struct farlands_grid *grid,
                         int operation, float *value, float *dx, float *dy, size_t stride);

/* Find the rivers of OPERATION, a GRAPH_WATER. SCRATCH owns *OUT, which is valid until the next
 * evaluation with SCRATCH. Returns 0 or -ENOMEM. */
struct rivers;
int evaluate_rivers(const struct program *program, const struct kernel *kernel,
                    struct farlands_scratch *scratch, int operation, struct rivers **out);

struct evaluation;
void evaluation_free(struct evaluation *evaluation);

#endif
