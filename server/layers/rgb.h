/* Rows of colors, computed as whole words so that the compiler can vectorize them. */
#ifndef FARLANDS_LAYERS_RGB_H
#define FARLANDS_LAYERS_RGB_H

#include <endian.h>
#include <string.h>

#include "layer.h"
#include "server/core/multiversion.h"

/* 0xbbggrr; the highest byte is ignored. */
struct rgb_row {
    uint32_t color[LAYER_MAX_SIZE];
};

/* Each from 0 to 255. */
INLINE uint32_t rgb_pack(uint32_t red, uint32_t green, uint32_t blue)
{
    return red | green << 8 | blue << 16;
}

/* A channel's LEVEL, 0 or more, as a whole number. */
INLINE uint32_t rgb_rounded(float level)
{
    return (uint32_t)(int)(level + 0.5f);
}

/* Channel C, 0 for red. */
INLINE float rgb_channel(uint32_t color, int c)
{
    return (float)(int)(color >> 8 * c & 255);
}

/* Write SIZE pixels of three bytes to OUT. */
static inline void rgb_store(uint8_t *restrict out, const struct rgb_row *restrict row, int size)
{
    /* Four bytes at a time: the next pixel overwrites the fourth. */
    for (int i = 0; i + 1 < size; i++) {
        const uint32_t bytes = htole32(row->color[i]);
        memcpy(out + 3 * i, &bytes, 4);
    }
    const uint32_t last = htole32(row->color[size - 1]);
    memcpy(out + 3 * (size - 1), &last, 3);
}

#endif
