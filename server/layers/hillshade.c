/* Gray shading: 255 faces the light in the north-west, 180 is level ground, 0 faces away. */
#include "paint.h"
#include "shading.h"

MULTIVERSION
void paint_hillshade(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int size = heights->size;
    struct shading shading;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += size) {
        shading_row(&shading, heights, j);
        for (int i = 0; i < size; i++) {
            // cppcheck-suppress uninitvar ; shading_row fills it
            const float lit = shading.facing[i] > 0 ? shading.facing[i] : 0;
            out[i] = (uint8_t)(int)(lit * 255 + 0.5f);
        }
    }
}
