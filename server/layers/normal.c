/*
 * Tangent-space normals for bump mapping: red east, green north, blue up, each -1 .. 1 as 0 .. 255
 * (OpenGL's convention). Slopes are the terrain's own, in metres per block, by central differences
 * that reach beyond the tile.
 */
#include <math.h>

#include "paint.h"
#include "rgb.h"

static inline __attribute__((always_inline)) uint32_t component(float value)
{
    return (uint32_t)(int)((value * 0.5f + 0.5f) * 255 + 0.5f);
}

MULTIVERSION
void paint_normal(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    const int reach = heights->reach, size = heights->size;
    const float rise = 1 / (2 * (float)reach * heights->spacing);
    struct rgb_row normals;
    uint8_t *out = pixels;

    (void)colors;
    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const float *row = heights->first + j * heights->stride;
        const float *north = row - reach * heights->stride, *south = row + reach * heights->stride;
        for (int i = 0; i < size; i++) {
            const float dx = (row[i + reach] - row[i - reach]) * rise;
            const float dy = (south[i] - north[i]) * rise;
            const float up = 1 / sqrtf(1 + dx * dx + dy * dy);
            normals.color[i] = component(-dx * up) | component(dy * up) << 8 /* rows run south */ |
                               component(up) << 16;
        }
        rgb_store(out, &normals, size);
    }
}
