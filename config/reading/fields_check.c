#include "fields_check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/values/exact_numbers.h"
#include "noise/terrain/price.h"

/* The limit for worlds with `elevation`, too. */
#define MOST_METRES 1e6F

/* The fields that are checked. */
struct check {
    struct node_reader *reader;
    const struct text_node *node;
    const struct key_path *path;
    const struct world_graph *world;
    const struct graph *graph;
    int64_t period;
};

/* The path below `fields` of the key that FAULT is about. */
static struct key_path fault_path(const struct check *check, const struct graph_fault *fault)
{
    const char *key, *inner = world_graph_origin(check->world, fault->node, &key);
    const char *part = strcmp(fault->key, "period") == 0 ? "basis" : fault->key;
    const bool whole = !part[0] || strcmp(part, key) == 0 || strcmp(part, "input") == 0 ||
                       strcmp(part, "number") == 0;
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.380s%s%.30s%s%.20s", inner, key[0] ? "." : "", key,
             whole ? "" : ".", whole ? "" : part);
    return path;
}

static int refuse(const struct check *check, const struct graph_fault *fault)
{
    const struct key_path inner = fault_path(check, fault);
    struct key_path at;
    snprintf(at.text, sizeof at.text, "%.40s.%.430s", check->path->text, inner.text);
    return node_reader_fail(check->reader, text_node_nearest(check->node, inner.text), &at, "%s",
                            fault->text);
}

const char *unfit_wavelength(const struct farlands_params *noise, char text[UNFIT_TEXT],
                             int64_t *units)
{
    const int octaves = noise->fractal == FARLANDS_NONE ? 1 : noise->octaves;
    for (int k = 0; k < octaves; k++) {
        *units = params_wavelength(noise, k);
        if (noise->period % *units == 0)
            continue;
        snprintf(text, UNFIT_TEXT, "the wavelength of octave %d", k + 1);
        return text;
    }
    *units = noise->warp.wavelength;
    return noise->warp.amplitude > 0 && noise->period % *units ? "the warp's wavelength" : NULL;
}

static int refuse_period(const struct check *check, int node, const char *key, const char *unfit,
                         int64_t units)
{
    char text[300], window[BLOCKS_TEXT], blocks[BLOCKS_TEXT];
    snprintf(text, sizeof text,
             "%s is %s blocks, which does not divide the window of %s blocks (256 * "
             "2^native_zoom), with which the world wraps; expected one that divides it",
             unfit, blocks_format(units, blocks), blocks_format(check->period, window));
    return refuse(check, &(struct graph_fault){node, key, text});
}

/* Check that node AT repeats after the period: its noise, its lattice. */
static int check_node(const struct check *check, int at)
{
    const struct graph_node *node = &check->graph->node[at];
    char text[UNFIT_TEXT];
    int64_t units = (int64_t)node->number[0];
    if (operation_has_spacing(node->kind) && check->period % units != 0)
        return refuse_period(
            check, at, operation_kinds[node->kind].number[0].key,
            node->kind == GRAPH_LATTICE ? "the spacing of the lattice" : "the wavelength", units);
    if (node->kind == GRAPH_DRAIN || node->kind == GRAPH_DRAINAGE)
        return refuse(check, &(struct graph_fault){
                                 at, operation_kinds[node->kind].name,
                                 "rivers do not repeat; expected none in a world that wraps"});
    if (!node->noise || node->noise->basis == FARLANDS_SIMPLEX)
        return 0;
    const char *unfit = unfit_wavelength(node->noise, text, &units);
    return unfit ? refuse_period(check, at, "wavelength", unfit, units) : 0;
}

static int check_period(const struct check *check)
{
    int err = 0;
    for (int i = 0; i < check->graph->nodes && check->period > 0 && !err; i++)
        err = check_node(check, i);
    return err;
}

static int check_heights(const struct check *check, float lowest, float highest)
{
    char low[REAL_TEXT], high[REAL_TEXT];
    const struct key_path at = key_path_key(check->path, "height");
    if (lowest >= -MOST_METRES && highest <= MOST_METRES)
        return 0;
    return node_reader_fail(check->reader, text_node_nearest(check->node, "height"), &at,
                            "its values could be from %s to %s; expected metres from -1000000 to "
                            "1000000, if need be by a clamp",
                            float_format(lowest, low), float_format(highest, high));
}

#ifdef __wasm__ /* the module computes worlds that a server has accepted, and should be small */
#define check_time(check, program) 0
#else
/* Refuse fields if a tile would take more than a second. The price is that of a fixed machine, so
 * the verdict is the same everywhere. */
static int check_time(const struct check *check, const struct program *program)
{
    const struct graph *graph = check->graph;
    int operation[GRAPH_MAX_NODES];
    char step[BLOCKS_TEXT];

    for (int i = 0; i < graph->fields; i++)
        operation[i] = program->place[graph->field[i].node];
    const struct dear_tile tile = price_dearest(program, operation, graph->fields);
    if (tile.price <= PRICE_SECOND)
        return 0;
    const char *name = graph->field[tile.dearest].name;
    const struct key_path at = key_path_key(check->path, name);
    return node_reader_fail(check->reader, text_node_nearest(check->node, name), &at,
                            "takes %d %% of the time of tiles of \"%s\" with samples %s blocks "
                            "apart, which is more than a second for 256 x 256; expected fewer "
                            "octaves, moved noises, or lattices that need each other",
                            tile.percent, graph->field[tile.field].name,
                            blocks_format(tile.step, step));
}
#endif

static int check_program(const struct check *check, float *lowest, float *highest)
{
    struct program *program;
    struct graph_fault fault;
    int err = program_new(&program, check->graph->node, check->graph->nodes, &fault);
    if (err)
        return err == -EINVAL ? refuse(check, &fault) : err;
    const int node = check->graph->field[check->graph->height].node;
    *lowest = program->operation[program->place[node]].low;
    *highest = program->operation[program->place[node]].high;
    err = check_heights(check, *lowest, *highest);
    if (!err)
        err = check_time(check, program);
    program_free(program);
    return err;
}

static int check_fields(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, struct world_fields *fields,
                        const struct farlands_params *terrain)
{
    struct world_graph *graph;
    int err = world_fields_graph(&graph, fields, terrain->seed, terrain->period);
    if (err)
        return err;
    const struct check check = {reader, node, path, graph, world_graph(graph), terrain->period};
    err = check_period(&check);
    if (!err)
        err = check_program(&check, &fields->lowest, &fields->highest);
    if (!err) {
        fields->checks++;
        fields->period = terrain->period;
    }
    world_graph_free(graph);
    return err;
}

/* Worlds that are `like` one share its fields. So fields that have passed are checked again only
 * for another period. A seed does not change the result: worlds of name:seed are not checked
 * either. */
int fields_check(struct node_reader *reader, const struct text_node *node,
                 const struct key_path *path, const struct world_config *world, float *lowest,
                 float *highest)
{
    struct world_fields *fields =
        (struct world_fields *)world->fields; /* no other thread has them yet */
    const struct farlands_params *terrain = &world->terrain;
    int err = 0;
    if (fields->checks == 0 || fields->period != terrain->period)
        err = check_fields(reader, node, path, fields, terrain);
    *lowest = fields->lowest;
    *highest = fields->highest;
    return err == -ENOMEM ? node_reader_no_memory(reader) : err;
}
