/*
 * The evaluation of a program over a grid.
 *
 * A grid is cut into chunks, and a chunk is evaluated band by band: 8 rows of one operation, then
 * of the next. Values lie in buffers, which are used again once nobody needs them.
 *
 * Operations that a mask makes irrelevant for a band are not carried out (guards.h).
 *
 * Patches (patch.h) of what a domain needs of other domains (plan.h) are made in falling order of
 * lattices, so that what one needs does not displace what was made before.
 */
#include "evaluate.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/evaluate/derivatives.h"
#include "noise/evaluate/guards.h"
#include "noise/evaluate/patch.h"
#include "noise/evaluate/plan.h"
#include "noise/exact/aligned.h"
#include "noise/kernel/scratch.h"
#include "noise/water/rivers.h"

_Static_assert((int)PLAN_BAND_ROWS <= KERNEL_BAND_ROWS && PLAN_BAND_ROWS % KERNEL_SET_ROWS == 0,
               "kernels evaluate so many rows at once");

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

/* Where derivatives go. */
struct derivative_rows {
    int operation;
    bool needed[GRAPH_MAX_NODES]; /* derivatives_need */
    float *dx, *dy;
};

/* All that functions need. */
struct context {
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
    struct evaluation *evaluation;
    bool band_limit;
    size_t stride;                             /* of rows in buffers */
    const struct derivative_rows *derivatives; /* NULL: none */
};

/* --- Memory --- */

/* *MEMORY if it is there, or else a new one. */
static void *keep(void **memory, size_t size)
{
    if (!*memory)
        *memory = aligned_new(size);
    return *memory;
}

/* Run K with room for OCTAVES octaves. */
static struct noise_run *keep_run(struct evaluation *e, int k, int octaves)
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

static void free_rivers(struct river_memory *memory)
{
    if (memory) {
        rivers_free(memory->rivers);
        evaluation_free(memory->evaluation);
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
        free_rivers(evaluation->rivers[i]);
        aligned_free(evaluation->patch[i]);
        aligned_free(evaluation->buffer[i]);
        if (evaluation->run[i])
            aligned_free(evaluation->run[i]->run.octave);
        free(evaluation->run[i]);
    }
    free(evaluation);
}

/* The evaluation of PROGRAM, or else a new one, or that of the program that was not evaluated for
 * the longest; SCRATCH's first from now on. NULL if out of memory. */
static struct evaluation *find_evaluation(struct farlands_scratch *scratch,
                                          const struct program *program)
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

/* Forget what was computed with another program. */
static void forget(struct evaluation *e)
{
    for (int i = 0; i < GRAPH_MAX_NODES; i++) {
        if (e->patch[i])
            e->patch[i]->columns = 0;
        free_rivers(e->rivers[i]);
        e->rivers[i] = NULL;
    }
}

/* The plan for OUTPUTS. */
static int make_plan(struct context *c, int64_t band_limit, const struct output *outputs, int count)
{
    struct evaluation *e = c->evaluation;
    int operations[PLAN_MAX_OUTPUTS];
    if (e->plan.program != c->program->id)
        forget(e);
    for (int i = 0; i < count; i++)
        operations[i] = outputs[i].operation;
    return plan_make(&e->plan, c->program, band_limit, operations, count);
}

/* --- Chunks --- */

static int evaluate_chunk(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          bool roomy, const struct rows *out);
static int evaluate_grid(struct context *c, const struct farlands_grid *grid,
                         const struct output *outputs, int count, size_t stride);

/* The lattice whose patch operation O, number K, takes its values or slopes from. */
static int lattice_of(const struct operation *o, int k)
{
    return operation_is_slope(o) ? o->input[0] : k;
}

static int spacing_bits(const struct context *c, int lattice)
{
    return c->program->operation[lattice].spacing_bits;
}

