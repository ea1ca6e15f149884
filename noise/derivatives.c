/* The derivative of each kind of operation. */
#include "derivatives.h"

#include "noise_dual.h"

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

/* The uniform cubic B-spline at T into a cell, or its derivatives per cell, ORDER 0 to 2. */
static void spline_weights(double t, int order, double weight[4])
{
    const double u = 1 - t;
    if (order == 0) {
        weight[0] = u * u * u / 6;
        weight[1] = (t * t * (3 * t - 6) + 4) / 6;
        weight[2] = (u * u * (3 * u - 6) + 4) / 6;
        weight[3] = t * t * t / 6;
    } else if (order == 1) {
        weight[0] = -u * u / 2;
        weight[1] = t * (3 * t - 4) / 2;
        weight[2] = -u * (3 * u - 4) / 2;
        weight[3] = t * t / 2;
    } else {
        weight[0] = u;
        weight[1] = 3 * t - 2;
        weight[2] = 3 * u - 2;
        weight[3] = t;
    }
}

static int node_before(const int64_t *nodes, int64_t units, int bits)
{
    const int64_t first = ((units >> bits) - 1) * (INT64_C(1) << bits);
    int i = 0;
    while (nodes[i] < first)
        i++;
    return i;
}

/* The derivative of the lattice's surface, DX times along x and DY times along y. */
static double lattice_at(const struct patch *patch, int bits, int64_t x, int64_t y, int dx, int dy)
{
    const double spacing = (double)(INT64_C(1) << bits), cells = FARLANDS_UNIT / spacing;
    const int64_t mask = (INT64_C(1) << bits) - 1;
    const int i = node_before(patch->x, x, bits), j = node_before(patch->y, y, bits);
    double wx[4], wy[4], sum = 0;
    spline_weights((double)(x & mask) / spacing, dx, wx);
    spline_weights((double)(y & mask) / spacing, dy, wy);
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++)
            sum += wx[c] * wy[r] * (double)patch->value[j + r][i + c];
    for (int order = 0; order < dx + dy; order++)
        sum *= cells;
    return sum;
}

static struct dual lattice_dual(const struct patch *patch, int bits, enum graph_kind kind,
                                int64_t x, int64_t y)
{
    const int dx = kind == GRAPH_SLOPE_X, dy = kind == GRAPH_SLOPE_Y;
    return (struct dual){lattice_at(patch, bits, x, y, dx, dy),
                         lattice_at(patch, bits, x, y, dx + 1, dy),
                         lattice_at(patch, bits, x, y, dx, dy + 1)};
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

static struct dual operation_dual(const struct operation *o, const struct dual *in, int64_t x,
                                  int64_t y)
{
    const double p = (double)o->number[0], q = (double)o->number[1];
    const struct dual a = in[0], b = in[1], c = in[2];
    switch (o->kind) {
    case GRAPH_NOISE:
        return noise_of(o, in, x, y);
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
    case GRAPH_CONSTANT:
    case GRAPH_LATTICE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        break;
    }
    return dual_of(p);
}

/* The operations that OPERATION needs, itself included, without those below lattices. */
static void find_needed(const struct program *program, int operation, bool *needed)
{
    needed[operation] = true;
    for (int k = operation; k >= 0; k--) {
        const struct operation *o = &program->operation[k];
        if (!needed[k] || o->kind == GRAPH_LATTICE || operation_is_slope(o))
            continue;
        for (int i = 0; i < o->inputs; i++)
            needed[o->input[i]] = true;
    }
}

struct dual derivatives_at(const struct program *program, struct patch *const *patch, int operation,
                           int64_t x, int64_t y)
{
    bool needed[GRAPH_MAX_NODES] = {false};
    struct dual value[GRAPH_MAX_NODES];

    find_needed(program, operation, needed);
    value[operation] = dual_of(0);
    for (int k = 0; k <= operation; k++) {
        const struct operation *o = &program->operation[k];
        const int lattice = operation_is_slope(o) ? o->input[0] : k;
        struct dual in[GRAPH_MAX_INPUTS] = {{0, 0, 0}};
        if (!needed[k])
            continue;
        if (program->operation[lattice].kind == GRAPH_LATTICE) {
            const int bits = program->operation[lattice].spacing_bits;
            value[k] = lattice_dual(patch[lattice], bits, o->kind, x, y);
            continue;
        }
        for (int i = 0; i < o->inputs; i++)
            in[i] = value[o->input[i]];
        value[k] = operation_dual(o, in, x, y);
    }
    return value[operation];
}
