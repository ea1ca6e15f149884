/* Graphs of each kind of node, and composed ones, over hills of 4096 blocks and less. */
#ifndef FARLANDS_SAMPLE_GRAPHS_H
#define FARLANDS_SAMPLE_GRAPHS_H

#include "noise/graph/program.h"
#include "tests/unit/support/reference_params.h"

struct graph_builder {
    int count;
    struct graph_node node[40];
    struct farlands_params noise[40];
    struct curve_params curve[2];
    struct biome_rows biomes;
    struct rivers_params rivers;
    struct drainage_params drainage;
};

static inline int add(struct graph_builder *b, enum graph_kind kind, int a, int c, int d, double p,
                      double q)
{
    b->node[b->count] = (struct graph_node){kind, {a, c, d}, .number = {p, q}};
    return b->count++;
}

static inline int add_noise(struct graph_builder *b, enum graph_kind kind, double blocks,
                            int octaves, double p, double q)
{
    struct farlands_params *noise = &b->noise[b->count];
    *noise = reference_params();
    noise->seed = (uint64_t)b->count + 5;
    noise->wavelength = BLOCKS(blocks);
    noise->octaves = octaves;
    noise->knots = 0;
    if (kind == GRAPH_ERODE)
        noise->basis = FARLANDS_CELLULAR;
    const int at = add(b, kind, -1, -1, -1, p, q);
    b->node[at].noise = noise;
    return at;
}

/* Perlin noise of 4096 blocks and less, HEIGHT times. */
static inline int add_hills(struct graph_builder *b, double height)
{
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 0, 0);
    return add(b, GRAPH_MULTIPLY, noise, add(b, GRAPH_CONSTANT, -1, -1, -1, height, 0), -1, 0, 0);
}

/* The same without octaves of less than 512 blocks. */
static inline int add_broad(struct graph_builder *b, double height)
{
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 4, 0, 0);
    return add(b, GRAPH_MULTIPLY, noise, add(b, GRAPH_CONSTANT, -1, -1, -1, height, 0), -1, 0, 0);
}

/* Gullies over FIELD, and the field. */
static inline int add_erosion(struct graph_builder *b, int field, double blocks, int spacing)
{
    const int lattice = add(b, GRAPH_LATTICE, field, -1, -1, (double)BLOCKS(spacing), 0);
    const int dx = add(b, GRAPH_SLOPE_X, lattice, -1, -1, 0, 0);
    const int dy = add(b, GRAPH_SLOPE_Y, lattice, -1, -1, 0, 0);
    const int mask = add(b, GRAPH_CONSTANT, -1, -1, -1, 1, 0);
    const int gullies = add_noise(b, GRAPH_ERODE, blocks, 6, 0.1, 0.3);
    memcpy(b->node[gullies].input, (int[GRAPH_MAX_INPUTS]){dx, dy, mask, -1, -1},
           sizeof b->node[gullies].input);
    return add(b, GRAPH_ADD, field, gullies, -1, 0, 0);
}

static inline void noise_of(struct graph_builder *b, enum farlands_basis basis,
                            enum farlands_fractal fractal)
{
    const int at = add_noise(b, GRAPH_NOISE, 4096, 12, 0, 0);
    b->noise[at].basis = basis;
    b->noise[at].fractal = fractal;
}

static inline void sample_fbm(struct graph_builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_FBM);
}

static inline void sample_billow(struct graph_builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_BILLOW);
}

static inline void sample_ridged(struct graph_builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_RIDGED);
}

static inline void sample_hybrid(struct graph_builder *b)
{
    noise_of(b, FARLANDS_PERLIN, FARLANDS_HYBRID);
}

static inline void sample_simplex(struct graph_builder *b)
{
    noise_of(b, FARLANDS_SIMPLEX, FARLANDS_FBM);
}

static inline void sample_cellular(struct graph_builder *b)
{
    noise_of(b, FARLANDS_CELLULAR, FARLANDS_FBM);
}

static inline void sample_value(struct graph_builder *b)
{
    noise_of(b, FARLANDS_VALUE, FARLANDS_FBM);
}

static inline void sample_moved(struct graph_builder *b)
{
    const int x = add_broad(b, 1), y = add_broad(b, 1);
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 300, 0);
    b->node[noise].input[0] = x;
    b->node[noise].input[1] = y;
}

static inline void sample_moved_by_fine_noise(struct graph_builder *b)
{
    const int x = add_hills(b, 1), y = add_hills(b, 1);
    const int noise = add_noise(b, GRAPH_NOISE, 4096, 12, 300, 0);
    b->node[noise].input[0] = x;
    b->node[noise].input[1] = y;
}

