/* A world's fields -> a graph. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/fields/fields.h"
#include "noise/exact/lattice.h"
#include "noise/graph/operations.h"

struct world_graph {
    struct graph graph;
    struct graph_node node[GRAPH_MAX_NODES];
    /* Where node i comes from: an expression, and the key below that. */
    const struct expression *expression[GRAPH_MAX_NODES];
    const char *key[GRAPH_MAX_NODES];
    struct graph_field field[FIELDS_MAX];
    struct farlands_params *noise; /* one per noise in the fields */
    int noises;
    struct rivers_params *rivers; /* one per drain */
    int drains;
    struct drainage_params *drainage; /* one per drainage */
    int drainages;
};

/* A graph that is being built. */
struct builder {
    struct world_graph *graph;
    const struct world_fields *fields;
    int *made; /* the node of each expression; -1: not yet */
    uint64_t seed;
    int64_t period;
    int full; /* the first expression without room in the graph; -1: none */
};

static bool is_same(const struct graph_node *a, const struct graph_node *b)
{
    return a->kind == b->kind && memcmp(a->input, b->input, sizeof a->input) == 0 &&
           a->number[0] == b->number[0] && a->number[1] == b->number[1] && a->noise == b->noise &&
           a->curve == b->curve && a->biomes == b->biomes && a->rivers == b->rivers &&
           a->drainage == b->drainage;
}

/* Add NODE, which expression AT needs, unless the graph has the same node. Returns the node's
 * number. */
static int add(struct builder *builder, int at, const char *key, const struct graph_node *node)
{
    struct world_graph *graph = builder->graph;
    const int count = graph->graph.nodes;
    for (int i = 0; i < count; i++)
        if (is_same(&graph->node[i], node))
            return i;
    if (count == GRAPH_MAX_NODES) {
        builder->full = builder->full < 0 ? at : builder->full;
        return 0;
    }
    graph->node[count] = *node;
    graph->expression[count] = &builder->fields->expression[at];
    graph->key[count] = key;
    return graph->graph.nodes++;
}

static int add_constant(struct builder *builder, int at, const char *key, double number)
{
    const struct graph_node node = {GRAPH_CONSTANT, {-1, -1, -1}, .number = {number}};
    return add(builder, at, key, &node);
}

static int add_unary(struct builder *builder, int at, const char *key, enum graph_kind kind,
                     int input)
{
    const struct graph_node node = {kind, {input, -1, -1}, .number = {0}};
    return add(builder, at, key, &node);
}

static int add_binary(struct builder *builder, int at, const char *key, enum graph_kind kind, int a,
                      int b)
{
    const struct graph_node node = {kind, {a, b, -1}, .number = {0}};
    return add(builder, at, key, &node);
}

static int add_lattice(struct builder *builder, int at, const char *key, int input, unsigned blocks)
{
    const struct graph_node node = {
        GRAPH_LATTICE, {input, -1, -1}, .number = {(double)blocks * FARLANDS_UNIT}};
    return add(builder, at, key, &node);
}

/* A noise's seed: the world's for SALT 0, another one for each other salt. */
static uint64_t noise_seed(uint64_t seed, unsigned salt)
{
    return salt == 0 ? seed : lattice_random(seed, UINT64_C(1) << 32 | salt);
}

static const struct farlands_params *add_noise(struct builder *builder,
                                               const struct node_values *values)
{
    struct farlands_params *noise = &builder->graph->noise[builder->graph->noises++];
    *noise = values->noise;
    noise->seed = noise_seed(builder->seed, values->salt);
    noise->period = builder->period;
    return noise;
}

static int build(struct builder *builder, int at);

/* The largest power of two up to a quarter of the first octave's wavelength. The lattice smooths
 * what is finer, so the first octave follows broad slopes. */
static unsigned steering_spacing(const struct node_values *values)
{
    unsigned spacing = 1;
    while (INT64_C(8) * spacing * FARLANDS_UNIT <= values->noise.wavelength)
        spacing *= 2;
    return values->spacing ? values->spacing : spacing;
}

