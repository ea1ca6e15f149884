/* 256 R + G + B / 256 - 32768 metres: finer than terrain-rgb, and QGIS reads it. */
#include "dem_packing.h"
#include "paint.h"
#include "server/core/multiversion.h"

MULTIVERSION
void paint_terrarium(const struct heights *heights, const struct color_table *style, void *pixels)
{
    (void)style;
    pack_heights(heights, 256, 32768, pixels);
}
