/* The ground for a walker: heights, slopes, and ground classes by both. Pure. */
#ifndef FARLANDS_DESCRIBE_GROUND_H
#define FARLANDS_DESCRIBE_GROUND_H

#include <stdint.h>

/*
 * HEIGHT returns metres at (X, Y) in units. A caller that looks at places APART units from each
 * other allows HEIGHT to save time by leaving out much narrower shapes; 0: nothing is left out.
 * Tests pass a HEIGHT of their own.
 */
struct ground {
    float (*height)(void *context, int64_t x, int64_t y, int64_t apart);
    void *context;
};

/* The slope in metres per block, from height differences over REACH units to each side. */
float ground_slope(const struct ground *ground, int64_t x, int64_t y, int64_t reach, int64_t apart);

/* Reach, in blocks, of the slope that decides on a class: a single step is no hill. */
enum { GROUND_REACH = 32 };

enum ground_class {
    GROUND_SEA,       /* not above 0 m */
    GROUND_BEACH,     /* up to 4 m, and less than 5 degrees steep */
    GROUND_PLAIN,     /* up to 500 m, less than 5 degrees steep */
    GROUND_PLATEAU,   /* above 500 m, less than 5 degrees steep */
    GROUND_HILLS,     /* 5 to 20 degrees steep */
    GROUND_MOUNTAINS, /* steeper */
    GROUND_CLASSES
};

extern const char *const ground_names[GROUND_CLASSES];

/* Classify by HEIGHT in metres and SLOPE in metres per block. */
enum ground_class ground_classify(float height, float slope);

/* The class at a place with this HEIGHT, by the slope over GROUND_REACH. */
enum ground_class ground_class_at(const struct ground *ground, int64_t x, int64_t y, int64_t apart,
                                  float height);

#endif
