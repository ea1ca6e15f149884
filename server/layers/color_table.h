/* A world's range of heights, and the palette as a lookup table over that range. */
#ifndef FARLANDS_LAYERS_COLOR_TABLE_H
#define FARLANDS_LAYERS_COLOR_TABLE_H

#include <stdint.h>

#include "config/daemon/config.h"

struct climate_colors; /* climate_colors.h */

enum { COLOR_TABLE_SIZE = 16384 };

struct color_table {
    float min, max;                   /* metres; min < max */
    float first;                      /* metres at which entry 0 begins: min, or just below */
    float scale;                      /* entries per metre */
    uint32_t color[COLOR_TABLE_SIZE]; /* evenly spaced from first to beyond max: 0xbbggrr */
    uint32_t shallow, deep;           /* for rivers and lakes: 0xbbggrr */
    struct climate_colors *climate;   /* for land; NULL: land uses COLOR, too, or not made yet */
};

/* MAX, or more if MIN .. MAX is too narrow for a scale. */
float color_table_end(float min, float max);

/* MIN and MAX are the terrain's range, in metres. */
void color_table_make(struct color_table *table, const struct world_config *world, float min,
                      float max);

#endif