/* Fill the patch of LATTICE, an operation, with what CHUNK needs. */
static int make_patch(struct context *c, int lattice, const struct chunk *chunk)
{
    struct evaluation *e = c->evaluation;
    const int bits = spacing_bits(c, lattice);
    const bool is_new = !e->patch[lattice];
    struct patch *patch = keep((void **)&e->patch[lattice], sizeof *patch);
    if (!patch)
        return -ENOMEM;
    if (is_new)
        patch->columns = 0;
    if (patch_covers(patch, bits, chunk))
        return 0;
    const struct chunk nodes = patch_place(patch, bits, chunk);
    const struct domain *domain = e->plan.lattice[lattice];
    const bool band_limit = c->band_limit;
    assert(domain->outputs == 1);
    c->band_limit = false;
    const int err =
        evaluate_chunk(c, domain, &nodes, true, &(struct rows){patch->value[0], KERNEL_CHUNK});
    c->band_limit = band_limit;
    for (int j = 0; j < nodes.height && !err; j++)
        patch->zero[j] =
            c->kernel->is_zero((struct rows){patch->value[j], KERNEL_CHUNK}, 1, nodes.width);
    patch->columns = err ? 0 : nodes.width;
    return err;
}

/* A drain_ground. */
static int river_ground(void *context, const struct farlands_grid *grid, float *out)
{
    const struct river_memory *m = context;
    struct context c = {m->program,       m->kernel, m->scratch, m->evaluation,
                        grid->band_limit, 0,         NULL};
    const struct output output = {m->ground, out};
    const int err = make_plan(&c, grid->band_limit ? grid->step : 0, &output, 1);
    return err ? err : evaluate_grid(&c, grid, &output, 1, (size_t)grid->width);
}

static struct river_memory *new_rivers(const struct context *c, int k)
{
    const struct operation *o = &c->program->operation[k];
    struct river_memory *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->ground = o->input[0];
    m->evaluation = calloc(1, sizeof *m->evaluation);
    if (m->evaluation && !rivers_new(&m->rivers, o->rivers, c->kernel, river_ground, m))
        return m;
    free_rivers(m);
    return NULL;
}

/* The rivers of operation K, a GRAPH_DRAIN. */
static struct rivers *keep_rivers(struct context *c, int k)
{
    struct river_memory **m = &c->evaluation->rivers[k];
    if (!*m)
        *m = new_rivers(c, k);
    if (!*m)
        return NULL;
    (*m)->program = c->program; /* perhaps another one with the same id */
    (*m)->kernel = c->kernel;
    (*m)->scratch = c->scratch;
    return (*m)->rivers;
}

/* Find the rivers that steps of DOMAIN need for CHUNK. */
static int find_rivers(struct context *c, const struct domain *domain, const struct chunk *chunk)
{
    bool found[2][GRAPH_MAX_NODES] = {{false}}; /* water, valleys */
    int err = 0;
    for (int s = 0; s < domain->steps && !err; s++) {
        const int k = domain->step[s].operation, source = c->program->operation[k].river_source;
        const struct operation *o = &c->program->operation[k];
        const bool valleys = o->kind == GRAPH_DRAIN || o->kind == GRAPH_BASE_LEVEL;
        if (source < 0 || found[valleys][source] || plan_hides_rivers(c->program, domain, o))
            continue;
        struct rivers *rivers = keep_rivers(c, source);
        if (!rivers)
            return -ENOMEM;
        err = (valleys ? rivers_find_valleys : rivers_find_near)(rivers, chunk, domain->band_limit);
        found[valleys][source] = true;
    }
    return err;
}

/* Where OPERATION's values are: in OUT, if it is not NULL and this is one of the domain's outputs,
 * or else in a buffer. */
static struct rows rows_of(const struct context *c, const struct domain *domain, int operation,
                           const struct rows *out)
{
    for (int i = 0; out && i < domain->outputs; i++)
        if (domain->output[i] == operation)
            return out[i];
    return (struct rows){c->evaluation->buffer[domain->buffer[operation]]->value, c->stride};
}

