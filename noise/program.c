/* From a graph to a program. */
#include "program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "basis.h"
#include "lattice.h"

/* How many inputs and numbers a kind has. */
struct shape {
    int inputs, numbers;
};

static struct shape shape_of(enum graph_kind kind)
{
    switch (kind) {
    case GRAPH_NOISE: /* two inputs and a number if it is moved */
        return (struct shape){0, 0};
    case GRAPH_CONSTANT:
    case GRAPH_DAMPED:
        return (struct shape){0, 1};
    case GRAPH_ABS:
    case GRAPH_SPLINE:
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        return (struct shape){1, 0};
    case GRAPH_RIDGE:
    case GRAPH_LATTICE:
        return (struct shape){1, 1};
    case GRAPH_CLAMP:
    case GRAPH_STEP:
    case GRAPH_TERRACE:
        return (struct shape){1, 2};
    case GRAPH_SMOOTH_MIN:
    case GRAPH_SMOOTH_MAX:
        return (struct shape){2, 1};
    case GRAPH_MIX:
        return (struct shape){3, 0};
    case GRAPH_ERODE:
        return (struct shape){3, 2};
    case GRAPH_ADD:
    case GRAPH_SUBTRACT:
    case GRAPH_MULTIPLY:
    case GRAPH_MIN:
    case GRAPH_MAX:
        break;
    }
    return (struct shape){2, 0};
}

static bool is_moved(const struct graph_node *node)
{
    return node->kind == GRAPH_NOISE && node->input[0] >= 0;
}

static bool has_noise(enum graph_kind kind)
{
    return kind == GRAPH_NOISE || kind == GRAPH_DAMPED || kind == GRAPH_ERODE;
}

static struct shape node_shape(const struct graph_node *node)
{
    return is_moved(node) ? (struct shape){2, 1} : shape_of(node->kind);
}

/* --- Check --- */

struct fault {
    const char *key, *text;
};

static const struct fault no_fault;

#define NUMBER "expected a number from -1e9 to 1e9"
#define POSITIVE "expected a number from 1e-6 to 1e9"

static bool is_number(double x)
{
    return x >= -1e9 && x <= 1e9;
}

static bool is_positive(double x)
{
    return x >= 1e-6 && x <= 1e9;
}

static struct fault curve_fault(const struct curve_params *curve)
{
    if (curve->knots < 2 || curve->knots > FARLANDS_MAX_KNOTS)
        return (struct fault){"knots", "expected 2 to 32 pairs [value, result]"};
    for (int i = 0; i < curve->knots; i++) {
        const struct farlands_knot *knot = &curve->knot[i];
        if (!is_number(knot->noise) || !is_number(knot->metres))
            return (struct fault){"knots", "expected numbers from -1e9 to 1e9"};
        if (i > 0 && !(knot[-1].noise < knot->noise))
            return (struct fault){
                "knots", "the first number of each pair must be greater than that of the pair "
                         "before"};
    }
    return no_fault;
}

static struct fault noise_fault(const struct graph_node *node)
{
    struct farlands_params params = *node->noise;
    const char *key;
    if (params.knots == 0) {
        params.knots = 2;
        params.elevation[0] = (struct farlands_knot){-1, -1};
        params.elevation[1] = (struct farlands_knot){1, 1};
    }
    const char *text = farlands_params_fault(&params, &key);
    if (text)
        return (struct fault){key, text};
    if (is_moved(node) && params.warp.amplitude != 0)
        return (struct fault){"warp", "expected fields, or a noise's own warp, but not both"};
    return no_fault;
}

static struct fault damped_fault(const struct graph_node *node)
{
    const struct farlands_params *noise = node->noise;
    const struct fault fault = noise_fault(node);
    if (fault.text)
        return fault;
    if (noise->basis != FARLANDS_PERLIN)
        return (struct fault){"basis", "expected perlin, the only one whose slopes are known"};
    if (noise->fractal != FARLANDS_NONE && noise->fractal != FARLANDS_FBM)
        return (struct fault){"fractal", "expected fbm"};
    if (noise->warp.amplitude != 0)
        return (struct fault){"warp", "expected none"};
    if (!(node->number[0] >= 0 && node->number[0] <= 1e3))
        return (struct fault){"damping", "expected a number from 0 to 1000"};
    return no_fault;
}

