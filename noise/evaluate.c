/*
 * The evaluation of a program over a grid.
 *
 * A grid is cut into chunks, and a chunk is evaluated band by band: 16 rows of one operation, then
 * of the next. Values lie in buffers, which are used again once nobody needs them.
 *
 * A lattice (GRAPH_LATTICE) is a domain of its own. Before a chunk of any domain begins, the nodes
 * that its samples lie between are evaluated, a patch, as a chunk of the lattice's domain. So
 * evaluation goes down from the grid to lattices, and from these to others. Lattices that are
 * farther down have smaller numbers: patches are made in falling order of numbers, so that what one
 * needs does not displace what was made before.
 */
#include "evaluate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "noise/kernel/scratch.h"

/* Nodes that a sample lies between along an axis, the first of them one before its cell. */
enum { TAPS = 4 };

/* Nodes of the smallest patch: a vector along a row, and as many rows as it takes to serve points
 * that lie close to each other. */
enum { LEAST_COLUMNS = 16, LEAST_ROWS = 8 };

/* Values at nodes of a lattice, in ascending order but not necessarily neighbours. */
struct patch {
    int columns, rows;                        /* 0: empty */
    bool regular;                             /* nodes are neighbours */
    int64_t x[KERNEL_CHUNK], y[KERNEL_CHUNK]; /* units */
    KERNEL_ALIGNED float value[KERNEL_CHUNK][KERNEL_CHUNK];
    struct patch_columns samples; /* of the chunk that is evaluated */
};

/* An operation within a domain. */
struct step {
    int operation;
    int buffer; /* of its result; -1: the result of the domain, which goes out */
    int run;    /* of GRAPH_NOISE */
};

/* What is evaluated on a grid, or at the nodes of a lattice. */
struct domain {
    int64_t direct_below; /* lattices with less spacing are their inputs themselves */
    int64_t band_limit;   /* distance of samples if they are filtered; 0: none */
    int constants, steps; /* the first steps are constants, evaluated once a chunk */
    struct step step[GRAPH_MAX_NODES];
    int buffer[GRAPH_MAX_NODES]; /* of each operation while it is needed */
    int outputs, output[EVALUATE_MAX_OUTPUTS];
    int lattices, lattice[GRAPH_MAX_NODES]; /* whose patches it needs, in falling order */
};

struct plan {
    uint64_t program;
    int outputs, output[EVALUATE_MAX_OUTPUTS];
    struct domain grid;
    int depth; /* of lattices that need each other; 0: none */
    int64_t least_spacing;
    struct domain *lattice[GRAPH_MAX_NODES]; /* by operation; memory is kept */
};

/* A noise and its octaves, used by one domain after the other. */
struct run_memory {
    struct noise_run run;
    int octaves; /* room for so many */
};

struct buffer {
    KERNEL_ALIGNED float row[KERNEL_BAND_ROWS][KERNEL_CHUNK];
};

struct evaluation {
    struct plan plan;
    struct patch *patch[GRAPH_MAX_NODES]; /* by operation */
    struct buffer *buffer[GRAPH_MAX_NODES];
    struct run_memory *run[GRAPH_MAX_NODES];
};

/* All that functions need. */
struct context {
    const struct program *program;
    const struct kernel *kernel;
    struct farlands_scratch *scratch;
    struct evaluation *evaluation;
    bool band_limit;
};

/* A rectangle of samples, no larger than KERNEL_CHUNK. */
struct chunk {
    struct coordinates x, y;
    int width, height;
};

/* --- Memory --- */

/* *MEMORY if it is there, or else a new one. */
static void *keep(void **memory, size_t size)
{
    if (!*memory)
        *memory = aligned_alloc(64, (size + 63) / 64 * 64);
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
        free(memory->run.octave);
        memory->octaves = 0;
        memory->run.octave = aligned_alloc(64, (size_t)octaves * sizeof *memory->run.octave);
        if (!memory->run.octave)
            return NULL;
        memory->octaves = octaves;
    }
    return &memory->run;
}

