/* The climate's color, or the palette's at the height, lit from the north-west as maps are. */
#include "clamp.h"
#include "climate_colors.h"
#include "inland_water.h"
#include "paint.h"
#include "reciprocal.h"
#include "rgb.h"
#include "shading.h"

/* Level ground keeps its color. Shadows lose at most DEEPEST of theirs, and half as much on slopes
 * that lack HALF of level ground's light. The rest is skylight, so that shadows keep a shape. */
static const float DEEPEST = 0.68f, HALF = 0.85f;
/* A weak second light, on the north-east's horizon, gives shape to ground in shadow. */
static const float SECOND_LIGHT = 0.6f;
/* Bright ground, for example snow, lights its own shadows: from this level on, white by that part.
 */
static const float BRIGHT = 160, WHITE = 0.1f;
/* Sunny sides gain less than shadows lose, so that snow keeps a shape. */
static const float SUNNY = 0.85f;
/* Skylight is blue, and the sun yellow: how much green and blue lose and gain, compared with red.
 */
static const float GREEN_SHADE = 0.93f, BLUE_SHADE = 0.7f, GREEN_SUN = 0.94f, BLUE_SUN = 0.82f;
/* Steep ground shows soil and rock: colors go this far towards a warm gray. */
static const float BARE = 0.55f, BARE_RED = 1.04f, BARE_BLUE = 0.90f;
/* The same with climate colors, which include rock. */
static const float FOREST_BARE = 0.25f;

/* Metres that an int holds. */
#define HIGHEST 2e9f

/* Squared slopes: soil to 30 degrees, rock from 45 on. */
#define SOIL (1 / 3.0f)
#define ROCK 1.0f

/* Entries in the climate tables. */
#define PER_DEGREE (CLIMATE_TEMPERATURES / (CLIMATE_HOTTEST - CLIMATE_COLDEST))

/* Below 0 metres is the sea, and the floor shows through softly. */
static const float UNDER_WATER = 0.35f;

/* Light above this level approaches white without reaching it, so that snow keeps a shape. Level
 * ground keeps its color. */
static const float SHOULDER = 225;

/* Pixels that are painted together: steps that none of them needs are left out. Loops have a length
 * N that the compiler knows, so that it makes nothing but vectors. They load before they decide,
 * because without AVX-512 gcc cannot vectorize loads under a condition. */
enum { SPAN = 64, FEW = 16 };

/* The ground's colors in a span, as channels from 0 to 255. */
struct span {
    float red[SPAN], green[SPAN], blue[SPAN];
};

/* A span's heights and climate, and its shading (shading.h). */
enum input { METRES, TEMPERATURE, HUMIDITY, FACING, ACROSS, STEEP, SLOPE, INPUTS };
struct pixels {
    const float *of[INPUTS]; /* N values each; without colors of climate, no climate */
};

/* Entries in the palette, and in climate's lowest level. */
struct entries {
    int deep[SPAN], land[SPAN];
};

/* One channel of ground with this LEVEL; a share, BARE, is GRAY * TINT. */
INLINE float bared(float level, float gray, float tint, float bare)
{
    /* Warm gray can be brighter than white. */
    return at_most(level + (gray * tint - level) * bare, 255);
}

/* Channels of ground, and the same channels under light. */
struct lit {
    struct span level, full;
};

