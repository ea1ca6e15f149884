/* Random graphs of fields, drawn from all that a graph may say, and their description. */
#ifndef FARLANDS_RANDOM_GRAPH_H
#define FARLANDS_RANDOM_GRAPH_H

#include "noise/program.h"
#include "tests/unit/support/reference_params.h"

enum { RANDOM_GRAPH_NODES = 24 };

struct random_graph {
    int count;
    struct graph_node node[RANDOM_GRAPH_NODES];
    struct farlands_params noise[RANDOM_GRAPH_NODES];
    struct curve_params curve[RANDOM_GRAPH_NODES];
};

/* One of the values of a table. */
#define DRAW_ONE(draws, table) ((table)[draw_between(draws, 0, LENGTH(table) - 1)])

static inline struct farlands_params draw_noise(struct draws *draws)
{
    static const int64_t wavelengths[] = {12345,         BLOCKS(10.5),    BLOCKS(400),
                                          (1 << 24) + 1, BLOCKS(1 << 20), BLOCKS(5000)};
    struct farlands_params params = reference_params();
    params.seed = draw(draws);
    params.basis = (enum farlands_basis)draw_between(draws, 0, FARLANDS_BASES - 1);
    params.fractal = (enum farlands_fractal)draw_between(draws, 0, FARLANDS_FRACTALS - 1);
    params.gradients = (enum farlands_gradients)draw_between(draws, 0, FARLANDS_GRADIENT_SETS - 1);
    params.fade = (enum farlands_fade)draw_between(draws, 0, FARLANDS_FADES - 1);
    params.hash = (enum farlands_hash)draw_between(draws, 0, FARLANDS_HASHES - 1);
    params.wavelength = DRAW_ONE(draws, wavelengths);
    params.octaves = (int)draw_between(draws, 1, 5);
    if (draw_between(draws, 0, 5) == 0) {
        params.warp.amplitude = BLOCKS(100);
        params.warp.wavelength = DRAW_ONE(draws, wavelengths);
    }
    if (draw_between(draws, 0, 3) > 0)
        params.knots = 0;
    return params;
}

static inline struct curve_params draw_curve(struct draws *draws)
{
    struct curve_params curve = {.knots = (int)draw_between(draws, 2, FARLANDS_MAX_KNOTS),
                                 .cubic = draw_between(draws, 0, 1)};
    float at = -1;
    for (int i = 0; i < curve.knots; i++) {
        curve.knot[i] = (struct farlands_knot){at, (float)draw_between(draws, -50, 50) / 10};
        at += (float)draw_between(draws, 1, 100) / 400;
    }
    return curve;
}

/* A node of KIND that depends on nodes before it. */
static inline void draw_node(struct draws *draws, struct random_graph *graph, enum graph_kind kind)
{
    const int at = graph->count++;
    struct graph_node *node = &graph->node[at];
    const double size = (double)draw_between(draws, 1, 30) / 10;
    *node = (struct graph_node){.kind = kind, .input = {-1, -1, -1}};
    for (int i = 0; i < GRAPH_MAX_INPUTS && at > 0; i++)
        node->input[i] = (int)draw_between(draws, 0, at - 1);
    node->number[0] = size;
    switch (kind) {
    case GRAPH_NOISE:
        graph->noise[at] = draw_noise(draws);
        node->noise = &graph->noise[at];
        node->number[0] = size * 40;
        if (at == 0 || graph->noise[at].warp.amplitude != 0 || draw_between(draws, 0, 1))
            node->input[0] = node->input[1] = -1;
        break;
    case GRAPH_SPLINE:
        graph->curve[at] = draw_curve(draws);
        node->curve = &graph->curve[at];
        break;
    case GRAPH_CONSTANT:
        node->number[0] = size - 1.5;
        break;
    case GRAPH_CLAMP:
        node->number[0] = -size / 3;
        node->number[1] = size / 2;
        break;
    case GRAPH_STEP:
        node->number[1] = draw_between(draws, 0, 1) ? size - 0.7 : size + 0.3;
        break;
    case GRAPH_TERRACE:
        node->number[1] = size / 4;
        break;
    case GRAPH_LATTICE:
        node->number[0] = (double)(FARLANDS_UNIT << draw_between(draws, 0, 14));
        break;
    case GRAPH_DAMPED:
    case GRAPH_ERODE:
        graph->noise[at] = draw_noise(draws);
        graph->noise[at].basis = kind == GRAPH_DAMPED ? FARLANDS_PERLIN : FARLANDS_CELLULAR;
        graph->noise[at].fractal = FARLANDS_FBM;
        graph->noise[at].warp.amplitude = 0;
        if (kind == GRAPH_ERODE && graph->noise[at].wavelength > 1 << 24)
            graph->noise[at].wavelength = BLOCKS(80);
        node->noise = &graph->noise[at];
        node->number[1] = 0.3;
        break;
    default:
        break;
    }
}

/* A graph with a noise first. Its last node depends on many others. */
static inline struct random_graph *draw_graph(struct draws *draws)
{
    struct random_graph *graph = calloc(1, sizeof *graph);
    ck_assert_ptr_nonnull(graph);
    const int count = (int)draw_between(draws, 1, RANDOM_GRAPH_NODES);
    struct graph_fault fault;
    struct program *program;
    draw_node(draws, graph, GRAPH_NOISE);
    while (graph->count < count) {
        const int kind = draw_between(draws, 0, 4) == 0
                             ? GRAPH_NOISE
                             : (int)draw_between(draws, 0, GRAPH_KINDS - 1);
        draw_node(draws, graph, (enum graph_kind)kind);
        /* Products of products may grow too large, and a period too short. */
        if (program_new(&program, graph->node, graph->count, &fault) == 0)
            program_free(program);
        else
            graph->count--;
    }
    return graph;
}

static inline const char *graph_kind_name(enum graph_kind kind)
{
    static const char *const names[GRAPH_KINDS] = {
        "noise",      "constant",   "add",     "subtract", "multiply", "min",    "max",
        "smooth_min", "smooth_max", "abs",     "clamp",    "mix",      "spline", "step",
        "ridge",      "terrace",    "lattice", "slope_x",  "slope_y",  "damped", "erode"};
    return names[kind];
}

/* Static text, overwritten by the next call. */
static inline const char *graph_text(const struct random_graph *graph)
{
    static char text[RANDOM_GRAPH_NODES * 64];
    int used = 0;
    for (int i = 0; i < graph->count; i++) {
        const struct graph_node *node = &graph->node[i];
        used += snprintf(text + used, sizeof text - (size_t)used, "%s%d %s(%d, %d, %d; %g, %g)",
                         i > 0 ? ", " : "", i, graph_kind_name(node->kind), node->input[0],
                         node->input[1], node->input[2], node->number[0], node->number[1]);
    }
    return text;
}

static inline struct program *graph_program(const struct random_graph *graph)
{
    struct program *program = NULL;
    struct graph_fault fault = {0, "", ""};
    const int err = program_new(&program, graph->node, graph->count, &fault);
    ck_assert_msg(err == 0, "%s: node %d: %s: %s", graph_text(graph), fault.node, fault.key,
                  fault.text);
    return program;
}

#endif
