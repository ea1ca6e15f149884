/* The kinds of nodes: operations.def as a table. Private to noise/ and config/. */
#ifndef FARLANDS_OPERATIONS_H
#define FARLANDS_OPERATIONS_H

#include <stdbool.h>

#include "noise/graph/graph.h"

enum operation_family {
    FAMILY_NOISE,    /* computes a noise */
    FAMILY_WAVE,     /* depends on the place alone, as a noise does, and has a wavelength */
    FAMILY_PLAIN,    /* each sample depends on the same sample in its inputs, and on nothing else */
    FAMILY_PATCHED,  /* interpolated between a patch's nodes */
    FAMILY_DRAIN,    /* makes rivers */
    FAMILY_DRAINAGE, /* ground that is built by its rivers: no sample of an input is read */
    FAMILY_WATER,    /* reads the rivers of its last input, but not that input's values */
};

/* A node's number: a key for messages, bounds, and a text that says what is expected. */
struct operation_number {
    const char *key;
    double least, most;
    const char *text;
};

struct operation_kind {
    const char *name;
    int inputs; /* for GRAPH_NOISE: if it is not moved */
    enum operation_family family;
    bool in_place; /* values may replace an input's values in the same buffer */
    int price;     /* per sample, in picoseconds */
    int numbers;
    struct operation_number number[GRAPH_MAX_NUMBERS];
};

extern const struct operation_kind operation_kinds[GRAPH_KINDS];

/* True if the number of nodes of this KIND is a length in units, and a power of two. */
static inline bool operation_has_spacing(enum graph_kind kind)
{
    return kind == GRAPH_LATTICE || operation_kinds[kind].family == FAMILY_WAVE;
}

#endif