/* True if the values of few samples are computed row by row, as those of many are. */
static bool needs_rows(const struct operation *o)
{
    return o->kind == GRAPH_DAMPED || o->kind == GRAPH_ERODE || operation_is_patched(o) ||
           o->river_source >= 0;
}

/* --- Relevance --- */

/* What is irrelevant in a band, or for few samples. */
struct relevance {
    /* By how many others that are carried out each operation is read; 0: it is irrelevant. */
    int16_t reads[GRAPH_MAX_NODES];
    bool spared[GRAPH_MAX_NODES]; /* its guard is 0: it does not read what that guards */
    bool zero[GRAPH_MAX_NODES];   /* known to be 0: its values are nowhere else */
};

static struct relevance all_relevant(const struct domain *domain)
{
    struct relevance relevance = {.spared = {false}, .zero = {false}};
    memcpy(relevance.reads, domain->reads, sizeof relevance.reads);
    return relevance;
}

/* Operation ZERO, a guard, is 0: spare those that it guards what they need it for. */
static void spare(const struct context *c, const struct domain *domain, int zero,
                  struct relevance *relevance)
{
    for (int k = domain->guarded[zero]; k >= 0; k = domain->next_guarded[k]) {
        const struct operation *o = &c->program->operation[k];
        if (relevance->reads[k] == 0)
            continue;
        relevance->spared[k] = true;
        for (int i = 0; i < o->inputs; i++)
            if (!guards_reads(o, domain->guard[k], i))
                guards_release(c->program, domain, domain->input[k][i], relevance->spared,
                               relevance->reads);
    }
}

/* Where the values of operation K are, which others read. */
static struct rows known_rows(const struct context *c, const struct domain *domain,
                              const struct relevance *relevance, int k, const struct rows *out)
{
    if (relevance->zero[k])
        return (struct rows){c->evaluation->zeros->value, c->stride};
    return rows_of(c, domain, k, out);
}

/* The input that operation K has the values of, since others of its inputs are 0, ZERO_INPUT if it
 * is 0 itself, or -1. Signs of zeros may differ. */
enum { ZERO_INPUT = GRAPH_MAX_INPUTS };

static int same_input(const struct operation *o, bool spared, const bool zero[GRAPH_MAX_INPUTS])
{
    switch (o->kind) {
    case GRAPH_MULTIPLY:
        return spared || zero[0] || zero[1] ? ZERO_INPUT : -1;
    case GRAPH_ERODE:
        return spared ? ZERO_INPUT : -1;
    case GRAPH_MIX:
        return spared ? 0 : -1;
    case GRAPH_ADD:
        return zero[1] ? 0 : zero[0] ? 1 : -1;
    case GRAPH_SUBTRACT:
        return zero[1] ? 0 : -1;
    case GRAPH_MIN:
    case GRAPH_MAX:
        return zero[0] && zero[1] ? ZERO_INPUT : -1;
    case GRAPH_ABS:
        return zero[0] ? ZERO_INPUT : -1;
    default:
        return -1;
    }
}

/* --- Steps --- */

/* ROWS rows from J on of noise O, as many at once as its lines allow. */
static void run_noise(const struct context *c, const struct operation *o, struct noise_run *run,
                      const struct rows *in, int j, int rows, struct rows to)
{
    assert(run);
    for (int r = 0, n; r < rows; r += n) {
        struct rows move[2] = {{NULL, 0}};
        n = rows - r < run->band ? rows - r : run->band;
        for (int i = 0; i < o->inputs && in[i].at; i++)
            move[i] = (struct rows){in[i].at + (size_t)r * in[i].stride, in[i].stride};
        c->kernel->noise_band(run, o->curve, in[0].at ? move : NULL, o->move, j + r, n,
                              (struct rows){to.at + (size_t)r * to.stride, to.stride});
    }
}

