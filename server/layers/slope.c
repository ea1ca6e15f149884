/* How steep the ground is, in degrees, as a color. Slopes are the terrain's own. */
#include <math.h>

#include "gradient.h"
#include "paint.h"
#include "rgb.h"
#include "scale.h"

/* Colors as on hiking maps: ground from 30 degrees on, where snow may slide, is orange. */
const struct scale_stop slope_stops[SLOPE_STOPS] = {
    {0, {0xff, 0xff, 0xff}},  {10, {0xe2, 0xee, 0xc2}}, {20, {0xf6, 0xe4, 0x78}},
    {30, {0xf6, 0xa0, 0x3c}}, {40, {0xd8, 0x30, 0x28}}, {50, {0x8c, 0x28, 0x96}},
    {60, {0x24, 0x2c, 0x8c}}, {90, {0x00, 0x00, 0x00}},
};

/* A slope's angle, in degrees. */
INLINE float angle(float slope)
{
    const float low = slope < 1 ? slope : 1, high = slope < 1 ? 1 : slope;
    const float degrees = scale_degrees(low / high); /* for 1 / slope, if that is less */
    return slope > 1 ? 90 - degrees : degrees;
}

INLINE uint32_t channel(float degrees, int c)
{
    return (uint32_t)(int)(scale_channel(slope_stops, SLOPE_STOPS, degrees, c) + 0.5f);
}

MULTIVERSION
void paint_slope(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int size = heights->size;
    struct rgb_row row;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const struct gradient at = gradient_of(heights, heights->first, j);
        for (int i = 0; i < size; i++) {
            const float dx = gradient_east(&at, i);
            const float dy = gradient_south(&at, i);
            const float degrees = angle(sqrtf(dx * dx + dy * dy));
            row.color[i] = rgb_pack(channel(degrees, 0), channel(degrees, 1), channel(degrees, 2));
        }
        rgb_store(out, &row, size);
    }
}