/* Light GROUND, which is at most MOST_BARE. Returns whether some of it passes the SHOULDER. */
INLINE bool light_ground(struct lit *restrict out, const struct span *restrict ground,
                         const struct pixels *restrict pixels, float most_bare, int n)
{
    const float *restrict metres = pixels->of[METRES];
    const float *restrict facings = pixels->of[FACING], *restrict acrosses = pixels->of[ACROSS];
    const float *restrict steeps = pixels->of[STEEP];
    int32_t brightest = 0;

    for (int i = 0; i < n; i++) {
        const bool water = metres[i] < 0;
        const float lacking = 1 - facings[i] * (1 / SHADING_LEVEL); /* 0 on level ground */
        const float dim = at_least(lacking, 0), soft = water ? UNDER_WATER : 1;
        /* One reciprocal for steep / (steep + 0.25) and dim / (dim + HALF). */
        const float steep = steeps[i], soil = steep + 0.25f, dark = dim + HALF;
        const float divided = reciprocal(soil * dark);
        const float bare = water ? 0 : most_bare * steep * dark * divided;
        const float red = ground->red[i], green = ground->green[i], blue = ground->blue[i];
        const float gray = (red + 2 * green + blue) * 0.25f;
        const float white = at_least(gray - BRIGHT, 0) * (WHITE / (255 - BRIGHT));
        const float deep = DEEPEST * (1 - white) * (1 - SECOND_LIGHT * acrosses[i]);
        const float shade = soft * deep * dim * soil * divided;
        const float sun = soft * SUNNY * at_least(-lacking, 0);
        const float r = bared(red, gray, BARE_RED, bare), g = bared(green, gray, 1, bare);
        const float b = bared(blue, gray, BARE_BLUE, bare);
        const float r_lit = r * (1 + sun - shade);
        const float g_lit = g * (1 + sun * GREEN_SUN - shade * GREEN_SHADE);
        const float b_lit = b * (1 + sun * BLUE_SUN - shade * BLUE_SHADE);
        const int32_t most = clamp_bits(at_least(at_least(r_lit, g_lit), b_lit));
        brightest = most > brightest ? most : brightest;
        out->level.red[i] = r;
        out->level.green[i] = g;
        out->level.blue[i] = b;
        out->full.red[i] = r_lit;
        out->full.green[i] = g_lit;
        out->full.blue[i] = b_lit;
    }
    return brightest > clamp_bits(SHOULDER);
}

/* Compress what passes the SHOULDER, or the ground's own level if that is higher. */
INLINE void compress(float *restrict full, const float *restrict level, int n)
{
    for (int i = 0; i < n; i++) {
        const float knee = at_least(level[i], SHOULDER), room = 255 - knee;
        const float over = at_least(full[i] - knee, 0);
        full[i] = at_most(full[i], knee) + over * room * reciprocal(room + over + 1e-3f);
    }
}

INLINE void light_span(uint32_t *restrict out, const struct span *restrict ground,
                       const struct pixels *restrict pixels, float most_bare, int n)
{
    struct lit lit;

    if (light_ground(&lit, ground, pixels, most_bare, n)) {
        compress(lit.full.red, lit.level.red, n);
        compress(lit.full.green, lit.level.green, n);
        compress(lit.full.blue, lit.level.blue, n);
    }
    for (int i = 0; i < n; i++)
        out[i] = rgb_pack(rgb_rounded(lit.full.red[i]), rgb_rounded(lit.full.green[i]),
                          rgb_rounded(lit.full.blue[i]));
}

/* One by one, through memory, because the loads would have to take a vector of entries apart. */
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
        out->red[i] = rgb_channel(color[i], 0);
        out->green[i] = rgb_channel(color[i], 1);
        out->blue[i] = rgb_channel(color[i], 2);
    }
}

/* For each pixel, the colors of an entry and of the next one. */
static __attribute__((noinline)) void pick_pairs(uint32_t *out, const uint32_t *table,
                                                 const int *entry, int n)
{
#pragma GCC unroll 8
    for (int i = 0; i < n; i++)
        memcpy(out + 2 * i, table + entry[i], 2 * sizeof *out);
}

INLINE float between(uint32_t low, uint32_t high, int c, float share)
{
    const float from = rgb_channel(low, c), to = rgb_channel(high, c);
    return from + (to - from) * share;
}

/* Colors between an entry and the next one, which has the SHARE. */
INLINE void look_up_pairs(struct span *restrict out, const uint32_t *restrict table,
                          const int *restrict entry, const float *restrict share, int n)
{
    uint32_t color[2 * SPAN];
    pick_pairs(color, table, entry, n);
    for (int i = 0; i < n; i++) {
        out->red[i] = between(color[2 * i], color[2 * i + 1], 0, share[i]);
        out->green[i] = between(color[2 * i], color[2 * i + 1], 1, share[i]);
        out->blue[i] = between(color[2 * i], color[2 * i + 1], 2, share[i]);
    }
}