static inline void sample_sum(struct graph_builder *b)
{
    const int a = add_hills(b, 500);
    add(b, GRAPH_SUBTRACT, a, add_hills(b, 200), -1, 0, 0);
}

static inline void sample_product(struct graph_builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MULTIPLY, a, add_hills(b, 1), -1, 0, 0);
}

static inline void sample_least(struct graph_builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MIN, a, add_hills(b, 1), -1, 0, 0);
}

static inline void sample_greatest(struct graph_builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_MAX, a, add_hills(b, 1), -1, 0, 0);
}

static inline void sample_smooth_least(struct graph_builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_SMOOTH_MIN, a, add_hills(b, 1), -1, 0.2, 0);
}

static inline void sample_smooth_greatest(struct graph_builder *b)
{
    const int a = add_hills(b, 1);
    add(b, GRAPH_SMOOTH_MAX, a, add_hills(b, 1), -1, 0.2, 0);
}

static inline void sample_absolute(struct graph_builder *b)
{
    add(b, GRAPH_ABS, add_hills(b, 1), -1, -1, 0, 0);
}

static inline void sample_clamped(struct graph_builder *b)
{
    add(b, GRAPH_CLAMP, add_hills(b, 1), -1, -1, -0.1, 0.15);
}

static inline void sample_mixed(struct graph_builder *b)
{
    const int a = add_hills(b, 1), c = add_hills(b, 0.2);
    add(b, GRAPH_MIX, a, c, add(b, GRAPH_STEP, add_broad(b, 1), -1, -1, -0.1, 0.1), 0, 0);
}

static inline void curve_of(struct graph_builder *b, bool cubic)
{
    const int a = add_hills(b, 1), spline = add(b, GRAPH_SPLINE, a, -1, -1, 0, 0);
    b->curve[0] =
        (struct curve_params){.knot = {{-0.4f, -5}, {-0.1f, -1}, {0, 0}, {0.1f, 3}, {0.4f, 6}},
                              .knots = 5,
                              .cubic = cubic};
    b->node[spline].curve = &b->curve[0];
}

static inline void sample_linear_spline(struct graph_builder *b)
{
    curve_of(b, false);
}

static inline void sample_cubic_spline(struct graph_builder *b)
{
    curve_of(b, true);
}

static inline void sample_step(struct graph_builder *b)
{
    add(b, GRAPH_STEP, add_hills(b, 1), -1, -1, -0.1, 0.1);
}

static inline void sample_waves(struct graph_builder *b)
{
    const int x = add(b, GRAPH_WAVE_X, -1, -1, -1, BLOCKS(4096), 0);
    add(b, GRAPH_ADD, x, add(b, GRAPH_WAVE_Y, -1, -1, -1, BLOCKS(512), 0), -1, 0, 0);
}

static inline void sample_ridge(struct graph_builder *b)
{
    add(b, GRAPH_RIDGE, add_hills(b, 1), -1, -1, 0.2, 0);
}

static inline void sample_terrace(struct graph_builder *b)
{
    add(b, GRAPH_TERRACE, add_broad(b, 200), -1, -1, 40, 0.3);
}

static inline void sample_lattice(struct graph_builder *b)
{
    add(b, GRAPH_LATTICE, add_broad(b, 1), -1, -1, (double)BLOCKS(32), 0);
}

static inline void sample_lattice_of_fine_noise(struct graph_builder *b)
{
    add(b, GRAPH_LATTICE, add_hills(b, 1), -1, -1, (double)BLOCKS(64), 0);
}

static inline void sample_slope(struct graph_builder *b)
{
    sample_lattice(b);
    add(b, GRAPH_SLOPE_X, b->count - 1, -1, -1, 0, 0);
}

static inline void sample_damped(struct graph_builder *b)
{
    add_noise(b, GRAPH_DAMPED, 4096, 12, 1, 0);
}

static inline void sample_gullies(struct graph_builder *b)
{
    add_erosion(b, add_broad(b, 800), 512, 32);
    b->count--; /* without the field */
}

/* So that one octave is seen while that before it fades. */
static inline void sample_dense_gullies(struct graph_builder *b)
{
    const int eroded = add_erosion(b, add_broad(b, 800), 512, 32);
    b->noise[b->node[eroded].input[1]].lacunarity = 1.5;
}

static inline void sample_eroded(struct graph_builder *b)
{
    add_erosion(b, add_broad(b, 800), 512, 32);
}

static inline void sample_eroded_hills(struct graph_builder *b)
{
    add_erosion(b, add_hills(b, 800), 512, 64);
}

