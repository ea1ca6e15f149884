/*
 * Gray shading: 255 faces the light in the north-west, 180 is level ground, 0 faces away. Levels
 * are STEP apart, which no eye notices, and which saves a quarter of the bytes. STEP divides both
 * 180 and 255.
 */
#include "paint.h"
#include "shading.h"

enum { STEP = 3 };

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
            out[i] = (uint8_t)(STEP * (int)(lit * (255.0f / STEP) + 0.5f));
        }
    }
}