static struct fault erode_fault(const struct graph_node *node)
{
    const struct farlands_params *noise = node->noise;
    const struct fault fault = noise_fault(node);
    if (fault.text)
        return fault;
    if (noise->basis != FARLANDS_CELLULAR || noise->warp.amplitude != 0)
        return (struct fault){"", "expected a cellular noise without warp"};
    if (noise->wavelength > OCTAVE_NARROW_MAX)
        return (struct fault){"wavelength", "expected at most 16384 blocks"};
    if (!(node->number[0] >= 0 && node->number[0] <= 10))
        return (struct fault){"strength", "expected a number from 0 to 10"};
    if (!(node->number[1] >= 1e-3 && node->number[1] <= 100))
        return (struct fault){"slope", "expected a number from 0.001 to 100"};
    return no_fault;
}

static struct fault numbers_fault(const struct graph_node *node)
{
    const double p = node->number[0], q = node->number[1];
    switch (node->kind) {
    case GRAPH_NOISE:
        return noise_fault(node);
    case GRAPH_DAMPED:
        return damped_fault(node);
    case GRAPH_ERODE:
        return erode_fault(node);
    case GRAPH_SPLINE:
        return curve_fault(node->curve);
    case GRAPH_CONSTANT:
        return is_number(p) ? no_fault : (struct fault){"number", NUMBER};
    case GRAPH_CLAMP:
        if (!is_number(p) || !is_number(q) || p > q)
            return (struct fault){"range", "expected [lowest, highest], from -1e9 to 1e9"};
        return no_fault;
    case GRAPH_STEP:
        if (!is_number(p) || !is_number(q) || !(fabs(q - p) >= 1e-6))
            return (struct fault){"range",
                                  "expected [from, to], from -1e9 to 1e9, at least 1e-6 apart"};
        return no_fault;
    case GRAPH_RIDGE:
    case GRAPH_SMOOTH_MIN:
    case GRAPH_SMOOTH_MAX:
        return is_positive(p) ? no_fault : (struct fault){"width", POSITIVE};
    case GRAPH_TERRACE:
        if (!is_positive(p))
            return (struct fault){"height", POSITIVE};
        if (!(q >= 0.01 && q <= 1))
            return (struct fault){"slope", "expected a number from 0.01 to 1"};
        return no_fault;
    case GRAPH_LATTICE:
        if (!(p >= GRAPH_MIN_SPACING && p <= GRAPH_MAX_SPACING) ||
            ((uint64_t)p & ((uint64_t)p - 1)) != 0)
            return (struct fault){"lattice", "expected a power of two from 1 to 16777216 blocks"};
        return no_fault;
    default:
        return no_fault;
    }
}

/* --- Order --- */

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* Append NODE after all that it depends on. Returns false if it depends on itself. The depth of the
 * recursion is at most GRAPH_MAX_NODES. */
static bool put_in_order(const struct graph_node *nodes, int node, enum mark *mark, int *order,
                         int *count, int *at)
{
    if (mark[node] == MARK_DONE)
        return true;
    *at = node;
    if (mark[node] == MARK_OPEN)
        return false;
    mark[node] = MARK_OPEN;
    const struct shape shape = node_shape(&nodes[node]);
    for (int i = 0; i < shape.inputs; i++)
        if (!put_in_order(nodes, nodes[node].input[i], mark, order, count, at))
            return false;
    mark[node] = MARK_DONE;
    order[(*count)++] = node;
    return true;
}

/* --- Bounds of values --- */

/* Bounds, a little further apart than arithmetic gives them, for rounding. */
static void set_bounds(struct operation *o, double low, double high)
{
    const double margin = 1e-5 * fmax(fabs(low), fabs(high));
    o->low = (float)(low - margin);
    o->high = (float)(high + margin);
}

static double squared_length(const struct gradient_set *set, int i)
{
    return (double)set->x[i] * set->x[i] + (double)set->y[i] * set->y[i];
}

/* Bounds of one octave: Perlin noise is largest in the middle of a cell, at sqrt(1/2) times the
 * length of its gradients. */
