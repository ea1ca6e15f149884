/* 256 R + G + B / 256 - 32768 metres: finer than terrain-rgb, and QGIS reads it. Heights of the
 * ground, or of the water surface above. */
#include "clamp.h"
#include "dem_packing.h"
#include "paint.h"

MULTIVERSION
void paint_terrarium(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    (void)colors;
    pack_heights(heights, 256, 32768, pixels);
}

/* The level of the sea, of lakes and of rivers; the ground on land. */
MULTIVERSION
void paint_terrarium_water(const struct heights *heights, const struct color_table *colors,
                           void *pixels)
{
    const int size = heights->size;
    float level[LAYER_MAX_SIZE];
    struct heights row = *heights;

    (void)colors;
    row.size = size;
    row.first = level;
    row.rows = 1;
    for (int j = 0; j < heights->rows; j++) {
        const float *ground = heights->first + j * heights->stride;
        const float *water = heights->water ? heights->water + j * heights->stride : ground;
        for (int i = 0; i < size; i++)
            level[i] = at_least(ground[i] > water[i] ? ground[i] : water[i], 0);
        pack_heights(&row, 256, 32768, (uint8_t *)pixels + 3 * (size_t)size * (size_t)j);
    }
}
