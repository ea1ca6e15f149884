/* The derivative of each kind of operation. */
#include "derivatives.h"

#include <string.h>

#include "noise/evaluate/noise_dual.h"
#include "noise/evaluate/wave.h"

static struct dual curve_dual(const struct curve *curve, struct dual a)
{
    if (a.v <= (double)curve->first)
        return dual_of((double)curve->base[0]);
    if (a.v >= (double)curve->last)
        a = dual_of((double)curve->last);
    int piece = curve->pieces - 1;
    while (piece > 0 && a.v < (double)curve->from[piece])
        piece--;
    const struct dual v = dual_scale(a, 1, -(double)curve->from[piece]);
    const double base = (double)curve->base[piece];
    if (!curve->cubic)
        return dual_scale(v, (double)curve->slope[piece] + (double)curve->slope_rest[piece], base);
    const struct dual t = dual_scale(v, (double)curve->inverse[piece], 0);
    struct dual rise = dual_scale(t, (double)curve->rise[2][piece], (double)curve->rise[1][piece]);
    rise = dual_scale(dual_multiply(t, rise), 1, (double)curve->rise[0][piece]);
    return dual_scale(dual_multiply(t, rise), 1, base);
}

static struct dual smooth_least(struct dual a, struct dual b, double width)
{
    const struct dual gap = dual_absolute(dual_subtract(a, b));
    const struct dual h = dual_greatest(dual_scale(gap, -1 / width, 1), dual_of(0));
    return dual_subtract(dual_least(a, b), dual_scale(dual_multiply(h, h), width / 4, 0));
}

static struct dual terrace(struct dual a, double height, double share)
{
    const double whole = floor(a.v / height);
    const struct dual rest = dual_scale(a, 1 / height, -whole);
    const struct dual step = dual_smoothstep(dual_scale(rest, 1 / share, 0.5 - 0.5 / share));
    return dual_scale(step, height, height * whole);
}

/* --- Lattices --- */

static struct dual lattice_dual(const struct patch *patch, enum graph_kind kind, int64_t x,
                                int64_t y)
{
    const int dx = kind == GRAPH_SLOPE_X, dy = kind == GRAPH_SLOPE_Y;
    return (struct dual){patch_derivative(patch, x, y, dx, dy),
                         patch_derivative(patch, x, y, dx + 1, dy),
                         patch_derivative(patch, x, y, dx, dy + 1)};
}

/* --- Programs --- */

static struct dual noise_of(const struct operation *o, const struct dual *in, int64_t x, int64_t y)
{
    const bool moved = o->inputs > 0;
    const struct moved_place place = {x, y, moved ? dual_scale(in[0], o->move, 0) : dual_of(0),
                                      moved ? dual_scale(in[1], o->move, 0) : dual_of(0)};
    const struct dual n = noise_dual(o->noise, place);
    return o->curve ? curve_dual(o->curve, n) : n;
}

/* Constant, except at borders. */
static struct dual biome_of(const struct biomes *biomes, const struct dual *in)
{
    float place[BIOME_AXES];
    for (int i = 0; i < BIOME_AXES; i++)
        place[i] = (float)in[i].v;
    return dual_of((double)biomes_nearest(biomes, place));
}

static struct dual operation_dual(const struct operation *o, const struct dual *in, int64_t x,
                                  int64_t y)
{
    const double p = (double)o->number[0], q = (double)o->number[1];
    const struct dual a = in[0], b = in[1], c = in[2];
    switch (o->kind) {
    case GRAPH_NOISE:
        return noise_of(o, in, x, y);
    case GRAPH_WAVE_X:
    case GRAPH_WAVE_Y:
        return wave_dual(o, x, y);
    case GRAPH_ADD:
        return dual_add(a, b);
    case GRAPH_SUBTRACT:
        return dual_subtract(a, b);
    case GRAPH_MULTIPLY:
        return dual_multiply(a, b);
    case GRAPH_MIN:
        return dual_least(a, b);
    case GRAPH_MAX:
        return dual_greatest(a, b);
    case GRAPH_SMOOTH_MIN:
        return smooth_least(a, b, p);
    case GRAPH_SMOOTH_MAX:
        return dual_scale(smooth_least(dual_scale(a, -1, 0), dual_scale(b, -1, 0), p), -1, 0);
    case GRAPH_ABS:
        return dual_absolute(a);
    case GRAPH_CLAMP:
        return dual_clamp(a, p, q);
    case GRAPH_MIX:
        return dual_add(a, dual_multiply(c, dual_subtract(b, a)));
    case GRAPH_SPLINE:
        return curve_dual(o->curve, a);
    case GRAPH_STEP:
        return dual_smoothstep(dual_scale(a, 1 / (q - p), -p / (q - p)));
    case GRAPH_RIDGE:
        return dual_smoothstep(dual_scale(dual_absolute(a), -1 / p, 1));
    case GRAPH_TERRACE:
        return terrace(a, p, q);
    case GRAPH_DAMPED:
        return damped_dual(o, x, y);
    case GRAPH_ERODE:
        return gullies_dual(o, x, y, in);
    case GRAPH_BIOME:
        return biome_of(o->biomes, in);
    case GRAPH_CONSTANT:
    case GRAPH_LATTICE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
    case GRAPH_DRAIN:
    case GRAPH_DRAINAGE:
    case GRAPH_BASE_LEVEL:
    case GRAPH_BANK:
    case GRAPH_WATER:
    case GRAPH_RIVER:
    case GRAPH_CHANNEL:
        break;
    }
    return dual_of(p);
}

void derivatives_need(const struct program *program, int operation, bool needed[GRAPH_MAX_NODES])
{
    memset(needed, 0, GRAPH_MAX_NODES * sizeof *needed);
    needed[operation] = true;
    for (int k = operation; k >= 0; k--) {
        const struct operation *o = &program->operation[k];
        if (!needed[k] || operation_is_patched(o))
            continue;
        for (int i = 0; i < o->inputs; i++)
            needed[o->input[i]] = true;
    }
}

bool derivatives_exist(const struct program *program, const bool needed[GRAPH_MAX_NODES])
{
    for (int k = 0; k < program->count; k++)
        if (needed[k] && (program->operation[k].river_source >= 0 ||
                          program->operation[k].kind == GRAPH_DRAINAGE))
            return false;
    return true;
}

struct dual derivatives_at(const struct program *program, struct patch *const *patch,
                           const bool needed[GRAPH_MAX_NODES], int operation, int64_t x, int64_t y)
{
    struct dual value[GRAPH_MAX_NODES];

    value[operation] = dual_of(0);
    for (int k = 0; k <= operation; k++) {
        const struct operation *o = &program->operation[k];
        const int lattice = operation_is_slope(o) ? o->input[0] : k;
        struct dual in[GRAPH_MAX_INPUTS] = {{0, 0, 0}};
        if (!needed[k])
            continue;
        if (program->operation[lattice].kind == GRAPH_LATTICE) {
            value[k] = lattice_dual(patch[lattice], o->kind, x, y);
            continue;
        }
        for (int i = 0; i < o->inputs; i++)
            in[i] = value[o->input[i]];
        value[k] = operation_dual(o, in, x, y);
    }
    return value[operation];
}
