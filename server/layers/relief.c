/*
 * Hypsometric colours with shading: the palette's colour at the height, lit
 * from the north-west as maps are. Slopes come from central differences that
 * reach beyond the tile, never from its own edge, so tiles join.
 */
#include <math.h>

#include "paint.h"

/* Slopes are drawn relative to what the world typically has at this zoom, so
 * that plains stay plain and mountains stand out, far away and close by. */
static const float TYPICAL_SLOPE = 0.85f;
/* Gentle slopes keep their size, steep ones grow like their square root: a map
 * shows both. This is the root of the slope between the two. */
static const float GENTLE = 0.5f;

/* What rounding may do to the difference of two heights, of their range. */
static const float FLAT = 1e-6f;

/* Unit vector to the light: x east, y south, z up; 45 degrees above the north-west. */
static const float LIGHT_X = -0.5f, LIGHT_Y = -0.5f, LIGHT_Z = 0.70710678f;

/* Level ground has the palette's own colour. Of the light this much comes from everywhere. */
static const float AMBIENT = 0.3f;
/* Sunny sides gain less than shadows lose, so that snow keeps its shape. */
static const float SUNNY = 0.8f;
/* The sky lights what the sun does not: shadows lose less blue, sunny sides gain less. */
static const float COOL_SHADOWS = 0.82f;
/* On steep ground soil and rock show: the colour goes this far towards a warm grey. */
static const float BARE = 0.55f, BARE_RED = 1.04f, BARE_BLUE = 0.90f;

/* Below 0 metres is the sea: its floor shows through, softly. */
static const float UNDER_WATER = 0.35f;

/* How a row is lit, worked out for all its pixels before any is coloured, so
 * that the compiler can use vectors. */
struct lighting {
    float light[LAYER_MAX_SIZE]; /* 1 on level ground */
    float bare[LAYER_MAX_SIZE];  /* 0 as the palette has it .. BARE */
};

static void light_row(const float *row, const float *north, const float *south, int size, int reach,
                      float rise, struct lighting *out)
{
    for (int i = 0; i < size; i++) {
        float dx = (row[i + reach] - row[i - reach]) * rise, dy = (south[i] - north[i]) * rise;
        const float gain = GENTLE / sqrtf(sqrtf(dx * dx + dy * dy) + GENTLE * GENTLE);
        dx *= gain;
        dy *= gain;
        const float square = dx * dx + dy * dy;
        const float facing = (LIGHT_Z - LIGHT_X * dx - LIGHT_Y * dy) / sqrtf(1 + square);
        const float full = AMBIENT + (1 - AMBIENT) / LIGHT_Z * (facing > 0 ? facing : 0);
        const float toned = full > 1 ? 1 + (full - 1) * SUNNY : full;
        const float strength = row[i] < 0 ? UNDER_WATER : 1;
        out->light[i] = 1 + (toned - 1) * strength;
        out->bare[i] = row[i] < 0 ? 0 : BARE * square / (square + 0.25f);
    }
}

static inline uint8_t channel(float value)
{
    return (uint8_t)(value < 255 ? value + 0.5f : 255);
}

/* What the sun adds above this bends towards white, which it never reaches: snow keeps its
 * shape. Level ground keeps its colour. */
static const float SHOULDER = 225;

static inline float lit(float level, float light)
{
    const float knee = level > SHOULDER ? level : SHOULDER;
    const float over = level * light - knee;
    return over > 0 ? knee + over * (255 - knee) / (255 - knee + over) : level * light;
}

static inline void colour_pixel(struct colour colour, float light, float bare, uint8_t out[3])
{
    const float red = colour.red, green = colour.green, blue = colour.blue;
    const float grey = (red + 2 * green + blue) * 0.25f;

    out[0] = channel(lit(red + (grey * BARE_RED - red) * bare, light));
    out[1] = channel(lit(green + (grey - green) * bare, light));
    out[2] = channel(lit(blue + (grey * BARE_BLUE - blue) * bare, 1 + (light - 1) * COOL_SHADOWS));
}

void paint_relief(const struct heights *heights, const struct style *style, void *pixels)
{
    const int reach = heights->reach;
    const float apart = 2 * (float)reach * heights->spacing;
    /* Where even the broadest octave has faded out, rounding must not look like mountains. */
    const float flat = FLAT * (style->max - style->min);
    const float rise = TYPICAL_SLOPE / fmaxf(heights->slope * apart, flat);
    struct lighting lighting;
    uint8_t *out = pixels;

    for (int j = 0; j < heights->size; j++) {
        const float *row = heights->first + j * heights->stride;
        light_row(row, row - reach * heights->stride, row + reach * heights->stride, heights->size,
                  reach, rise, &lighting);
        for (int i = 0; i < heights->size; i++, out += 3) {
            int entry = (int)((row[i] - style->min) * style->scale);
            colour_pixel(style->colour[entry < STYLE_COLOURS ? entry : STYLE_COLOURS - 1],
                         lighting.light[i], lighting.bare[i], out);
        }
    }
}
