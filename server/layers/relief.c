/*
 * Hypsometric colours with shading: the palette's colour at the height, lit
 * from the north-west as maps are. Slopes come from central differences over
 * the one-sample border, never from the tile's own edge, so tiles join.
 */
#include <math.h>

#include "layer.h"

void paint_relief(const struct heights *heights, const struct style *style, void *pixels);

/* Slopes are drawn relative to what the world typically has at this zoom, so
 * that plains stay plain and mountains stand out, far away and close by. */
static const float TYPICAL_SLOPE = 0.42f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = 0.70710678f;

/* Brightness of level ground is 1; share of light that comes from everywhere. */
static const float AMBIENT = 0.3f;

static inline uint8_t lit(uint8_t channel, float light)
{
    float value = (float)channel * light + 0.5f;
    return (uint8_t)(value < 255 ? value : 255);
}

void paint_relief(const struct heights *heights, const struct style *style, void *pixels)
{
    const float rise = TYPICAL_SLOPE / (heights->slope * 2 * heights->spacing);
    uint8_t *out = pixels;

    for (int j = 0; j < heights->size; j++) {
        const float *row = heights->first + j * heights->stride;
        const float *north = row - heights->stride, *south = row + heights->stride;
        for (int i = 0; i < heights->size; i++, out += 3) {
            float dx = (row[i + 1] - row[i - 1]) * rise, dy = (south[i] - north[i]) * rise;
            float facing = (LIGHT_Z - LIGHT_X * dx - LIGHT_Y * dy) / sqrtf(1 + dx * dx + dy * dy);
            float light = AMBIENT + (1 - AMBIENT) * fmaxf(facing, 0) / LIGHT_Z;
            int entry = (int)((row[i] - style->min) * style->scale);
            struct colour colour = style->colour[entry < STYLE_COLOURS ? entry : STYLE_COLOURS - 1];
            out[0] = lit(colour.red, light);
            out[1] = lit(colour.green, light);
            out[2] = lit(colour.blue, light);
        }
    }
}
