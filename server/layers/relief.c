/*
 * Hypsometric colours with shading: the palette's colour at the height, lit
 * from the north-west as maps are.
 */
#include "paint.h"
#include "shading.h"

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

static void light_row(const float *row, const struct shading *shading, int size,
                      struct lighting *out)
{
    for (int i = 0; i < size; i++) {
        const float facing = shading->facing[i], square = shading->steep[i];
        const float full = AMBIENT + (1 - AMBIENT) / SHADING_LEVEL * (facing > 0 ? facing : 0);
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
    const int size = heights->size;
    const float rise = shading_rise(heights, style);
    struct shading shading;
    struct lighting light;
    struct channels ground, shown;
    uint8_t *out = pixels;

    for (int j = 0; j < size; j++) {
        const float *row = heights->first + j * heights->stride;
        shading_row(&shading, heights, j, rise);
        // cppcheck-suppress uninitvar ; shading_row fills it
        light_row(row, &shading, size, &light);
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
