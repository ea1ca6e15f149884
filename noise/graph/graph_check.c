/* Faults that one node shows alone. */
#include "graph_check.h"

#include <math.h>

#include "noise/fractal/octave.h"
#include "noise/graph/operations.h"

bool graph_is_moved(const struct graph_node *node)
{
    return node->kind == GRAPH_NOISE && node->input[0] >= 0;
}

struct graph_shape graph_shape(const struct graph_node *node)
{
    const struct operation_kind *kind = &operation_kinds[node->kind];
    return graph_is_moved(node) ? (struct graph_shape){2, 1}
                                : (struct graph_shape){kind->inputs, kind->numbers};
}

static const struct node_fault no_fault;

static bool is_number(double x)
{
    return x >= -1e9 && x <= 1e9;
}

static struct node_fault curve_fault(const struct curve_params *curve)
{
    if (curve->knots < 2 || curve->knots > FARLANDS_MAX_KNOTS)
        return (struct node_fault){"knots", "expected 2 to 32 pairs [value, result]"};
    for (int i = 0; i < curve->knots; i++) {
        const struct farlands_knot *knot = &curve->knot[i];
        if (!is_number(knot->noise) || !is_number(knot->metres))
            return (struct node_fault){"knots", "expected numbers from -1e9 to 1e9"};
        if (i > 0 && !(knot[-1].noise < knot->noise))
            return (struct node_fault){
                "knots", "the first number of each pair must be greater than that of the pair "
                         "before"};
    }
    return no_fault;
}

static struct node_fault noise_fault(const struct graph_node *node)
{
    struct farlands_params params = *node->noise;
    const char *key;
    if (params.knots == 0) {
        params.knots = 2;
        params.elevation[0] = (struct farlands_knot){-1, -1};
        params.elevation[1] = (struct farlands_knot){1, 1};
    }
    const char *text = params_fault(&params, &key);
    if (text)
        return (struct node_fault){key, text};
    if (graph_is_moved(node) && params.warp.amplitude != 0)
        return (struct node_fault){"warp", "expected fields, or a noise's own warp, but not both"};
    return no_fault;
}

static struct node_fault damped_fault(const struct graph_node *node)
{
    const struct farlands_params *noise = node->noise;
    const struct node_fault fault = noise_fault(node);
    if (fault.text)
        return fault;
    if (noise->basis != FARLANDS_PERLIN)
        return (struct node_fault){"basis", "expected perlin, the only one whose slopes are known"};
    if (noise->fractal != FARLANDS_NONE && noise->fractal != FARLANDS_FBM)
        return (struct node_fault){"fractal", "expected fbm"};
    if (noise->warp.amplitude != 0)
        return (struct node_fault){"warp", "expected none"};
    return no_fault;
}

static struct node_fault erode_fault(const struct graph_node *node)
{
    const struct farlands_params *noise = node->noise;
    const struct node_fault fault = noise_fault(node);
    if (fault.text)
        return fault;
    if (noise->basis != FARLANDS_CELLULAR || noise->warp.amplitude != 0)
        return (struct node_fault){"", "expected a cellular noise without warp"};
    if (noise->wavelength > OCTAVE_NARROW_MAX)
        return (struct node_fault){"wavelength", "expected at most 16384 blocks"};
    return no_fault;
}

static bool is_range(const struct biome_range *range)
{
    return range->from <= range->to &&
           (range->from == -INFINITY || is_number((double)range->from)) &&
           (range->to == INFINITY || is_number((double)range->to));
}

static bool is_table(const struct biome_rows *biomes)
{
    bool used[BIOME_MAX_ID + 1] = {false};
    bool valid = biomes->rows >= 1 && biomes->rows <= BIOMES_MAX;
    for (int i = 0; valid && i < biomes->rows; i++) {
        const struct biome_row *row = &biomes->row[i];
        valid = row->id >= 0 && row->id <= BIOME_MAX_ID && !used[row->id];
        for (int k = 0; valid && k < BIOME_AXES; k++)
            valid = is_range(&row->range[k]);
        if (valid)
            used[row->id] = true;
    }
    return valid;
}

static struct node_fault river_fault(const struct graph_node *node)
{
    struct node_fault fault;
    fault.text = rivers_fault(node->rivers, &fault.key);
    return fault;
}

static struct node_fault drainage_node_fault(const struct graph_node *node)
{
    struct node_fault fault;
    fault.text = drainage_fault(node->drainage, &fault.key);
    return fault.text ? fault : river_fault(node);
}

/* A fault in a number of NODE, without regard to other numbers. */
static struct node_fault number_fault(const struct graph_node *node)
{
    const struct operation_kind *kind = &operation_kinds[node->kind];
    for (int i = 0; i < kind->numbers; i++) {
        const struct operation_number *number = &kind->number[i];
        if (!(node->number[i] >= number->least && node->number[i] <= number->most))
            return (struct node_fault){number->key, number->text};
    }
    const uint64_t spacing = operation_has_spacing(node->kind) ? (uint64_t)node->number[0] : 1;
    if ((spacing & (spacing - 1)) != 0)
        return (struct node_fault){kind->number[0].key, kind->number[0].text};
    return no_fault;
}

struct node_fault graph_node_fault(const struct graph_node *node)
{
    const double p = node->number[0], q = node->number[1];
    const struct node_fault fault = number_fault(node);
    if (fault.text)
        return fault;
    switch (node->kind) {
    case GRAPH_NOISE:
        return noise_fault(node);
    case GRAPH_DAMPED:
        return damped_fault(node);
    case GRAPH_ERODE:
        return erode_fault(node);
    case GRAPH_DRAIN:
        return river_fault(node);
    case GRAPH_DRAINAGE:
        return drainage_node_fault(node);
    case GRAPH_SPLINE:
        return curve_fault(node->curve);
    case GRAPH_BIOME:
        return is_table(node->biomes)
                   ? no_fault
                   : (struct node_fault){"table", "expected 1 to 64 rows, ids "
                                                  "from 0 to 255, numbers up to 1e9"};
    case GRAPH_CLAMP:
        if (p > q)
            return (struct node_fault){"to",
                                       "expected a number up to 1e9, and not below the other end"};
        return no_fault;
    case GRAPH_STEP:
        if (!(fabs(q - p) >= 1e-6) || (float)p == (float)q)
            return (struct node_fault){"to",
                                       "expected a number up to 1e9 that differs from the other "
                                       "end by at least 1e-6, and by a 10-millionth"};
        return no_fault;
    default:
        return no_fault;
    }
}