static int build_gullies(struct builder *builder, int at, const struct expression *expression)
{
    const struct node_values *values = expression->values;
    const char *key = expression->kind->name;
    const int of = build(builder, values->input[0]);
    const int broad = add_lattice(builder, at, key, of, steering_spacing(values));
    const int mask =
        values->input[1] < 0 ? add_constant(builder, at, key, 1) : build(builder, values->input[1]);
    const int slope_x = add_unary(builder, at, key, GRAPH_SLOPE_X, broad);
    const int slope_y = add_unary(builder, at, key, GRAPH_SLOPE_Y, broad);
    const struct graph_node node = {
        .kind = GRAPH_ERODE,
        .input = {slope_x, slope_y, mask},
        .number = {values->number[0], values->number[1]},
        .noise = add_noise(builder, values),
    };
    const int gullies = add(builder, at, key, &node);
    return expression->kind->added ? add_binary(builder, at, key, GRAPH_ADD, of, gullies) : gullies;
}

/* An input that is not given becomes 0. No row has a range for such an input (biomes_check_inputs),
 * so 0 changes nothing. */
static int build_biome(struct builder *builder, int at, const struct expression *expression)
{
    const struct node_values *values = expression->values;
    const char *key = expression->kind->name;
    struct graph_node node = {.kind = GRAPH_BIOME, .biomes = &values->biomes->rows};
    for (int i = 0; i < BIOME_AXES; i++)
        node.input[i] = values->input[i] < 0 ? add_constant(builder, at, key, 0)
                                             : build(builder, values->input[i]);
    return add(builder, at, key, &node);
}

static int build_drain(struct builder *builder, int at, const struct expression *expression)
{
    const struct node_values *values = expression->values;
    struct rivers_params *rivers = &builder->graph->rivers[builder->graph->drains++];
    *rivers = values->rivers;
    rivers->spacing = (int64_t)values->spacing * FARLANDS_UNIT;
    rivers->seed = noise_seed(builder->seed, values->salt);
    const struct graph_node node = {
        .kind = GRAPH_DRAIN, .input = {build(builder, values->input[0]), -1, -1}, .rivers = rivers};
    return add(builder, at, expression->kind->name, &node);
}

static int build_drainage(struct builder *builder, int at, const struct expression *expression)
{
    const struct node_values *values = expression->values;
    struct drainage_params *drainage = &builder->graph->drainage[builder->graph->drainages++];
    *drainage = values->drainage;
    drainage->spacing = (int64_t)values->spacing * FARLANDS_UNIT;
    drainage->seed = noise_seed(builder->seed, values->salt);
    struct rivers_params *rivers = &builder->graph->rivers[builder->graph->drains++];
    *rivers = values->rivers;
    rivers->spacing = drainage->spacing;
    rivers->levels = drainage->levels;
    rivers->halves = true;
    rivers->seed = drainage->seed;
    struct graph_node node = {.kind = GRAPH_DRAINAGE, .drainage = drainage, .rivers = rivers};
    const char *key = expression->kind->name;
    for (enum drainage_input i = 0; i < DRAINAGE_INPUTS; i++)
        node.input[i] = values->input[i] >= 0 ? build(builder, values->input[i])
                        : i == DRAINAGE_TOP   ? add_constant(builder, at, key, DRAINAGE_HIGHEST)
                                              : add_constant(builder, at, key, 0);
    return add(builder, at, key, &node);
}

static int build_keys(struct builder *builder, int at, const struct expression *expression)
{
    const struct node_kind *kind = expression->kind;
    const struct node_values *values = expression->values;
    struct graph_node node = {.kind = kind->graph, .input = {-1, -1, -1}};
    if (kind->graph == GRAPH_ERODE)
        return build_gullies(builder, at, expression);
    if (kind->graph == GRAPH_BIOME)
        return build_biome(builder, at, expression);
    if (kind->graph == GRAPH_DRAIN)
        return build_drain(builder, at, expression);
    if (kind->graph == GRAPH_DRAINAGE)
        return build_drainage(builder, at, expression);
    for (int i = 0; i < GRAPH_MAX_INPUTS && values->input[i] >= 0; i++)
        node.input[i] = build(builder, values->input[i]);
    for (int i = 0; i < GRAPH_MAX_NUMBERS; i++)
        node.number[i] = values->number[i] == values->number[i] ? values->number[i] : 0;
    if (operation_has_spacing(kind->graph))
        node.number[0] = (double)values->spacing * FARLANDS_UNIT;
    if (kind->graph == GRAPH_NOISE || kind->graph == GRAPH_DAMPED)
        node.noise = add_noise(builder, values);
    if (kind->graph == GRAPH_SPLINE)
        node.curve = &values->curve;
    return add(builder, at, kind->name, &node);
}