static double octave_bound(const struct noise *noise)
{
    if (basis_of(noise->basis).corner != BASIS_GRADIENT)
        return 1;
    double length = 0; /* squared */
    for (int i = 0; i < 32; i++) {
        const double square = squared_length(&noise->gradients, i);
        length = square > length ? square : length; /* at fmax, gcc 12 fails for aarch64 */
    }
    return sqrt(length) * (noise->basis == FARLANDS_SIMPLEX ? 1 : 0.70711);
}

static void noise_bounds(struct operation *o)
{
    const struct noise *noise = o->noise;
    const double bound = octave_bound(noise), offset = noise->offset;
    if (o->curve) {
        o->low = o->curve->lowest;
        o->high = o->curve->highest;
        return;
    }
    switch (noise->fractal) {
    case FARLANDS_NONE:
    case FARLANDS_FBM:
        set_bounds(o, -bound, bound);
        break;
    case FARLANDS_BILLOW:
        set_bounds(o, -1, 2 * bound - 1);
        break;
    case FARLANDS_RIDGED:
        set_bounds(o, 0, fmax(offset * offset, (bound - offset) * (bound - offset)));
        break;
    case FARLANDS_HYBRID:
        set_bounds(o, -bound - offset, bound + offset);
        break;
    }
}

static void product_bounds(struct operation *o, const struct operation *a,
                           const struct operation *b)
{
    const double p = (double)a->low * b->low, q = (double)a->low * b->high;
    const double r = (double)a->high * b->low, s = (double)a->high * b->high;
    set_bounds(o, fmin(fmin(p, q), fmin(r, s)), fmax(fmax(p, q), fmax(r, s)));
}

/* a + c (b - a): at a corner of the box of its inputs' bounds. */
static void mix_bounds(struct operation *o, const struct operation *a, const struct operation *b,
                       const struct operation *c)
{
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < 8; i++) {
        const double x = (double)(i & 1 ? a->high : a->low), y = (double)(i & 2 ? b->high : b->low);
        const double value = x + (double)(i & 4 ? c->high : c->low) * (y - x);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    set_bounds(o, low, high);
}

static void find_bounds(struct operation *o, const struct operation *all)
{
    const struct operation *a = &all[o->input[0]], *b = &all[o->input[1]];
    const double p = (double)o->number[0];
    switch (o->kind) {
    case GRAPH_NOISE:
        noise_bounds(o);
        break;
    case GRAPH_CONSTANT:
        o->low = o->high = o->number[0];
        break;
    case GRAPH_ADD:
        set_bounds(o, (double)a->low + b->low, (double)a->high + b->high);
        break;
    case GRAPH_SUBTRACT:
        set_bounds(o, (double)a->low - b->high, (double)a->high - b->low);
        break;
    case GRAPH_MULTIPLY:
        product_bounds(o, a, b);
        break;
    case GRAPH_MIN:
        o->low = fminf(a->low, b->low);
        o->high = fminf(a->high, b->high);
        break;
    case GRAPH_MAX:
        o->low = fmaxf(a->low, b->low);
        o->high = fmaxf(a->high, b->high);
        break;
    case GRAPH_SMOOTH_MIN:
        set_bounds(o, (double)fminf(a->low, b->low) - p / 4, (double)fminf(a->high, b->high));
        break;
    case GRAPH_SMOOTH_MAX:
        set_bounds(o, (double)fmaxf(a->low, b->low), (double)fmaxf(a->high, b->high) + p / 4);
        break;
    case GRAPH_ABS:
        o->low = a->low > 0 ? a->low : a->high < 0 ? -a->high : 0;
        o->high = fmaxf(fabsf(a->low), fabsf(a->high));
        break;
    case GRAPH_CLAMP:
        o->low = o->number[0];
        o->high = o->number[1];
        break;
    case GRAPH_MIX:
        mix_bounds(o, a, b, &all[o->input[2]]);
        break;
    case GRAPH_SPLINE:
        o->low = o->curve->lowest;
        o->high = o->curve->highest;
        break;
    case GRAPH_STEP:
    case GRAPH_RIDGE:
        o->low = 0;
        o->high = 1;
        break;
    case GRAPH_TERRACE:
        set_bounds(o, p * floor((double)a->low / p), p * ceil((double)a->high / p));
        break;
    case GRAPH_LATTICE:
        set_bounds(o, (double)a->low, (double)a->high);
        break;
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y: {
        const double blocks = (double)lattice_spacing(a) / FARLANDS_UNIT;
        const double slope = ((double)a->high - a->low) / blocks;
        set_bounds(o, -slope, slope);
        break;
    }
    case GRAPH_DAMPED:
        set_bounds(o, -octave_bound(o->noise), octave_bound(o->noise));
        break;
    case GRAPH_ERODE: {
        const struct operation *c = &all[o->input[2]];
        double deepest = 0;
        for (int k = 0; k < o->noise->octaves; k++)
            deepest += (double)o->noise->octave[k].wavelength / FARLANDS_UNIT;
        deepest *= 1.001 * p * (double)fmaxf(fabsf(c->low), fabsf(c->high));
        set_bounds(o, -deepest, deepest);
        break;
    }
    }
}

