/*
 * The colors of ground by climate: tables over temperature and humidity, made once for a world of
 * its biomes' colors. Pure; the same bits on every machine.
 */
#ifndef FARLANDS_LAYERS_CLIMATE_COLORS_H
#define FARLANDS_LAYERS_CLIMATE_COLORS_H

#include <stdint.h>

#include "config/fields/biomes.h"
#include "server/layers/color_table.h"

enum {
    CLIMATE_TEMPERATURES = 512,
    CLIMATE_HUMIDITIES = 512,
    CLIMATE_PLACES = CLIMATE_TEMPERATURES * CLIMATE_HUMIDITIES,
    CLIMATE_MAX_LEVELS = 6,
};

/* Degrees C; temperatures beyond them have the colors of the nearest. */
#define CLIMATE_COLDEST (-30.0f)
#define CLIMATE_HOTTEST 40.0f

/* A height around which ground turns from one level into the next. */
struct climate_change {
    float from, scale; /* metres; 1 / metres */
};

struct climate_colors {
    int levels;                                           /* of height: 1 to CLIMATE_MAX_LEVELS */
    struct climate_change change[CLIMATE_MAX_LEVELS - 1]; /* those beyond LEVELS - 1 are never */
    /* 0xbbggrr: COLOR_TABLE_SIZE of water, as in the color table; then of each place the colors of
     * its levels and that of its steep ground, side by side, since a pixel may need three. */
    uint32_t color[];
};

/* The place of a climate: 0 to CLIMATE_TEMPERATURES - 1, CLIMATE_HUMIDITIES - 1. Squares of four by
 * four places lie together, since neighbors on a map have climates that are near. */
static inline int climate_place(int temperature, int humidity)
{
    return (humidity >> 2) * (4 * CLIMATE_TEMPERATURES) + (temperature >> 2) * 16 +
           (humidity & 3) * 4 + (temperature & 3);
}

/* The entry of a place on the lowest level. The next levels' follow, then that of steep ground. */
static inline int climate_entry(int place, int levels)
{
    return COLOR_TABLE_SIZE + place * (levels + 1);
}

/* Colors of BIOMES on land, and of the palette in COLORS below 0 m. NULL if out of memory. The
 * caller frees it. */
struct climate_colors *climate_colors_new(const struct biome_table *biomes,
                                          const struct color_table *colors);

#endif
