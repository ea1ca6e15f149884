#include "palette.h"

#include <string.h>

#include "server/layers/inland_water.h"

/* The ids of WORLD's biomes; those without a biome are black. */
static void fill_biomes(struct image_palette *out, const struct world *world)
{
    const struct climate *climate = world_climate(world);

    for (int i = 0; climate && i < climate->table->rows.rows; i++) {
        const int id = climate->table->rows.row[i].id;
        memcpy(out->color[id], climate->table->look[i].color, 3);
        out->colors = id < out->colors ? out->colors : id + 1;
    }
}

static void fill_water(struct image_palette *out, const struct world *world)
{
    out->colors = WATER_INDICES;
    out->is_clear = true;
    for (int i = 0; i < WATER_INDICES; i++) {
        const uint32_t color = water_color(world->colors, i);
        for (int c = 0; c < 3; c++)
            out->color[i][c] = color >> 8 * c & 255;
        out->alpha[i] = color >> 24;
    }
}

const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                       const struct layer *layer)
{
    *out = (struct image_palette){.colors = 1};
    switch (layer->palette) {
    case PALETTE_BIOMES:
        fill_biomes(out, world);
        return out;
    case PALETTE_WATER:
        fill_water(out, world);
        return out;
    case PALETTE_NONE:
        break;
    }
    return NULL;
}
