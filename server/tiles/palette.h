/* The palettes of layers whose pixels are indices. Pure, any thread. */
#ifndef FARLANDS_TILES_PALETTE_H
#define FARLANDS_TILES_PALETTE_H

#include "server/layers/layer.h"
#include "server/world/world.h"

/* Make OUT the palette of LAYER's pictures of WORLD. Returns it; NULL if its pixels are no indices.
 */
const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                       const struct layer *layer);

#endif