/* Mountains of damped noise along the zeros of a slow one, eroded. */
static inline void sample_mountains(struct graph_builder *b)
{
    const int belts =
        add(b, GRAPH_RIDGE, add_noise(b, GRAPH_NOISE, 20000, 3, 0, 0), -1, -1, 0.3, 0);
    const int peaks = add_noise(b, GRAPH_DAMPED, 4096, 12, 1, 0);
    const int high = add(b, GRAPH_MULTIPLY, peaks, belts, -1, 0, 0);
    const int metres = add(b, GRAPH_CONSTANT, -1, -1, -1, 1500, 0);
    const int hills = add_hills(b, 60);
    add_erosion(b,
                add(b, GRAPH_ADD, add(b, GRAPH_MULTIPLY, high, metres, -1, 0, 0), hills, -1, 0, 0),
                512, 64);
}

static inline void sample_biome(struct graph_builder *b)
{
    static const struct biome_rows rows = {
        .row = {{3,
                 {{-INFINITY, INFINITY}, {-INFINITY, INFINITY}, {-INFINITY, -50}, {0, INFINITY}}},
                {0, {{5, 30}, {0.5f, 1}, {-20, 100}, {-INFINITY, INFINITY}}},
                {255, {{10, 30}, {0, 0.4f}, {0, 100}, {-INFINITY, INFINITY}}},
                {7, {{-40, 0}, {-INFINITY, INFINITY}, {0, INFINITY}, {-INFINITY, 0.2f}}},
                {8, {{-5, 12}, {0.2f, 0.6f}, {0, 300}, {0.3f, 0.7f}}}},
        .rows = 5};
    const int height = add_hills(b, 500), warmth = add_hills(b, 60), wet = add_hills(b, 2);
    const int at = add(b, GRAPH_BIOME, warmth, wet, height, 0, 0);
    b->biomes = rows;
    b->node[at].input[3] = wet;
    b->node[at].biomes = &b->biomes;
}

/* Hills in a sea, and rivers that begin early. */
static inline int add_drain(struct graph_builder *b)
{
    const int hills = add_hills(b, 200);
    const int drain = add(b, GRAPH_DRAIN, hills, -1, -1, 0, 0);
    b->rivers = (struct rivers_params){.spacing = BLOCKS(8192),
                                       .levels = 3,
                                       .seed = 42,
                                       .from = 1.5,
                                       .width = 4,
                                       .widening = 1.85,
                                       .depth = 0.5,
                                       .deepening = 1.45,
                                       .slope = 0.45,
                                       .meander = 0.5,
                                       .lake = 4};
    b->node[drain].rivers = &b->rivers;
    return drain;
}

static inline void sample_drain(struct graph_builder *b)
{
    add_drain(b);
}

/* Low country with a coast; rivers build ranges of hills. */
static inline int add_drainage(struct graph_builder *b)
{
    const int envelope = add_noise(b, GRAPH_NOISE, 65536, 2, 0, 0);
    b->noise[envelope].elevation[0] = (struct farlands_knot){-1, -300};
    b->noise[envelope].elevation[1] = (struct farlands_knot){1, 500};
    b->noise[envelope].knots = 2;
    const int steepness = add(b, GRAPH_CONSTANT, -1, -1, -1, 0.1, 0);
    const int side = add(b, GRAPH_CONSTANT, -1, -1, -1, 0.5, 0);
    const int top = add(b, GRAPH_CONSTANT, -1, -1, -1, 700, 0);
    const int lakes = add(b, GRAPH_CONSTANT, -1, -1, -1, 0.4, 0);
    const int ice = add(b, GRAPH_CONSTANT, -1, -1, -1, 0, 0);
    const int drainage = add(b, GRAPH_DRAINAGE, envelope, steepness, side, 0, 0);
    b->node[drainage].input[DRAINAGE_TOP] = top;
    b->node[drainage].input[DRAINAGE_ICE] = ice;
    b->node[drainage].input[DRAINAGE_JUNCTION] = ice; /* 0, too */
    b->node[drainage].input[DRAINAGE_LAKES] = lakes;
    b->drainage = (struct drainage_params){.seed = 42,
                                           .spacing = BLOCKS(8192),
                                           .levels = 6,
                                           .concavity = 0.45,
                                           .rough = 0.5,
                                           .floor = 60,
                                           .bend = 0.4};
    b->rivers = (struct rivers_params){.spacing = BLOCKS(8192),
                                       .levels = 6,
                                       .halves = true,
                                       .seed = 42,
                                       .from = 2,
                                       .width = 0.7,
                                       .widening = 1.8,
                                       .depth = 0.3,
                                       .deepening = 1.4,
                                       .slope = 0.45,
                                       .meander = 0.3,
                                       .lake = 1e5};
    b->node[drainage].drainage = &b->drainage;
    b->node[drainage].rivers = &b->rivers;
    return drainage;
}