void evaluation_free(struct evaluation *evaluation)
{
    for (int i = 0; evaluation && i < GRAPH_MAX_NODES; i++) {
        free(evaluation->plan.lattice[i]);
        free(evaluation->patch[i]);
        free(evaluation->buffer[i]);
        if (evaluation->run[i])
            free(evaluation->run[i]->run.octave);
        free(evaluation->run[i]);
    }
    free(evaluation);
}

/* --- The plan --- */

static bool is_direct(const struct domain *domain, const struct operation *o)
{
    return o->kind == GRAPH_LATTICE && lattice_spacing(o) < domain->direct_below;
}

/* The operation whose values OPERATION has in DOMAIN. */
static int resolve(const struct program *program, const struct domain *domain, int operation)
{
    while (is_direct(domain, &program->operation[operation]))
        operation = program->operation[operation].input[0];
    return operation;
}

static bool is_slope(const struct operation *o)
{
    return o->kind == GRAPH_SLOPE_X || o->kind == GRAPH_SLOPE_Y;
}

/* True if the band limit leaves nothing of gullies. */
static bool is_silent(const struct domain *domain, const struct operation *o)
{
    return o->kind == GRAPH_ERODE && domain->band_limit &&
           octave_band_limit(&o->noise->octave[0], domain->band_limit) == 0;
}

/* The inputs of an operation within a domain; values of lattices come from patches. */
static int inputs_of(const struct domain *domain, const struct operation *o)
{
    return o->kind == GRAPH_LATTICE || is_slope(o) || is_silent(domain, o) ? 0 : o->inputs;
}

static bool is_output(const struct domain *domain, int operation)
{
    for (int i = 0; i < domain->outputs; i++)
        if (domain->output[i] == operation)
            return true;
    return false;
}

/* True if OPERATION needs to be evaluated once a chunk only. */
static bool is_fixed(const struct program *program, const struct domain *domain, int operation)
{
    return program->operation[operation].kind == GRAPH_CONSTANT && !is_output(domain, operation);
}

/* Give each step the first buffer that nobody needs any more. Results that go out, and constants,
 * are kept. */
static void assign_buffers(const struct program *program, struct domain *domain, const int *last)
{
    int busy_until[GRAPH_MAX_NODES], buffers = 0, runs = 0;
    for (int s = 0; s < domain->steps; s++) {
        struct step *step = &domain->step[s];
        const struct operation *o = &program->operation[step->operation];
        int b = 0;
        while (b < buffers && busy_until[b] >= s)
            b++;
        buffers += b == buffers;
        const bool stays = s < domain->constants || is_output(domain, step->operation);
        busy_until[b] = stays ? GRAPH_MAX_NODES : last[step->operation];
        step->buffer = domain->buffer[step->operation] = b;
        step->run = o->noise ? runs++ : 0;
    }
}

/* Plan DOMAIN, whose outputs are set. */
static void plan_domain(const struct program *program, struct domain *domain)
{
    bool needed[GRAPH_MAX_NODES] = {false}, patched[GRAPH_MAX_NODES] = {false};
    int last[GRAPH_MAX_NODES]; /* step that needs each operation */

    domain->steps = domain->constants = domain->lattices = 0;
    for (int i = 0; i < domain->outputs; i++) {
        domain->output[i] = resolve(program, domain, domain->output[i]);
        needed[domain->output[i]] = true;
    }
    for (int k = program->count - 1; k >= 0; k--) {
        const struct operation *o = &program->operation[k];
        if (patched[k] || (needed[k] && o->kind == GRAPH_LATTICE))
            domain->lattice[domain->lattices++] = k;
        if (needed[k] && is_slope(o))
            patched[o->input[0]] = true;
        for (int i = 0; needed[k] && i < inputs_of(domain, o); i++)
            needed[resolve(program, domain, o->input[i])] = true;
    }
    for (int constants = 1; constants >= 0; constants--)
        for (int k = 0; k < program->count; k++)
            if (needed[k] && is_fixed(program, domain, k) == constants) {
                domain->step[domain->steps++].operation = k;
                domain->constants += constants;
            }
    for (int s = 0; s < domain->steps; s++) {
        const struct operation *o = &program->operation[domain->step[s].operation];
        last[domain->step[s].operation] = s;
        for (int i = 0; i < inputs_of(domain, o); i++)
            last[resolve(program, domain, o->input[i])] = s;
    }
    assign_buffers(program, domain, last);
}

