/* -10000 + (65536 R + 256 G + B) / 10 metres. */
#include "dem_packing.h"
#include "paint.h"

MULTIVERSION
void paint_terrain_rgb(const struct heights *heights, const struct color_table *colors,
                       void *pixels)
{
    (void)colors;
    pack_heights(heights, 10, 10000, pixels);
}
