/* An 8-bit heightmap: black at the world's lowest height, white at its highest. */
#include "paint.h"

MULTIVERSION
void paint_gray(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const float min = colors->min, scale = 255 / (colors->max - min);
    const int size = heights->size;
    uint8_t *out = pixels;

    for (int j = 0; j < heights->rows; j++, out += size) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < size; i++)
            out[i] = (uint8_t)(int)((row[i] - min) * scale + 0.5f);
    }
}
