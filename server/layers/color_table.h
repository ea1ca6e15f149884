/* How a world is painted: its range of heights and its palette, ready for lookup. */
#ifndef FARLANDS_LAYERS_COLOR_TABLE_H
#define FARLANDS_LAYERS_COLOR_TABLE_H

#include <stdint.h>

#include "config/config.h"

enum { COLOR_TABLE_SIZE = 16384 };

struct color_table {
    float min, max; /* metres; min < max */
    float first;    /* metres where entry 0 of colour begins, at min or just below */
    float scale;    /* entries a metre */
    uint32_t colour[COLOR_TABLE_SIZE]; /* evenly spaced from first over max: 0xbbggrr */
};

/* MIN and MAX are the terrain's range. Plain data afterwards: any thread. */
void color_table_make(struct color_table *style, const struct world_config *world, float min,
                      float max);

#endif
