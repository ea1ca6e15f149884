/*
 * Random graphs of fields, drawn from all that a graph may say, and their description. Uses no
 * library beyond the noise, so that any machine can draw them.
 */
#ifndef FARLANDS_RANDOM_GRAPH_H
#define FARLANDS_RANDOM_GRAPH_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "noise/graph/program.h"
#include "tests/unit/support/draws.h"

enum { RANDOM_GRAPH_NODES = 24 };

struct random_graph {
    bool extreme; /* numbers may be as large or as small as a graph allows */
    bool masked;  /* products have masks that are 0 nearly everywhere */
    int count;
    struct graph_node node[RANDOM_GRAPH_NODES];
    struct farlands_params noise[RANDOM_GRAPH_NODES];
    struct curve_params curve[RANDOM_GRAPH_NODES];
    struct biome_rows biomes[RANDOM_GRAPH_NODES];
};

/* LOW .. HIGH, or, in an extreme graph, often a number that is as good as any limit. */
static inline double draw_within(struct draws *draws, bool extreme, double low, double high)
{
    static const double extremes[] = {0,          -0.0,      1,          -1,   1e-45, 1e-30,
                                      -1e-6,      1e-6,      1e-3,       0.01, 0.37,  0.999,
                                      1.001,      1023,      12345,      1e6,  1e9,   -1e9,
                                      -999999937, 999999936, 1e9 - 1e-6, -0.5, NAN,   INFINITY};
    const double usual = draw_number(draws, low, high);
    return extreme && draw_once_in(draws, 2) ? DRAW_ONE(draws, extremes) : usual;
}

static inline struct farlands_params draw_noise(struct draws *draws)
{
    static const uint64_t seeds[] = {0, 1, UINT64_MAX, INT64_MAX};
    static const double lacunarities[] = {2, 2, 1.9, 2.5, 3};
    struct farlands_params params = {
        .seed = draw_once_in(draws, 4) ? DRAW_ONE(draws, seeds) : draw(draws),
        .basis = (enum farlands_basis)draw_between(draws, 0, FARLANDS_BASES - 1),
        .fractal = (enum farlands_fractal)draw_between(draws, 0, FARLANDS_FRACTALS - 1),
        .gradients = (enum farlands_gradients)draw_between(draws, 0, FARLANDS_GRADIENT_SETS - 1),
        .fade = (enum farlands_fade)draw_between(draws, 0, FARLANDS_FADES - 1),
        .hash = (enum farlands_hash)draw_between(draws, 0, FARLANDS_HASHES - 1),
        .wavelength = draw_once_in(draws, 4) ? draw_length(draws, 50) : draw_length(draws, 27) + 99,
        .octaves = (int)draw_between(draws, 1, 5),
        .persistence = draw_number(draws, 0.001, 1),
        .lacunarity = DRAW_ONE(draws, lacunarities),
        .offset = draw_number(draws, 0, 2),
        .gain = draw_number(draws, 0, 4),
        .elevation = {{-1.5f, -15}, {-0.3f, -7}, {0, 0}, {0.1f, 0.5f}, {0.6f, 8}, {3, 100}},
        .knots = draw_once_in(draws, 4) ? 6 : 0,
    };
    params.octave_salt = params.hash == FARLANDS_PERMUTATION && draw_once_in(draws, 2);
    if (draw_once_in(draws, 6)) {
        params.warp.amplitude = draw_length(draws, draw_once_in(draws, 5) ? 50 : 20);
        params.warp.wavelength = draw_length(draws, 24) + 1;
    }
    if (draw_once_in(draws, 6)) {
        params.wavelength &= -16;
        params.lacunarity = 2;
        params.warp.wavelength = params.wavelength;
        params.period = params.wavelength * draw_between(draws, 1, 99);
    }
    return params;
}

/* Of a noise that has room for as many octaves as it says. */
static inline struct farlands_params draw_valid_noise(struct draws *draws)
{
    struct farlands_params params = draw_noise(draws), checked;
    do {
        checked = params;
        checked.knots = 6;
    } while (params_fault(&checked, NULL) && params.octaves-- > 1);
    return params;
}

static inline struct curve_params draw_curve(struct draws *draws, bool extreme)
{
    struct curve_params curve = {.knots = (int)draw_between(draws, 2, FARLANDS_MAX_KNOTS),
                                 .cubic = draw_between(draws, 0, 1)};
    float at = (float)draw_within(draws, extreme, -1, -1);
    for (int i = 0; i < curve.knots; i++) {
        curve.knot[i] = (struct farlands_knot){at, (float)draw_within(draws, extreme, -5, 5)};
        at = extreme && draw_once_in(draws, 3) ? nextafterf(at, 1e9f)
                                               : at + (float)draw_number(draws, 0.0025, 0.25);
    }
    return curve;
}

