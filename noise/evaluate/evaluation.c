#include "evaluation.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Allocate *MEMORY unless it is there. */
static void *keep_memory(void **memory, size_t size)
{
    if (!*memory)
        *memory = aligned_new(size);
    return *memory;
}

struct patch *evaluation_patch(struct evaluation *e, int lattice)
{
    const bool is_new = !e->patch[lattice];
    struct patch *patch = keep_memory((void **)&e->patch[lattice], sizeof *patch);

    if (patch && is_new)
        patch->columns = 0;
    return patch;
}

struct noise_run *evaluation_run(struct evaluation *e, int k, int octaves)
{
    struct run_memory *memory = e->run[k];
    if (!memory)
        memory = e->run[k] = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    if (memory->octaves < octaves) {
        aligned_free(memory->run.octave);
        memory->octaves = 0;
        memory->run.octave = aligned_new((size_t)octaves * sizeof *memory->run.octave);
        if (!memory->run.octave)
            return NULL;
        memory->octaves = octaves;
    }
    return &memory->run;
}

int evaluation_buffers(struct evaluation *e, const struct domain *domain)
{
    if (!e->zeros && keep_memory((void **)&e->zeros, sizeof *e->zeros))
        memset(e->zeros, 0, sizeof *e->zeros);
    if (!e->zeros)
        return -ENOMEM;
    for (int s = 0; s < domain->steps; s++)
        if (!keep_memory((void **)&e->buffer[domain->step[s].buffer], sizeof(struct buffer)))
            return -ENOMEM;
    return 0;
}

struct water_memory *water_memory_new(bool has_ground)
{
    struct water_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->evaluation = calloc(1, sizeof *m->evaluation);
    m->ground = has_ground ? calloc(1, sizeof *m->ground) : NULL;
    if (m->evaluation && (m->ground || !has_ground))
        return m;
    water_memory_free(m);
    return NULL;
}

void water_memory_free(struct water_memory *memory)
{
    if (memory) {
        rivers_free(memory->rivers);
        drainage_free(memory->drainage);
        evaluation_free(memory->evaluation);
        free(memory->ground);
    }
    free(memory);
}

void evaluation_free(struct evaluation *evaluation)
{
    if (evaluation) {
        plan_clear(&evaluation->plan);
        aligned_free(evaluation->zeros);
    }
    for (int i = 0; evaluation && i < GRAPH_MAX_NODES; i++) {
        water_memory_free(evaluation->water[i]);
        aligned_free(evaluation->patch[i]);
        aligned_free(evaluation->buffer[i]);
        if (evaluation->run[i])
            aligned_free(evaluation->run[i]->run.octave);
        free(evaluation->run[i]);
    }
    free(evaluation);
}

struct evaluation *evaluation_find(struct farlands_scratch *scratch, const struct program *program)
{
    struct evaluation **all = scratch->evaluation;
    int i = 0;
    while (i < SCRATCH_EVALUATIONS - 1 && all[i] && all[i]->plan.program != program->id)
        i++;
    struct evaluation *found = all[i] ? all[i] : calloc(1, sizeof *found);
    if (!found)
        return NULL;
    for (; i > 0; i--)
        all[i] = all[i - 1];
    return all[0] = found;
}

void evaluation_reset(struct evaluation *e)
{
    for (int i = 0; i < GRAPH_MAX_NODES; i++) {
        if (e->patch[i])
            e->patch[i]->columns = 0;
        water_memory_free(e->water[i]);
        e->water[i] = NULL;
    }
}
