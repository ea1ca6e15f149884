/* The kinds of nodes that expressions are made of, and expressions. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELD_NODES_H
#define FARLANDS_CONFIG_FIELD_NODES_H

#include <stdbool.h>
#include <stddef.h>

#include "config/fields/biomes.h"
#include "config/fields/fields.h"
#include "config/values/option.h"
#include "noise/graph/graph.h"

enum {
    FIELDS_MAX = 256,              /* with names */
    FIELDS_MAX_EXPRESSIONS = 1024, /* numbers and names, too; bounds the depth of recursions */
    FIELD_NAME_MAX = GRAPH_NAME_MAX,
    FIELD_UNIT_MAX = 32,
};

#define FIELD_MAX_SALT 2147483647
#define FIELD_NO_SALT 4294967295u

/* What messages say that an input is. */
#define FIELD_EXPRESSION "a number, the name of a field, or a node such as { abs: NAME }"
#define FIELD_PAIR "a list of two fields"

/* The values of a node's keys. Tables of keys have their offsets in it. */
struct node_values {
    int input[GRAPH_MAX_INPUTS];      /* expressions; -1: none */
    double number[GRAPH_MAX_NUMBERS]; /* NAN: missing */
    unsigned salt;                    /* of the noise's seed; FIELD_NO_SALT: by the path */
    unsigned spacing; /* blocks, of a drain; of the lattice in an erode, 0: by the wavelength */
    struct farlands_params noise; /* wavelength, octaves and knots are 0 until they are set */
    struct curve_params curve;
    struct biome_table *biomes;  /* NULL: none */
    struct rivers_params rivers; /* without spacing and seed */
};

/* How a node is written. */
enum node_shape {
    NODE_NUMBER, /* 0.5 */
    NODE_NAME,   /* another field: mountains */
    NODE_SAME,   /* of: EXPR, the expression itself */
    NODE_INPUT,  /* abs: EXPR */
    NODE_LIST,   /* add: [EXPR, EXPR, ...] */
    NODE_KEYS,   /* step: { of: EXPR, from: 0, to: 1 } */
};

struct node_kind {
    const char *name; /* its key; NULL of numbers and names */
    enum node_shape shape;
    enum graph_kind graph;
    int inputs;                         /* of NODE_KEYS: the first ones are required; */
                                        /* of NODE_LIST: the most */
    const struct option *keys;          /* of NODE_KEYS */
    const struct node_values *defaults; /* of NODE_KEYS */
    bool added;                         /* GRAPH_ERODE: the gullies are added to the field */
};

/* All kinds; first those of numbers and names; ends with one that has no name. */
extern const struct node_kind node_kinds[];
#define NODE_KIND_NUMBER (&node_kinds[0])
#define NODE_KIND_NAME (&node_kinds[1])
#define NODE_KINDS_WITH_KEYS (&node_kinds[2])

/* The kind NAME, LENGTH bytes, or NULL. */
const struct node_kind *node_kind_find(const char *name, size_t length);

struct expression {
    const struct node_kind *kind;
    size_t line;
    char *path;       /* below `fields`, such as "mountains.ridge.of" */
    unsigned spacing; /* blocks: the lattice that it is wrapped in; 0: none */
    double number;    /* of NODE_NUMBER */
    int field;        /* of NODE_NAME */
    char *name;       /* the same before it is known */
    /* of NODE_SAME, NODE_INPUT and NODE_LIST */
    int *input;
    int inputs;
    struct node_values *values; /* of NODE_KEYS */
};

struct named_field {
    char name[FIELD_NAME_MAX], unit[FIELD_UNIT_MAX];
    int expression; /* its last one, which all its others are inputs of */
    int first;      /* its others begin here */
};

struct world_fields {
    unsigned references; /* atomic */
    struct named_field *field;
    int count;
    struct expression *expression;
    int expressions;
    char *text, *plain_text; /* as in fields.h */
    /* Set by fields_check, which found no fault: how often it has looked, at last for a world with
     * this period, and the range of the heights. */
    int checks;
    int64_t period;
    float lowest, highest;
};

/* Set the texts of FIELDS, unless it is NULL or has them. Returns 0 or -ENOMEM. */
int fields_format(struct world_fields *fields);

/* As world_fields_graph. Also returns -E2BIG if there are too many nodes; *AT is then the
 * expression that is one too many. */
int fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                 int64_t period, int *at);

#endif
