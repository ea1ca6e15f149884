/* The ground as a walker meets it: heights, slopes, and classes of ground by both. Pure. */
#ifndef FARLANDS_DESCRIBE_GROUND_H
#define FARLANDS_DESCRIBE_GROUND_H

#include <stdint.h>

/* HEIGHT returns metres at a place in units, for one who looks every APART units: what is much
 * narrower may be left out where that saves time; 0: nothing is. Tests give one of their own. */
struct ground {
    float (*height)(void *context, int64_t x, int64_t y, int64_t apart);
    void *context;
};

/* The slope in metres per block, by differences over REACH units to each side. */
float ground_slope(const struct ground *ground, int64_t x, int64_t y, int64_t reach, int64_t apart);

/* Of the slope that decides on a class, in blocks: hills and mountains are not single steps. */
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

/* Of a HEIGHT in metres and a SLOPE in metres per block. */
enum ground_class ground_classify(float height, float slope);

/* At a place of this HEIGHT, with the slope over GROUND_REACH. */
enum ground_class ground_class_at(const struct ground *ground, int64_t x, int64_t y, int64_t apart,
                                  float height);

#endif
