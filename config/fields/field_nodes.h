/* Expressions, and the kinds of nodes in them. Private to config/. */
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
    FIELDS_MAX_EXPRESSIONS = 1024, /* counting numbers and names; bounds the depth of recursions */
    FIELD_NAME_MAX = GRAPH_NAME_MAX,
    FIELD_UNIT_MAX = 32,
};

#define FIELD_MAX_SALT 2147483647
#define FIELD_NO_SALT 4294967295u

/* In messages: what an input may be. */
#define FIELD_EXPRESSION "a number, the name of a field, or a node such as { abs: NAME }"
#define FIELD_PAIR "a list of two fields"

/* The values of a node's keys, in which tables of keys have their offsets. */
struct node_values {
    int input[GRAPH_MAX_INPUTS];      /* expressions; -1: none */
    double number[GRAPH_MAX_NUMBERS]; /* NAN: missing */
    unsigned salt;                    /* for the noise's seed; FIELD_NO_SALT: from the path */
    unsigned spacing; /* blocks, in a drain; in an erode the lattice's, 0: from the wavelength */
    struct farlands_params noise; /* wavelength, octaves and knots are 0 until they are set */
    struct curve_params curve;
    struct biome_table *biomes;      /* NULL: none */
    struct rivers_params rivers;     /* without spacing and seed */
    struct drainage_params drainage; /* the same */
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
    const char *name; /* its key; NULL for numbers and names */
    enum node_shape shape;
    enum graph_kind graph;
    int inputs;                /* NODE_KEYS: so many inputs are required, the first ones; */
                               /* NODE_LIST: the most */
    const struct option *keys; /* of NODE_KEYS */
    const struct node_values *defaults; /* of NODE_KEYS */
    bool added;                         /* GRAPH_ERODE: the gullies are added to the field */
};

/* All kinds: a number, a name, those with a key, and a row without a name. */
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
    unsigned spacing; /* blocks: spacing of the lattice around it; 0: none */
    double number;    /* of NODE_NUMBER */
    int field;        /* of NODE_NAME */
    char *name;       /* until names are resolved */
    /* NODE_SAME, NODE_INPUT and NODE_LIST: */
    int *input;
    int inputs;
    struct node_values *values; /* of NODE_KEYS */
};

struct named_field {
    char name[FIELD_NAME_MAX], unit[FIELD_UNIT_MAX];
    int expression; /* the root, at the end of this field's expressions */
    int first;      /* the first of this field's expressions */
};

struct world_fields {
    unsigned references; /* atomic */
    struct named_field *field;
    int count;
    struct expression *expression;
    int expressions;
    char *text, *plain_text; /* as in fields.h */
    /* Set by fields_check if there is no fault: the number of checks, the period of the last one,
     * and the range of heights. */
    int checks;
    int64_t period;
    float lowest, highest;
};

/* Set the texts of FIELDS, unless it is NULL or has them. Returns 0 or -ENOMEM. */
int fields_format(struct world_fields *fields);

/* As world_fields_graph. Also returns -E2BIG if there are too many nodes; *AT is then the first
 * expression without room. */
int fields_graph(struct world_graph **out, const struct world_fields *fields, uint64_t seed,
                 int64_t period, int *at);

#endif
