/*
 * Hypsometric colours with shading: the palette's colour at the height, lit
 * from the north-west as maps are. Slopes come from central differences that
 * reach beyond the tile, never from its own edge, so tiles join.
 */
#include <math.h>

#include "layer.h"

void paint_relief(const struct heights *heights, const struct style *style, void *pixels);

/* Slopes are drawn relative to what the world typically has at this zoom, so
 * that plains stay plain and mountains stand out, far away and close by. */
static const float TYPICAL_SLOPE = 0.85f;
/* Gentle slopes keep their size, steep ones grow like their square root: a map
 * shows both. This is the root of the slope between the two. */
static const float GENTLE = 0.5f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = 0.70710678f;

/* Level ground has the palette's own colour. Of the light this much comes from everywhere. */
static const float AMBIENT = 0.3f;
/* Sunny sides gain less than shadows lose, so that snow keeps its shape. */
static const float SUNNY = 0.8f;
/* The sky lights what the sun does not: shadows lose less blue, sunny sides gain less. */
static const float COOL_SHADOWS = 0.72f;
/* On steep ground soil and rock show: the colour goes this far towards a warm grey. */
static const float BARE = 0.55f, BARE_RED = 1.04f, BARE_BLUE = 0.90f;

/* Below 0 metres is the sea: its floor shows through, softly. */
static const float UNDER_WATER = 0.35f;

static inline uint8_t channel(float value)
{
    return (uint8_t)(value < 255 ? value + 0.5f : 255);
}

static inline void shade(struct colour colour, bool water, float dx, float dy, uint8_t out[3])
{
    const float gain = GENTLE / sqrtf(sqrtf(dx * dx + dy * dy) + GENTLE * GENTLE);
    dx *= gain;
    dy *= gain;
    const float square = dx * dx + dy * dy;
    const float facing = (LIGHT_Z - LIGHT_X * dx - LIGHT_Y * dy) / sqrtf(1 + square);
    const float full = AMBIENT + (1 - AMBIENT) * fmaxf(facing, 0) / LIGHT_Z;
    const float toned = full > 1 ? 1 + (full - 1) * SUNNY : full;
    const float light = water ? 1 + (toned - 1) * UNDER_WATER : toned;
    const float bare = water ? 0 : BARE * square / (square + 0.25f);
    const float red = colour.red, green = colour.green, blue = colour.blue;
    const float grey = (red + 2 * green + blue) * 0.25f;

    out[0] = channel((red + (grey * BARE_RED - red) * bare) * light);
    out[1] = channel((green + (grey - green) * bare) * light);
    out[2] = channel((blue + (grey * BARE_BLUE - blue) * bare) * (1 + (light - 1) * COOL_SHADOWS));
}

void paint_relief(const struct heights *heights, const struct style *style, void *pixels)
{
    const int reach = heights->reach;
    const float rise = TYPICAL_SLOPE / (heights->slope * 2 * (float)reach * heights->spacing);
    uint8_t *out = pixels;

    for (int j = 0; j < heights->size; j++) {
        const float *row = heights->first + j * heights->stride;
        const float *north = row - reach * heights->stride, *south = row + reach * heights->stride;
        for (int i = 0; i < heights->size; i++, out += 3) {
            int entry = (int)((row[i] - style->min) * style->scale);
            if (entry >= STYLE_COLOURS)
                entry = STYLE_COLOURS - 1;
            shade(style->colour[entry], row[i] < 0, (row[i + reach] - row[i - reach]) * rise,
                  (south[i] - north[i]) * rise, out);
        }
    }
}
