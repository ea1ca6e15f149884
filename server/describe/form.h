/* The form of the ground in a window, by numbers that tell ground that water has built from noise.
 * Pure. */
#ifndef FARLANDS_DESCRIBE_FORM_H
#define FARLANDS_DESCRIBE_FORM_H

#include <stdint.h>

enum {
    FORM_SIDE = 256, /* heights per side */
    FORM_CELLS = FORM_SIDE * FORM_SIDE,
    FORM_SPACING = 96, /* metres between heights */
};

enum form_measure {
    FORM_RIDGES,    /* patches_connectivity of ridges and peaks (geomorphons.h): they go on */
    FORM_CURVATURE, /* curvature_skewness: below 0, crests are sharp and floors are round */
    FORM_CONCAVITY, /* channels_concavity */
    FORM_SUNK,    /* the share of land more than 1 m below the level at which its water runs off */
    FORM_VALLEYS, /* the share of channels that drain 10 km2 or more with a river's bank within 200
                     m */
    FORM_MEASURES
};

/* Working memory for form_measure; 3 MB. */
struct form_memory {
    float levels[FORM_CELLS], area[FORM_CELLS], curvature[FORM_CELLS];
    float floats[2 * FORM_CELLS];
    uint64_t heap[FORM_CELLS];
    int order[FORM_CELLS], from[FORM_CELLS], receiver[FORM_CELLS];
    int size[FORM_CELLS], stack[FORM_CELLS];
    uint8_t member[FORM_CELLS], dry[FORM_CELLS];
};

/*
 * Measure a window with FORM_SIDE rows of HEIGHTS in metres, with lakes at their levels; 0 and
 * below is sea. BANK is the distance from the nearest river's bank, in metres, below 0 in rivers;
 * NULL if the world has no rivers. MEASURE[FORM_VALLEYS] is NAN then, or if there are 30 such cells
 * or fewer. All are NAN if fewer than 4000 cells are dry. Sea and lakes, which are level patches of
 * 9 cells or more, count neither as ridges nor for the curvature.
 */
void form_measure(const float heights[FORM_CELLS], const float *bank, struct form_memory *memory,
                  double measure[FORM_MEASURES]);

#endif
