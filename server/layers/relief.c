/*
 * Hypsometric colours with shading: the palette's colour at the height, lit
 * from the north-west as maps are.
 */
#include "paint.h"
#include "rgb.h"
#include "server/core/multiversion.h"
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

/* What the sun adds above this bends towards white, which it never reaches: snow keeps its
 * shape. Level ground keeps its colour. */
static const float SHOULDER = 225;

static inline __attribute__((always_inline)) uint32_t lit(float level, float light)
{
    const float knee = level > SHOULDER ? level : SHOULDER, room = 255 - knee;
    const float full = level * light, over = full > knee ? full - knee : 0;
    const float rest = full > knee ? knee : full;
    return (uint32_t)(int)(rest + over * room / (room + over + 1e-3f) + 0.5f);
}

/* One channel of ground of this LEVEL: TINT is what bare ground makes of GREY in it, BARE how
 * bare it is, LIGHT how it is lit. */
static inline __attribute__((always_inline)) uint32_t shown(float level, float grey, float tint,
                                                            float bare, float light)
{
    const float mixed = level + (grey * tint - level) * bare;
    return lit(mixed < 255 ? mixed : 255, light); /* warm grey can be brighter than white */
}

MULTIVERSION
static void paint_row(struct rgb_row *restrict out, const float *restrict row,
                      const struct shading *restrict shading,
                      const struct color_table *restrict style, int size)
{
    const float first = style->first, scale = style->scale;

    for (int i = 0; i < size; i++) {
        const float facing = shading->facing[i] > 0 ? shading->facing[i] : 0;
        const float steep = shading->steep[i];
        const float full = AMBIENT + (1 - AMBIENT) / SHADING_LEVEL * facing - 1;
        const float toned = full > 0 ? full * SUNNY : full;
        const float light = row[i] < 0 ? toned * UNDER_WATER : toned; /* 0 on level ground */
        const float bare = row[i] < 0 ? 0 : BARE * steep / (steep + 0.25f);
        const int entry = (int)((row[i] - first) * scale);
        const uint32_t ground =
            style->colour[entry < COLOR_TABLE_SIZE ? entry : COLOR_TABLE_SIZE - 1];
        const float red = (float)(int)(ground & 255), green = (float)(int)(ground >> 8 & 255);
        const float blue = (float)(int)(ground >> 16);
        const float grey = (red + 2 * green + blue) * 0.25f;
        out->colour[i] = shown(red, grey, BARE_RED, bare, 1 + light) |
                         shown(green, grey, 1, bare, 1 + light) << 8 |
                         shown(blue, grey, BARE_BLUE, bare, 1 + light * COOL_SHADOWS) << 16;
    }
}

void paint_relief(const struct heights *heights, const struct color_table *style, void *pixels)
{
    const int size = heights->size;
    const float rise = shading_rise(heights, style);
    struct shading shading;
    struct rgb_row colours;
    uint8_t *out = pixels;

    for (int j = 0; j < size; j++, out += 3 * size) {
        shading_row(&shading, heights, j, rise);
        // cppcheck-suppress uninitvar ; shading_row fills it
        paint_row(&colours, heights->first + j * heights->stride, &shading, style, size);
        rgb_store(out, &colours, size);
    }
}
