#include "steps.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "noise/evaluate/relevance.h"
#include "noise/evaluate/wave.h"

_Static_assert((int)PLAN_BAND_ROWS <= KERNEL_BAND_ROWS && PLAN_BAND_ROWS % KERNEL_SET_ROWS == 0,
               "kernels evaluate so many rows at once");

/* Where OPERATION's values are: in OUT, if OUT is not NULL and the operation is an output, or else
 * in a buffer. */
static struct rows context_rows(const struct context *c, const struct domain *domain, int operation,
                                const struct rows *out)
{
    for (int i = 0; out && i < domain->outputs; i++)
        if (domain->output[i] == operation)
            return out[i];
    return (struct rows){c->evaluation->buffer[domain->buffer[operation]]->value, c->stride};
}

/* True if an operation computes few samples row by row, like many samples. */
static bool needs_rows(const struct operation *o)
{
    return o->kind != GRAPH_NOISE && operation_family(o) != FAMILY_PLAIN;
}

/* Where operation K's values are, for those that read them. */
static struct rows known_rows(const struct context *c, const struct domain *domain,
                              const struct relevance *relevance, int k, const struct rows *out)
{
    if (relevance->zero[k])
        return (struct rows){c->evaluation->zeros->value, c->stride};
    return context_rows(c, domain, k, out);
}

/* Noise O on ROWS rows from J on, as many at once as its lines allow. */
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

/* An operation that reads rivers, on ROWS rows from J on, WIDTH samples each. */
static void run_rivers(const struct context *c, const struct operation *o, struct rows in, int j,
                       int rows, int width, struct rows to)
{
    const struct rivers *rivers = c->evaluation->water[o->river_source]->rivers;
    /* Other operations read whole steps. */
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

/* A GRAPH_DRAINAGE on ROWS rows from J on, WIDTH samples each, kept within its bounds. */
static void run_ground(const struct context *c, const struct operation *o, int k, int j, int rows,
                       int width, struct rows to)
{
    const struct chunk_ground *ground = c->evaluation->water[k]->ground;
    for (int r = 0; r < rows; r++) {
        const float *from = ground->height + (size_t)(j + r) * KERNEL_CHUNK;
        float *row = to.at + (size_t)r * to.stride;
        for (int i = 0; i < width; i++)
            row[i] = from[i] < o->low ? o->low : from[i] > o->high ? o->high : from[i];
        for (int i = width; i < whole_steps(width); i++)
            row[i] = 0;
    }
}

/* The values of an operation whose rivers are hidden. */
static void fill_without_rivers(const struct operation *o, int rows, int n, struct rows to)
{
    const float dry = o->kind == GRAPH_BANK    ? (float)RIVERS_NEAR
                      : o->kind == GRAPH_WATER ? RIVERS_DRY
                                               : 0;
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < whole_steps(n); i++)
            to.at[(size_t)r * to.stride + (size_t)i] = dry;
}

/* STEP's operation in DOMAIN on ROWS rows from J on, from its inputs IN to TO. */
static void run_operation(struct context *c, const struct domain *domain, const struct step *step,
                          const struct chunk *chunk, const struct rows *in, int j, int rows,
                          struct rows to)
{
    const struct operation *o = &c->program->operation[step->operation];
    struct noise_run *run = o->noise ? &c->evaluation->run[step->run]->run : NULL;
    const int lattice = context_lattice(o, step->operation);
    if (run && !run->begun)
        c->kernel->noise_begin(run, chunk);
    if (run)
        run->begun = true;
    if (operation_is_patched(o))
        patch_interpolate(c->evaluation->patch[lattice], c->kernel, o->kind, chunk, j, rows, to);
    else if (o->river_source >= 0)
        run_rivers(c, o, in[0], j, rows, chunk->width, to);
    else if (o->kind == GRAPH_DRAINAGE)
        run_ground(c, o, step->operation, j, rows, chunk->width, to);
    else if (operation_family(o) == FAMILY_WAVE)
        wave_band(o, chunk, domain->band_limit, j, rows, to);
    else if (o->kind == GRAPH_NOISE)
        run_noise(c, o, run, in, j, rows, to);
    else if (o->kind == GRAPH_DAMPED)
        c->kernel->damped_band(run, o, j, rows, to);
    else if (o->kind == GRAPH_ERODE)
        c->kernel->erode_band(run, o, in, j, rows, to);
    else
        c->kernel->operate(o, in, rows, whole_steps(chunk->width), to);
}