/* --- Make --- */

static int make_operation(struct operation *o, const struct graph_node *node, const int *place)
{
    const struct shape shape = node_shape(node);
    *o = (struct operation){.kind = node->kind, .inputs = shape.inputs};
    for (int i = 0; i < shape.inputs; i++)
        o->input[i] = place[node->input[i]];
    for (int i = 0; i < shape.numbers; i++)
        o->number[i] = (float)node->number[i];
    if (node->kind == GRAPH_LATTICE)
        o->spacing_bits = __builtin_ctzll((uint64_t)node->number[0]);
    o->move = is_moved(node) ? node->number[0] * FARLANDS_UNIT : 0;
    if (has_noise(node->kind)) {
        o->noise = calloc(1, sizeof *o->noise);
        if (!o->noise)
            return -ENOMEM;
        noise_make(o->noise, node->noise);
    }
    const bool bent = node->kind == GRAPH_NOISE && node->noise->knots > 0;
    if (bent || node->kind == GRAPH_SPLINE) {
        o->curve = calloc(1, sizeof *o->curve);
        if (!o->curve)
            return -ENOMEM;
        if (bent)
            curve_make(o->curve, node->noise->elevation, node->noise->knots, false);
        else
            curve_make(o->curve, node->curve->knot, node->curve->knots, node->curve->cubic);
    }
    return 0;
}

/* What can be wrong with an operation once its inputs are known. */
static struct fault bounds_fault(const struct operation *o, const struct operation *all)
{
    const bool sloping = o->kind == GRAPH_SLOPE_X || o->kind == GRAPH_SLOPE_Y;
    if (sloping && all[o->input[0]].kind != GRAPH_LATTICE)
        return (struct fault){"input", "expected a field with a lattice"};
    if (!(o->low >= -1e18f && o->high <= 1e18f))
        return (struct fault){"", "its values could exceed 1e18"};
    for (int i = 0; o->kind == GRAPH_NOISE && i < o->inputs; i++) {
        const struct operation *by = &all[o->input[i]];
        if (!(fabs(o->move) * (double)fmaxf(fabsf(by->low), fabsf(by->high)) <=
              (double)GRAPH_MAX_MOVE))
            return (struct fault){"warp", "its fields could move it by more than 2^30 blocks"};
    }
    return no_fault;
}

static uint64_t mix_double(uint64_t id, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return lattice_mix(id ^ bits) + UINT64_C(0x9e3779b97f4a7c15);
}

static uint64_t mix_noise(uint64_t id, const struct noise *noise)
{
    id = lattice_mix(id ^ ((uint64_t)noise->basis | (uint64_t)noise->fade << 8 |
                           (uint64_t)noise->hash << 16 | (uint64_t)noise->fractal << 24));
    id = mix_double(mix_double(id, noise->offset), noise->gain);
    for (int i = 0; i < 32; i++)
        id = mix_double(mix_double(id, (double)noise->gradients.x[i]),
                        (double)noise->gradients.y[i]);
    for (int i = 0; i < 256; i++)
        id = lattice_mix(id + noise->permutation[i]);
    for (int k = 0; k < noise->octaves + (noise->warp != 0 ? 2 : 0); k++) {
        const struct octave *octave =
            k < noise->octaves ? &noise->octave[k] : &noise->warp_octave[k - noise->octaves];
        id = lattice_mix(id + (uint64_t)octave->wavelength) ^ octave->salt;
        id = lattice_mix(id + octave->key[AXIS_X]) ^ octave->key[AXIS_Y];
        id = mix_double(lattice_mix(id + (uint64_t)octave->cells), octave->amplitude);
    }
    return mix_double(id, noise->warp);
}

