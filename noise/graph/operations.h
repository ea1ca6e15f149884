/* The kinds of nodes: operations.def as a table. Private to noise/ and config/. */
#ifndef FARLANDS_OPERATIONS_H
#define FARLANDS_OPERATIONS_H

#include <stdbool.h>

#include "noise/graph/graph.h"

enum operation_family {
    FAMILY_NOISE,   /* has a noise of its own */
    FAMILY_PLAIN,   /* a sample depends on the same sample of the inputs alone */
    FAMILY_PATCHED, /* interpolated between the nodes of a patch */
    FAMILY_DRAIN,   /* has rivers of its own */
    FAMILY_WATER,   /* of the rivers of its last input, whose own values it does not need */
};

/* A number of a node: its key in messages and its bounds; TEXT says what is expected. */
struct operation_number {
    const char *key;
    double least, most;
    const char *text;
};

struct operation_kind {
    const char *name;
    int inputs; /* of GRAPH_NOISE if it is not moved */
    enum operation_family family;
    bool in_place; /* values may take the place of an input's values */
    int price;     /* of a sample, in picoseconds */
    int numbers;
    struct operation_number number[GRAPH_MAX_NUMBERS];
};

extern const struct operation_kind operation_kinds[GRAPH_KINDS];

#endif