/* ROWS rows from J on, WIDTH samples each, of an operation of rivers. */
static void run_rivers(const struct context *c, const struct operation *o, struct rows in, int j,
                       int rows, int width, struct rows to)
{
    const struct rivers *rivers = c->evaluation->rivers[o->river_source]->rivers;
    /* Others read whole steps. */
    for (int r = 0; r < rows; r++)
        for (int i = width; i < whole_steps(width); i++)
            to.at[(size_t)r * to.stride + (size_t)i] = 0;
    if (o->kind == GRAPH_DRAIN)
        rivers_carve(rivers, j, rows, width, in, to);
    else if (o->kind == GRAPH_BASE_LEVEL)
        rivers_base_level(rivers, j, rows, width, to);
    else if (o->kind == GRAPH_BANK)
        rivers_bank(rivers, j, rows, width, to);
    else if (o->kind == GRAPH_WATER)
        rivers_water(rivers, j, rows, width, in, to);
    else if (o->kind == GRAPH_RIVER)
        rivers_order(rivers, j, rows, width, to);
    else
        rivers_channel(rivers, j, rows, width, in, to);
}

/* Values of an operation of rivers that are hidden. */
static void fill_dry(const struct operation *o, int rows, int n, struct rows to)
{
    const float dry = o->kind == GRAPH_BANK    ? (float)RIVERS_NEAR
                      : o->kind == GRAPH_WATER ? RIVERS_DRY
                                               : 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < whole_steps(n); i++)
            to.at[(size_t)r * to.stride + (size_t)i] = dry;
}

/* ROWS rows from J on of the operation of STEP, whose inputs are IN, into TO. */
static void run_operation(struct context *c, const struct step *step, const struct chunk *chunk,
                          const struct rows *in, int j, int rows, struct rows to)
{
    const struct operation *o = &c->program->operation[step->operation];
    struct noise_run *run = o->noise ? &c->evaluation->run[step->run]->run : NULL;
    const int lattice = lattice_of(o, step->operation);
    if (run && !run->begun)
        c->kernel->noise_begin(run, chunk);
    if (run)
        run->begun = true;
    if (operation_is_patched(o))
        patch_interpolate(c->evaluation->patch[lattice], spacing_bits(c, lattice), c->kernel,
                          o->kind, chunk, j, rows, to);
    else if (o->river_source >= 0)
        run_rivers(c, o, in[0], j, rows, chunk->width, to);
    else if (o->kind == GRAPH_NOISE)
        run_noise(c, o, run, in, j, rows, to);
    else if (o->kind == GRAPH_DAMPED)
        c->kernel->damped_band(run, o, j, rows, to);
    else if (o->kind == GRAPH_ERODE)
        c->kernel->erode_band(run, o, in, j, rows, to);
    else
        c->kernel->operate(o, in, rows, whole_steps(chunk->width), to);
}

/* Choose the octaves of the noises of DOMAIN. Returns 0 or -ENOMEM. */
static int begin_noises(struct context *c, const struct domain *domain, const struct chunk *chunk,
                        bool few)
{
    for (int s = 0; s < domain->steps; s++) {
        const struct step *step = &domain->step[s];
        const struct operation *o = &c->program->operation[step->operation];
        if (!o->noise || (few && !needs_rows(o)))
            continue;
        struct noise_run *run = keep_run(c->evaluation, step->run, noise_octaves(o->noise));
        if (!run)
            return -ENOMEM;
        run->noise = o->noise;
        run->work = &c->scratch->work;
        run->use = o->kind == GRAPH_DAMPED  ? USE_SLOPES
                   : o->kind == GRAPH_ERODE ? USE_GULLIES
                                            : USE_VALUES;
        run->moved = o->kind == GRAPH_NOISE && o->inputs > 0;
        run->begun = false;
        run->band = c->kernel->noise_choose(run, c->band_limit, chunk->x.step);
    }
    return 0;
}

