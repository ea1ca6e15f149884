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

/* GROUND alone is steep; with a CANOPY, light falls on plants. */
INLINE void shade(struct shading *out, const struct heights *heights, const struct gradient *ground,
                  const struct gradient *canopy)
{
    const float exaggeration = heights->exaggeration;

    for (int i = 0; i < heights->size; i++) {
        const float bare_x = gradient_east(ground, i), bare_y = gradient_south(ground, i);
        const float dx = canopy ? bare_x + gradient_east(canopy, i) : bare_x;
        const float dy = canopy ? bare_y + gradient_south(canopy, i) : bare_y;
        const float square = dx * dx + dy * dy;
        const float drawn = square * reciprocal_root(square) * exaggeration;
        const float gain = exaggeration * GENTLE * reciprocal_root(drawn + GENTLE * GENTLE);
        const float steep = square * gain * gain;
        const float towards = LIGHT_Z - (LIGHT_X * dx + LIGHT_Y * dy) * gain;
        const float shorter = reciprocal_root(1 + steep);
        out->slope[i] = canopy ? bare_x * bare_x + bare_y * bare_y : square;
        out->steep[i] = steep;
        out->facing[i] = towards * shorter;
        out->across[i] = -(ACROSS_X * dx + ACROSS_Y * dy) * gain * shorter;
    }
}

MULTIVERSION
static void shade_ground(struct shading *out, const struct heights *heights, int j)
{
    const struct gradient ground = gradient_of(heights, heights->first, j);
    shade(out, heights, &ground, NULL);
}

MULTIVERSION
static void shade_canopy(struct shading *out, const struct heights *heights, int j)
{
    const struct gradient ground = gradient_of(heights, heights->first, j);
    const struct gradient canopy = gradient_of(heights, heights->canopy, j);
    shade(out, heights, &ground, &canopy);
}

void shading_row(struct shading *out, const struct heights *heights, int j)
{
    (heights->canopy ? shade_canopy : shade_ground)(out, heights, j);
}
