#include "world_terrain.h"

#include "noise/graph/graph.h"

int world_config_terrain_of_seed(struct farlands_terrain **out, const struct world_config *world,
                                 uint64_t seed)
{
    struct farlands_params params = world->terrain;
    struct world_graph *graph;
    struct graph_fault fault;
    params.seed = seed;
    if (!world->fields)
        return terrain_new_noise(out, &params);
    int err = world_fields_graph(&graph, world->fields, seed, params.period);
    if (err)
        return err;
    err = terrain_new(out, world_graph(graph), &params, &fault);
    world_graph_free(graph);
    return err;
}

int world_config_terrain(struct farlands_terrain **out, const struct world_config *world)
{
    return world_config_terrain_of_seed(out, world, world->terrain.seed);
}