static inline void sample_drainage(struct graph_builder *b)
{
    add_drainage(b);
}

static inline void sample_base_level(struct graph_builder *b)
{
    add(b, GRAPH_BASE_LEVEL, add_drain(b), -1, -1, 0, 0);
}

static inline void sample_bank(struct graph_builder *b)
{
    add(b, GRAPH_BANK, add_drain(b), -1, -1, 0, 0);
}

static inline void sample_water(struct graph_builder *b)
{
    const int drain = add_drain(b);
    add(b, GRAPH_WATER, drain, drain, -1, 0, 0);
}

static inline void sample_river(struct graph_builder *b)
{
    add(b, GRAPH_RIVER, add_drain(b), -1, -1, 0, 0);
}

static inline void sample_built_bank(struct graph_builder *b)
{
    add(b, GRAPH_BANK, add_drainage(b), -1, -1, 0, 0);
}

static inline void sample_built_channel(struct graph_builder *b)
{
    const int drainage = add_drainage(b);
    add(b, GRAPH_CHANNEL, drainage, drainage, -1, 0, 0);
}

static inline void sample_channel(struct graph_builder *b)
{
    const int drain = add_drain(b);
    add(b, GRAPH_CHANNEL, drain, drain, -1, 0, 0);
}

/* Gullies over the drained ground on a lattice, and the channels of the same rivers in it. */
static inline void sample_eroded_valleys(struct graph_builder *b)
{
    const int lattice = add(b, GRAPH_LATTICE, add_drain(b), -1, -1, (double)BLOCKS(16), 0);
    add(b, GRAPH_CHANNEL, add_erosion(b, lattice, 256, 64), lattice, -1, 0, 0);
}

static const struct sample_graph {
    const char *name;
    void (*build)(struct graph_builder *b);
} sample_graphs[] = {
    {"noise, fbm", sample_fbm},
    {"noise, billow", sample_billow},
    {"noise, ridged", sample_ridged},
    {"noise, hybrid", sample_hybrid},
    {"noise, simplex", sample_simplex},
    {"noise, cellular", sample_cellular},
    {"noise, value", sample_value},
    {"noise, moved", sample_moved},
    {"noise, moved by fine noise", sample_moved_by_fine_noise},
    {"subtract", sample_sum},
    {"multiply", sample_product},
    {"min", sample_least},
    {"max", sample_greatest},
    {"smooth_min", sample_smooth_least},
    {"smooth_max", sample_smooth_greatest},
    {"abs", sample_absolute},
    {"clamp", sample_clamped},
    {"mix", sample_mixed},
    {"spline, linear", sample_linear_spline},
    {"spline, cubic", sample_cubic_spline},
    {"step", sample_step},
    {"ridge", sample_ridge},
    {"waves", sample_waves},
    {"terrace", sample_terrace},
    {"lattice", sample_lattice},
    {"lattice of fine noise", sample_lattice_of_fine_noise},
    {"slope_x", sample_slope},
    {"damped", sample_damped},
    {"gullies", sample_gullies},
    {"erode", sample_eroded},
    {"erode of fine hills", sample_eroded_hills},
    {"mountains", sample_mountains},
    {"erode, lacunarity 1.5", sample_dense_gullies},
    {"biome", sample_biome},
    {"drain", sample_drain},
    {"drainage", sample_drainage},
    {"base level", sample_base_level},
    {"bank", sample_bank},
    {"water", sample_water},
    {"river", sample_river},
    {"channel", sample_channel},
    {"bank of a drainage", sample_built_bank},
    {"channel of a drainage", sample_built_channel},
    {"channel of eroded valleys", sample_eroded_valleys},
};

/* The program of the graph NAME; the last node is its result. */
static inline struct program *sample_program(const char *name)
{
    struct graph_builder b = {0};
    struct graph_fault fault;
    struct program *program = NULL;
    for (int i = 0; i < LENGTH(sample_graphs); i++)
        if (strcmp(sample_graphs[i].name, name) == 0)
            sample_graphs[i].build(&b);
    const int err = program_new(&program, b.node, b.count, &fault);
    ck_assert_msg(err == 0, "%s: node %d: %s: %s", name, fault.node, fault.key, fault.text);
    return program;
}

#endif
