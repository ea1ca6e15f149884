/* The heights themselves: 16 bits over the range, 0 the lowest, 65535 the highest. */
#include "paint.h"

void paint_height(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const size_t size = (size_t)heights->size;

    (void)colors;
    for (int j = 0; j < heights->rows; j++)
        samples_16(heights->first + j * heights->stride, size, heights->range,
                   (uint16_t *)pixels + (size_t)j * size);
}
