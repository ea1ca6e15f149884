/* -10000 + (65536 R + 256 G + B) / 10 metres. */
#include "dem_packing.h"
#include "paint.h"
#include "server/core/multiversion.h"

MULTIVERSION
void paint_terrain_rgb(const struct heights *heights, const struct color_table *style, void *pixels)
{
    (void)style;
    pack_heights(heights, 10, 10000, pixels);
}
