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

/* What the sun adds above this bends towards white, which it never reaches: snow keeps its
 * shape. Level ground keeps its colour. */
static const float SHOULDER = 225;

static inline float lit(float level, float light)
{
    const float knee = level > SHOULDER ? level : SHOULDER;
    const float over = level * light - knee;
    return over > 0 ? knee + over * (255 - knee) / (255 - knee + over) : level * light;
}

/* One channel of a row, 0 .. 255: TINT is what bare ground makes of grey in it. */
static void light_channel(const float *level, const float *grey, const struct lighting *lighting,
                          int size, float tint, float cool, float *out)
{
    for (int i = 0; i < size; i++) {
        const float mixed = level[i] + (grey[i] * tint - level[i]) * lighting->bare[i];
        const float ground = mixed < 255 ? mixed : 255; /* warm grey can be brighter than white */
        out[i] = lit(ground, 1 + (lighting->light[i] - 1) * cool) + 0.5f;
    }
}

/* A row's colours, each channel by itself. */
struct channels {
    float red[LAYER_MAX_SIZE], green[LAYER_MAX_SIZE], blue[LAYER_MAX_SIZE], grey[LAYER_MAX_SIZE];
};

static void colour_row(const float *row, const struct style *style, int size, struct channels *out)
{
    for (int i = 0; i < size; i++) {
        int entry = (int)((row[i] - style->min) * style->scale);
        struct colour colour = style->colour[entry < STYLE_COLOURS ? entry : STYLE_COLOURS - 1];
        out->red[i] = colour.red;
        out->green[i] = colour.green;
        out->blue[i] = colour.blue;
    }
    for (int i = 0; i < size; i++)
        out->grey[i] = (out->red[i] + 2 * out->green[i] + out->blue[i]) * 0.25f;
}

void paint_relief(const struct heights *heights, const struct style *style, void *pixels)
{
    const int reach = heights->reach, size = heights->size;
    const float apart = 2 * (float)reach * heights->spacing;
    /* Where even the broadest octave has faded out, rounding must not look like mountains. */
    const float flat = FLAT * (style->max - style->min);
    const float rise = TYPICAL_SLOPE / fmaxf(heights->slope * apart, flat);
    struct lighting light;
    struct channels ground, shown;
    uint8_t *out = pixels;

    for (int j = 0; j < size; j++) {
        const float *row = heights->first + j * heights->stride;
        light_row(row, row - reach * heights->stride, row + reach * heights->stride, size, reach,
                  rise, &light);
        colour_row(row, style, size, &ground);
        light_channel(ground.red, ground.grey, &light, size, BARE_RED, 1, shown.red);
        light_channel(ground.green, ground.grey, &light, size, 1, 1, shown.green);
        light_channel(ground.blue, ground.grey, &light, size, BARE_BLUE, COOL_SHADOWS, shown.blue);
        for (int i = 0; i < size; i++, out += 3) {
            // cppcheck-suppress uninitvar ; light_channel fills it
            out[0] = (uint8_t)shown.red[i];
            out[1] = (uint8_t)shown.green[i];
            out[2] = (uint8_t)shown.blue[i];
        }
    }
}
