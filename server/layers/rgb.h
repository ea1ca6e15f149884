/* Rows of colours, worked out as whole numbers so that the compiler can use vectors. */
#ifndef FARLANDS_LAYERS_RGB_H
#define FARLANDS_LAYERS_RGB_H

#include <endian.h>
#include <string.h>

#include "layer.h"

/* Red in the lowest byte, then green, then blue; what is above is ignored. */
struct rgb_row {
    uint32_t colour[LAYER_MAX_SIZE];
};

/* Three bytes a pixel, SIZE of them, to OUT. */
static inline void rgb_store(uint8_t *restrict out, const struct rgb_row *restrict row, int size)
{
    /* Four at a time, of which the next pixel overwrites the last. */
    for (int i = 0; i < size - 1; i++) {
        const uint32_t bytes = htole32(row->colour[i]);
        memcpy(out + 3 * i, &bytes, 4);
    }
    const uint32_t last = htole32(row->colour[size - 1]);
    memcpy(out + 3 * (size - 1), &last, 3);
}

#endif
