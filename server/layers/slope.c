/* How steep the ground is, in degrees, as a color. Slopes are the terrain's own, in metres per
 * block, by central differences that reach beyond the tile. */
#include "slope.h"

#include <math.h>

#include "paint.h"
#include "rgb.h"

/* The colors of hiking maps: ground is orange from 30 degrees on, if snow on it may slide. */
const struct slope_stop slope_stops[SLOPE_STOPS] = {
    {0, {0xff, 0xff, 0xff}},  {10, {0xe2, 0xee, 0xc2}}, {20, {0xf6, 0xe4, 0x78}},
    {30, {0xf6, 0xa0, 0x3c}}, {40, {0xd8, 0x30, 0x28}}, {50, {0x8c, 0x28, 0x96}},
    {60, {0x24, 0x2c, 0x8c}}, {90, {0x00, 0x00, 0x00}},
};

/*
 * The angle of a slope, in degrees: Abramowitz and Stegun, 4.4.49, within 0.0006. atanf is not the
 * same on every machine.
 */
static inline __attribute__((always_inline)) float angle(float slope)
{
    const float low = slope < 1 ? slope : 1, high = slope < 1 ? 1 : slope;
    const float x = low / high, square = x * x; /* slope, or 1 / slope if that is less */
    const float polynomial =
        0.9998660f +
        square *
            (-0.3302995f + square * (0.1801410f + square * (-0.0851330f + square * 0.0208351f)));
    const float degrees = x * polynomial * 57.295780f;
    return slope > 1 ? 90 - degrees : degrees;
}

/* One channel of the color at DEGREES: the first stop's, and the share of each step after it. */
static inline __attribute__((always_inline)) uint32_t channel(float degrees, int c)
{
    float level = (float)slope_stops[0].color[c];
    for (int i = 1; i < SLOPE_STOPS; i++) {
        const struct slope_stop *from = &slope_stops[i - 1], *to = &slope_stops[i];
        const float share = (degrees - from->degrees) / (to->degrees - from->degrees);
        const float passed = share > 0 ? share : 0;
        level += (float)(to->color[c] - from->color[c]) * (passed < 1 ? passed : 1);
    }
    return (uint32_t)(int)(level + 0.5f);
}

MULTIVERSION
void paint_slope(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int reach = heights->reach, size = heights->size;
    const float rise = 1 / (2 * (float)reach * heights->spacing);
    struct rgb_row row;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const float *at = heights->first + j * heights->stride;
        const float *north = at - reach * heights->stride, *south = at + reach * heights->stride;
        for (int i = 0; i < size; i++) {
            const float dx = (at[i + reach] - at[i - reach]) * rise;
            const float dy = (south[i] - north[i]) * rise;
            const float degrees = angle(sqrtf(dx * dx + dy * dy));
            row.color[i] =
                channel(degrees, 0) | channel(degrees, 1) << 8 | channel(degrees, 2) << 16;
        }
        rgb_store(out, &row, size);
    }
}
