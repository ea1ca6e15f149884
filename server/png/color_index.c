#include "color_index.h"

#include <stdlib.h>
#include <string.h>

/* Open addressing; at most a quarter is taken. */
enum { SLOT_BITS = 10, SLOTS = 1 << SLOT_BITS, FREE = -1 };

struct colours {
    uint32_t colour[COLOR_INDEX_MAX]; /* 0xrrggbb, in order of appearance */
    int16_t slot[SLOTS];              /* the number of the colour there, or FREE */
    int count;
};

static inline uint32_t colour_at(const uint8_t *pixel)
{
    return (uint32_t)pixel[0] << 16 | (uint32_t)pixel[1] << 8 | pixel[2];
}

/* The number of COLOUR, which may be new; -1 where there is no room for it. */
static int number_of(struct colours *colours, uint32_t colour)
{
    unsigned slot = colour * UINT32_C(2654435761) >> (32 - SLOT_BITS);
    while (colours->slot[slot] != FREE) {
        if (colours->colour[colours->slot[slot]] == colour)
            return colours->slot[slot];
        slot = (slot + 1) % SLOTS;
    }
    if (colours->count == COLOR_INDEX_MAX)
        return -1;
    colours->slot[slot] = (int16_t)colours->count;
    colours->colour[colours->count] = colour;
    return colours->count++;
}

static uint32_t brightness(uint32_t colour)
{
    return (colour >> 16) * 2 + (colour >> 8 & 255) * 4 + (colour & 255);
}

/* Brightness above, colour in the middle, number below. */
static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int color_index(uint8_t *index, uint8_t palette[COLOR_INDEX_MAX][3], const uint8_t *pixels,
                size_t count)
{
    struct colours colours = {.count = 0};
    uint64_t order[COLOR_INDEX_MAX] = {0};
    uint8_t place[COLOR_INDEX_MAX] = {0};
    uint32_t last = UINT32_MAX;
    int number = 0;

    memset(colours.slot, FREE, sizeof colours.slot);
    for (size_t i = 0; i < count; i++) {
        const uint32_t colour = colour_at(pixels + 3 * i);
        if (colour != last) {
            number = number_of(&colours, colour);
            if (number < 0)
                return 0;
            last = colour;
        }
        index[i] = (uint8_t)number;
    }
    for (int i = 0; i < colours.count; i++)
        order[i] =
            (uint64_t)brightness(colours.colour[i]) << 32 | colours.colour[i] << 8 | (unsigned)i;
    qsort(order, (size_t)colours.count, sizeof *order, ascending);
    for (int i = 0; i < colours.count; i++) {
        const uint32_t colour = (uint32_t)(order[i] >> 8) & 0xffffff;
        palette[i][0] = (uint8_t)(colour >> 16);
        palette[i][1] = (uint8_t)(colour >> 8);
        palette[i][2] = (uint8_t)colour;
        place[order[i] & 255] = (uint8_t)i;
    }
    for (size_t i = 0; i < count; i++)
        index[i] = place[index[i]];
    return colours.count;
}