static uint64_t program_id(const struct program *program)
{
    uint64_t id = 0;
    for (int k = 0; k < program->count; k++) {
        const struct operation *o = &program->operation[k];
        id = lattice_mix(id + (uint64_t)o->kind);
        for (int i = 0; i < o->inputs; i++)
            id = lattice_mix(id + (uint64_t)o->input[i]);
        id = mix_double(mix_double(id, (double)o->number[0]), (double)o->number[1]);
        id = mix_double(id + (uint64_t)o->spacing_bits, o->move);
        if (o->noise)
            id = mix_noise(id, o->noise);
        for (int i = 0; o->curve && i <= o->curve->pieces; i++)
            id = mix_double(mix_double(id + o->curve->cubic, (double)o->curve->from[i]),
                            (double)o->curve->base[i] + (double)o->curve->slope[i]);
    }
    return id;
}

static int check_node(const struct graph_node *nodes, int count, int node, struct graph_fault *out)
{
    const struct shape shape = node_shape(&nodes[node]);
    for (int i = 0; i < shape.inputs; i++)
        if (nodes[node].input[i] < 0 || nodes[node].input[i] >= count) {
            *out = (struct graph_fault){node, "input", "expected a field"};
            return -EINVAL;
        }
    const struct fault fault = numbers_fault(&nodes[node]);
    *out = (struct graph_fault){node, fault.key, fault.text};
    return fault.text ? -EINVAL : 0;
}

static int make_operations(struct program *program, const struct graph_node *nodes,
                           const int *order, struct graph_fault *out)
{
    for (int k = 0; k < program->count; k++) {
        struct operation *o = &program->operation[k];
        program->place[order[k]] = k;
        int err = make_operation(o, &nodes[order[k]], program->place);
        if (err)
            return err;
        find_bounds(o, program->operation);
        const struct fault fault = bounds_fault(o, program->operation);
        if (fault.text) {
            *out = (struct graph_fault){order[k], fault.key, fault.text};
            return -EINVAL;
        }
    }
    return 0;
}

int program_new(struct program **out, const struct graph_node *nodes, int count,
                struct graph_fault *fault)
{
    enum mark mark[GRAPH_MAX_NODES] = {MARK_NEW};
    int order[GRAPH_MAX_NODES], ordered = 0, at = 0, err = 0;

    *fault = (struct graph_fault){0, "", "expected 1 to 256 fields"};
    if (count < 1 || count > GRAPH_MAX_NODES)
        return -EINVAL;
    for (int i = 0; i < count && !err; i++)
        err = check_node(nodes, count, i, fault);
    for (int i = 0; i < count && !err; i++)
        if (!put_in_order(nodes, i, mark, order, &ordered, &at)) {
            *fault = (struct graph_fault){at, "input", "it depends on itself"};
            err = -EINVAL;
        }
    if (err)
        return err;
    struct program *program = calloc(1, sizeof *program);
    if (!program)
        return -ENOMEM;
    program->count = count;
    program->operation = calloc((size_t)count, sizeof *program->operation);
    program->place = calloc((size_t)count, sizeof *program->place);
    err = program->operation && program->place ? make_operations(program, nodes, order, fault)
                                               : -ENOMEM;
    if (err) {
        program_free(program);
        return err;
    }
    program->id = program_id(program);
    *out = program;
    return 0;
}

void program_free(struct program *program)
{
    for (int k = 0; program && program->operation && k < program->count; k++) {
        free(program->operation[k].noise);
        free(program->operation[k].curve);
    }
    if (program) {
        free(program->operation);
        free(program->place);
    }
    free(program);
}
