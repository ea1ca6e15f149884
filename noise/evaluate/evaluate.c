/*
 * The evaluation of a program over a grid. README.md has a drawing and an example.
 *
 * A grid is cut into chunks. For each chunk come the patches (patch.h) that the domain needs from
 * other domains (plan.h), then rivers, then steps (steps.h). Patches are made in falling order of
 * lattices, because a lattice's domain may need patches of lattices with smaller numbers: these are
 * made for that lattice's nodes first, and for the chunk afterwards.
 */
#include "evaluate.h"

#include <assert.h>
#include <errno.h>

#include "noise/evaluate/derivatives.h"
#include "noise/evaluate/steps.h"

/* Where derivatives go. */
struct derivative_rows {
    int operation;
    bool needed[GRAPH_MAX_NODES]; /* derivatives_need */
    float *dx, *dy;
};

/* Make the plan for OUTPUTS, and forget what belongs to another program. */
static int make_plan(struct context *c, int64_t band_limit, const struct output *outputs, int count)
{
    struct evaluation *e = c->evaluation;
    int operations[PLAN_MAX_OUTPUTS];
    if (e->plan.program != c->program->id)
        evaluation_reset(e);
    for (int i = 0; i < count; i++)
        operations[i] = outputs[i].operation;
    return plan_make(&e->plan, c->program, band_limit, operations, count);
}

/* --- Chunks --- */

static int evaluate_chunk(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          bool roomy, const struct rows *out);
static int evaluate_grid(struct context *c, const struct farlands_grid *grid,
                         const struct output *outputs, int count, size_t stride,
                         const struct derivative_rows *derivatives);

/* Fill LATTICE's patch with all nodes that CHUNK needs. */
static int make_patch(struct context *c, int lattice, const struct chunk *chunk)
{
    struct evaluation *e = c->evaluation;
    const struct domain *domain = e->plan.lattice[lattice];
    const int bits = e->plan.bits[lattice];
    struct patch *patch = evaluation_patch(e, lattice);
    if (!patch)
        return -ENOMEM;
    if (patch_covers(patch, bits, domain->band_limit, chunk))
        return 0;
    const struct chunk nodes = patch_place(patch, bits, domain->band_limit, chunk);
    assert(domain->outputs == 1);
    const int err =
        evaluate_chunk(c, domain, &nodes, true, &(struct rows){patch->value[0], KERNEL_CHUNK});
    for (int j = 0; j < nodes.height && !err; j++)
        patch->zero[j] =
            c->kernel->is_zero((struct rows){patch->value[j], KERNEL_CHUNK}, 1, nodes.width);
    patch->columns = err ? 0 : nodes.width;
    return err;
}

/* Evaluate COUNT OUTPUTS, operations below the water of M. */
static int evaluate_below(const struct water_memory *m, const struct farlands_grid *grid,
                          const struct output *outputs, int count)
{
    struct context c = {.program = m->program,
                        .kernel = m->kernel,
                        .scratch = m->scratch,
                        .evaluation = m->evaluation};
    const int err = make_plan(&c, grid->band_limit ? grid->step : 0, outputs, count);
    return err ? err : evaluate_grid(&c, grid, outputs, count, (size_t)grid->width, NULL);
}

/* The drain_ground of a GRAPH_DRAIN. */
static int drain_input(void *context, const struct farlands_grid *grid, float *out)
{
    const struct water_memory *m = context;
    return evaluate_below(m, grid, &(struct output){m->input[0], out}, 1);
}

