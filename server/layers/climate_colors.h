/*
 * Ground colors by climate: tables over temperature and humidity, made once per world from the
 * biomes' colors. Pure; the same bits on every machine.
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

/* Degrees C; beyond them colors stay the same. */
#define CLIMATE_COLDEST (-30.0f)
#define CLIMATE_HOTTEST 40.0f

/* Around a height, ground turns from one level into the next. */
struct climate_change {
    float from, scale; /* metres; 1 / metres */
};

struct climate_colors {
    int levels;                                           /* of height: 1 to CLIMATE_MAX_LEVELS */
    struct climate_change change[CLIMATE_MAX_LEVELS - 1]; /* from LEVELS - 1 on, never reached */
    /* 0xbbggrr: COLOR_TABLE_SIZE for water, as in the color table; then for each place the levels'
     * colors and the steep ground's, side by side, because a pixel may need three. */
    uint32_t color[];
};

/* The place for a climate: 0 to CLIMATE_TEMPERATURES - 1, CLIMATE_HUMIDITIES - 1. Four by four
 * places lie together in memory, because neighbors on a map have similar climates. */
static inline int climate_place(int temperature, int humidity)
{
    return (humidity >> 2) * (4 * CLIMATE_TEMPERATURES) + (temperature >> 2) * 16 +
           (humidity & 3) * 4 + (temperature & 3);
}

/* A place's entry for the lowest level. The other levels follow, then steep ground. */
static inline int climate_entry(int place, int levels)
{
    return COLOR_TABLE_SIZE + place * (levels + 1);
}

/* BIOMES' colors on land, and the palette's, from COLORS, below 0 m. NULL if out of memory. The
 * caller frees the result. */
struct climate_colors *climate_colors_new(const struct biome_table *biomes,
                                          const struct color_table *colors);

#endif
