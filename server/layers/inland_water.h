/*
 * Rivers and lakes on a map. A lake is water above the ground. A river is a line as wide as the
 * river, but at least a pixel, and fainter if the river is small on the picture's scale. Both
 * change little from zoom to zoom. Pure; the same bits on every machine.
 */
#ifndef FARLANDS_LAYERS_INLAND_WATER_H
#define FARLANDS_LAYERS_INLAND_WATER_H

#include "layer.h"
#include "rgb.h"

enum { RIVER_ORDERS = 16 };

/* The scale for a picture whose samples are METRES apart. Rivers with order K are WIDTH[K] metres
 * wide; WIDTH grows with K. */
struct river_scale river_scale_make(double metres, const double width[RIVER_ORDERS]);

/* The layer "water": an index is a share of water and a tone. Index 0 is no water. */
enum { WATER_SHARES = 16, WATER_TONES = 16, WATER_INDICES = WATER_SHARES * WATER_TONES };

/* INDEX's color, 0xaabbggrr; the highest byte is the opacity. */
uint32_t water_color(const struct color_table *colors, int index);

/* Paint the water in a row of HEIGHTS, from sample AT on, over ROW. */
void inland_water_row(struct rgb_row *row, const struct heights *heights, ptrdiff_t at,
                      const struct color_table *colors);

#endif
