/* The layers' painters; see struct layer. */
#ifndef FARLANDS_LAYERS_PAINT_H
#define FARLANDS_LAYERS_PAINT_H

#include "layer.h"

typedef void painter(const struct heights *heights, const struct color_table *style, void *pixels);

painter paint_gray, paint_height, paint_hillshade, paint_normal, paint_relief, paint_terrain_rgb,
    paint_terrarium;

#endif
