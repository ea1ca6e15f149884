/*
 * What an evaluation keeps between chunks and between grids: buffers, patches and rivers. Private
 * to evaluate/. A scratch has the evaluations of the programs that its thread used last.
 */
#ifndef FARLANDS_EVALUATION_H
#define FARLANDS_EVALUATION_H

#include "noise/evaluate/evaluate.h"
#include "noise/exact/aligned.h"
#include "noise/kernel/scratch.h"
#include "noise/water/rivers.h"

/* A noise and its octaves, used by one domain after the other. */
struct run_memory {
    struct noise_run run;
    int octaves; /* room for so many */
};

/* Rows of a band, one after the other without gaps. */
struct buffer {
    KERNEL_ALIGNED float value[PLAN_BAND_ROWS * KERNEL_CHUNK];
};

/* The rivers of a GRAPH_DRAIN, and what their ground is evaluated with. */
struct river_memory {
    struct rivers *rivers;
    struct evaluation *evaluation;
    int ground; /* operation */
    /* Those of the evaluation that needs the rivers. */
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
};

struct evaluation {
    struct plan plan;
    struct patch *patch[GRAPH_MAX_NODES];         /* by operation */
    struct river_memory *rivers[GRAPH_MAX_NODES]; /* by operation */
    struct buffer *buffer[GRAPH_MAX_NODES];
    struct buffer *zeros;
    struct run_memory *run[GRAPH_MAX_NODES];
};

/* The evaluation of PROGRAM, or else a new one, or that of the program that was not evaluated for
 * the longest; SCRATCH's first from now on. NULL if out of memory. */
struct evaluation *evaluation_find(struct farlands_scratch *scratch, const struct program *program);

/* Forget what was computed with another program. */
void evaluation_reset(struct evaluation *e);

/* The memory of a patch, a run, or the buffers of a domain: what is there already, or new. NULL, or
 * -ENOMEM, if there is none. A run has room for OCTAVES octaves. */
struct patch *evaluation_patch(struct evaluation *e, int lattice);
struct noise_run *evaluation_run(struct evaluation *e, int k, int octaves);
int evaluation_buffers(struct evaluation *e, const struct domain *domain);

/* An evaluation of its own for rivers, freed with MEMORY, which may be NULL. */
struct river_memory *river_memory_new(void);
void river_memory_free(struct river_memory *memory);

#endif
