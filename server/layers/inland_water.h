/*
 * Rivers and lakes on a map. Lakes are water above ground, and rivers lines: as wide as they are,
 * but at least a pixel; and the fainter, the smaller they are on the picture's scale. Both change
 * little from one zoom to the next. Pure; the same bits on every machine.
 */
#ifndef FARLANDS_LAYERS_INLAND_WATER_H
#define FARLANDS_LAYERS_INLAND_WATER_H

#include "layer.h"
#include "rgb.h"

enum { RIVER_ORDERS = 16 };

/* The scale of a picture whose samples are METRES apart; rivers of order K are WIDTH[K] metres
 * wide, which grows with K. */
struct river_scale river_scale_make(double metres, const double width[RIVER_ORDERS]);

/* Pixels of the layer "water": a share of water and a tone. Index 0 is no water. */
enum { WATER_SHARES = 16, WATER_TONES = 16, WATER_INDICES = WATER_SHARES * WATER_TONES };

/* The color of INDEX: 0xaabbggrr, whose highest byte is its opacity. */
uint32_t water_color(const struct color_table *colors, int index);

/* Paint the water of a row of HEIGHTS, from sample AT on, over ROW. */
void inland_water_row(struct rgb_row *row, const struct heights *heights, ptrdiff_t at,
                      const struct color_table *colors);

#endif