/* Plan all lattices that the plan's grid needs, directly or through others. */
static int plan_lattices(const struct program *program, struct plan *plan)
{
    int depth[GRAPH_MAX_NODES] = {0}; /* 0: not needed */

    plan->depth = 0;
    plan->least_spacing = INT64_MAX;
    for (int i = 0; i < plan->grid.lattices; i++)
        depth[plan->grid.lattice[i]] = 1;
    for (int k = program->count - 1; k >= 0; k--) {
        if (depth[k] == 0)
            continue;
        const int64_t spacing = lattice_spacing(&program->operation[k]);
        struct domain *domain = keep((void **)&plan->lattice[k], sizeof *domain);
        if (!domain)
            return -ENOMEM;
        domain->direct_below = spacing;
        domain->band_limit = 0;
        domain->outputs = 1;
        domain->output[0] = program->operation[k].input[0];
        plan_domain(program, domain);
        plan->depth = depth[k] > plan->depth ? depth[k] : plan->depth;
        plan->least_spacing = spacing < plan->least_spacing ? spacing : plan->least_spacing;
        for (int i = 0; i < domain->lattices; i++)
            if (depth[domain->lattice[i]] < depth[k] + 1)
                depth[domain->lattice[i]] = depth[k] + 1;
    }
    return 0;
}

static bool is_planned(const struct plan *plan, const struct program *program, int64_t band_limit,
                       const struct output *outputs, int count)
{
    if (plan->program != program->id || plan->outputs != count ||
        plan->grid.band_limit != band_limit)
        return false;
    for (int i = 0; i < count; i++)
        if (plan->output[i] != outputs[i].operation)
            return false;
    return true;
}

/* The plan for OUTPUTS; patches of another program are thrown away. */
static int make_plan(struct context *c, int64_t band_limit, const struct output *outputs, int count)
{
    struct plan *plan = &c->evaluation->plan;
    if (is_planned(plan, c->program, band_limit, outputs, count))
        return 0;
    for (int i = 0; plan->program != c->program->id && i < GRAPH_MAX_NODES; i++)
        if (c->evaluation->patch[i])
            c->evaluation->patch[i]->columns = 0;
    plan->program = c->program->id;
    plan->outputs = 0; /* no plan if this fails */
    plan->grid.band_limit = band_limit;
    plan->grid.direct_below = band_limit ? band_limit + 1 : 0;
    plan->grid.outputs = count;
    for (int i = 0; i < count; i++)
        plan->output[i] = plan->grid.output[i] = outputs[i].operation;
    plan_domain(c->program, &plan->grid);
    const int err = plan_lattices(c->program, plan);
    plan->outputs = err ? 0 : count;
    return err;
}

/* --- Patches --- */

static int64_t coordinate(struct coordinates along, int i)
{
    return along.at ? along.at[i] : along.first + i * along.step;
}

/* The nodes that N coordinates lie between, 2^BITS units apart, into NODE. Returns how many. */
static int nodes_around(struct coordinates along, int n, int bits, int64_t *node)
{
    int count = 0;
    for (int i = 0; i < n; i++) {
        const int64_t cell = coordinate(along, i) >> bits;
        int64_t next = cell - 1;
        if (count > 0 && node[count - 1] >= next)
            next = node[count - 1] + 1;
        while (next <= cell + 2)
            node[count++] = next++;
    }
    return count;
}

/* Whether COUNT nodes are neighbours; if so and they are few, there are LEAST after this. */
static bool widen(int64_t *node, int *count, int least)
{
    if (node[*count - 1] - node[0] != *count - 1)
        return false;
    const int64_t first = node[0] - (least - *count) / 2;
    if (*count >= least)
        return true;
    for (int i = 0; i < least; i++)
        node[i] = first + i;
    *count = least;
    return true;
}

