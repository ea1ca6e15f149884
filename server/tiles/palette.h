/* Palettes for layers whose pixels are indices. Pure, any thread. */
#ifndef FARLANDS_TILES_PALETTE_H
#define FARLANDS_TILES_PALETTE_H

#include "server/layers/layer.h"
#include "server/world/world.h"

/* Fill OUT with the palette for LAYER's pictures of WORLD. Returns OUT, or NULL if LAYER's pixels
 * are not indices. */
const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                       const struct layer *layer);

#endif
