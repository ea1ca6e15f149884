/* The layers' painters and palettes. */
#ifndef FARLANDS_LAYERS_PAINT_H
#define FARLANDS_LAYERS_PAINT_H

#include "layer.h"
#include "server/core/multiversion.h"

#define LAYER(id, ...) layer_paint paint_##id;
#include "layers.def"
#undef LAYER

layer_palette palette_biomes, palette_water;

#endif
