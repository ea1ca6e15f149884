/*
 * Tangent-space normals for bump mapping: red east, green north, blue up, each -1 .. 1 as 0 .. 255
 * (OpenGL's convention). Slopes are the terrain's own.
 */
#include <math.h>

#include "gradient.h"
#include "paint.h"
#include "rgb.h"

INLINE uint32_t component(float value)
{
    return (uint32_t)(int)((value * 0.5f + 0.5f) * 255 + 0.5f);
}

MULTIVERSION
void paint_normal(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int size = heights->size;
    struct rgb_row normals;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const struct gradient at = gradient_of(heights, heights->first, j);
        for (int i = 0; i < size; i++) {
            const float dx = gradient_east(&at, i);
            const float dy = gradient_south(&at, i);
            const float up = 1 / sqrtf(1 + dx * dx + dy * dy);
            normals.color[i] = rgb_pack(component(-dx * up), component(dy * up),
                                        component(up)); /* rows run south */
        }
        rgb_store(out, &normals, size);
    }
}
