#include "color_table.h"

#include <math.h>

#include "rgb.h"

static uint32_t mix(uint8_t a, uint8_t b, float t)
{
    return (uint32_t)((float)a + ((float)b - (float)a) * t + 0.5f);
}

/* The palette at METRES: linear between stops, constant beyond the ends. If two stops share a
 * height, the first one counts below it and the second from it on. */
static uint32_t palette_at(const struct world_config *world, float metres)
{
    const struct palette_stop *stop = world->palette;
    int i = 0;

    while (i < world->stops && stop[i].metres <= metres)
        i++;
    if (i == 0 || i == world->stops) {
        const struct palette_stop *end = &stop[i == 0 ? 0 : i - 1];
        return rgb_pack(end->red, end->green, end->blue);
    }
    const struct palette_stop *a = &stop[i - 1], *b = &stop[i];
    float t = (metres - a->metres) / (b->metres - a->metres);
    return rgb_pack(mix(a->red, b->red, t), mix(a->green, b->green, t), mix(a->blue, b->blue, t));
}

/* Metres: a narrower range would have no finite scale. */
static const float NARROWEST = 1e-30f;

float color_table_end(float min, float max)
{
    return max - min > NARROWEST ? max : fmaxf(min + 1, nextafterf(min, INFINITY));
}

/* Rivers and lakes have the sea's colors at these metres, unless the palette has no sea. */
static const float SHALLOW = -100, DEEP = -900;

static void make_inland_water(struct color_table *table, const struct world_config *world)
{
    const bool sea = world->palette[0].metres < DEEP;
    table->shallow = sea ? palette_at(world, SHALLOW) : rgb_pack(0x5c, 0xa6, 0xc2);
    table->deep = sea ? palette_at(world, DEEP) : rgb_pack(0x24, 0x6c, 0x9b);
}

void color_table_make(struct color_table *table, const struct world_config *world, float min,
                      float max)
{
    table->min = min;
    table->max = color_table_end(min, max); /* a flat world has a range, too */
    table->scale = (COLOR_TABLE_SIZE - 1) / (table->max - table->min);
    table->first = table->min;
    if (table->min < 0 && table->max > 0) {
        /* Put the coast between two entries, so that land and sea never share one. */
        const float below = ceilf(-table->min * table->scale);
        table->first = -below / table->scale;
        while (-table->first * table->scale < below)
            table->first = nextafterf(table->first, -INFINITY);
    }
    for (int i = 0; i < COLOR_TABLE_SIZE; i++)
        table->color[i] = palette_at(world, table->first + ((float)i + 0.5f) / table->scale);
    make_inland_water(table, world);
}
