/* Tables of biomes: from a climate to the nearest row. Private to noise/ and config/. */
#ifndef FARLANDS_BIOMES_H
#define FARLANDS_BIOMES_H

#include "noise/exact/arithmetic.h"

enum { BIOMES_MAX = 64, BIOME_MAX_ID = 255 };

/* What rows have ranges of: degrees C, 0 to 1, metres, metres per metre. */
enum biome_axis { BIOME_TEMPERATURE, BIOME_HUMIDITY, BIOME_HEIGHT, BIOME_SLOPE, BIOME_AXES };

/* The distance from a range that counts as 1. */
extern const float biome_scales[BIOME_AXES];

struct biome_range {
    float from, to; /* -INFINITY, INFINITY: no end */
};

struct biome_row {
    int id; /* 0 to BIOME_MAX_ID */
    struct biome_range range[BIOME_AXES];
};

struct biome_rows {
    struct biome_row row[BIOMES_MAX];
    int rows; /* 1 or more */
};

/* A range that has an end. */
struct biome_limit {
    enum biome_axis axis;
    float from, to;
    float weight; /* of the distance from it: 1 / scale */
};

struct biome {
    float id;
    int limits;
    struct biome_limit limit[BIOME_AXES]; /* the first LIMITS */
};

/* A table as kernels read it: ranges without an end are left out. */
struct biomes {
    int count, limits; /* of all rows */
    struct biome biome[BIOMES_MAX];
};

void biomes_make(struct biomes *biomes, const struct biome_rows *rows);

/* The least square of the distance from LOW to HIGH to the range, in scales. The other way round,
 * from HIGH to LOW, it is the greatest: rounding keeps the order of numbers. */
static inline float biome_square(const struct biome_limit *limit, float low, float high)
{
    const float below = limit->from - high, above = low - limit->to;
    const float out = below > above ? below : above;
    const float distance = (out > 0 ? out : 0) * limit->weight;
    return distance * distance;
}

/* The id of the biome at a place: GRAPH_BIOME by itself. */
float biomes_nearest(const struct biomes *biomes, const float place[BIOME_AXES]);

#endif
