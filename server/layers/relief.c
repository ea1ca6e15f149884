/* The climate's color, or the palette's at the height, lit from the north-west as maps are. */
#include "climate_colors.h"
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
/* The same with colors of climate, which have rocks of their own. */
static const float FOREST_BARE = 0.25f;

/* Squares of slopes: soil to 30 degrees, rock from 45 on. */
#define SOIL (1 / 3.0f)
#define ROCK 1.0f

/* Entries of climate's tables. */
#define PER_DEGREE (CLIMATE_TEMPERATURES / (CLIMATE_HOTTEST - CLIMATE_COLDEST))

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

/* The palette's colors at a row of heights. */
MULTIVERSION
static void palette_row(struct rgb_row *restrict out, const float *restrict row,
                        const struct color_table *restrict colors, int size)
{
    const float first = colors->first, scale = colors->scale;

    for (int i = 0; i < size; i++) {
        const int entry = (int)((row[i] - first) * scale);
        out->color[i] = colors->color[entry < COLOR_TABLE_SIZE ? entry : COLOR_TABLE_SIZE - 1];
    }
}

static inline __attribute__((always_inline)) float clamped(float x, float most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

/* Channel K of three colors, mixed. */
static inline __attribute__((always_inline)) uint32_t mixed(uint32_t low, uint32_t high, float part,
                                                            uint32_t rock, float steep, int k)
{
    const float a = (float)(int)(low >> k & 255), b = (float)(int)(high >> k & 255);
    const float ground = a + (b - a) * part;
    return (uint32_t)(int)(ground + ((float)(int)(rock >> k & 255) - ground) * steep + 0.5f) << k;
}

/* Entries of a row's colors, and how they are mixed. */
struct mixture {
    int low[LAYER_MAX_SIZE], high[LAYER_MAX_SIZE], rock[LAYER_MAX_SIZE];
    float part[LAYER_MAX_SIZE];  /* of the higher level */
    float steep[LAYER_MAX_SIZE]; /* of rock */
};

/* Under water all three are the palette's. */
MULTIVERSION
static void find_colors(struct mixture *restrict out, const float *restrict row,
                        const float *restrict temperature, const float *restrict humidity,
                        const struct shading *restrict shading,
                        const struct color_table *restrict colors, int size)
{
    const float first = colors->first, scale = colors->scale;
    float from[CLIMATE_MAX_LEVELS - 1], rise[CLIMATE_MAX_LEVELS - 1];

    for (int k = 0; k < CLIMATE_MAX_LEVELS - 1; k++) {
        from[k] = colors->climate->change[k].from;
        rise[k] = colors->climate->change[k].scale;
    }
    for (int i = 0; i < size; i++) {
        float level = 0;
        for (int k = 0; k < CLIMATE_MAX_LEVELS - 1; k++)
            level += clamped((row[i] - from[k]) * rise[k], 1);
        const int whole = (int)level;
        const float part = level - (float)whole;
        const float warm = (temperature[i] - CLIMATE_COLDEST) * PER_DEGREE;
        const float wet = humidity[i] * CLIMATE_HUMIDITIES;
        const int place = (int)clamped(wet, CLIMATE_HUMIDITIES - 1) * CLIMATE_TEMPERATURES +
                          (int)clamped(warm, CLIMATE_TEMPERATURES - 1);
        const int deep = (int)clamped((row[i] - first) * scale, COLOR_TABLE_SIZE - 1);
        const int low = CLIMATE_FIRST_LEVEL + whole * CLIMATE_TABLE + place;
        const int high = low + (part > 0 ? CLIMATE_TABLE : 0);
        out->low[i] = row[i] < 0 ? deep : low;
        out->high[i] = row[i] < 0 ? deep : high;
        out->rock[i] = row[i] < 0 ? deep : CLIMATE_STEEP + place;
        out->part[i] = part;
        out->steep[i] = clamped((shading->slope[i] - SOIL) * (1 / (ROCK - SOIL)), 1);
    }
}

MULTIVERSION
static void mix_colors(struct rgb_row *restrict out, const struct mixture *restrict row,
                       const uint32_t *restrict table, int size)
{
    for (int i = 0; i < size; i++) {
        const uint32_t low = table[row->low[i]], high = table[row->high[i]];
        const uint32_t rock = table[row->rock[i]];
        const float part = row->part[i], steep = row->steep[i];
        out->color[i] = mixed(low, high, part, rock, steep, 0) |
                        mixed(low, high, part, rock, steep, 8) |
                        mixed(low, high, part, rock, steep, 16);
    }
}

/* Light the ground's colors OUT, whose bareness is at most BARE. */
MULTIVERSION
static void light_row(struct rgb_row *restrict out, const float *restrict row,
                      const struct shading *restrict shading, float most_bare, int size)
{
    for (int i = 0; i < size; i++) {
        const float facing = shading->facing[i] > 0 ? shading->facing[i] : 0;
        const float steep = shading->steep[i];
        const float full = AMBIENT + (1 - AMBIENT) / SHADING_LEVEL * facing - 1;
        const float toned = full > 0 ? full * SUNNY : full;
        const float light = row[i] < 0 ? toned * UNDER_WATER : toned; /* 0 on level ground */
        const float bare = row[i] < 0 ? 0 : most_bare * steep / (steep + 0.25f);
        const uint32_t ground = out->color[i];
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
    struct shading shading;
    struct mixture mixture;
    struct rgb_row row;
    uint8_t *out = pixels;

    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const ptrdiff_t at = j * heights->stride;
        const float *metres = heights->first + at;
        shading_row(&shading, heights, j);
        if (colors->climate) {
            find_colors(&mixture, metres, heights->temperature + at, heights->humidity + at,
                        &shading, colors, size);
            mix_colors(&row, &mixture, colors->climate->color, size);
        } else {
            palette_row(&row, metres, colors, size);
        }
        // cppcheck-suppress uninitvar ; these fill it
        light_row(&row, metres, &shading, colors->climate ? FOREST_BARE : BARE, size);
        rgb_store(out, &row, size);
    }
}
