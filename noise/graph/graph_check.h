/* The check of one node, without regard to others. Private to noise/. */
#ifndef FARLANDS_GRAPH_CHECK_H
#define FARLANDS_GRAPH_CHECK_H

#include "noise/graph/graph.h"

/* How many inputs and numbers a node has. */
struct graph_shape {
    int inputs, numbers;
};

struct graph_shape graph_shape(const struct graph_node *node);

/* True for a noise whose place is moved by two fields. */
bool graph_is_moved(const struct graph_node *node);

/* Static strings, as in struct graph_fault. TEXT is NULL if nothing is wrong. */
struct node_fault {
    const char *key, *text;
};

/* What is wrong with NODE's numbers, noise or curve. */
struct node_fault graph_node_fault(const struct graph_node *node);

#endif
