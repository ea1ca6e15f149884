/* The heights themselves: 16 bits over the world's range, 0 the lowest, 65535 the highest. */
#include "paint.h"
#include "server/multiversion.h"

MULTIVERSION
void paint_height(const struct heights *heights, const struct style *style, void *pixels)
{
    const float min = style->min, scale = 65535 / (style->max - min);
    const int size = heights->size;
    uint16_t *out = pixels;

    for (int j = 0; j < size; j++, out += size) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < size; i++)
            out[i] = (uint16_t)(int)((row[i] - min) * scale + 0.5f);
    }
}
