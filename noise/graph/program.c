/* From a graph to a program. */
#include "program.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/exact/lattice.h"
#include "noise/graph/bounds.h"
#include "noise/graph/graph_check.h"

/* --- Order --- */

enum mark { MARK_NEW, MARK_OPEN, MARK_DONE };

/* Append NODE after everything it depends on. Returns false if that includes NODE. The recursion
 * is at most GRAPH_MAX_NODES deep. */
static bool put_in_order(const struct graph_node *nodes, int node, enum mark *mark, int *order,
                         int *count, int *at)
{
    if (mark[node] == MARK_DONE)
        return true;
    *at = node;
    if (mark[node] == MARK_OPEN)
        return false;
    mark[node] = MARK_OPEN;
    const struct graph_shape shape = graph_shape(&nodes[node]);
    for (int i = 0; i < shape.inputs; i++)
        if (!put_in_order(nodes, nodes[node].input[i], mark, order, count, at))
            return false;
    mark[node] = MARK_DONE;
    order[(*count)++] = node;
    return true;
}

/* --- Make --- */

static int make_operation(struct operation *o, const struct graph_node *node, const int *place)
{
    const struct graph_shape shape = graph_shape(node);
    *o = (struct operation){.kind = node->kind, .inputs = shape.inputs, .river_source = -1};
    for (int i = 0; i < shape.inputs; i++)
        o->input[i] = place[node->input[i]];
    for (int i = 0; i < shape.numbers; i++)
        o->number[i] = (float)node->number[i];
    if (operation_has_spacing(node->kind))
        o->spacing_bits = __builtin_ctzll((uint64_t)node->number[0]);
    o->move = graph_is_moved(node) ? node->number[0] * FARLANDS_UNIT : 0;
    if (operation_kinds[node->kind].family == FAMILY_NOISE) {
        o->noise = noise_new(node->noise);
        if (!o->noise)
            return -ENOMEM;
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
    if (node->kind == GRAPH_BIOME) {
        o->biomes = calloc(1, sizeof *o->biomes);
        if (!o->biomes)
            return -ENOMEM;
        biomes_make(o->biomes, node->biomes);
    }
    if (node->rivers) {
        o->rivers = malloc(sizeof *o->rivers);
        if (!o->rivers)
            return -ENOMEM;
        *o->rivers = *node->rivers;
    }
    if (node->kind == GRAPH_DRAINAGE) {
        o->drainage = malloc(sizeof *o->drainage);
        if (!o->drainage)
            return -ENOMEM;
        *o->drainage = *node->drainage;
    }
    return 0;
}

/* The GRAPH_DRAIN or GRAPH_DRAINAGE whose rivers operation K reads, or -1. */
static int find_river_source(int k, const struct operation *all)
{
    const struct operation *o = &all[k];
    if (o->kind == GRAPH_DRAIN)
        return k;
    if (!operation_is_near_water(o))
        return -1;
    int source = o->input[o->inputs - 1];
    if (all[source].kind == GRAPH_LATTICE)
        source = all[source].input[0];
    const bool flows = all[source].kind == GRAPH_DRAIN ||
                       (all[source].kind == GRAPH_DRAINAGE && o->kind != GRAPH_BASE_LEVEL);
    return flows ? source : -1;
}

/*
 * True if LATTICE is made from a finer lattice's slopes. Each node would need nodes of the finer
 * lattice around it, and a third lattice would need four times as many again: one point's cost
 * would have no bound.
 */
static bool has_finer_slopes(const struct operation *lattice, const struct operation *all)
{
    bool needed[GRAPH_MAX_NODES] = {false};
    needed[lattice->input[0]] = true;
    for (int k = lattice->input[0]; k >= 0; k--) {
        const struct operation *o = &all[k];
        if (!needed[k] || (o->kind == GRAPH_LATTICE && o->spacing_bits >= lattice->spacing_bits))
            continue;
        if (operation_is_slope(o) && all[o->input[0]].spacing_bits < lattice->spacing_bits)
            return true;
        for (int i = 0; !operation_is_slope(o) && i < o->inputs; i++)
            needed[o->input[i]] = true;
    }
    return false;
}

static double largest(const struct operation *o)
{
    return (double)fmaxf(fabsf(o->low), fabsf(o->high));
}

static int64_t broadest_wavelength(const struct operation *o, const struct operation *all)
{
    int64_t broadest = o->noise                             ? o->noise->octave[0].wavelength
                       : operation_family(o) == FAMILY_WAVE ? lattice_spacing(o)
                                                            : 0;
    for (int i = 0; i < o->inputs; i++)
        if (all[o->input[i]].broadest > broadest)
            broadest = all[o->input[i]].broadest;
    return broadest;
}

/* True if the slopes that gullies compute have finite squares. */
static bool is_erodible(const struct operation *o, const struct operation *all)
{
    return largest(&all[o->input[0]]) <= 1e9 && largest(&all[o->input[1]]) <= 1e9 &&
           (double)o->number[0] * largest(&all[o->input[2]]) <= 1e9;
}

/* A fault that shows once the inputs' bounds are known. */
static struct node_fault bounds_fault(const struct operation *o, const struct operation *all)
{
    if (operation_is_slope(o) && all[o->input[0]].kind != GRAPH_LATTICE)
        return (struct node_fault){
            "input", "expected a field with a lattice, such as { of: NAME, lattice: 16 }"};
    if (operation_is_near_water(o) && o->river_source < 0)
        return (struct node_fault){o->inputs == 2 ? "drain" : "input",
                                   o->kind == GRAPH_BASE_LEVEL
                                       ? "expected a field that is a drain, or a lattice of one"
                                       : "expected a field that is a drain or a drainage, or a "
                                         "lattice of one"};
    if (!(o->low >= -1e18f && o->high <= 1e18f))
        return (struct node_fault){"", "its values could exceed 1e18"};
    for (int i = 0; o->kind == GRAPH_NOISE && i < o->inputs; i++) {
        if (!(fabs(o->move) * largest(&all[o->input[i]]) <= (double)GRAPH_MAX_MOVE))
            return (struct node_fault){"move", "its fields could move it by more than 2^30 blocks"};
    }
    if (o->kind == GRAPH_LATTICE && has_finer_slopes(o, all))
        return (struct node_fault){"lattice", "expected at most the spacing of the lattices whose "
                                              "slopes it is made of"};
    if (o->kind == GRAPH_ERODE && !is_erodible(o, all))
        return (struct node_fault){"", "expected slopes and depths of at most 1e9"};
    return (struct node_fault){NULL, NULL};
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
    for (int i = 0; noise->permutation && i < 256; i++)
        id = lattice_mix(id + noise->permutation[i]);
    for (int k = 0; k < noise_octaves(noise); k++) {
        const struct octave *octave =
            k < noise->octaves ? &noise->octave[k] : &noise->warp_octave[k - noise->octaves];
        id = lattice_mix(id + (uint64_t)octave->wavelength) ^ octave->salt;
        id = lattice_mix(id + octave->key[AXIS_X]) ^ octave->key[AXIS_Y];
        id = mix_double(lattice_mix(id + (uint64_t)octave->cells), octave->amplitude);
    }
    return mix_double(id, noise->warp);
}

static uint64_t mix_curve(uint64_t id, const struct curve *curve)
{
    id = mix_double(id + curve->cubic, (double)curve->last);
    for (int i = 0; i < curve->pieces; i++) {
        id = mix_double(mix_double(id, (double)curve->from[i]), (double)curve->base[i]);
        id = mix_double(mix_double(id, (double)curve->slope[i]), (double)curve->slope_rest[i]);
    }
    return id;
}

static uint64_t mix_biomes(uint64_t id, const struct biomes *biomes)
{
    for (int i = 0; i < biomes->count; i++) {
        const struct biome *biome = &biomes->biome[i];
        id = mix_double(id + (uint64_t)biome->limits, (double)biome->id);
        for (int k = 0; k < biome->limits; k++) {
            const struct biome_limit *limit = &biome->limit[k];
            id = mix_double(id + (uint64_t)limit->axis, (double)limit->from);
            id = mix_double(id, (double)limit->to);
        }
    }
    return id;
}

static uint64_t mix_rivers(uint64_t id, const struct rivers_params *rivers)
{
    const double numbers[] = {rivers->from,      rivers->width, rivers->widening, rivers->depth,
                              rivers->deepening, rivers->slope, rivers->meander,  rivers->lake};
    id = lattice_mix(lattice_mix(id + (uint64_t)rivers->spacing) + (uint64_t)rivers->levels);
    id = lattice_mix(id + rivers->seed);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        id = mix_double(id, numbers[i]);
    return id;
}

static uint64_t mix_drainage(uint64_t id, const struct drainage_params *p)
{
    id = lattice_mix(id + p->seed);
    id = lattice_mix(id + (uint64_t)p->spacing);
    id = lattice_mix(id + (uint64_t)p->levels);
    id = mix_double(mix_double(id, p->concavity), p->rough);
    return mix_double(mix_double(mix_double(id, p->floor), p->bend), p->base);
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
        if (o->curve)
            id = mix_curve(id, o->curve);
        if (o->biomes)
            id = mix_biomes(id, o->biomes);
        if (o->rivers)
            id = mix_rivers(id, o->rivers);
        if (o->drainage)
            id = mix_drainage(id, o->drainage);
    }
    return id;
}

