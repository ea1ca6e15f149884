/* The light on a row of heights, for relief and hillshade. */
#ifndef FARLANDS_LAYERS_SHADING_H
#define FARLANDS_LAYERS_SHADING_H

#include "layer.h"

/* facing on level ground: the sine of the light's 45 degrees above the horizon. */
#define SHADING_LEVEL 0.70710678f

/* A whole row, computed before any pixel of it is colored, so that the compiler can vectorize. */
struct shading {
    float facing[LAYER_MAX_SIZE]; /* cosine of the angle to the light; < 0: faces away */
    float across[LAYER_MAX_SIZE]; /* the same to the north-east's horizon */
    float steep[LAYER_MAX_SIZE];  /* the square of the slope as drawn, with plants */
    float slope[LAYER_MAX_SIZE];  /* the square of the ground's slope itself, metres per metre */
};

/* The exaggeration close up; and the sample spacing, in blocks, from which on it grows. */
#define SHADING_LEAST_EXAGGERATION 2.0f
#define SHADING_SPACING 16.0f

/*
 * How much heights are exaggerated if samples are SPACING blocks apart: more for wide spacing,
 * because only broad, flat features are left to see. The same in all worlds and on all machines.
 */
float shading_exaggeration(float spacing);

/* Shade row J of HEIGHTS, which have a border as wide as reach. */
void shading_row(struct shading *out, const struct heights *heights, int j);

#endif
