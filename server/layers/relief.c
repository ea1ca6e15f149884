/* The palette's color at the height, lit from the north-west as maps are. */
#include "paint.h"
#include "rgb.h"
#include "shading.h"

/* The part of the light that comes from everywhere. Level ground keeps the palette's color. */
static const float AMBIENT = 0.3f;
/* Sunny sides gain less than shadows lose, so that snow keeps its shape. */
static const float SUNNY = 0.8f;
/* Skylight is blue: shadows lose less blue, sunny sides gain less. */
static const float COOL_SHADOWS = 0.82f;
/* Steep ground shows soil and rock: its color goes this far towards a warm gray. */
static const float BARE = 0.55f, BARE_RED = 1.04f, BARE_BLUE = 0.90f;

/* Below 0 metres is the sea, and its floor shows through softly. */
static const float UNDER_WATER = 0.35f;

/* Light above this level is compressed towards white without reaching it, so that snow keeps its
 * shape. Level ground keeps its color. */
static const float SHOULDER = 225;

static inline __attribute__((always_inline)) uint32_t lit(float level, float light)
{
    const float knee = level > SHOULDER ? level : SHOULDER, room = 255 - knee;
    const float full = level * light, over = full > knee ? full - knee : 0;
    const float rest = full > knee ? knee : full;
    return (uint32_t)(int)(rest + over * room / (room + over + 1e-3f) + 0.5f);
}

/* One channel of ground of this LEVEL under LIGHT; BARE is the share of GRAY * TINT in it. */
static inline __attribute__((always_inline)) uint32_t channel(float level, float gray, float tint,
                                                              float bare, float light)
{
    const float mixed = level + (gray * tint - level) * bare;
    return lit(mixed < 255 ? mixed : 255, light); /* warm gray can be brighter than white */
}

MULTIVERSION
static void paint_row(struct rgb_row *restrict out, const float *restrict row,
                      const struct shading *restrict shading,
                      const struct color_table *restrict colors, int size)
{
    const float first = colors->first, scale = colors->scale;

    for (int i = 0; i < size; i++) {
        const float facing = shading->facing[i] > 0 ? shading->facing[i] : 0;
        const float steep = shading->steep[i];
        const float full = AMBIENT + (1 - AMBIENT) / SHADING_LEVEL * facing - 1;
        const float toned = full > 0 ? full * SUNNY : full;
        const float light = row[i] < 0 ? toned * UNDER_WATER : toned; /* 0 on level ground */
        const float bare = row[i] < 0 ? 0 : BARE * steep / (steep + 0.25f);
        const int entry = (int)((row[i] - first) * scale);
        const uint32_t ground =
            colors->color[entry < COLOR_TABLE_SIZE ? entry : COLOR_TABLE_SIZE - 1];
        const float red = (float)(int)(ground & 255), green = (float)(int)(ground >> 8 & 255);
        const float blue = (float)(int)(ground >> 16);
        const float gray = (red + 2 * green + blue) * 0.25f;
        out->color[i] = channel(red, gray, BARE_RED, bare, 1 + light) |
                        channel(green, gray, 1, bare, 1 + light) << 8 |
                        channel(blue, gray, BARE_BLUE, bare, 1 + light * COOL_SHADOWS) << 16;
    }
}

void paint_relief(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int size = heights->size;
    const float rise = shading_rise(heights);
    struct shading shading;
    struct rgb_row row;
    uint8_t *out = pixels;

    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        shading_row(&shading, heights, j, rise);
        // cppcheck-suppress uninitvar ; shading_row fills it
        paint_row(&row, heights->first + j * heights->stride, &shading, colors, size);
        rgb_store(out, &row, size);
    }
}
