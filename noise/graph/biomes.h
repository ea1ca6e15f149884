/* Tables of biomes: from a climate to the nearest row. Private to noise/ and config/. */
#ifndef FARLANDS_BIOMES_H
#define FARLANDS_BIOMES_H

#include "noise/exact/arithmetic.h"

enum { BIOMES_MAX = 64, BIOME_MAX_ID = 255 };

/* A row has a range along each axis: degrees C, 0 to 1, metres, metres per metre. */
enum biome_axis { BIOME_TEMPERATURE, BIOME_HUMIDITY, BIOME_HEIGHT, BIOME_SLOPE, BIOME_AXES };

/* How far from a range counts as a distance of 1. */
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

/* A range with an end. */
struct biome_limit {
    enum biome_axis axis;
    float from, to;
    float weight; /* 1 / scale, a factor of the distance */
};

struct biome {
    float id;
    int limits;
    struct biome_limit limit[BIOME_AXES]; /* the first LIMITS */
};

/* A table as kernels read it, without ranges that have no end. */
struct biomes {
    int count, limits; /* in all rows */
    struct biome biome[BIOMES_MAX];
};

void biomes_make(struct biomes *biomes, const struct biome_rows *rows);

/* The least square that any distance from the range to LOW .. HIGH has, in scales. With HIGH and
 * LOW exchanged it is the greatest, because rounding keeps numbers in order. */
static inline float biome_square(const struct biome_limit *limit, float low, float high)
{
    const float below = limit->from - high, above = low - limit->to;
    const float out = below > above ? below : above;
    const float distance = (out > 0 ? out : 0) * limit->weight;
    return distance * distance;
}

/* The biome's id at a place: GRAPH_BIOME for one sample. */
float biomes_nearest(const struct biomes *biomes, const float place[BIOME_AXES]);

#endif
