/* Choosing the factor that switches a product off. */
#include "guards.h"

#include <math.h>
#include <string.h>

#include "noise/fractal/basis.h"

/* The time for a sample, roughly, in octaves of Perlin noise. Not the prices in operations.def:
 * with them one product in eight in the built-in worlds has another guard, and tiles take from 0.7
 * % less to 0.4 % more instructions. Prices may change; plans need not. */
static double cost(const struct operation *o)
{
    switch (o->kind) {
    case GRAPH_NOISE: {
        const bool scattered = o->inputs > 0 || o->noise->warp != 0;
        const enum basis_method method = basis_of(o->noise->basis).method;
        return o->noise->octaves * (scattered || method == BASIS_POINTS ? 40
                                    : method == BASIS_ROWS              ? 10
                                                                        : 1);
    }
    case GRAPH_DAMPED:
        return 7 * o->noise->octaves;
    case GRAPH_ERODE:
        return 30 * o->noise->octaves;
    case GRAPH_BIOME:
    case GRAPH_SPLINE:
        return 8;
    case GRAPH_DRAIN:
    case GRAPH_DRAINAGE:
        return 100;
    case GRAPH_LATTICE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        return 3;
    default:
        return 0.5;
    }
}

void guards_release(const struct program *program, const struct domain *domain, int operation,
                    const bool *spared, int16_t *reads)
{
    const struct operation *o = &program->operation[operation];
    if (--reads[operation] > 0)
        return;
    for (int i = 0; i < domain->inputs[operation]; i++)
        if (!spared[operation] || guards_reads(o, domain->guard[operation], i))
            guards_release(program, domain, domain->input[operation][i], spared, reads);
}

/* One reader of OPERATION has gone. If that was the last reader, returns the saving: the cost of
 * OPERATION and, in turn, of inputs that lose their last reader. Otherwise 0. */
static double cost_released(const struct program *program, const struct domain *domain,
                            int operation, int16_t *reads)
{
    double sum = 0;
    if (--reads[operation] == 0)
        sum = cost(&program->operation[operation]);
    for (int i = 0; i < domain->inputs[operation] && reads[operation] == 0; i++)
        sum += cost_released(program, domain, domain->input[operation][i], reads);
    return sum;
}

/* The cost of OPERATION, and of everything that only it reads. */
static double cost_alone(const struct program *program, const struct domain *domain, int operation)
{
    int16_t reads[GRAPH_MAX_NODES];
    memcpy(reads, domain->reads, (size_t)(operation + 1) * sizeof *reads);
    reads[operation] = 1;
    return cost_released(program, domain, operation, reads);
}

/* How much MASK gains as a guard, if it guards operations with the cost SPARED. The broader a mask
 * is, the larger are the regions in which it is 0. */
static double gain(const struct operation *mask, double spared)
{
    /* Less than an octave is not worth looking at the mask's values. */
    return mask->rests && spared > 1 ? spared * sqrt((double)mask->broadest + 1) : 0;
}

/* The input that guards operation K's other inputs, or -1. If two could, the one with the greater
 * gain. */
static int find_guard(const struct program *program, const struct domain *domain, int k)
{
    const struct operation *o = &program->operation[k];
    const int *input = domain->input[k];
    if (domain->inputs[k] == 0)
        return -1;
    if (o->kind == GRAPH_MIX || o->kind == GRAPH_ERODE)
        return program->operation[input[2]].rests ? 2 : -1;
    if (o->kind != GRAPH_MULTIPLY || input[0] == input[1])
        return -1;
    const double first = gain(&program->operation[input[0]], cost_alone(program, domain, input[1]));
    const double second =
        gain(&program->operation[input[1]], cost_alone(program, domain, input[0]));
    return first == 0 && second == 0 ? -1 : first >= second ? 0 : 1;
}

void guards_choose(const struct program *program, struct domain *domain, const bool *needed)
{
    memset(domain->reads, 0, sizeof domain->reads);
    for (int i = 0; i < domain->outputs; i++)
        domain->reads[domain->output[i]]++;
    for (int k = 0; k < program->count; k++)
        for (int i = 0; needed[k] && i < domain->inputs[k]; i++)
            domain->reads[domain->input[k][i]]++;
    for (int k = 0; k < program->count; k++) {
        domain->guard[k] = needed[k] ? find_guard(program, domain, k) : -1;
        domain->guarded[k] = -1;
        if (domain->guard[k] >= 0) {
            const int guard = domain->input[k][domain->guard[k]];
            domain->next_guarded[k] = domain->guarded[guard];
            domain->guarded[guard] = k;
        }
    }
}
