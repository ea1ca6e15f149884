/* Parameters of rivers (rivers.h). Private to the project. */
#ifndef FARLANDS_RIVERS_PARAMS_H
#define FARLANDS_RIVERS_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

struct rivers_params {
    int64_t spacing;         /* between nodes on the broadest level, in units: a power of two */
    int levels;              /* 2 or more */
    bool halves;             /* each level has half the spacing before, as in a drainage; in a drain
                                it has a quarter */
    uint64_t seed;           /* for meanders */
    double from;             /* the least order that has water */
    double width, widening;  /* metres at order 1; factor per order */
    double depth, deepening; /* the same, in the middle of the river */
    double slope;            /* of a valley's sides */
    double meander;          /* how far courses swing; 1: a third of the finest spacing */
    double lake;             /* a hollow this deep, in metres, holds a lake; others are filled */
};

/* The water level on dry land. */
#define RIVERS_DRY (-32768.0f)

enum {
    RIVERS_MAX_LEVELS = 5,
    RIVERS_NEAR = 256,       /* metres: how far from an edge a river is near */
    RIVERS_PICTURE_NEAR = 2, /* in a picture, so many samples are near at any distance */
    RIVERS_MAX_ORDER = 14,   /* four nodes on the broadest of 5 levels */
};

/* LEVEL's spacing, in units. */
static inline int64_t rivers_spacing(const struct rivers_params *params, int level)
{
    return params->spacing >> (params->halves ? level : 2 * level);
}

/* A river's width at ORDER, and its depth in the middle, in metres. */
double rivers_width(const struct rivers_params *params, double order);
double rivers_depth(const struct rivers_params *params, double order);

/* What is wrong with PARAMS, and the KEY at fault; NULL if nothing is. Static strings. A drainage's
 * levels and spacing are checked by drainage_fault. */
const char *rivers_fault(const struct rivers_params *params, const char **key);

/* The largest river's width and depth, in metres. */
double rivers_widest(const struct rivers_params *params);
double rivers_deepest(const struct rivers_params *params);

#endif