/* a + b + c is (a + b) + c. */
static int build_list(struct builder *builder, int at, const struct expression *expression)
{
    int result = build(builder, expression->input[0]);
    for (int i = 1; i < expression->inputs && builder->full < 0; i++)
        result = add_binary(builder, at, expression->kind->name, expression->kind->graph, result,
                            build(builder, expression->input[i]));
    return result;
}

static int build_node(struct builder *builder, int at, const struct expression *expression)
{
    switch (expression->kind->shape) {
    case NODE_NUMBER:
        return add_constant(builder, at, "", expression->number);
    case NODE_NAME:
        return build(builder, builder->fields->field[expression->field].expression);
    case NODE_SAME:
        return build(builder, expression->input[0]);
    case NODE_INPUT:
        return add_unary(builder, at, expression->kind->name, expression->kind->graph,
                         build(builder, expression->input[0]));
    case NODE_LIST:
        return build_list(builder, at, expression);
    case NODE_KEYS:
        break;
    }
    return build_keys(builder, at, expression);
}

/* The node for expression AT, after the nodes that AT depends on. */
static int build(struct builder *builder, int at)
{
    const struct expression *expression = &builder->fields->expression[at];
    if (builder->full >= 0)
        return 0;
    if (builder->made[at] < 0) {
        int node = build_node(builder, at, expression);
        if (expression->spacing > 0)
            node = add_lattice(builder, at, "lattice", node, expression->spacing);
        builder->made[at] = node;
    }
    return builder->made[at];
}

static void build_fields(struct builder *builder)
{
    struct world_graph *graph = builder->graph;
    const struct world_fields *fields = builder->fields;
    graph->graph.node = graph->node;
    graph->graph.field = graph->field;
    graph->graph.fields = fields->count;
    graph->graph.height = world_fields_find(fields, "height", 6);
    for (int i = 0; i < fields->count; i++) {
        memcpy(graph->field[i].name, fields->field[i].name, GRAPH_NAME_MAX);
        graph->field[i].node = build(builder, fields->field[i].expression);
    }
}

int fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                 int64_t period, int *at)
{
    struct builder builder = {calloc(1, sizeof **out), fields, NULL, seed, period, -1};
    int noises = 1; /* malloc(0) may return NULL */
    for (int i = 0; i < fields->expressions; i++)
        noises += fields->expression[i].values != NULL;
    if (!builder.graph)
        return -ENOMEM;
    builder.graph->noise = malloc((size_t)noises * sizeof *builder.graph->noise);
    builder.graph->rivers = malloc((size_t)noises * sizeof *builder.graph->rivers);
    builder.graph->drainage = malloc((size_t)noises * sizeof *builder.graph->drainage);
    builder.made = malloc((size_t)fields->expressions * sizeof *builder.made);
    int err =
        builder.graph->noise && builder.graph->rivers && builder.graph->drainage && builder.made
            ? 0
            : -ENOMEM;
    for (int i = 0; !err && i < fields->expressions; i++)
        builder.made[i] = -1;
    if (!err)
        build_fields(&builder);
    free(builder.made);
    if (builder.full >= 0) {
        *at = builder.full;
        err = -E2BIG;
    }
    if (err)
        world_graph_free(builder.graph);
    else
        *out = builder.graph;
    return err;
}

int world_fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                       int64_t period)
{
    int at;
    return fields_graph(out, fields, seed, period, &at);
}

void world_graph_free(struct world_graph *graph)
{
    if (graph) {
        free(graph->noise);
        free(graph->rivers);
        free(graph->drainage);
    }
    free(graph);
}

const struct graph *world_graph(const struct world_graph *graph)
{
    return &graph->graph;
}

const char *world_graph_origin(const struct world_graph *graph, int node, const char **key)
{
    *key = graph->key[node];
    return graph->expression[node]->path;
}
