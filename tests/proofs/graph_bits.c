/* Without a library or a system call, so that WebAssembly computes the same hashes. */
#include "tests/proofs/graph_bits.h"

#include <string.h>

#include "noise/terrain/terrain.h"
#include "tests/unit/support/random_graph.h"

enum { FIELDS = 3, WIDTH = 290, HEIGHT = 8 };

static uint64_t hash_floats(uint64_t hash, const float *values, int count)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        hash ^= hash >> 29;
    }
    return hash;
}

/* Fields drawn from all nodes; the last node, which most depends on, is the height. */
static int make_terrain(struct farlands_terrain **out, struct draws *draws,
                        const struct random_graph *graph)
{
    static const struct farlands_params params = {
        .fractal = FARLANDS_FBM,
        .wavelength = BLOCKS(64),
        .octaves = 1,
        .persistence = 1,
        .lacunarity = 2,
        .elevation = {{-1, -1}, {1, 1}},
        .knots = 2,
    };
    struct graph_fault fault;
    struct graph_field field[FIELDS] = {{"a", 0}, {"b", 0}, {"height", graph->count - 1}};
    for (int i = 0; i < FIELDS - 1; i++)
        field[i].node = (int)draw_between(draws, 0, graph->count - 1);
    const struct graph whole = {graph->node, graph->count, field, FIELDS, FIELDS - 1};
    return terrain_new(out, &whole, &params, &fault);
}

static uint64_t hash_terrain(struct draws *draws, const struct farlands_terrain *terrain)
{
    static float values[FIELDS][WIDTH * HEIGHT];
    static const int all[FIELDS] = {0, 1, 2};
    float *const out[] = {values[0], values[1], values[2]};
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct farlands_scratch *scratch;
    if (farlands_scratch_new(&scratch) != 0)
        return 0;
    for (int g = 0; g < 2 && hash; g++) {
        const bool wide = draw_once_in(draws, 6);
        struct farlands_grid grid = draw_grid(draws, wide ? WIDTH : 40, HEIGHT);
        if (terrain_has_drain(terrain) && grid.step > BLOCKS(64))
            grid.step = draw_length(draws, 16);
        const int count = (int)draw_between(draws, 1, FIELDS);
        const int err = terrain_fields(terrain, scratch, &grid, all + FIELDS - count, count, out,
                                       (size_t)grid.width);
        for (int i = 0; i < count; i++)
            hash = hash_floats(hash, values[i], grid.width * grid.height);
        const float point = terrain_field_at(terrain, scratch, FIELDS - 1, grid.x, grid.y);
        hash = err ? 0 : hash_floats(hash, &point, 1);
    }
    farlands_scratch_free(scratch);
    return hash;
}

/* Mountains of the first noise, drained, with channels. */
static void add_rivers(struct draws *draws, struct random_graph *graph)
{
    static struct rivers_params params;
    const int first = graph->count < RANDOM_GRAPH_NODES - 4 ? graph->count : RANDOM_GRAPH_NODES - 4;
    params = (struct rivers_params){
        .spacing = BLOCKS(4096) << draw_between(draws, 0, 3),
        .levels = (int)draw_between(draws, 2, 4),
        .seed = draw(draws),
        .from = draw_number(draws, 0, 3),
        .width = draw_number(draws, 0.5, 4),
        .widening = draw_number(draws, 1, 2),
        .depth = draw_number(draws, 0.1, 2),
        .deepening = draw_number(draws, 1, 2),
        .slope = draw_number(draws, 0, 1),
        .meander = draw_number(draws, 0, 1),
        .lake = draw_number(draws, 0, 100),
    };
    graph->noise[0].wavelength = BLOCKS(1 << 15);
    graph->noise[0].period = 0;
    graph->node[first] = (struct graph_node){GRAPH_CONSTANT, {-1, -1, -1}, .number = {700}};
    graph->node[first + 1] = (struct graph_node){GRAPH_MULTIPLY, {0, first, -1}, .number = {0}};
    graph->node[first + 2] =
        (struct graph_node){GRAPH_DRAIN, {first + 1, -1, -1}, .number = {0}, .rivers = &params};
    graph->node[first + 3] =
        (struct graph_node){draw_once_in(draws, 3) ? GRAPH_WATER : GRAPH_CHANNEL,
                            {first + 2, first + 2},
                            .number = {0}};
    graph->count = first + 4;
}

/* Every tenth graph is an extreme one; every twentieth has rivers. */
static struct random_graph *graph_of(struct draws *draws, int number)
{
    draws->seed = UINT64_C(0x6772617068) + (uint64_t)number;
    draws->next = 0;
    struct random_graph *graph = draw_graph_of(draws, number % 10 == 9);
    if (number % 20 == 7)
        add_rivers(draws, graph);
    return graph;
}

uint64_t graph_bits(int number)
{
    struct draws draws;
    struct farlands_terrain *terrain;
    struct random_graph *graph = graph_of(&draws, number);
    uint64_t hash = 0;
    if (make_terrain(&terrain, &draws, graph) == 0) {
        hash = hash_terrain(&draws, terrain);
        terrain_free(terrain);
    }
    free(graph);
    return hash;
}

#ifdef __wasm__
/* A JavaScript number has 53 bits: half of the hash at a time. */
__attribute__((export_name("graph_bits_half"))) uint32_t graph_bits_half(int number, int upper);
uint32_t graph_bits_half(int number, int upper)
{
    static uint64_t hash;
    if (!upper)
        hash = graph_bits(number);
    return (uint32_t)(upper ? hash >> 32 : hash);
}
#else
const char *graph_bits_text(int number)
{
    struct draws draws;
    struct random_graph *graph = graph_of(&draws, number);
    const char *text = graph_text(graph);
    free(graph);
    return text;
}
#endif
