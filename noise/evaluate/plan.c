/* Which operations a domain needs, in which order, and in which buffers. */
#include "plan.h"

#include <errno.h>
#include <stdlib.h>

#include "noise/evaluate/guards.h"

/* True if O just has the first input's values in DOMAIN. */
static bool is_direct(const struct program *program, const struct domain *domain,
                      const struct operation *o)
{
    if (o->kind == GRAPH_DRAIN || o->kind == GRAPH_CHANNEL)
        return plan_hides_rivers(program, domain, o);
    return o->kind == GRAPH_LATTICE && lattice_spacing(o) < domain->direct_below;
}

/* The operation that has OPERATION's values in DOMAIN: itself, or an input. */
static int resolve(const struct program *program, const struct domain *domain, int operation)
{
    while (is_direct(program, domain, &program->operation[operation]))
        operation = program->operation[operation].input[0];
    return operation;
}

/* Find operation K's inputs. */
static void find_inputs(const struct program *program, struct domain *domain, int k)
{
    const struct operation *o = &program->operation[k];
    domain->inputs[k] =
        operation_is_patched(o) || o->kind == GRAPH_DRAINAGE || plan_is_silent(domain, o)
            ? 0
            : o->inputs;
    /* The last input of such an operation stands for rivers, and is not read. */
    if (operation_is_near_water(o))
        domain->inputs[k]--;
    for (int i = 0; i < domain->inputs[k]; i++)
        domain->input[k][i] = resolve(program, domain, o->input[i]);
}

static bool is_output(const struct domain *domain, int operation)
{
    for (int i = 0; i < domain->outputs; i++)
        if (domain->output[i] == operation)
            return true;
    return false;
}

/* True if one evaluation of OPERATION per chunk is enough. FIXED: the same for operations before
 * it. */
static bool is_fixed(const struct program *program, const struct domain *domain, int operation,
                     const bool *fixed)
{
    const struct operation *o = &program->operation[operation];
    const int inputs = domain->inputs[operation];
    if (is_output(domain, operation) || o->river_source >= 0 ||
        operation_family(o) == FAMILY_WAVE || (o->noise && !plan_is_silent(domain, o)) ||
        (inputs == 0 && o->inputs > 0 && !o->noise))
        return false;
    for (int i = 0; i < inputs; i++)
        if (!fixed[domain->input[operation][i]])
            return false;
    return true;
}

/* Give each step a buffer: an input's buffer, if no other step needs the values and this one may
 * overwrite them, or else the first free one. Outputs and constants keep theirs. */
static void assign_buffers(const struct program *program, struct domain *domain, const int *last)
{
    int busy_until[GRAPH_MAX_NODES], buffers = 0, runs = 0;
    for (int s = 0; s < domain->steps; s++) {
        struct step *step = &domain->step[s];
        const struct operation *o = &program->operation[step->operation];
        int b = 0;
        while (b < buffers && busy_until[b] >= s)
            b++;
        for (int i = domain->inputs[step->operation] - 1; i >= 0; i--) {
            const int from = domain->buffer[domain->input[step->operation][i]];
            b = operation_is_in_place(o) && busy_until[from] == s ? from : b;
        }
        buffers += b == buffers;
        const bool stays = s < domain->constants || is_output(domain, step->operation);
        busy_until[b] = stays ? GRAPH_MAX_NODES : last[step->operation];
        step->buffer = domain->buffer[step->operation] = b;
        step->run = o->noise ? runs++ : 0;
    }
}

/* Puts steps in order. Inputs come before an operation, and, if possible, guards that may make the
 * operation irrelevant. Each pass places the operations that are read even if all guards not yet
 * placed are 0. The next pass then finds those guards in their places. */
struct order {
    const struct program *program;
    struct domain *domain;
    int pass;
    int seen[GRAPH_MAX_NODES];   /* the last pass that visited an operation */
    int placed[GRAPH_MAX_NODES]; /* the pass that placed an operation; 0: none yet, -1: a constant
                                  */
};

/* Place operation K, if this pass can. Returns whether it has a place. */
static bool place_step(struct order *order, int k)
{
    const struct domain *domain = order->domain;
    const struct operation *o = &order->program->operation[k];
    bool guarded = false, ready = true;
    if (order->placed[k] != 0 || order->seen[k] == order->pass)
        return order->placed[k] != 0;
    order->seen[k] = order->pass;
    if (domain->guard[k] >= 0) {
        const int guard = domain->input[k][domain->guard[k]];
        guarded = order->placed[guard] == 0 || order->placed[guard] == order->pass;
    }
    for (int i = 0; i < domain->inputs[k]; i++)
        if (!guarded || guards_reads(o, domain->guard[k], i))
            ready = place_step(order, domain->input[k][i]) && ready;
    ready = ready && !guarded;
    if (ready) {
        order->placed[k] = order->pass;
        order->domain->step[order->domain->steps++].operation = k;
    }
    return ready;
}

