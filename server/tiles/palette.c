#include "palette.h"

const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                       const struct layer *layer)
{
    const struct climate *climate = world_climate(world);

    if (!layer->palette)
        return NULL;
    *out = (struct image_palette){.colors = 1};
    layer->palette(out, world->colors, climate ? climate->table : NULL);
    return out;
}
