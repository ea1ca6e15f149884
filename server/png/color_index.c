#include "color_index.h"

#include <stdlib.h>
#include <string.h>

/* A hash table with open addressing, at most a quarter full. */
enum { SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS, FREE = -1 };

struct colors {
    uint32_t color[COLOR_INDEX_MAX]; /* 0xrrggbb, in order of appearance */
    int16_t slot[SLOTS];             /* an index into color, or FREE */
    int count;
};

static inline uint32_t color_at(const uint8_t *pixel)
{
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* The index of COLOR, which is added if it is new; -1 if there is no room for it. */
static int index_of(struct colors *colors, uint32_t color)
{
    unsigned slot = color * UINT32_C(2654435761) >> (32 - SLOT_BITS);
    while (colors->slot[slot] != FREE) {
        if (colors->color[colors->slot[slot]] == color)
            return colors->slot[slot];
        slot = (slot + 1) % SLOTS;
    }
    if (colors->count == COLOR_INDEX_MAX)
        return -1;
    colors->slot[slot] = (int16_t)colors->count;
    colors->color[colors->count] = color;
    return colors->count++;
}

static uint64_t brightness(uint32_t color)
{
    return (color >> 16) * 2 + (color >> 8 & 255) * 4 + (color & 255);
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int color_index(uint8_t *index, uint8_t palette[COLOR_INDEX_MAX][3], const uint8_t *pixels,
                size_t count)
{
    struct colors colors = {.count = 0};
    uint64_t order[COLOR_INDEX_MAX] = {0}; /* brightness, color, index: high bits to low */
    uint8_t rank[COLOR_INDEX_MAX] = {0};
    uint32_t last = UINT32_MAX;
    int current = 0;

    memset(colors.slot, FREE, sizeof colors.slot);
    for (size_t i = 0; i < count; i++) {
        const uint32_t color = color_at(pixels + 3 * i);
        if (color != last) {
            current = index_of(&colors, color);
            if (current < 0)
                return 0;
            last = color;
        }
        index[i] = (uint8_t)current;
    }
    for (int i = 0; i < colors.count; i++)
        order[i] = brightness(colors.color[i]) << 32 | colors.color[i] << 8 | (unsigned)i;
    qsort(order, (size_t)colors.count, sizeof *order, ascending);
    for (int i = 0; i < colors.count; i++) {
        palette[i][0] = (uint8_t)(order[i] >> 24);
        palette[i][1] = (uint8_t)(order[i] >> 16);
        palette[i][2] = (uint8_t)(order[i] >> 8);
        rank[order[i] & 255] = (uint8_t)i;
    }
    for (size_t i = 0; i < count; i++)
        index[i] = rank[index[i]];
    return colors.count;
}