static inline struct biome_range draw_range(struct draws *draws, bool extreme)
{
    const float from = (float)draw_within(draws, extreme, -1, 1);
    struct biome_range range = {from, from + (float)draw_within(draws, extreme, 0, 0.5)};
    if (draw_once_in(draws, 3))
        range.from = -INFINITY;
    if (draw_once_in(draws, 3))
        range.to = INFINITY;
    return range;
}

static inline struct biome_rows draw_biomes(struct draws *draws, bool extreme)
{
    struct biome_rows biomes = {
        .rows = (int)draw_between(draws, 1, draw_once_in(draws, 4) ? BIOMES_MAX : 8)};
    const int first = (int)draw_between(draws, 0, BIOME_MAX_ID);
    for (int i = 0; i < biomes.rows; i++) {
        biomes.row[i].id = (first + 37 * i) % (BIOME_MAX_ID + 1);
        for (int k = 0; k < BIOME_AXES; k++)
            biomes.row[i].range[k] = draw_range(draws, extreme);
    }
    return biomes;
}

/* One of the nodes so far, the later ones more often: chains are deep. */
static inline int draw_input(struct draws *draws, int nodes)
{
    const int64_t last = nodes - 1, from = draw_once_in(draws, 2) && last > 4 ? last - 4 : 0;
    return (int)draw_between(draws, from, last);
}

/* One of the nodes of KIND so far, or any if there is none. */
static inline int draw_input_of_kind(struct draws *draws, const struct random_graph *graph,
                                     int nodes, enum graph_kind kind)
{
    int at[RANDOM_GRAPH_NODES], count = 0;
    for (int i = 0; i < nodes; i++)
        if (graph->node[i].kind == kind)
            at[count++] = i;
    return count > 0 ? at[draw_between(draws, 0, count - 1)] : draw_input(draws, nodes);
}

/* A noise for a node whose kind allows only some. */
static inline void draw_own_noise(struct draws *draws, struct random_graph *graph, int at)
{
    struct graph_node *node = &graph->node[at];
    struct farlands_params *noise = &graph->noise[at];
    *noise = draw_valid_noise(draws);
    node->noise = noise;
    if (node->kind == GRAPH_NOISE) {
        node->number[0] = draw_within(draws, graph->extreme, 4, 120);
        if (at == 0 || noise->warp.amplitude != 0 || draw_between(draws, 0, 1))
            node->input[0] = node->input[1] = -1;
        return;
    }
    noise->basis = node->kind == GRAPH_DAMPED ? FARLANDS_PERLIN : FARLANDS_CELLULAR;
    noise->fractal = FARLANDS_FBM;
    noise->warp.amplitude = 0;
    if (node->kind == GRAPH_ERODE && noise->wavelength > 1 << 24)
        noise->wavelength = BLOCKS(80);
}

/* An input that makes others irrelevant if it is 0: often a mask that is 0 nearly everywhere, or 1.
 */
static inline void draw_mask(struct draws *draws, struct random_graph *graph, int at, int input)
{
    if (!graph->masked || draw_once_in(draws, 3))
        return;
    graph->node[at].input[input] =
        draw_input_of_kind(draws, graph, at, draw_once_in(draws, 4) ? GRAPH_RIDGE : GRAPH_STEP);
}

