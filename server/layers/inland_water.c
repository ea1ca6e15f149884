/* Rivers as lines, lakes as areas. */
#include "inland_water.h"

#include <math.h>

#include "clamp.h"
#include "paint.h"

/*
 * Order grows by 1 if the upstream length doubles, and the upstream area with it. So rivers of one
 * order are farther apart by a root of 2 than those one order below. If the least order grew by 2
 * from zoom to zoom, full lines would be equally dense at each. It grows by 1, so maps of larger
 * areas show more lines. Order ALL is drawn in full if samples are ALL_METRES apart.
 */
#define ALL 3.0
#define ALL_METRES 16.0
#define ORDERS_PER_ZOOM 1.0
/* Orders from nothing to a full line. */
#define FADE 3.0f
/* Half a line's width, in pixels; and the orders between rivers that wide and rivers without width.
 */
#define LINE 0.6f
#define NARROW 4.0f
/* Lakes have the deep color from this depth on, in metres. */
#define DARKEST 80.0f
/* Degrees C: water is frozen below COLD and open above MILD. */
#define COLD (-10.0f)
#define MILD (-5.0f)

enum { ICE_RED = 0xe4, ICE_GREEN = 0xee, ICE_BLUE = 0xf3 };

/* log2 X, straight between powers of two, because libm's log2f differs between machines. */
static double zooms(double x)
{
    int exponent;
    const double mantissa = frexp(x, &exponent);
    return exponent - 2 + 2 * mantissa;
}

struct river_scale river_scale_make(double metres, const double width[RIVER_ORDERS])
{
    const double least = 2 * (double)LINE * metres;
    int k = 0;
    while (k + 1 < RIVER_ORDERS && width[k + 1] < least)
        k++;
    const double rise = k + 1 < RIVER_ORDERS ? width[k + 1] - width[k] : 0;
    const double part = rise > 0 ? (least - width[k]) / rise : 1;
    return (struct river_scale){
        .shown = (float)(ALL + ORDERS_PER_ZOOM * zooms(metres / ALL_METRES)),
        .wide = (float)(k + part),
        .near = metres < 128 ? (float)metres : 128,
    };
}

/* Pixels that are painted together, and pixels that are examined together. */
enum { SPAN = 16, WIDE = 64 };

/* The water in a span. */
struct span {
    const float *metres, *water, *river, *bank, *temperature; /* the last may be NULL */
};

INLINE int has_water(const struct span *span, int n)
{
    const float *restrict metres = span->metres, *restrict water = span->water;
    const float *restrict river = span->river;
    int found = 0;
#pragma GCC unroll 1
    for (int i = 0; i < n; i++)
        found |= (river[i] > 0) | (water[i] > metres[i]);
    return found;
}

/*
 * The share of water in each pixel. Rivers that are narrow on this scale get LINE pixels more on
 * both sides. Width grows with a power of the order, which a parabola approximates. Ground below
 * the sea is the sea's, unless it is a lake's.
 */
INLINE void find_shares(float *restrict share, const struct span *span,
                        const struct river_scale *scale, int n)
{
    const float *restrict metres = span->metres, *restrict water = span->water;
    const float *restrict river = span->river, *restrict bank = span->bank;
    const float inverse = 1 / scale->near, shown = scale->shown, wide = scale->wide;
    for (int i = 0; i < n; i++) {
        const float narrow = clamped((wide - river[i]) * (1 / NARROW), 1);
        const float more = LINE * narrow * (2 - narrow);
        const float cover = clamped(0.5f + more - bank[i] * inverse, 1);
        const float full = clamped((river[i] - shown) * (1 / FADE) + 1, 1);
        const float line = metres[i] < 0 && bank[i] >= 0 ? 0 : cover * full;
        const bool flows = river[i] > 0, still = water[i] > metres[i] && !(flows && bank[i] < 0);
        share[i] = still ? 1 : flows ? line : 0;
    }
}

INLINE uint32_t mix(uint32_t from, uint32_t shallow, uint32_t deep, int c, float depth, float ice,
                    float share)
{
    static const int frozen[] = {ICE_RED, ICE_GREEN, ICE_BLUE};
    const float open =
        rgb_channel(shallow, c) + (rgb_channel(deep, c) - rgb_channel(shallow, c)) * depth;
    const float water = open + ((float)frozen[c] - open) * ice;
    const float ground = rgb_channel(from, c);
    return (uint32_t)(int)(ground + (water - ground) * share + 0.5f);
}

INLINE void paint_pixels(uint32_t *restrict color, const struct span *span,
                         const struct river_scale *scale, uint32_t shallow, uint32_t deep, int n)
{
    float share[SPAN], ice[SPAN];
    find_shares(share, span, scale, n);
    const float *restrict temperature = span->temperature;
    if (temperature)
        for (int i = 0; i < n; i++)
            ice[i] = clamped((MILD - temperature[i]) * (1 / (MILD - COLD)), 1);
    else
        memset(ice, 0, sizeof ice);
    const float *restrict level = span->water, *restrict ground = span->metres;
    for (int i = 0; i < n; i++) {
        const float t = clamped((level[i] - ground[i]) * (1 / DARKEST), 1);
        const float depth = t * (2 - t), part = share[i], cold = ice[i];
        const uint32_t from = color[i];
        color[i] = rgb_pack(mix(from, shallow, deep, 0, depth, cold, part),
                            mix(from, shallow, deep, 1, depth, cold, part),
                            mix(from, shallow, deep, 2, depth, cold, part));
    }
}

