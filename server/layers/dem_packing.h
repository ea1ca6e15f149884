/* The DEM encodings: heights as 24-bit integers, red the most significant byte, blue the least. */
#ifndef FARLANDS_LAYERS_DEM_PACKING_H
#define FARLANDS_LAYERS_DEM_PACKING_H

#include "rgb.h"

/* Pack round((metres + OFFSET) * SCALE), halves up, for each sample. The configuration has been
 * checked: no height of the world overflows. SCALE * OFFSET must be whole. */
INLINE void pack_heights(const struct heights *heights, double scale, double offset, uint8_t *out)
{
    const int size = heights->size;
    struct rgb_row packed;

    for (int j = 0; j < heights->rows; j++, out += 3 * size) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < size; i++) {
            const int32_t v = (int32_t)((double)row[i] * scale + (offset * scale + 0.5));
            packed.color[i] = (uint32_t)(v >> 16 | (v & 0xff00) | (v & 0xff) << 16);
        }
        rgb_store(out, &packed, size);
    }
}

#endif
