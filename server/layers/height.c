/* The heights themselves: 16 bits over the world's range, 0 the lowest, 65535 the highest. */
#include "paint.h"

void paint_height(const struct heights *heights, const struct style *style, void *pixels)
{
    const float scale = 65535 / (style->max - style->min);
    uint16_t *out = pixels;

    for (int j = 0; j < heights->size; j++, out += heights->size) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < heights->size; i++)
            out[i] = (uint16_t)((row[i] - style->min) * scale + 0.5f);
    }
}