/* From nodes to units, in whole KERNEL_STEPs. Returns the greatest distance of two neighbours. */
static int64_t to_units(int64_t *node, int count, int bits)
{
    int64_t widest = INT64_C(1) << bits;
    for (int i = 0; i < whole_steps(count); i++) {
        node[i] = i < count ? node[i] * (INT64_C(1) << bits) : node[count - 1];
        if (i > 0 && node[i] - node[i - 1] > widest)
            widest = node[i] - node[i - 1];
    }
    return widest;
}

static bool covers(const int64_t *units, int count, struct coordinates along, int n, int bits)
{
    const int64_t spacing = INT64_C(1) << bits;
    const int64_t first = coordinate(along, 0) >> bits, last = coordinate(along, n - 1) >> bits;
    return units[0] <= (first - 1) * spacing && units[count - 1] >= (last + 2) * spacing;
}

static int evaluate_chunk(struct context *c, const struct domain *domain, const struct chunk *chunk,
                          bool roomy, const struct rows *out);

/* Fill the patch of LATTICE, an operation, with what CHUNK needs. */
static int make_patch(struct context *c, int lattice, const struct chunk *chunk)
{
    struct evaluation *e = c->evaluation;
    const int bits = c->program->operation[lattice].spacing_bits;
    const bool is_new = !e->patch[lattice];
    struct patch *patch = keep((void **)&e->patch[lattice], sizeof *patch);
    if (!patch)
        return -ENOMEM;
    if (!is_new && patch->columns > 0 && patch->regular &&
        covers(patch->x, patch->columns, chunk->x, chunk->width, bits) &&
        covers(patch->y, patch->rows, chunk->y, chunk->height, bits))
        return 0;
    int columns = nodes_around(chunk->x, chunk->width, bits, patch->x);
    int rows = nodes_around(chunk->y, chunk->height, bits, patch->y);
    patch->columns = 0; /* no patch if this fails */
    patch->regular = widen(patch->x, &columns, LEAST_COLUMNS);
    patch->regular &= widen(patch->y, &rows, LEAST_ROWS);
    const int64_t wide = to_units(patch->x, columns, bits), high = to_units(patch->y, rows, bits);
    const int64_t step = wide > high ? wide : high;
    struct chunk nodes = {
        {patch->x[0], step, patch->x}, {patch->y[0], step, patch->y}, columns, rows};
    if (patch->regular)
        nodes.x.at = nodes.y.at = NULL;
    const bool band_limit = c->band_limit;
    c->band_limit = false;
    const int err = evaluate_chunk(c, e->plan.lattice[lattice], &nodes, true,
                                   &(struct rows){patch->value[0], KERNEL_CHUNK});
    c->band_limit = band_limit;
    patch->columns = err ? 0 : columns;
    patch->rows = rows;
    return err;
}

/* The weights of the four nodes around a place that is UNITS into a cell: the uniform cubic
 * B-spline, and its derivative, per block. */
static void spline_weights(int64_t units, int bits, float weight[TAPS], float slope[TAPS])
{
    const double spacing = (double)(INT64_C(1) << bits);
    const double t = (double)units / spacing, u = 1 - t, half = FARLANDS_UNIT / spacing / 2;
    weight[0] = (float)(u * u * u / 6);
    weight[1] = (float)((t * t * (3 * t - 6) + 4) / 6);
    weight[2] = (float)((u * u * (3 * u - 6) + 4) / 6);
    weight[3] = (float)(t * t * t / 6);
    slope[0] = (float)(-u * u * half);
    slope[1] = (float)(t * (3 * t - 4) * half);
    slope[2] = (float)(-u * (3 * u - 4) * half);
    slope[3] = (float)(t * t * half);
}

/* The first of the nodes around UNITS among COUNT nodes, searched for from FROM on. */
static int first_node(const int64_t *nodes, int from, int64_t units, int bits)
{
    const int64_t first = ((units >> bits) - 1) * (INT64_C(1) << bits);
    while (nodes[from] < first)
        from++;
    return from;
}

