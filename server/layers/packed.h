/* Heights as 24-bit integers in red, green and blue, most significant first: the DEM encodings. */
#ifndef FARLANDS_PACKED_H
#define FARLANDS_PACKED_H

#include "layer.h"

/* round((metres + offset) * scale) for every sample; what it cannot hold has been
 * refused with the configuration. SCALE * OFFSET is whole. */
static inline void pack_heights(const struct heights *heights, double scale, double offset,
                                uint8_t *out)
{
    for (int j = 0; j < heights->size; j++) {
        const float *row = heights->first + j * heights->stride;
        for (int i = 0; i < heights->size; i++, out += 3) {
            const uint32_t v = (uint32_t)((double)row[i] * scale + (offset * scale + 0.5));
            out[0] = (uint8_t)(v >> 16);
            out[1] = (uint8_t)(v >> 8);
            out[2] = (uint8_t)v;
        }
    }
}

#endif
