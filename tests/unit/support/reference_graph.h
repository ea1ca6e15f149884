/* Graphs of one field, for the tests of the density. */
#ifndef FARLANDS_REFERENCE_GRAPH_H
#define FARLANDS_REFERENCE_GRAPH_H

#include <check.h>

#include "noise/graph/graph.h"
#include "noise/terrain/terrain.h"

/* The terrain of PARAMS as a graph, with the volume of generator 3. */
static inline struct farlands_terrain *reference_graph(const struct farlands_params *params)
{
    const struct graph_node node = {GRAPH_NOISE, {-1, -1, -1}, .number = {0}, .noise = params};
    const struct graph_field height = {"height", 0};
    const struct graph graph = {&node, 1, &height, 1, 0};
    struct farlands_terrain *terrain = NULL;
    struct graph_fault fault;
    ck_assert_int_eq(terrain_new(&terrain, &graph, params, &fault), 0);
    return terrain;
}

#endif