static void place_columns(struct patch *patch, int bits, const struct chunk *chunk)
{
    struct patch_columns *samples = &patch->samples;
    int first = 0;
    for (int i = 0; i < whole_steps(chunk->width); i++) {
        float weight[TAPS], slope[TAPS];
        const int64_t x = coordinate(chunk->x, i < chunk->width ? i : chunk->width - 1);
        first = samples->first[i] = first_node(patch->x, first, x, bits);
        spline_weights(x & ((INT64_C(1) << bits) - 1), bits, weight, slope);
        for (int k = 0; k < TAPS; k++) {
            samples->weight[k][i] = weight[k];
            samples->slope[k][i] = slope[k];
        }
    }
}

/* ROWS rows from J on of LATTICE, or of its slope if KIND is GRAPH_SLOPE_X or GRAPH_SLOPE_Y. */
static void interpolate_rows(struct context *c, int lattice, enum graph_kind kind,
                             const struct chunk *chunk, int j, int rows, struct rows out)
{
    const struct patch *patch = c->evaluation->patch[lattice];
    const struct patch_columns *samples = &patch->samples;
    const float *column = kind == GRAPH_SLOPE_X ? samples->slope[0] : samples->weight[0];
    const int bits = c->program->operation[lattice].spacing_bits;
    int first = 0;
    for (int r = 0; r < rows; r++) {
        const int64_t y = coordinate(chunk->y, j + r);
        const float *line[TAPS];
        float weight[TAPS], slope[TAPS];
        first = first_node(patch->y, first, y, bits);
        for (int k = 0; k < TAPS; k++)
            line[k] = patch->value[first + k];
        spline_weights(y & ((INT64_C(1) << bits) - 1), bits, weight, slope);
        c->kernel->interpolate(samples->first, column, line, kind == GRAPH_SLOPE_Y ? slope : weight,
                               patch->columns, whole_steps(chunk->width),
                               out.at + (size_t)r * out.stride);
    }
}

/* --- Chunks --- */

/* Where OPERATION's values are: in OUT, if it is not NULL and this is one of the domain's outputs,
 * or else in a buffer. */
static struct rows rows_of(const struct context *c, const struct domain *domain, int operation,
                           const struct rows *out)
{
    for (int i = 0; out && i < domain->outputs; i++)
        if (domain->output[i] == operation)
            return out[i];
    return (struct rows){c->evaluation->buffer[domain->buffer[operation]]->row[0], KERNEL_CHUNK};
}

/* ROWS rows from J on of one step. */
static void run_step(struct context *c, const struct domain *domain, const struct step *step,
                     const struct chunk *chunk, int j, int rows, const struct rows *out)
{
    const struct operation *o = &c->program->operation[step->operation];
    const struct rows to = rows_of(c, domain, step->operation, out);
    struct rows in[GRAPH_MAX_INPUTS] = {{NULL, 0}};

    for (int i = 0; i < inputs_of(domain, o); i++)
        in[i] = rows_of(c, domain, resolve(c->program, domain, o->input[i]), out);
    struct noise_run *run = o->noise ? &c->evaluation->run[step->run]->run : NULL;
    if (o->kind == GRAPH_LATTICE)
        interpolate_rows(c, step->operation, o->kind, chunk, j, rows, to);
    else if (is_slope(o))
        interpolate_rows(c, o->input[0], o->kind, chunk, j, rows, to);
    else if (o->kind == GRAPH_NOISE)
        c->kernel->noise_band(run, o->curve, o->inputs > 0 ? in : NULL, o->move, j, rows, to);
    else if (o->kind == GRAPH_DAMPED)
        c->kernel->damped_band(run, o, j, rows, to);
    else if (o->kind == GRAPH_ERODE)
        c->kernel->erode_band(run, o, in, j, rows, to);
    else
        c->kernel->operate(o, in, rows, whole_steps(chunk->width), to);
}