static int check_node(const struct graph_node *nodes, int count, int node, struct graph_fault *out)
{
    const struct graph_shape shape = graph_shape(&nodes[node]);
    for (int i = 0; i < shape.inputs; i++)
        if (nodes[node].input[i] < 0 || nodes[node].input[i] >= count) {
            *out = (struct graph_fault){node, "input", "expected a field"};
            return -EINVAL;
        }
    const struct node_fault fault = graph_node_fault(&nodes[node]);
    *out = (struct graph_fault){node, fault.key, fault.text};
    return fault.text ? -EINVAL : 0;
}

/* Sums over all operations before one. */
struct totals {
    int octaves, lattices, drains;
    int depth[GRAPH_MAX_NODES];    /* how many lattices each needs in a chain, with itself */
    bool drained[GRAPH_MAX_NODES]; /* is or needs a drain */
};

/* The fault of O, a drain or a drainage that needs another one. */
static struct node_fault drained_fault(const struct totals *totals, const struct operation *o)
{
    static const char *const keys[DRAINAGE_INPUTS] = {"envelope", "steepness", "side", "top",
                                                      "ice",      "junction",  "lakes"};
    int i = 0;
    while (!totals->drained[o->input[i]])
        i++;
    return o->kind == GRAPH_DRAIN
               ? (struct node_fault){"of", "expected ground without another drain"}
               : (struct node_fault){keys[i],
                                     "expected a field without a drain or another drainage"};
}