static int keep_buffers(struct evaluation *e, const struct domain *domain)
{
    if (!e->zeros && keep((void **)&e->zeros, sizeof *e->zeros))
        memset(e->zeros, 0, sizeof *e->zeros);
    if (!e->zeros)
        return -ENOMEM;
    for (int s = 0; s < domain->steps; s++)
        if (!keep((void **)&e->buffer[domain->step[s].buffer], sizeof(struct buffer)))
            return -ENOMEM;
    return 0;
}

/* ROWS rows of N values of output I of DOMAIN from FROM to OUT, which may be the same. A zero that
 * an operation computed becomes +0: which sign it had depends on what was irrelevant. */
static void deliver(const struct context *c, const struct domain *domain, int i, struct rows from,
                    int rows, int n, struct rows out)
{
    if (c->program->operation[domain->output[i]].kind != GRAPH_NOISE)
        c->kernel->unsign_zeros(from, rows, n, out);
    else
        for (int r = 0; from.at != out.at && r < rows; r++)
            memcpy(out.at + (size_t)r * out.stride, from.at + (size_t)r * from.stride,
                   (size_t)n * sizeof *out.at);
}

/* Samples that steps go through together. */
struct band {
    const struct chunk *chunk;
    bool few;               /* all samples of the chunk, one after the other, as a single row */
    int j, rows, n;         /* rows from J on of N samples */
    const struct rows *out; /* where outputs of the domain go at once; NULL: nowhere */
};

/* Few samples of an operation that computes them row by row. */
static void run_few_rows(struct context *c, const struct step *step, const struct chunk *chunk,
                         struct rows in[GRAPH_MAX_INPUTS], struct rows to)
{
    /* What a row writes beyond its samples is where the next row goes. */
    for (int j = 0; j < chunk->height; j++) {
        run_operation(c, step, chunk, in, j, 1, to);
        to.at += chunk->width;
        for (int i = 0; i < GRAPH_MAX_INPUTS && in[i].at; i++)
            in[i].at += chunk->width;
    }
}

/* The operation of STEP at few samples. */
static void run_few(struct context *c, const struct step *step, const struct band *band,
                    struct rows in[GRAPH_MAX_INPUTS], struct rows to)
{
    const struct operation *o = &c->program->operation[step->operation];
    if (o->kind == GRAPH_NOISE)
        c->kernel->noise_few(o->noise, o->curve, band->chunk, o->inputs > 0 ? in : NULL, o->move,
                             to.at);
    else if (!needs_rows(o))
        c->kernel->operate(o, in, 1, whole_steps(band->n), to);
    else
        run_few_rows(c, step, band->chunk, in, to);
}

/* True if the lattice that operation K takes its values or slopes from is 0 in BAND. */
static bool is_patch_zero(const struct context *c, int k, const struct band *band)
{
    const int lattice = lattice_of(&c->program->operation[k], k);
    return patch_is_zero(c->evaluation->patch[lattice], spacing_bits(c, lattice), band->chunk,
                         band->j, band->few ? band->chunk->height : band->rows);
}

/* Give operation K of BAND, without computing it, 0 or the values of one of its inputs IN, which
 * are copied TO where they are not yet. Returns false if it must be computed. */
static bool take_input(const struct context *c, const struct domain *domain, int k,
                       const struct band *band, const struct rows *in, struct rows to,
                       struct relevance *relevance)
{
    const struct operation *o = &c->program->operation[k];
    const int inputs = domain->inputs[k];
    bool zero[GRAPH_MAX_INPUTS + 1] = {[ZERO_INPUT] = true};
    if (operation_is_patched(o) && is_patch_zero(c, k, band))
        return relevance->zero[k] = true;
    for (int i = 0; i < inputs; i++)
        zero[i] = relevance->zero[domain->input[k][i]];
    const int same = same_input(o, relevance->spared[k] || inputs == 0, zero);
    if (same < 0)
        return false;
    relevance->zero[k] = zero[same];
    const bool there = zero[same] || in[same].at == to.at;
    assert(there || in[same].at);
    for (int r = 0; !there && r < band->rows; r++)
        memcpy(to.at + (size_t)r * to.stride, in[same].at + (size_t)r * in[same].stride,
               (size_t)whole_steps(band->n) * sizeof *to.at);
    return true;
}