/* Prepare the noises of DOMAIN. Returns how many rows a band may have, or -ENOMEM. */
static int begin_noises(struct context *c, const struct domain *domain, const struct chunk *chunk)
{
    int band = KERNEL_BAND_ROWS;
    for (int s = 0; s < domain->steps; s++) {
        const struct step *step = &domain->step[s];
        const struct operation *o = &c->program->operation[step->operation];
        if (!o->noise)
            continue;
        struct noise_run *run =
            keep_run(c->evaluation, step->run, o->noise->octaves + (o->noise->warp != 0 ? 2 : 0));
        if (!run)
            return -ENOMEM;
        run->noise = o->noise;
        run->work = &c->scratch->work;
        run->use = o->kind == GRAPH_DAMPED  ? USE_SLOPES
                   : o->kind == GRAPH_ERODE ? USE_GULLIES
                                            : USE_VALUES;
        run->moved = false;
        const int rows =
            c->kernel->noise_columns(run, c->band_limit, chunk->x, whole_steps(chunk->width));
        c->kernel->noise_rows(run, chunk->y, whole_steps(chunk->height));
        band = rows < band ? rows : band;
    }
    return band;
}

static int keep_buffers(struct evaluation *e, const struct domain *domain)
{
    for (int s = 0; s < domain->steps; s++)
        if (!keep((void **)&e->buffer[domain->step[s].buffer], sizeof(struct buffer)))
            return -ENOMEM;
    return 0;
}

/* ROWS rows from J on of all steps. */
static void run_band(struct context *c, const struct domain *domain, const struct chunk *chunk,
                     int j, int rows, bool roomy, const struct rows *out)
{
    struct rows band[EVALUATE_MAX_OUTPUTS];
    const int outputs = domain->outputs;

    for (int i = 0; i < outputs; i++)
        band[i] = (struct rows){out[i].at + (size_t)j * out[i].stride, out[i].stride};
    for (int s = domain->constants; s < domain->steps; s++)
        run_step(c, domain, &domain->step[s], chunk, j, rows, roomy ? band : NULL);
    for (int i = 0; i < outputs; i++) {
        const struct rows from = rows_of(c, domain, domain->output[i], roomy ? band : NULL);
        for (int r = 0; from.at != band[i].at && r < rows; r++)
            memcpy(band[i].at + (size_t)r * band[i].stride, from.at + (size_t)r * from.stride,
                   (size_t)chunk->width * sizeof *from.at);
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
        err = keep_buffers(c->evaluation, domain);
    const int band = err ? err : begin_noises(c, domain, chunk);
    if (band < 0)
        return band;
    for (int i = 0; i < domain->lattices; i++)
        place_columns(c->evaluation->patch[domain->lattice[i]],
                      c->program->operation[domain->lattice[i]].spacing_bits, chunk);
    for (int s = 0; s < domain->constants; s++)
        run_step(c, domain, &domain->step[s], chunk, 0, KERNEL_BAND_ROWS, NULL);
    for (int j = 0, rows; j < chunk->height; j += rows) {
        rows = chunk->height - j < band ? chunk->height - j : band;
        run_band(c, domain, chunk, j, rows, roomy, out);
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

static int evaluate_grid(struct context *c, const struct farlands_grid *grid,
                         const struct output *outputs, size_t stride)
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
            struct rows out[EVALUATE_MAX_OUTPUTS];
            for (int i = 0; i < domain->outputs; i++)
                out[i] =
                    (struct rows){outputs[i].out + (size_t)top * stride + (size_t)left, stride};
            const int err = evaluate_chunk(c, domain, &chunk, chunk.width % KERNEL_STEP == 0, out);
            if (err)
                return err;
        }
    return 0;
}

int evaluate(const struct program *program, const struct kernel *kernel,
             struct farlands_scratch *scratch, const struct farlands_grid *grid,
             const struct output *outputs, int count, size_t stride)
{
    if (!scratch->evaluation)
        scratch->evaluation = calloc(1, sizeof *scratch->evaluation);
    struct context c = {program, kernel, scratch, scratch->evaluation, grid->band_limit};
    if (!c.evaluation)
        return -ENOMEM;
    const int err = make_plan(&c, grid->band_limit ? grid->step : 0, outputs, count);
    return err ? err : evaluate_grid(&c, grid, outputs, stride);
}
