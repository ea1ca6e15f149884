/* 8-bit heights over the range: black at the lowest height, white at the highest. */
#include "paint.h"

void paint_gray(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const size_t size = (size_t)heights->size;

    (void)colors;
    for (int j = 0; j < heights->rows; j++)
        samples_8(heights->first + j * heights->stride, size, heights->range,
                  (uint8_t *)pixels + (size_t)j * size);
}
