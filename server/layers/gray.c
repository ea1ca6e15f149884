/* An 8-bit heightmap: black at the world's lowest height, white at its highest. */
#include "paint.h"

void paint_gray(const struct heights *heights, const struct style *style, void *pixels)
{
    const float scale = 255 / (style->max - style->min);
    uint8_t *out = pixels;

    for (int j = 0; j < heights->size; j++, out += heights->size) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < heights->size; i++)
            out[i] = (uint8_t)((row[i] - style->min) * scale + 0.5f);
    }
}
