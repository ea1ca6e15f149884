/* The compass direction that the ground falls to, as a color; level ground is gray. */
#include <math.h>

#include "clamp.h"
#include "gradient.h"
#include "paint.h"
#include "rgb.h"
#include "scale.h"
#include "shading.h"

/* North is red, east yellow, south green, west blue: neighbors and opposites differ clearly. */
const struct scale_stop aspect_stops[ASPECT_STOPS] = {
    {0, {0xd9, 0x5f, 0x5f}},   {45, {0xe3, 0x9a, 0x4c}},  {90, {0xd9, 0xcf, 0x57}},
    {135, {0x7f, 0xbf, 0x5a}}, {180, {0x4f, 0xb8, 0xa4}}, {225, {0x5a, 0x9b, 0xd4}},
    {270, {0x7a, 0x78, 0xd6}}, {315, {0xc2, 0x6f, 0xc0}}, {360, {0xd9, 0x5f, 0x5f}},
};

static const float LEVEL = 180;
/* Up to this slope, as shading draws it, gray turns into the direction's color: 1.4 degrees close
 * up.
 */
static const float CLEAR = 0.05f;

/* Clockwise from north, 0 to 360 degrees; 0 on level ground. */
INLINE float direction(float east, float north)
{
    const float across = fabsf(east), along = fabsf(north);
    const float most = across > along ? across : along, least = across > along ? along : across;
    const float octant = scale_degrees(least / (most > 0 ? most : 1));
    const float quarter = across > along ? 90 - octant : octant;
    const float half = north < 0 ? 180 - quarter : quarter;
    return east < 0 ? 360 - half : half;
}

INLINE uint32_t channel(float degrees, float clear, int c)
{
    const float level = scale_channel(aspect_stops, ASPECT_STOPS, degrees, c);
    return (uint32_t)(int)(LEVEL + (level - LEVEL) * clear + 0.5f);
}

MULTIVERSION
void paint_aspect(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int size = heights->size;
    const float drawn = shading_exaggeration(heights->spacing) / CLEAR;
    struct rgb_row row;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const struct gradient at = gradient_of(heights, heights->first, j);
        for (int i = 0; i < size; i++) {
            const float dx = gradient_east(&at, i);
            const float dy = gradient_south(&at, i);
            const float degrees = direction(-dx, dy); /* downhill; rows run south */
            const float clear = at_most(sqrtf(dx * dx + dy * dy) * drawn, 1);
            row.color[i] = rgb_pack(channel(degrees, clear, 0), channel(degrees, clear, 1),
                                    channel(degrees, clear, 2));
        }
        rgb_store(out, &row, size);
    }
}
