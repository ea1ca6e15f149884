/*
 * A domain's steps over a chunk, whose patches and rivers are there: band by band, one operation
 * after the other. Private to evaluate/.
 */
#ifndef FARLANDS_STEPS_H
#define FARLANDS_STEPS_H

#include "noise/evaluate/evaluation.h"

/* Everything that the functions of an evaluation need. */
struct context {
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
    struct evaluation *evaluation;
    size_t stride; /* between rows in buffers */
};

/* The lattice that operation O, number K, takes its values or slopes from. */
static inline int context_lattice(const struct operation *o, int k)
{
    return operation_is_slope(o) ? o->input[0] : k;
}

/* Run DOMAIN's steps over CHUNK. OUT: each output's rows. ROOMY: rows may be written in whole
 * KERNEL_STEPs. Returns 0 or -ENOMEM. */
int steps_run(struct context *c, const struct domain *domain, const struct chunk *chunk, bool roomy,
              const struct rows *out);

#endif
