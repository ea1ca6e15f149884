/*
 * Tangent-space normals for bump mapping: red east, green north, blue up, each
 * -1 .. 1 as 0 .. 255 (OpenGL's convention). Slopes are the terrain's own, in
 * metres a block, by central differences that reach beyond the tile.
 */
#include <math.h>

#include "paint.h"

static inline float component(float value)
{
    return (value * 0.5f + 0.5f) * 255 + 0.5f;
}

void paint_normal(const struct heights *heights, const struct style *style, void *pixels)
{
    const int reach = heights->reach, size = heights->size;
    const float rise = 1 / (2 * (float)reach * heights->spacing);
    float red[LAYER_MAX_SIZE], green[LAYER_MAX_SIZE], blue[LAYER_MAX_SIZE];
    uint8_t *out = pixels;

    (void)style;
    for (int j = 0; j < size; j++) {
        const float *row = heights->first + j * heights->stride;
        const float *north = row - reach * heights->stride, *south = row + reach * heights->stride;
        for (int i = 0; i < size; i++) {
            const float dx = (row[i + reach] - row[i - reach]) * rise;
            const float dy = (south[i] - north[i]) * rise;
            const float up = 1 / sqrtf(1 + dx * dx + dy * dy);
            red[i] = component(-dx * up);
            green[i] = component(dy * up); /* rows run south */
            blue[i] = component(up);
        }
        for (int i = 0; i < size; i++, out += 3) {
            out[0] = (uint8_t)red[i];
            out[1] = (uint8_t)green[i];
            out[2] = (uint8_t)blue[i];
        }
    }
}