/* Step S of BAND. */
static void run_step(struct context *c, const struct domain *domain, int s, const struct band *band,
                     struct relevance *relevance)
{
    const struct step *step = &domain->step[s];
    const int k = step->operation;
    if (relevance->reads[k] == 0)
        return;
    const struct rows to = rows_of(c, domain, k, band->out);
    struct rows in[GRAPH_MAX_INPUTS] = {{NULL, 0}};
    for (int i = 0; i < domain->inputs[k]; i++)
        in[i] = known_rows(c, domain, relevance, domain->input[k][i], band->out);
    if (take_input(c, domain, k, band, in, to, relevance))
        ;
    else if (plan_hides_rivers(c->program, domain, &c->program->operation[k]))
        fill_dry(&c->program->operation[k], band->rows, band->n, to);
    else if (band->few)
        run_few(c, step, band, in, to);
    else
        run_operation(c, step, band->chunk, in, band->j, band->rows, to);
    if (domain->guarded[k] < 0)
        return;
    relevance->zero[k] = relevance->zero[k] || c->kernel->is_zero(to, band->rows, band->n);
    if (relevance->zero[k])
        spare(c, domain, k, relevance);
}

/* Steps FIRST to LAST - 1 of BAND. */
static void run_steps(struct context *c, const struct domain *domain, int first, int last,
                      const struct band *band, struct relevance *relevance)
{
    for (int s = first; s < last; s++)
        run_step(c, domain, s, band, relevance);
}

/* ROWS rows from J on of CHUNK into OUT. CONSTANTS is what constants make irrelevant. */
static void run_band(struct context *c, const struct domain *domain, const struct chunk *chunk,
                     int j, int rows, bool roomy, const struct rows *out,
                     const struct relevance *constants)
{
    struct relevance relevance = *constants;
    struct rows rows_out[PLAN_MAX_OUTPUTS];
    const struct band band = {chunk, false, j, rows, chunk->width, roomy ? rows_out : NULL};

    for (int i = 0; i < domain->outputs; i++)
        rows_out[i] = (struct rows){out[i].at + (size_t)j * out[i].stride, out[i].stride};
    run_steps(c, domain, domain->constants, domain->steps, &band, &relevance);
    for (int i = 0; i < domain->outputs; i++)
        deliver(c, domain, i, known_rows(c, domain, &relevance, domain->output[i], band.out), rows,
                chunk->width, rows_out[i]);
}

/* All steps of few samples, then what goes out. */
static void run_few_steps(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          const struct rows *out)
{
    struct relevance relevance = all_relevant(domain);
    const struct band band = {chunk, true, 0, 1, chunk->width * chunk->height, NULL};
    run_steps(c, domain, 0, domain->steps, &band, &relevance);
    for (int i = 0; i < domain->outputs; i++) {
        const struct rows from = {known_rows(c, domain, &relevance, domain->output[i], NULL).at,
                                  (size_t)chunk->width};
        deliver(c, domain, i, from, chunk->height, chunk->width, out[i]);
    }
}

/* Evaluate DOMAIN over CHUNK into OUT, the rows of each output. ROOMY: rows may be written in whole
 * KERNEL_STEPs. */