/* Choose the octaves for DOMAIN's noises. Returns 0 or -ENOMEM. */
static int begin_noises(struct context *c, const struct domain *domain, const struct chunk *chunk,
                        bool few)
{
    for (int s = 0; s < domain->steps; s++) {
        const struct step *step = &domain->step[s];
        const struct operation *o = &c->program->operation[step->operation];
        if (!o->noise || (few && !needs_rows(o)))
            continue;
        struct noise_run *run = evaluation_run(c->evaluation, step->run, noise_octaves(o->noise));
        if (!run)
            return -ENOMEM;
        run->noise = o->noise;
        run->work = &c->scratch->work;
        run->use = o->kind == GRAPH_DAMPED  ? USE_SLOPES
                   : o->kind == GRAPH_ERODE ? USE_GULLIES
                                            : USE_VALUES;
        run->moved = o->kind == GRAPH_NOISE && o->inputs > 0;
        run->light = run->moved || c->program->light;
        run->begun = false;
        run->band =
            c->kernel->noise_choose(run, domain->band_limit > 0,
                                    domain->band_limit > 0 ? domain->band_limit : chunk->x.step);
    }
    return 0;
}

/* Copy DOMAIN's output I, ROWS rows of N values, from FROM to OUT, which may be the same. An
 * operation's zeros become +0, because their signs depend on what was irrelevant. */
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

/* Samples that go through the steps together. */
struct band {
    const struct chunk *chunk;
    bool few;               /* all of the chunk's samples, one after the other, as a single row */
    int j, rows, n;         /* ROWS rows from J on, N samples each */
    const struct rows *out; /* where outputs may be written at once; NULL: in buffers first */
};

/* An operation that computes few samples row by row. */
static void run_few_rows(struct context *c, const struct domain *domain, const struct step *step,
                         const struct chunk *chunk, struct rows in[GRAPH_MAX_INPUTS],
                         struct rows to)
{
    /* A row's padding is where the next row begins, so rows are written in order. */
    for (int j = 0; j < chunk->height; j++) {
        run_operation(c, domain, step, chunk, in, j, 1, to);
        to.at += chunk->width;
        for (int i = 0; i < GRAPH_MAX_INPUTS && in[i].at; i++)
            in[i].at += chunk->width;
    }
}

/* STEP's operation at few samples. */
static void run_few(struct context *c, const struct domain *domain, const struct step *step,
                    const struct band *band, struct rows in[GRAPH_MAX_INPUTS], struct rows to)
{
    const struct operation *o = &c->program->operation[step->operation];
    if (o->kind == GRAPH_NOISE)
        c->kernel->noise_few(o->noise, o->curve, band->chunk, o->inputs > 0 ? in : NULL, o->move,
                             to.at);
    else if (!needs_rows(o))
        c->kernel->operate(o, in, 1, whole_steps(band->n), to);
    else
        run_few_rows(c, domain, step, band->chunk, in, to);
}

/* True if operation K is a lattice, or its slope, and the lattice is 0 in BAND. */
static bool is_patch_zero(const struct context *c, int k, const struct band *band)
{
    const int lattice = context_lattice(&c->program->operation[k], k);
    return patch_is_zero(c->evaluation->patch[lattice], band->chunk, band->j,
                         band->few ? band->chunk->height : band->rows);
}

