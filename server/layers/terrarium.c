/* 256 R + G + B / 256 - 32768 metres: finer than terrain-rgb, and QGIS reads it. */
#include "dem_packing.h"
#include "paint.h"

MULTIVERSION
void paint_terrarium(const struct heights *heights, const struct color_table *colors, void *pixels)
{
    (void)colors;
    pack_heights(heights, 256, 32768, pixels);
}
