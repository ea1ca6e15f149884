/* How a row of heights is lit: what relief and hillshade share. */
#ifndef FARLANDS_LAYERS_SHADING_H
#define FARLANDS_LAYERS_SHADING_H

#include "layer.h"

/* Level ground faces the light this much: the sine of its 45 degrees above the horizon. */
#define SHADING_LEVEL 0.70710678f

/* A row, worked out for all its pixels before any is coloured, so that the
 * compiler can use vectors. */
struct shading {
    float facing[LAYER_MAX_SIZE]; /* cosine between the ground and the light in the north-west; < 0:
                                     away */
    float steep[LAYER_MAX_SIZE];  /* the slope drawn, squared */
};

/*
 * What to multiply a difference of heights 2 * reach samples apart with, so
 * that slopes are drawn relative to what the world typically has at this zoom:
 * plains stay plain and mountains stand out, far away and close by.
 */
float shading_rise(const struct heights *heights, const struct color_table *style);

/* Row J of HEIGHTS, whose border is as wide as their reach. */
void shading_row(struct shading *out, const struct heights *heights, int j, float rise);

#endif
