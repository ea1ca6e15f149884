#include "world_terrain.h"

#include "noise/graph.h"

int world_config_terrain(struct farlands_terrain **out, const struct world_config *world)
{
    const struct farlands_params *params = &world->terrain;
    struct world_graph *graph;
    struct graph_fault fault;
    if (!world->fields)
        return terrain_new_noise(out, params);
    int err = world_fields_graph(&graph, world->fields, params->seed, params->period);
    if (err)
        return err;
    err = terrain_new(out, world_graph(graph), params, &fault);
    world_graph_free(graph);
    return err;
}