/* Keep VALUES of INPUT within its bounds. */
static void bound_input(enum drainage_input input, float *values, int count)
{
    static const float LEAST = 1e-4f, MOST = 10, HIGHEST = DRAINAGE_HIGHEST; /* slopes; metres */
    static const float WIDEST = 90;                                          /* degrees */
    const bool is_height = input == DRAINAGE_ENVELOPE || input == DRAINAGE_TOP;
    const bool is_share = input == DRAINAGE_ICE || input == DRAINAGE_LAKES;
    const bool is_angle = input == DRAINAGE_JUNCTION;
    const float low = is_height ? -HIGHEST : is_share || is_angle ? 0 : LEAST;
    const float high = is_height ? HIGHEST : is_share ? 1 : is_angle ? WIDEST : MOST;
    for (int i = 0; i < count; i++)
        values[i] = values[i] < low ? low : values[i] > high ? high : values[i];
}

/* The drainage_source of a GRAPH_DRAINAGE. */
static int drainage_input(void *context, const struct farlands_grid *grid,
                          float *const out[DRAINAGE_INPUTS])
{
    const struct water_memory *m = context;
    struct output outputs[DRAINAGE_INPUTS];
    int count = 0;
    for (enum drainage_input k = 0; k < DRAINAGE_INPUTS; k++)
        if (out[k])
            outputs[count++] = (struct output){m->input[k], out[k]};
    const int err = evaluate_below(m, grid, outputs, count);
    for (enum drainage_input k = 0; k < DRAINAGE_INPUTS && !err; k++)
        if (out[k])
            bound_input(k, out[k], grid->width * grid->height);
    return err;
}

static struct water_memory *new_water(const struct context *c, int k)
{
    const struct operation *o = &c->program->operation[k];
    struct water_memory *m = water_memory_new(o->kind == GRAPH_DRAINAGE);
    if (!m)
        return NULL;
    for (int i = 0; i < o->inputs; i++)
        m->input[i] = o->input[i];
    if (o->kind == GRAPH_DRAIN || !drainage_new(&m->drainage, o->drainage, drainage_input, m,
                                                c->scratch->drainage_cache, c->program->id, k))
        return m;
    water_memory_free(m);
    return NULL;
}

/* The memory of K, a GRAPH_DRAIN or GRAPH_DRAINAGE; NULL if out of memory. */
static struct water_memory *water_of(const struct context *c, int k)
{
    struct water_memory **m = &c->evaluation->water[k];
    if (!*m)
        *m = new_water(c, k);
    if (!*m)
        return NULL;
    (*m)->program = c->program; /* perhaps another program with the same id */
    (*m)->kernel = c->kernel;
    (*m)->scratch = c->scratch;
    return *m;
}

/* The rivers of K, a GRAPH_DRAIN or GRAPH_DRAINAGE; NULL if out of memory. */
static struct rivers *rivers_of(const struct context *c, int k)
{
    const struct rivers_params *params = c->program->operation[k].rivers;
    struct water_memory *m = water_of(c, k);
    if (!m || m->rivers)
        return m ? m->rivers : NULL;
    struct rivers *rivers;
    const int err = m->drainage ? rivers_new_on(&rivers, params, c->kernel, m->drainage)
                                : rivers_new(&rivers, params, c->kernel, drain_input, m);
    m->rivers = err ? NULL : rivers;
    return m->rivers;
}

/* Find the rivers that DOMAIN's steps need for CHUNK. */
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
        struct rivers *rivers = rivers_of(c, source);
        if (!rivers)
            return -ENOMEM;
        err = (valleys ? rivers_find_valleys : rivers_find_near)(rivers, chunk, domain->band_limit);
        found[valleys][source] = true;
    }
    return err;
}

/* Find the ground of GRAPH_DRAINAGE K at CHUNK's samples. */
static int find_ground(struct context *c, int k, const struct chunk *chunk, int64_t band_limit)
{
    struct water_memory *m = water_of(c, k);
    if (!m)
        return -ENOMEM;
    struct chunk_ground *ground = m->ground;
    for (int i = 0; i < chunk->width; i++)
        ground->x[i] = coordinate_at(chunk->x, i);
    for (int j = 0; j < chunk->height; j++)
        ground->y[j] = coordinate_at(chunk->y, j);
    const struct drainage_samples samples = {ground->x, ground->y, chunk->width, chunk->height};
    return drainage_heights(m->drainage, &samples, band_limit, ground->height, KERNEL_CHUNK);
}