/* Turn OUT into the colors of entries, by one SHARE each. */
INLINE void mix(struct span *restrict out, const uint32_t *restrict table,
                const int *restrict entry, const float *restrict share, int n)
{
    uint32_t color[SPAN];
    pick(color, table, entry, n);
    for (int i = 0; i < n; i++) {
        out->red[i] += (rgb_channel(color[i], 0) - out->red[i]) * share[i];
        out->green[i] += (rgb_channel(color[i], 1) - out->green[i]) * share[i];
        out->blue[i] += (rgb_channel(color[i], 2) - out->blue[i]) * share[i];
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

/* Entries in the palette. */
INLINE void find_palette(int *restrict entry, const float *restrict metres, float first,
                         float scale, int n)
{
    for (int i = 0; i < n; i++)
        entry[i] = (int)clamped((metres[i] - first) * scale, COLOR_TABLE_SIZE - 1);
}

/* Entries in climate's lowest level. */
INLINE void find_land(int *restrict entry, const float *restrict temperature,
                      const float *restrict humidity, int levels, int n)
{
    for (int i = 0; i < n; i++) {
        const float warm = (temperature[i] - CLIMATE_COLDEST) * PER_DEGREE;
        const float wet = humidity[i] * CLIMATE_HUMIDITIES;
        const int place = climate_place((int)clamped(warm, CLIMATE_TEMPERATURES - 1),
                                        (int)clamped(wet, CLIMATE_HUMIDITIES - 1));
        entry[i] = climate_entry(place, levels);
    }
}

/* Entries in one LEVEL; under water, in the palette. */
INLINE void find_level(int *restrict entry, const struct entries *restrict at,
                       const float *restrict metres, int level, int n)
{
    for (int i = 0; i < n; i++) {
        const int deep = at->deep[i], land = at->land[i] + level;
        entry[i] = metres[i] < 0 ? deep : land;
    }
}

/* From 0 on: a whole number on a level, and a fraction between two levels. */
INLINE float level_at(const struct climate_change *change, float metres)
{
    float level = 0;
    for (int k = 0; k < CLIMATE_MAX_LEVELS - 1; k++)
        level += clamped((metres - change[k].from) * change[k].scale, 1);
    return level;
}

/* For each pixel, the entry in the lower of two levels, and the higher one's share, which is 0
 * under water. */
INLINE void find_levels(int *restrict entry, float *restrict share,
                        const struct entries *restrict at, const float *restrict metres,
                        const struct climate_change *restrict change, int n)
{
    for (int i = 0; i < n; i++) {
        const float level = level_at(change, metres[i]);
        const int deep = at->deep[i], land = at->land[i] + (int)level;
        share[i] = level - (float)(int)level;
        entry[i] = metres[i] < 0 ? deep : land;
    }
}

/* The share of rock in each pixel. */
INLINE void find_rock(float *restrict share, const float *restrict slope, int n)
{
    for (int i = 0; i < n; i++)
        share[i] = clamped((slope[i] - SOIL) * (1 / (ROCK - SOIL)), 1);
}

/* What a span contains, so that other steps are left out. */
struct contents {
    int land, steep;     /* 0: none */
    int lowest, highest; /* whole metres at or above 0, around all land heights */
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
                         const struct climate_colors *climate, struct entries *at, int n)
{
    const float *metres = pixels->of[METRES], *slopes = pixels->of[SLOPE];
    const struct contents found = look_at(metres, slopes, n);
    int entry[SPAN];
    float share[SPAN];

    if (!found.land) {
        look_up(ground, climate->color, at->deep, n);
        return;
    }
    find_land(at->land, pixels->of[TEMPERATURE], pixels->of[HUMIDITY], climate->levels, n);
    const float level = level_at(climate->change, (float)found.lowest);
    const float top = level_at(climate->change, (float)found.highest);
    if (level == top && level == (float)(int)level) {
        find_level(entry, at, metres, (int)level, n);
        look_up(ground, climate->color, entry, n);
    } else {
        find_levels(entry, share, at, metres, climate->change, n);
        look_up_pairs(ground, climate->color, entry, share, n);
    }
    if (found.steep) {
        find_level(entry, at, metres, climate->levels, n);
        find_rock(share, slopes, n);
        mix(ground, climate->color, entry, share, n);
    }
    round_off(ground, n);
}

INLINE void paint_pixels(uint32_t *restrict out, const struct pixels *restrict pixels,
                         const struct color_table *restrict colors, int n)
{
    struct span ground;
    struct entries at;

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

/* A row's last pixels, less than FEW. */
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
            [ACROSS] = shading->across + i,
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
        if (heights->water)
            inland_water_row(&row, heights, j * heights->stride, colors);
        // cppcheck-suppress uninitvar ; relief_row fills it
        rgb_store(out, &row, heights->size);
    }
}
