/* Slopes are central differences that reach beyond the tile, so that tiles join without a seam. */
#include "shading.h"

#include <math.h>

#include "server/core/multiversion.h"

/* The drawn size of a typical slope. */
static const float TYPICAL_SLOPE = 0.85f;
/* Gentle slopes keep their size and steep ones grow like their square root, so that a map shows
 * both. This is the square root of the slope at which one turns into the other. */
static const float GENTLE = 0.5f;

/* Rounding error of a difference of heights, relative to the largest height or the range. */
static const float FLAT = 1e-6f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = SHADING_LEVEL;

float shading_rise(const struct heights *heights, const struct color_table *colors)
{
    const float apart = 2 * (float)heights->reach * heights->spacing;
    /* If even the broadest octave has faded out, rounding must not look like mountains. */
    const float most =
        fmaxf(colors->max - colors->min, fmaxf(fabsf(colors->min), fabsf(colors->max)));
    return TYPICAL_SLOPE / fmaxf(heights->slope * apart, FLAT * most);
}

MULTIVERSION
void shading_row(struct shading *out, const struct heights *heights, int j, float rise)
{
    const int reach = heights->reach;
    const float *row = heights->first + j * heights->stride;
    const float *north = row - reach * heights->stride, *south = row + reach * heights->stride;

    for (int i = 0; i < heights->size; i++) {
        const float dx = (row[i + reach] - row[i - reach]) * rise;
        const float dy = (south[i] - north[i]) * rise;
        const float square = dx * dx + dy * dy, slope = sqrtf(square);
        const float gain = GENTLE / sqrtf(slope + GENTLE * GENTLE);
        const float steep = square * gain * gain;
        const float towards = LIGHT_Z - (LIGHT_X * dx + LIGHT_Y * dy) * gain;
        out->steep[i] = steep;
        out->facing[i] = towards / sqrtf(1 + steep);
    }
}