static int evaluate_chunk(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          bool roomy, const struct rows *out)
{
    int err = 0;
    for (int i = 0; i < domain->lattices && !err; i++)
        err = make_patch(c, domain->lattice[i], chunk);
    if (!err)
        err = find_rivers(c, domain, chunk);
    if (!err)
        err = keep_buffers(c->evaluation, domain);
    const bool few = chunk_is_few(chunk, c->band_limit);
    c->stride = (size_t)whole_steps(chunk->width);
    if (!err)
        err = begin_noises(c, domain, chunk, few);
    if (err)
        return err;
    for (int i = 0; i < domain->lattices; i++)
        patch_place_columns(c->evaluation->patch[domain->lattice[i]],
                            spacing_bits(c, domain->lattice[i]), chunk);
    if (few) {
        run_few_steps(c, domain, chunk, out);
        return 0;
    }
    struct relevance relevance = all_relevant(domain);
    const int most = chunk->height < PLAN_BAND_ROWS ? chunk->height : PLAN_BAND_ROWS;
    const struct band band = {chunk, false, 0, most, chunk->width, NULL};
    run_steps(c, domain, 0, domain->constants, &band, &relevance);
    for (int j = 0, rows; j < chunk->height; j += rows) {
        rows = chunk->height - j < PLAN_BAND_ROWS ? chunk->height - j : PLAN_BAND_ROWS;
        run_band(c, domain, chunk, j, rows, roomy, out, &relevance);
    }
    return 0;
}

/* --- Grids --- */

/* Samples of a chunk along an axis for which all patches have at most KERNEL_CHUNK nodes. If
 * samples are close, a patch has as many nodes as fit between them, and four more on each level of
 * lattices; if they are far apart, each has four nodes of its own, and three more on each level. */
static int chunk_size(const struct plan *plan, int64_t step)
{
    if (plan->depth == 0)
        return KERNEL_CHUNK;
    const int64_t free_nodes = KERNEL_CHUNK - 1 - TAPS * (int64_t)plan->depth;
    const int apart = KERNEL_CHUNK / (TAPS + 3 * (plan->depth - 1));
    /* Without overflow: the size is at least APART. */
    const int64_t close =
        step / apart <= plan->least_spacing
            ? 1 + (int64_t)((double)free_nodes * (double)plan->least_spacing / (double)step)
            : 1;
    const int64_t size = close > apart ? close : apart;
    return size < KERNEL_CHUNK ? (int)size : KERNEL_CHUNK;
}

/* The greatest size up to MOST of equal chunks of N samples. */
static int even_chunk(int n, int most)
{
    const int chunks = (n - 1) / most + 1;
    return (n - 1) / chunks + 1;
}

/* The derivatives of CHUNK, which has just been evaluated: so there are patches for it. */
static void differentiate(const struct context *c, const struct chunk *chunk, size_t at,
                          size_t stride)
{
    const struct derivative_rows *d = c->derivatives;
    for (int j = 0; j < chunk->height; j++)
        for (int i = 0; i < chunk->width; i++) {
            const struct dual dual = derivatives_at(
                c->program, c->evaluation->patch, d->needed, d->operation,
                chunk->x.first + i * chunk->x.step, chunk->y.first + j * chunk->y.step);
            d->dx[at + (size_t)j * stride + (size_t)i] = (float)dual.x;
            d->dy[at + (size_t)j * stride + (size_t)i] = (float)dual.y;
        }
}

static int evaluate_grid(struct context *c, const struct farlands_grid *grid,
                         const struct output *outputs, int count, size_t stride)
{
    const struct domain *domain = &c->evaluation->plan.grid;
    const int most = chunk_size(&c->evaluation->plan, grid->step);
    const int wide = even_chunk(grid->width, most), high = even_chunk(grid->height, most);

    for (int64_t left = 0; left < grid->width; left += wide)
        for (int64_t top = 0; top < grid->height; top += high) {
            const struct chunk chunk = {
                {grid->x + left * grid->step, grid->step, NULL},
                {grid->y + top * grid->step, grid->step, NULL},
                grid->width - left < wide ? (int)(grid->width - left) : wide,
                grid->height - top < high ? (int)(grid->height - top) : high,
            };
            const size_t at = (size_t)top * stride + (size_t)left;
            struct rows out[PLAN_MAX_OUTPUTS] = {{NULL, 0}};
            for (int i = 0; i < count; i++)
                out[i] = (struct rows){outputs[i].out + at, stride};
            const int err = evaluate_chunk(c, domain, &chunk, chunk.width % KERNEL_STEP == 0, out);
            if (err)
                return err;
            if (c->derivatives)
                differentiate(c, &chunk, at, stride);
        }
    return 0;
}

