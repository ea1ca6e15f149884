/* The climate's color, or the palette's at the height, lit from the north-west as maps are. */
#include "climate_colors.h"
#include "paint.h"
#include "rgb.h"
#include "shading.h"

#define INLINE static inline __attribute__((always_inline))

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

/* Metres that an int holds. */
#define HIGHEST 2e9f

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

/* Pixels that are painted together: what none of them has is left out. Loops over them have lengths
 * that the compiler knows, N, so that nothing but vectors is left of them. */
enum { SPAN = 64, FEW = 16 };

/* The ground's colors in a span, as channels from 0 to 255. */
struct span {
    float red[SPAN], green[SPAN], blue[SPAN];
};

/* A span's heights and climate, and its shading (shading.h). */
enum input { METRES, TEMPERATURE, HUMIDITY, FACING, STEEP, SLOPE, INPUTS };
struct pixels {
    const float *of[INPUTS]; /* N values each; without colors of climate, no climate */
};

/* Entries of the palette, and of a table by climate. */
struct places {
    int deep[SPAN], place[SPAN];
};

INLINE float clamped(float x, float most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

INLINE uint32_t lit(float level, float light)
{
    const float knee = level > SHOULDER ? level : SHOULDER, room = 255 - knee;
    const float full = level * light, over = full > knee ? full - knee : 0;
    const float rest = full > knee ? knee : full;
    return (uint32_t)(int)(rest + over * room / (room + over + 1e-3f) + 0.5f);
}

/* One channel of ground of this LEVEL under LIGHT; BARE is the share of GRAY * TINT in it. */
INLINE uint32_t channel(float level, float gray, float tint, float bare, float light)
{
    const float mixed = level + (gray * tint - level) * bare;
    return lit(mixed < 255 ? mixed : 255, light); /* warm gray can be brighter than white */
}

/* The colors of GROUND under light, which is at most MOST_BARE. */
INLINE void light_span(uint32_t *restrict out, const struct span *restrict ground,
                       const struct pixels *restrict pixels, float most_bare, int n)
{
    const float *restrict metres = pixels->of[METRES];
    const float *restrict facings = pixels->of[FACING], *restrict steeps = pixels->of[STEEP];

    for (int i = 0; i < n; i++) {
        const float facing = facings[i] > 0 ? facings[i] : 0, steep = steeps[i];
        const float full = AMBIENT + (1 - AMBIENT) / SHADING_LEVEL * facing - 1;
        const float toned = full > 0 ? full * SUNNY : full;
        const float light = metres[i] < 0 ? toned * UNDER_WATER : toned; /* 0 on level ground */
        const float bare = metres[i] < 0 ? 0 : most_bare * steep / (steep + 0.25f);
        const float red = ground->red[i], green = ground->green[i], blue = ground->blue[i];
        const float gray = (red + 2 * green + blue) * 0.25f;
        out[i] = channel(red, gray, BARE_RED, bare, 1 + light) |
                 channel(green, gray, 1, bare, 1 + light) << 8 |
                 channel(blue, gray, BARE_BLUE, bare, 1 + light * COOL_SHADOWS) << 16;
    }
}

/* One by one, through memory: a vector of entries would have to be taken apart for the loads. */
static __attribute__((noinline)) void pick(uint32_t *out, const uint32_t *table, const int *entry,
                                           int n)
{
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        out[i] = table[entry[i]];
}

INLINE void look_up(struct span *restrict out, const uint32_t *restrict table,
                    const int *restrict entry, int n)
{
    uint32_t color[SPAN];
    pick(color, table, entry, n);
    for (int i = 0; i < n; i++) {
        out->red[i] = (float)(int)(color[i] & 255);
        out->green[i] = (float)(int)(color[i] >> 8 & 255);
        out->blue[i] = (float)(int)(color[i] >> 16 & 255);
    }
}

/* Turn OUT into other colors by a SHARE of them each. */
INLINE void mix(struct span *restrict out, const struct span *restrict other,
                const float *restrict share, int n)
{
    for (int i = 0; i < n; i++) {
        out->red[i] += (other->red[i] - out->red[i]) * share[i];
        out->green[i] += (other->green[i] - out->green[i]) * share[i];
        out->blue[i] += (other->blue[i] - out->blue[i]) * share[i];
    }
}

INLINE float whole(float level)
{
    return (float)(int)(level + 0.5f);
}

INLINE void round_off(struct span *span, int n)
{
    for (int i = 0; i < n; i++) {
        span->red[i] = whole(span->red[i]);
        span->green[i] = whole(span->green[i]);
        span->blue[i] = whole(span->blue[i]);
    }
}

/* Entries of the palette. */
INLINE void find_palette(int *restrict entry, const float *restrict metres, float first,
                         float scale, int n)
{
    for (int i = 0; i < n; i++)
        entry[i] = (int)clamped((metres[i] - first) * scale, COLOR_TABLE_SIZE - 1);
}

/* Entries of a table by climate. */
INLINE void find_places(int *restrict place, const float *restrict temperature,
                        const float *restrict humidity, int n)
{
    for (int i = 0; i < n; i++) {
        const float warm = (temperature[i] - CLIMATE_COLDEST) * PER_DEGREE;
        const float wet = humidity[i] * CLIMATE_HUMIDITIES;
        place[i] = climate_entry((int)clamped(warm, CLIMATE_TEMPERATURES - 1),
                                 (int)clamped(wet, CLIMATE_HUMIDITIES - 1));
    }
}

/* Entries of PLACES in the table that begins at FIRST; under water, the palette's. */
INLINE void find_entries(int *restrict entry, const struct places *restrict at,
                         const float *restrict metres, int first, int n)
{
    for (int i = 0; i < n; i++)
        entry[i] = metres[i] < 0 ? at->deep[i] : first + at->place[i];
}

/* From 0 on: a whole number on a level, and what lies between two of them otherwise. */
INLINE float level_at(const struct climate_change *change, float metres)
{
    float level = 0;
    for (int k = 0; k < CLIMATE_MAX_LEVELS - 1; k++)
        level += clamped((metres - change[k].from) * change[k].scale, 1);
    return level;
}

/* The entries of both levels that each pixel lies between, and the share of the higher one. */
INLINE void find_levels(int *restrict low, int *restrict high, float *restrict share,
                        const struct places *restrict at, const float *restrict metres,
                        const struct climate_change *restrict change, int n)
{
    for (int i = 0; i < n; i++) {
        const float level = level_at(change, metres[i]);
        const int below = CLIMATE_FIRST_LEVEL + (int)level * CLIMATE_TABLE + at->place[i];
        share[i] = level - (float)(int)level;
        low[i] = metres[i] < 0 ? at->deep[i] : below;
        high[i] = metres[i] < 0 ? at->deep[i] : below + (share[i] > 0 ? CLIMATE_TABLE : 0);
    }
}

/* The share of rock in each pixel. */
INLINE void find_rock(float *restrict share, const float *restrict slope, int n)
{
    for (int i = 0; i < n; i++)
        share[i] = clamped((slope[i] - SOIL) * (1 / (ROCK - SOIL)), 1);
}

/* What a span has, so that the rest is left out. */
struct contents {
    int land, steep;     /* 0: none */
    int lowest, highest; /* whole metres at or above 0 that hold all heights of land */
};

INLINE struct contents look_at(const float *restrict metres, const float *restrict slope, int n)
{
    int land = 0, steep = 0, lowest = (int)HIGHEST, highest = 0;
    for (int i = 0; i < n; i++) {
        const int height = (int)clamped(metres[i], HIGHEST);
        lowest = height < lowest ? height : lowest;
        highest = height > highest ? height : highest;
        land |= metres[i] >= 0 ? 1 : 0;
        steep |= slope[i] > SOIL ? 1 : 0;
    }
    return (struct contents){land, steep, lowest, highest + 1};
}

/* The ground's colors by climate. */
INLINE void climate_span(struct span *ground, const struct pixels *pixels,
                         const struct climate_colors *climate, struct places *at, int n)
{
    const struct contents found = look_at(pixels->of[METRES], pixels->of[SLOPE], n);
    int entry[SPAN], high[SPAN];
    float share[SPAN];
    struct span other;

    if (!found.land) {
        look_up(ground, climate->color, at->deep, n);
        return;
    }
    find_places(at->place, pixels->of[TEMPERATURE], pixels->of[HUMIDITY], n);
    const float level = level_at(climate->change, (float)found.lowest);
    const float top = level_at(climate->change, (float)found.highest);
    if (level == top && level == (float)(int)level) {
        find_entries(entry, at, pixels->of[METRES],
                     CLIMATE_FIRST_LEVEL + (int)level * CLIMATE_TABLE, n);
        look_up(ground, climate->color, entry, n);
    } else {
        find_levels(entry, high, share, at, pixels->of[METRES], climate->change, n);
        look_up(ground, climate->color, entry, n);
        look_up(&other, climate->color, high, n);
        mix(ground, &other, share, n);
    }
    if (found.steep) {
        find_entries(entry, at, pixels->of[METRES], CLIMATE_STEEP, n);
        find_rock(share, pixels->of[SLOPE], n);
        look_up(&other, climate->color, entry, n);
        mix(ground, &other, share, n);
    }
    round_off(ground, n);
}

INLINE void paint_pixels(uint32_t *restrict out, const struct pixels *restrict pixels,
                         const struct color_table *restrict colors, int n)
{
    struct span ground;
    struct places at;

    find_palette(at.deep, pixels->of[METRES], colors->first, colors->scale, n);
    if (colors->climate)
        climate_span(&ground, pixels, colors->climate, &at, n);
    else
        look_up(&ground, colors->color, at.deep, n);
    light_span(out, &ground, pixels, colors->climate ? FOREST_BARE : BARE, n);
}

MULTIVERSION
static void paint_span(uint32_t *restrict out, const struct pixels *restrict pixels,
                       const struct color_table *restrict colors)
{
    paint_pixels(out, pixels, colors, SPAN);
}

/* FEW pixels. */
MULTIVERSION
static void paint_few(uint32_t *restrict out, const struct pixels *restrict pixels,
                      const struct color_table *restrict colors)
{
    paint_pixels(out, pixels, colors, FEW);
}

/* Less than FEW pixels: the end of a row. */
static void paint_rest(uint32_t *out, const struct pixels *pixels, const struct color_table *colors,
                       int count)
{
    float value[INPUTS][FEW] = {{0}};
    struct pixels padded;
    uint32_t color[FEW];

    for (int k = 0; k < INPUTS; k++) {
        padded.of[k] = value[k];
        if (pixels->of[k])
            memcpy(value[k], pixels->of[k], (size_t)count * sizeof(float));
    }
    paint_few(color, &padded, colors);
    memcpy(out, color, (size_t)count * sizeof *out);
}

static void relief_row(struct rgb_row *out, const struct heights *heights, ptrdiff_t at,
                       const struct shading *shading, const struct color_table *colors)
{
    for (int i = 0, n; i < heights->size; i += n) {
        const int left = heights->size - i;
        const struct pixels pixels = {{
            [METRES] = heights->first + at + i,
            [TEMPERATURE] = colors->climate ? heights->temperature + at + i : NULL,
            [HUMIDITY] = colors->climate ? heights->humidity + at + i : NULL,
            [FACING] = shading->facing + i,
            [STEEP] = shading->steep + i,
            [SLOPE] = shading->slope + i,
        }};
        n = left >= SPAN ? SPAN : left >= FEW ? FEW : left;
        if (n == SPAN)
            paint_span(out->color + i, &pixels, colors);
        else if (n == FEW)
            paint_few(out->color + i, &pixels, colors);
        else
            paint_rest(out->color + i, &pixels, colors, n);
    }
}

void paint_relief(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    struct shading shading;
    struct rgb_row row;
    uint8_t *out = pixels;

    for (int j = 0; j < heights->rows; j++, out += 3 * heights->size) {
        shading_row(&shading, heights, j);
        relief_row(&row, heights, j * heights->stride, &shading, colors);
        // cppcheck-suppress uninitvar ; relief_row fills it
        rgb_store(out, &row, heights->size);
    }
}
