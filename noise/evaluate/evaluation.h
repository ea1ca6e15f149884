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

/* The heights of a chunk. */
struct chunk_ground {
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK];
    float height[KERNEL_CHUNK * KERNEL_CHUNK];
};

/* A GRAPH_DRAIN or GRAPH_DRAINAGE, and the evaluation of its inputs. */
struct water_memory {
    struct rivers *rivers;       /* NULL until needed */
    struct drainage *drainage;   /* NULL for a GRAPH_DRAIN */
    struct chunk_ground *ground; /* NULL for a GRAPH_DRAIN */
    struct evaluation *evaluation;
    int input[DRAINAGE_INPUTS];
    /* Copied from the evaluation that needs the water. */
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
};

struct evaluation {
    struct plan plan;
    struct patch *patch[GRAPH_MAX_NODES];        /* by operation */
    struct water_memory *water[GRAPH_MAX_NODES]; /* by operation */
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

/* Memory with an evaluation of its own, and room for a chunk's ground if HAS_GROUND. MEMORY may be
 * NULL. */
struct water_memory *water_memory_new(bool has_ground);
void water_memory_free(struct water_memory *memory);

#endif
