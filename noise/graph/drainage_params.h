/* Parameters of ground that is built by its drainage (drainage.h). Private to the project. */
#ifndef FARLANDS_DRAINAGE_PARAMS_H
#define FARLANDS_DRAINAGE_PARAMS_H

#include <stdint.h>

enum {
    DRAINAGE_MAX_LEVELS = 12,
    DRAINAGE_HIGHEST = 20000, /* metres: the envelope and the top are kept within this */
    DRAINAGE_BUILDS =
        4096, /* blocks: rivers build the ground of levels with at most this spacing */
};

/* What a world says about its ground: fields. */
enum drainage_input {
    DRAINAGE_ENVELOPE,  /* metres: the beds of the greatest rivers; BASE or less is the sea */
    DRAINAGE_STEEPNESS, /* k: how much a river falls that drains 1 km2 */
    DRAINAGE_SIDE,      /* the slope of the steepest hillsides */
    DRAINAGE_TOP,       /* metres: the ground is no higher */
    DRAINAGE_ICE,       /* 0 to 1: how much glaciers have steepened walls of great valleys */
    DRAINAGE_JUNCTION,  /* degrees: the angle at which rivers meet; 0: as they come */
    DRAINAGE_LAKES,     /* the share of courses' nodes at which a lake ends, on each level */
    DRAINAGE_INPUTS,
};

struct drainage_params {
    uint64_t seed;
    int64_t spacing;  /* between nodes of level 0, in units: a power of two */
    int levels;       /* each with half the spacing of the one before */
    double concavity; /* theta: how much gentler rivers are that drain more */
    double rough;     /* how much slopes vary with the rock: about the standard deviation of their
                         logarithm on each level */
    double floor;     /* the width of a valley's floor that drains 1 km2, in metres; it grows with
                         the square root of the area */
    double bend;      /* how far courses wander, in spacings of each level */
    double base;      /* metres, 0 or less: the level to which rivers flow */
};

/* What is wrong with PARAMS, and the KEY at fault; NULL if nothing is. Static strings. */
const char *drainage_fault(const struct drainage_params *params, const char **key);

#endif
