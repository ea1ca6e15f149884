/* The heights themselves: 16 bits over the world's range, 0 the lowest, 65535 the highest. */
#include "paint.h"

MULTIVERSION
void height_samples(const float *heights, size_t count, const struct color_table *colors,
                    uint16_t *samples)
{
    const float min = colors->min, scale = 65535 / (colors->max - min);

    for (size_t i = 0; i < count; i++)
        samples[i] = (uint16_t)(int)((heights[i] - min) * scale + 0.5f);
}

void paint_height(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const size_t size = (size_t)heights->size;

    for (int j = 0; j < heights->rows; j++)
        height_samples(heights->first + j * heights->stride, size, colors,
                       (uint16_t *)pixels + (size_t)j * size);
}
