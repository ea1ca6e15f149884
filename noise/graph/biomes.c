#include "biomes.h"

#include <math.h>

const float biome_scales[BIOME_AXES] = {
    [BIOME_TEMPERATURE] = 10,
    [BIOME_HUMIDITY] = 0.2f,
    [BIOME_HEIGHT] = 200,
    [BIOME_SLOPE] = 0.5f,
};

static void make_biome(struct biome *biome, const struct biome_row *row)
{
    *biome = (struct biome){.id = (float)row->id};
    for (int i = 0; i < BIOME_AXES; i++) {
        const struct biome_range *range = &row->range[i];
        if (range->from > -INFINITY || range->to < INFINITY)
            biome->limit[biome->limits++] = (struct biome_limit){(enum biome_axis)i, range->from,
                                                                 range->to, 1 / biome_scales[i]};
    }
}

void biomes_make(struct biomes *biomes, const struct biome_rows *rows)
{
    *biomes = (struct biomes){.count = rows->rows};
    for (int i = 0; i < rows->rows; i++) {
        make_biome(&biomes->biome[i], &rows->row[i]);
        biomes->limits += biomes->biome[i].limits;
    }
}

float biomes_nearest(const struct biomes *biomes, const float place[BIOME_AXES])
{
    float least = INFINITY, id = 0;
    for (int i = 0; i < biomes->count; i++) {
        const struct biome *biome = &biomes->biome[i];
        float sum = 0;
        for (int k = 0; k < biome->limits; k++)
            sum += biome_square(&biome->limit[k], place[biome->limit[k].axis],
                                place[biome->limit[k].axis]);
        if (sum < least) {
            least = sum;
            id = biome->id;
        }
    }
    return id;
}