/* A node of KIND that depends on nodes before it. */
static inline void draw_node(struct draws *draws, struct random_graph *graph, enum graph_kind kind)
{
    const int at = graph->count++;
    const bool extreme = graph->extreme;
    struct graph_node *node = &graph->node[at];
    *node = (struct graph_node){.kind = kind, .input = {-1, -1, -1, -1, -1, -1}};
    for (int i = 0; i < GRAPH_MAX_INPUTS && at > 0; i++)
        node->input[i] = draw_input(draws, at);
    node->number[0] = draw_within(draws, extreme, 0.1, 3);
    switch (kind) {
    case GRAPH_NOISE:
        draw_own_noise(draws, graph, at);
        break;
    case GRAPH_DAMPED:
        draw_own_noise(draws, graph, at);
        break;
    case GRAPH_MULTIPLY:
        draw_mask(draws, graph, at, draw_once_in(draws, 2));
        break;
    case GRAPH_MIX:
        draw_mask(draws, graph, at, 2);
        break;
    case GRAPH_ERODE:
        draw_mask(draws, graph, at, 2);
        draw_own_noise(draws, graph, at);
        node->number[1] = draw_within(draws, extreme, 0.05, 2);
        if (draw_once_in(draws, 3))
            break;
        node->input[0] = draw_input_of_kind(draws, graph, at, GRAPH_SLOPE_X);
        node->input[1] = draw_input_of_kind(draws, graph, at, GRAPH_SLOPE_Y);
        break;
    case GRAPH_SPLINE:
        graph->curve[at] = draw_curve(draws, extreme);
        node->curve = &graph->curve[at];
        break;
    case GRAPH_BIOME:
        graph->biomes[at] = draw_biomes(draws, extreme);
        node->biomes = &graph->biomes[at];
        break;
    case GRAPH_CONSTANT:
        node->number[0] = draw_within(draws, extreme, -1.5, 1.5);
        break;
    case GRAPH_CLAMP:
        node->number[0] = draw_within(draws, extreme, -1, 0);
        node->number[1] = draw_within(draws, extreme, 0, 1.5);
        break;
    case GRAPH_STEP:
        node->number[1] = node->number[0] + draw_within(draws, extreme, -1, 1);
        break;
    case GRAPH_TERRACE:
        node->number[1] = draw_within(draws, extreme, 0.02, 1);
        break;
    case GRAPH_LATTICE:
    case GRAPH_WAVE_X:
    case GRAPH_WAVE_Y:
        node->number[0] = (double)(FARLANDS_UNIT << draw_between(draws, 0, extreme ? 24 : 14));
        break;
    case GRAPH_SLOPE_X:
    case GRAPH_SLOPE_Y:
        node->input[0] = draw_input_of_kind(draws, graph, at, GRAPH_LATTICE);
        break;
    default:
        break;
    }
}

/* Any kind but those of rivers, and of the ground that they build, which have tests of their own.
 */
static inline enum graph_kind draw_kind(struct draws *draws)
{
    enum graph_kind kinds[GRAPH_KINDS];
    int count = 0;
    for (int kind = 0; kind < GRAPH_KINDS; kind++)
        if (operation_kinds[kind].family != FAMILY_DRAIN &&
            operation_kinds[kind].family != FAMILY_DRAINAGE &&
            operation_kinds[kind].family != FAMILY_WATER)
            kinds[count++] = (enum graph_kind)kind;
    return kinds[draw_between(draws, 0, count - 1)];
}

/* A graph that program_new accepts, with a noise first. Its last node depends on many others. The
 * caller frees it. */
static inline struct random_graph *draw_any_graph(struct draws *draws, bool extreme, bool masked)
{
    struct random_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        __builtin_trap();
    graph->extreme = extreme;
    graph->masked = masked;
    const int count = (int)draw_between(draws, 1, RANDOM_GRAPH_NODES);
    for (int tries = 0; graph->count < count && (graph->count == 0 || tries < 200); tries++) {
        const enum graph_kind kind = graph->count == 0 || draw_once_in(draws, 6) ? GRAPH_NOISE
                                     : masked && draw_once_in(draws, 6)          ? GRAPH_MULTIPLY
                                                                                 : draw_kind(draws);
        struct graph_fault fault;
        struct program *program;
        draw_node(draws, graph, kind);
        /* Products of products may grow too large, and a period too short. */
        if (program_new(&program, graph->node, graph->count, &fault) == 0)
            program_free(program);
        else
            graph->count--;
    }
    return graph;
}

static inline struct random_graph *draw_graph_of(struct draws *draws, bool extreme)
{
    return draw_any_graph(draws, extreme, true);
}

static inline struct random_graph *draw_graph(struct draws *draws)
{
    return draw_graph_of(draws, false);
}

static inline const char *graph_kind_name(enum graph_kind kind)
{
    return operation_kinds[kind].name;
}

/* Static text, overwritten by the next call. */
static inline const char *graph_text(const struct random_graph *graph)
{
    static char text[RANDOM_GRAPH_NODES * 96];
    int used = 0;
    for (int i = 0; i < graph->count; i++) {
        const struct graph_node *node = &graph->node[i];
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s%d %s(%d, %d, %d, %d; %.9g, %.9g)", i > 0 ? ", " : "", i,
                         graph_kind_name(node->kind), node->input[0], node->input[1],
                         node->input[2], node->input[3], node->number[0], node->number[1]);
    }
    return text;
}

#endif
