/*
 * Everything that an evaluation keeps between chunks and between grids: buffers, patches and
 * rivers. A scratch has the evaluations of the programs that its thread used last. Private to
 * evaluate/.
 */
#ifndef FARLANDS_EVALUATION_H
#define FARLANDS_EVALUATION_H

#include "noise/drainage/drainage.h"
#include "noise/evaluate/evaluate.h"
#include "noise/exact/aligned.h"
#include "noise/kernel/scratch.h"
#include "noise/water/rivers.h"

/* A noise and its octaves, used by one domain after the other. */
struct run_memory {
    struct noise_run run;
    int octaves; /* that RUN has room for */
};

/* A band's rows, one after the other without gaps. */
struct buffer {
    KERNEL_ALIGNED float value[PLAN_BAND_ROWS * KERNEL_CHUNK];
};

/* A GRAPH_DRAIN's rivers, and the evaluation of the ground below them. */
struct river_memory {
    struct rivers *rivers;
    struct evaluation *evaluation;
    int ground; /* the operation below the drain */
    /* Copied from the evaluation that needs the rivers. */
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
};

/* A GRAPH_DRAINAGE, the evaluation of its inputs, and the heights of the chunk. */
struct ground_memory {
    struct drainage *drainage;
    struct evaluation *evaluation;
    int input[DRAINAGE_INPUTS];
    /* Copied, as above. */
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK];
    float height[KERNEL_CHUNK * KERNEL_CHUNK];
};

struct evaluation {
    struct plan plan;
    struct patch *patch[GRAPH_MAX_NODES];          /* by operation */
    struct river_memory *rivers[GRAPH_MAX_NODES];  /* by operation */
    struct ground_memory *ground[GRAPH_MAX_NODES]; /* by operation */
    struct buffer *buffer[GRAPH_MAX_NODES];
    struct buffer *zeros;
    struct run_memory *run[GRAPH_MAX_NODES];
};

/* Find PROGRAM's evaluation, or make one, in place of the least recently used one. It becomes
 * SCRATCH's first. NULL if out of memory. */
struct evaluation *evaluation_find(struct farlands_scratch *scratch, const struct program *program);

/* Forget everything that was computed with another program. */
void evaluation_reset(struct evaluation *e);

/* Memory for a patch, for a run with OCTAVES octaves, and for a domain's buffers, allocated unless
 * it is there. NULL or -ENOMEM if out of memory. */
struct patch *evaluation_patch(struct evaluation *e, int lattice);
struct noise_run *evaluation_run(struct evaluation *e, int k, int octaves);
int evaluation_buffers(struct evaluation *e, const struct domain *domain);

/* Memory with a separate evaluation. MEMORY may be NULL. */
struct river_memory *river_memory_new(void);
void river_memory_free(struct river_memory *memory);
struct ground_memory *ground_memory_new(void);
void ground_memory_free(struct ground_memory *memory);

#endif