/* Find all grounds that DOMAIN's steps need for CHUNK. */
static int find_grounds(struct context *c, const struct domain *domain, const struct chunk *chunk)
{
    int err = 0;
    for (int s = 0; s < domain->steps && !err; s++)
        if (c->program->operation[domain->step[s].operation].kind == GRAPH_DRAINAGE)
            err = find_ground(c, domain->step[s].operation, chunk, domain->band_limit);
    return err;
}

/* Evaluate DOMAIN over CHUNK. OUT: each output's rows. ROOMY: rows may be written in whole
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
        err = find_grounds(c, domain, chunk);
    return err ? err : steps_run(c, domain, chunk, roomy, out);
}

/* --- Grids --- */

/* How many samples a chunk may have along an axis, so that no patch has more than KERNEL_CHUNK
 * nodes there. If samples are close, a patch has the nodes in between, and four more per level of
 * lattices. If they are far apart, each sample has four nodes, and three more per level. */
static int chunk_size(const struct plan *plan, int64_t step)
{
    if (plan->depth == 0)
        return KERNEL_CHUNK;
    const int64_t free_nodes = KERNEL_CHUNK - 1 - TAPS * (int64_t)plan->depth;
    const int apart = KERNEL_CHUNK / (TAPS + 3 * (plan->depth - 1));
    /* Without overflow, because the size is at least APART. */
    const int64_t close =
        step / apart <= plan->least_spacing
            ? 1 + (int64_t)((double)free_nodes * (double)plan->least_spacing / (double)step)
            : 1;
    const int64_t size = close > apart ? close : apart;
    return size < KERNEL_CHUNK ? (int)size : KERNEL_CHUNK;
}

/* The size, up to MOST, of equal chunks that N samples make. */
static int even_chunk(int n, int most)
{
    const int chunks = (n - 1) / most + 1;
    return (n - 1) / chunks + 1;
}

/* Differentiate at CHUNK's samples. The chunk has just been evaluated, so patches are there. */
static void differentiate(const struct context *c, const struct chunk *chunk,
                          const struct derivative_rows *d, size_t at, size_t stride)
{
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
                         const struct output *outputs, int count, size_t stride,
                         const struct derivative_rows *derivatives)
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
            if (derivatives)
                differentiate(c, &chunk, derivatives, at, stride);
        }
    return 0;
}

static int run(const struct program *program, const struct kernel *kernel,
               struct farlands_scratch *scratch, const struct farlands_grid *grid,
               const struct output *outputs, int count, const struct derivative_rows *derivatives,
               size_t stride)
{
    struct context c = {.program = program,
                        .kernel = kernel,
                        .scratch = scratch,
                        .evaluation = evaluation_find(scratch, program)};
    if (!c.evaluation)
        return -ENOMEM;
    const int err = make_plan(&c, grid->band_limit ? grid->step : 0, outputs, count);
    return err ? err : evaluate_grid(&c, grid, outputs, count, stride, derivatives);
}

int evaluate(const struct program *program, const struct kernel *kernel,
             struct farlands_scratch *scratch, const struct farlands_grid *grid,
             const struct output *outputs, int count, size_t stride)
{
    return run(program, kernel, scratch, grid, outputs, count, NULL, stride);
}

/* Write OPERATION's differences from half a block before each sample to half a block after, along x
 * if X and else along y, into OUT. MEMORY has room for as many values. */
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
    struct context c = {.program = program,
                        .kernel = kernel,
                        .scratch = scratch,
                        .evaluation = evaluation_find(scratch, program)};
    if (!c.evaluation)
        return -ENOMEM;
    const int err = make_plan(&c, 0, &output, 1);
    if (err)
        return err;
    *out = rivers_of(&c, program->operation[operation].river_source);
    return *out ? 0 : -ENOMEM;
}