/* Add operation K to TOTALS. Returns its fault. */
static struct node_fault totals_fault(struct totals *totals, const struct program *program, int k)
{
    const struct operation *o = &program->operation[k];
    totals->octaves += o->noise ? noise_octaves(o->noise) : 0;
    totals->lattices += o->kind == GRAPH_LATTICE;
    const bool drains = o->kind == GRAPH_DRAIN || o->kind == GRAPH_DRAINAGE;
    totals->drains += drains;
    totals->depth[k] = 0;
    for (int i = 0; i < o->inputs; i++) {
        if (totals->depth[o->input[i]] > totals->depth[k])
            totals->depth[k] = totals->depth[o->input[i]];
        totals->drained[k] |= totals->drained[o->input[i]];
    }
    /* Each node of these rivers would need nodes of the other drain around it, so a tile's cost
     * would have no bound. */
    if (drains && totals->drained[k])
        return drained_fault(totals, o);
    totals->drained[k] |= drains;
    totals->depth[k] += o->kind == GRAPH_LATTICE;
    if (totals->octaves > GRAPH_MAX_OCTAVES)
        return (struct node_fault){"octaves", "expected at most 512 in all fields of a world"};
    if (totals->lattices > GRAPH_MAX_LATTICES)
        return (struct node_fault){"lattice", "expected at most 64 in all fields of a world"};
    if (totals->depth[k] > GRAPH_MAX_DEPTH)
        return (struct node_fault){"lattice", "expected at most 8 of which each needs the next"};
    if (totals->drains > GRAPH_MAX_DRAINS)
        return (struct node_fault){"drain", "expected at most 4 in all fields of a world"};
    return (struct node_fault){NULL, NULL};
}

static int make_operations(struct program *program, const struct graph_node *nodes,
                           const int *order, struct graph_fault *out)
{
    struct totals totals = {.octaves = 0};
    for (int k = 0; k < program->count; k++) {
        struct operation *o = &program->operation[k];
        program->place[order[k]] = k;
        int err = make_operation(o, &nodes[order[k]], program->place);
        if (err)
            return err;
        o->river_source = find_river_source(k, program->operation);
        bounds_find(o, program->operation);
        o->rests = bounds_may_rest(o, program->operation);
        o->broadest = broadest_wavelength(o, program->operation);
        struct node_fault fault = bounds_fault(o, program->operation);
        if (!fault.text)
            fault = totals_fault(&totals, program, k);
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

    *fault = (struct graph_fault){0, "", "expected 1 to 384 fields"};
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
    for (int k = 0; k < count; k++)
        program->light |= program->operation[k].kind == GRAPH_DRAINAGE;
    program->id = program_id(program);
    *out = program;
    return 0;
}

void program_free(struct program *program)
{
    for (int k = 0; program && program->operation && k < program->count; k++) {
        free(program->operation[k].noise);
        free(program->operation[k].curve);
        free(program->operation[k].biomes);
        free(program->operation[k].rivers);
        free(program->operation[k].drainage);
    }
    if (program) {
        free(program->operation);
        free(program->place);
    }
    free(program);
}
