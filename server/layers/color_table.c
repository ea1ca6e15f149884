#include "color_table.h"

#include <math.h>

static uint32_t mix(uint8_t a, uint8_t b, float t)
{
    return (uint32_t)((float)a + ((float)b - (float)a) * t + 0.5f);
}

static uint32_t pack(uint32_t red, uint32_t green, uint32_t blue)
{
    return red | green << 8 | blue << 16;
}

/* The palette at METRES: linear between stops, flat beyond the ends. Of two
 * stops at the same height the first counts below it and the second from it on. */
static uint32_t palette_colour(const struct world_config *world, float metres)
{
    const struct palette_stop *stop = world->palette;
    int i = 0;

    while (i < world->stops && stop[i].metres <= metres)
        i++;
    if (i == 0 || i == world->stops) {
        const struct palette_stop *end = &stop[i == 0 ? 0 : i - 1];
        return pack(end->red, end->green, end->blue);
    }
    const struct palette_stop *a = &stop[i - 1], *b = &stop[i];
    float t = (metres - a->metres) / (b->metres - a->metres);
    return pack(mix(a->red, b->red, t), mix(a->green, b->green, t), mix(a->blue, b->blue, t));
}

/* A narrower range is as good as none: what heights are scaled by would be infinite. */
static const float NARROWEST = 1e-30f;

void color_table_make(struct color_table *style, const struct world_config *world, float min,
                      float max)
{
    style->min = min;
    style->max = max - min > NARROWEST ? max : min + 1; /* a flat world has a range too */
    style->scale = (COLOR_TABLE_SIZE - 1) / (style->max - style->min);
    style->first = style->min;
    if (style->min < 0 && style->max > 0) {
        /* The coast lies between two entries: land and sea never share one. */
        const float below = ceilf(-style->min * style->scale);
        style->first = -below / style->scale;
        while (-style->first * style->scale < below)
            style->first = nextafterf(style->first, -INFINITY);
    }
    for (int i = 0; i < COLOR_TABLE_SIZE; i++)
        style->colour[i] = palette_colour(world, style->first + ((float)i + 0.5f) / style->scale);
}