/* Try to give operation K its values without computing them: 0, or an input's values, copied from
 * IN to TO unless they are there. Returns false if the operation must be computed. */
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
    const int same = relevance_same_input(o, relevance->spared[k] || inputs == 0, zero);
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

/* Step S in BAND. */
static void run_step(struct context *c, const struct domain *domain, int s, const struct band *band,
                     struct relevance *relevance)
{
    const struct step *step = &domain->step[s];
    const int k = step->operation;
    if (relevance->reads[k] == 0)
        return;
    const struct rows to = context_rows(c, domain, k, band->out);
    struct rows in[GRAPH_MAX_INPUTS] = {{NULL, 0}};
    for (int i = 0; i < domain->inputs[k]; i++)
        in[i] = known_rows(c, domain, relevance, domain->input[k][i], band->out);
    if (take_input(c, domain, k, band, in, to, relevance))
        ;
    else if (plan_hides_rivers(c->program, domain, &c->program->operation[k]))
        fill_without_rivers(&c->program->operation[k], band->rows, band->n, to);
    else if (band->few)
        run_few(c, domain, step, band, in, to);
    else
        run_operation(c, domain, step, band->chunk, in, band->j, band->rows, to);
    if (domain->guarded[k] < 0)
        return;
    relevance->zero[k] = relevance->zero[k] || c->kernel->is_zero(to, band->rows, band->n);
    if (relevance->zero[k])
        relevance_drop(relevance, c->program, domain, k);
}

/* Steps FIRST to LAST - 1 in BAND. */
static void run_steps(struct context *c, const struct domain *domain, int first, int last,
                      const struct band *band, struct relevance *relevance)
{
    for (int s = first; s < last; s++)
        run_step(c, domain, s, band, relevance);
}

/* CHUNK's ROWS rows from J on, into OUT. CONSTANTS: the relevance after the constant steps. */
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

/* All steps at few samples, then the outputs. */
static void run_few_steps(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          const struct rows *out)
{
    struct relevance relevance = relevance_all(domain);
    const struct band band = {chunk, true, 0, 1, chunk->width * chunk->height, NULL};
    run_steps(c, domain, 0, domain->steps, &band, &relevance);
    for (int i = 0; i < domain->outputs; i++) {
        const struct rows from = {known_rows(c, domain, &relevance, domain->output[i], NULL).at,
                                  (size_t)chunk->width};
        deliver(c, domain, i, from, chunk->height, chunk->width, out[i]);
    }
}

/* All bands in CHUNK. */
static void run_bands(struct context *c, const struct domain *domain, const struct chunk *chunk,
                      bool roomy, const struct rows *out)
{
    struct relevance relevance = relevance_all(domain);
    const int most = chunk->height < PLAN_BAND_ROWS ? chunk->height : PLAN_BAND_ROWS;
    const struct band band = {chunk, false, 0, most, chunk->width, NULL};
    run_steps(c, domain, 0, domain->constants, &band, &relevance);
    for (int j = 0, rows; j < chunk->height; j += rows) {
        rows = chunk->height - j < PLAN_BAND_ROWS ? chunk->height - j : PLAN_BAND_ROWS;
        run_band(c, domain, chunk, j, rows, roomy, out, &relevance);
    }
}

int steps_run(struct context *c, const struct domain *domain, const struct chunk *chunk, bool roomy,
              const struct rows *out)
{
    const bool few = chunk_is_few(chunk, domain->band_limit > 0);
    int err = evaluation_buffers(c->evaluation, domain);

    c->stride = (size_t)whole_steps(chunk->width);
    if (!err)
        err = begin_noises(c, domain, chunk, few);
    if (err)
        return err;
    for (int i = 0; i < domain->lattices; i++)
        patch_place_columns(c->evaluation->patch[domain->lattice[i]], chunk);
    if (few)
        run_few_steps(c, domain, chunk, out);
    else
        run_bands(c, domain, chunk, roomy, out);
    return 0;
}
