/* The palette for biomes: pixels are ids, which paint_gray writes. */
#include <string.h>

#include "paint.h"

/* Ids without a biome are black. */
void palette_biomes(struct image_palette *out, const struct color_table *colors,
                    const struct biome_table *biomes)
{
    (void)colors;
    for (int i = 0; biomes && i < biomes->rows.rows; i++) {
        const int id = biomes->rows.row[i].id;
        memcpy(out->color[id], biomes->look[i].color, 3);
        out->colors = id < out->colors ? out->colors : id + 1;
    }
}
