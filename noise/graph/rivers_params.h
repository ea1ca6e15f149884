/* The parameters of rivers (rivers.h). Private to the project. */
#ifndef FARLANDS_RIVERS_PARAMS_H
#define FARLANDS_RIVERS_PARAMS_H

#include <stdint.h>

struct rivers_params {
    int64_t spacing;         /* of the nodes of the broadest level, units: a power of two */
    int levels;              /* of nodes, each a quarter as far apart as those before, 2 or more */
    uint64_t seed;           /* of the meanders */
    double from;             /* the least order with water */
    double width, widening;  /* metres at order 1; factor for each order */
    double depth, deepening; /* the same in the middle of the river */
    double slope;            /* of the sides of valleys */
    double meander;          /* how far courses swing, 1: a third of a spacing of the last level */
    double lake;             /* hollows that many metres deep hold a lake; others are filled */
};

/* The level of water where there is none. */
#define RIVERS_DRY (-32768.0f)

enum {
    RIVERS_MAX_LEVELS = 5,
    RIVERS_NEAR = 256,       /* metres; farther away water is not near */
    RIVERS_PICTURE_NEAR = 2, /* samples of a picture that are near whatever their distance */
    RIVERS_MAX_ORDER = 14,   /* four nodes of the broadest of 5 levels */
};

/* The width of a river of ORDER, and its depth in the middle, in metres. */
double rivers_width(const struct rivers_params *params, double order);
double rivers_depth(const struct rivers_params *params, double order);

/* What is wrong with PARAMS, and the KEY that is at fault; NULL if nothing is. Static strings. */
const char *rivers_fault(const struct rivers_params *params, const char **key);

/* Width and depth of the largest river, in metres. */
double rivers_widest(const struct rivers_params *params);
double rivers_deepest(const struct rivers_params *params);

#endif
