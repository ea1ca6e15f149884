/* The light on a row of heights, for relief and hillshade. */
#ifndef FARLANDS_LAYERS_SHADING_H
#define FARLANDS_LAYERS_SHADING_H

#include "layer.h"

/* facing on level ground: the sine of the light's 45 degrees above the horizon. */
#define SHADING_LEVEL 0.70710678f

/* A whole row, computed before any pixel of it is colored, so that the compiler can vectorize. */
struct shading {
    float facing[LAYER_MAX_SIZE]; /* cosine of the angle to the light; < 0: faces away */
    float steep[LAYER_MAX_SIZE];  /* the square of the slope as drawn */
};

/*
 * The factor for differences of heights 2 * reach samples apart that draws slopes relative to the
 * world's typical slope at this zoom: plains stay plain and mountains stand out, at any distance.
 */
float shading_rise(const struct heights *heights, const struct color_table *colors);

/* Shade row J of HEIGHTS, which have a border as wide as their reach. */
void shading_row(struct shading *out, const struct heights *heights, int j, float rise);

#endif