/* Place constants, then all other steps. */
static void place_steps(const struct program *program, struct domain *domain, const bool *needed)
{
    struct order order = {.program = program, .domain = domain};
    bool fixed[GRAPH_MAX_NODES];
    domain->steps = 0;
    for (int k = 0; k < program->count; k++) {
        fixed[k] = needed[k] && is_fixed(program, domain, k, fixed);
        if (fixed[k]) {
            domain->step[domain->steps++].operation = k;
            order.placed[k] = -1;
        }
    }
    domain->constants = domain->steps;
    bool complete = false;
    while (!complete) {
        order.pass++;
        complete = true;
        for (int i = 0; i < domain->outputs; i++)
            complete = place_step(&order, domain->output[i]) && complete;
    }
}

/* Plan DOMAIN, whose outputs are set. */
static void plan_domain(const struct program *program, struct domain *domain)
{
    bool needed[GRAPH_MAX_NODES] = {false}, patched[GRAPH_MAX_NODES] = {false};
    int last[GRAPH_MAX_NODES]; /* last step that reads each operation */

    domain->lattices = 0;
    for (int i = 0; i < domain->outputs; i++) {
        domain->output[i] = resolve(program, domain, domain->output[i]);
        needed[domain->output[i]] = true;
    }
    for (int k = program->count - 1; k >= 0; k--) {
        const struct operation *o = &program->operation[k];
        if (patched[k] || (needed[k] && o->kind == GRAPH_LATTICE))
            domain->lattice[domain->lattices++] = k;
        if (!needed[k])
            continue;
        find_inputs(program, domain, k);
        if (operation_is_slope(o))
            patched[o->input[0]] = true;
        for (int i = 0; i < domain->inputs[k]; i++)
            needed[domain->input[k][i]] = true;
    }
    guards_choose(program, domain, needed);
    place_steps(program, domain, needed);
    for (int s = 0; s < domain->steps; s++) {
        const int k = domain->step[s].operation;
        last[k] = s;
        for (int i = 0; i < domain->inputs[k]; i++)
            last[domain->input[k][i]] = s;
    }
    assign_buffers(program, domain, last);
}

/* The greatest power of two up to STEP: 2 to this. */
static int coarse_bits(int64_t step)
{
    return 63 - __builtin_clzll((uint64_t)step);
}

static struct domain *keep_domain(struct plan *plan, int lattice)
{
    if (!plan->lattice[lattice])
        plan->lattice[lattice] = calloc(1, sizeof *plan->lattice[lattice]);
    return plan->lattice[lattice];
}

/* Plan the lattices that the plan's grid needs, directly or through others. */
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
        const int own = program->operation[k].spacing_bits;
        const bool coarse = INT64_C(1) << own < plan->grid.direct_below;
        const int bits = coarse ? coarse_bits(plan->grid.band_limit) : own;
        const int64_t spacing = INT64_C(1) << bits;
        struct domain *domain = keep_domain(plan, k);
        if (!domain)
            return -ENOMEM;
        plan->bits[k] = bits;
        domain->direct_below = coarse ? spacing + 1 : spacing;
        domain->band_limit = coarse ? spacing : 0;
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
                       const int *outputs, int count)
{
    if (plan->program != program->id || plan->outputs != count ||
        plan->grid.band_limit != band_limit)
        return false;
    for (int i = 0; i < count; i++)
        if (plan->output[i] != outputs[i])
            return false;
    return true;
}

int plan_make(struct plan *plan, const struct program *program, int64_t band_limit,
              const int *outputs, int count)
{
    if (is_planned(plan, program, band_limit, outputs, count))
        return 0;
    plan->program = program->id;
    plan->outputs = 0; /* no plan if the following fails */
    plan->grid.band_limit = band_limit;
    plan->grid.direct_below = band_limit ? band_limit + 1 : 0;
    plan->grid.outputs = count;
    for (int i = 0; i < count; i++)
        plan->output[i] = plan->grid.output[i] = outputs[i];
    plan_domain(program, &plan->grid);
    const int err = plan_lattices(program, plan);
    plan->outputs = err ? 0 : count;
    return err;
}

void plan_clear(struct plan *plan)
{
    for (int i = 0; i < GRAPH_MAX_NODES; i++)
        free(plan->lattice[i]);
}
