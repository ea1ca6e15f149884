/* Light on slopes, and how steep they are drawn. */
#include "shading.h"

#include <math.h>

#include "gradient.h"
#include "reciprocal.h"
#include "server/core/multiversion.h"

/* Gentle slopes keep their size, and steep ones grow like a square root, so that a map shows both.
 * This is the square root of the slope between gentle and steep. */
static const float GENTLE = 0.5f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = SHADING_LEVEL;
/* The same to the north-east's horizon, across the light. */
static const float ACROSS_X = 0.70710678f, ACROSS_Y = -0.70710678f;

/* Broad features are flatter, about like a root of their breadth. A square root is the same on
 * every machine, unlike powf. */
float shading_exaggeration(float spacing)
{
    return SHADING_LEAST_EXAGGERATION * sqrtf(1 + spacing / SHADING_SPACING);
}

MULTIVERSION
void shading_row(struct shading *out, const struct heights *heights, int j)
{
    const struct gradient at = gradient_of(heights, j);
    const float exaggeration = heights->exaggeration;

    for (int i = 0; i < heights->size; i++) {
        const float dx = gradient_east(&at, i);
        const float dy = gradient_south(&at, i);
        const float square = dx * dx + dy * dy;
        const float drawn = square * reciprocal_root(square) * exaggeration;
        const float gain = exaggeration * GENTLE * reciprocal_root(drawn + GENTLE * GENTLE);
        const float steep = square * gain * gain;
        const float towards = LIGHT_Z - (LIGHT_X * dx + LIGHT_Y * dy) * gain;
        const float shorter = reciprocal_root(1 + steep);
        out->slope[i] = square;
        out->steep[i] = steep;
        out->facing[i] = towards * shorter;
        out->across[i] = -(ACROSS_X * dx + ACROSS_Y * dy) * gain * shorter;
    }
}