static int run(const struct program *program, const struct kernel *kernel,
               struct farlands_scratch *scratch, const struct farlands_grid *grid,
               const struct output *outputs, int count, const struct derivative_rows *derivatives,
               size_t stride)
{
    struct context c = {program,          kernel, scratch,    find_evaluation(scratch, program),
                        grid->band_limit, 0,      derivatives};
    if (!c.evaluation)
        return -ENOMEM;
    const int err = make_plan(&c, grid->band_limit ? grid->step : 0, outputs, count);
    return err ? err : evaluate_grid(&c, grid, outputs, count, stride);
}

int evaluate(const struct program *program, const struct kernel *kernel,
             struct farlands_scratch *scratch, const struct farlands_grid *grid,
             const struct output *outputs, int count, size_t stride)
{
    return run(program, kernel, scratch, grid, outputs, count, NULL, stride);
}

/* The differences of OPERATION's values half a block to both sides, along X or y, into OUT. MEMORY
 * for as many values. */
static int difference(const struct program *program, const struct kernel *kernel,
                      struct farlands_scratch *scratch, const struct farlands_grid *grid,
                      int operation, bool x, float *memory, float *out, size_t stride)
{
    struct farlands_grid before = *grid, after = *grid;
    const int64_t half = FARLANDS_UNIT / 2;
    before.x -= x ? half : 0;
    before.y -= x ? 0 : half;
    after.x += x ? half : 0;
    after.y += x ? 0 : half;
    int err =
        evaluate(program, kernel, scratch, &before, &(struct output){operation, memory}, 1, stride);
    if (!err)
        err =
            evaluate(program, kernel, scratch, &after, &(struct output){operation, out}, 1, stride);
    for (int j = 0; j < grid->height && !err; j++)
        for (int i = 0; i < grid->width; i++)
            out[(size_t)j * stride + (size_t)i] -= memory[(size_t)j * stride + (size_t)i];
    return err;
}

int evaluate_derivatives(const struct program *program, const struct kernel *kernel,
                         struct farlands_scratch *scratch, const struct farlands_grid *grid,
                         int operation, float *value, float *dx, float *dy, size_t stride)
{
    const struct output output = {operation, value};
    struct derivative_rows derivatives = {.operation = operation, .dx = dx, .dy = dy};
    derivatives_need(program, operation, derivatives.needed);
    if (derivatives_exist(program, derivatives.needed))
        return run(program, kernel, scratch, grid, &output, 1, &derivatives, stride);
    int err = difference(program, kernel, scratch, grid, operation, true, value, dx, stride);
    if (!err)
        err = difference(program, kernel, scratch, grid, operation, false, value, dy, stride);
    return err ? err : evaluate(program, kernel, scratch, grid, &output, 1, stride);
}

int evaluate_rivers(const struct program *program, const struct kernel *kernel,
                    struct farlands_scratch *scratch, int operation, struct rivers **out)
{
    const struct output output = {operation, NULL};
    struct context c = {program, kernel, scratch, find_evaluation(scratch, program),
                        false,   0,      NULL};
    if (!c.evaluation)
        return -ENOMEM;
    const int err = make_plan(&c, 0, &output, 1);
    if (err)
        return err;
    *out = keep_rivers(&c, program->operation[operation].river_source);
    return *out ? 0 : -ENOMEM;
}