INLINE struct span span_from(const struct span *span, int i)
{
    return (struct span){span->metres + i, span->water + i, span->river + i, span->bank + i,
                         span->temperature ? span->temperature + i : NULL};
}

MULTIVERSION
static void paint_wide(uint32_t *restrict color, const struct span *wide,
                       const struct river_scale *scale, uint32_t shallow, uint32_t deep)
{
    if (!has_water(wide, WIDE))
        return;
    for (int i = 0; i < WIDE; i += SPAN) {
        const struct span span = span_from(wide, i);
        if (has_water(&span, SPAN))
            paint_pixels(color + i, &span, scale, shallow, deep, SPAN);
    }
}

/* A row's last pixels, less than WIDE. */
static void paint_rest(uint32_t *color, const struct span *rest, const struct river_scale *scale,
                       uint32_t shallow, uint32_t deep, int n)
{
    for (int i = 0; i < n; i += SPAN) {
        const struct span span = span_from(rest, i);
        paint_pixels(color + i, &span, scale, shallow, deep, n - i < SPAN ? n - i : SPAN);
    }
}

void inland_water_row(struct rgb_row *row, const struct heights *heights, ptrdiff_t at,
                      const struct color_table *colors)
{
    for (int i = 0; i < heights->size; i += WIDE) {
        const ptrdiff_t from = at + i;
        const struct span span = {
            .metres = heights->first + from,
            .water = heights->water + from,
            .river = heights->river + from,
            .bank = heights->bank + from,
            .temperature = colors->climate ? heights->temperature + from : NULL,
        };
        if (heights->size - i >= WIDE)
            paint_wide(row->color + i, &span, &heights->rivers, colors->shallow, colors->deep);
        else
            paint_rest(row->color + i, &span, &heights->rivers, colors->shallow, colors->deep,
                       heights->size - i);
    }
}

/* --- The layer "water" --- */

enum { ICE = WATER_TONES - 1 }; /* the last tone; the others are depths */

uint32_t water_color(const struct color_table *colors, int index)
{
    const int tone = index % WATER_TONES, share = index / WATER_TONES;
    const float depth = (float)tone / (ICE - 1);
    const uint32_t opacity = (uint32_t)(share * 255 / (WATER_SHARES - 1)) << 24;
    const uint32_t color = tone == ICE
                               ? rgb_pack(ICE_RED, ICE_GREEN, ICE_BLUE)
                               : mix(0, colors->shallow, colors->deep, 0, depth, 0, 1) |
                                     mix(0, colors->shallow, colors->deep, 1, depth, 0, 1) << 8 |
                                     mix(0, colors->shallow, colors->deep, 2, depth, 0, 1) << 16;
    return color | opacity;
}

void palette_water(struct image_palette *out, const struct color_table *colors,
                   const struct biome_table *biomes)
{
    (void)biomes;
    out->colors = WATER_INDICES;
    out->is_clear = true;
    for (int i = 0; i < WATER_INDICES; i++) {
        const uint32_t color = water_color(colors, i);
        for (int c = 0; c < 3; c++)
            out->color[i][c] = color >> 8 * c & 255;
        out->alpha[i] = color >> 24;
    }
}

/* The index for water that is METRES deep. */
static uint8_t index_of(float share, float metres, bool frozen)
{
    const float t = clamped(metres * (1 / DARKEST), 1), depth = t * (2 - t);
    const int tone = frozen ? ICE : (int)(depth * (ICE - 1) + 0.5f);
    const int part = (int)(share * (WATER_SHARES - 1) + 0.5f);
    return part == 0 ? 0 : (uint8_t)(part * WATER_TONES + tone);
}

void paint_water(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    uint8_t *out = pixels;
    for (int j = 0; j < heights->rows; j++)
        for (int i = 0; i < heights->size; i++) {
            const ptrdiff_t at = j * heights->stride + i;
            const float metres = heights->first[at];
            float share = 0, depth = 0;
            if (heights->water) {
                const struct span span = {.metres = heights->first + at,
                                          .water = heights->water + at,
                                          .river = heights->river + at,
                                          .bank = heights->bank + at};
                find_shares(&share, &span, &heights->rivers, 1);
                depth = heights->water[at] - metres;
            }
            const bool sea = metres < 0 && share < 1;
            const bool frozen =
                !sea && colors->climate && heights->temperature[at] < (COLD + MILD) / 2;
            *out++ = sea ? index_of(1, -metres, false) : index_of(share, depth, frozen);
        }
}
