/* Slopes are central differences that reach beyond the tile, so that tiles join without a seam. */
#include "shading.h"

#include <math.h>

#include "server/core/multiversion.h"

/* Gentle slopes keep their size and steep ones grow like their square root, so that a map shows
 * both. This is the square root of the slope at which one turns into the other. */
static const float GENTLE = 0.5f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = SHADING_LEVEL;

/* Features that are as broad as the picture are the flatter, the broader they are, about like a
 * root. It is exact on every machine, which powf is not. */
float shading_exaggeration(float spacing)
{
    return SHADING_LEAST_EXAGGERATION * sqrtf(1 + spacing / SHADING_SPACING);
}

MULTIVERSION
void shading_row(struct shading *out, const struct heights *heights, int j)
{
    const int reach = heights->reach;
    const float *row = heights->first + j * heights->stride;
    const float rise = 1 / (2 * (float)reach * heights->spacing);
    const float exaggeration = heights->exaggeration;
    const float *north = row - reach * heights->stride, *south = row + reach * heights->stride;

    for (int i = 0; i < heights->size; i++) {
        const float dx = (row[i + reach] - row[i - reach]) * rise;
        const float dy = (south[i] - north[i]) * rise;
        const float square = dx * dx + dy * dy, drawn = sqrtf(square) * exaggeration;
        const float gain = exaggeration * GENTLE / sqrtf(drawn + GENTLE * GENTLE);
        const float steep = square * gain * gain;
        const float towards = LIGHT_Z - (LIGHT_X * dx + LIGHT_Y * dy) * gain;
        out->slope[i] = square;
        out->steep[i] = steep;
        out->facing[i] = towards / sqrtf(1 + steep);
    }
}
