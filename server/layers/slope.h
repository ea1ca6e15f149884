/* The colors of the layer slope: a scale that is the same in all worlds. */
#ifndef FARLANDS_LAYERS_SLOPE_H
#define FARLANDS_LAYERS_SLOPE_H

#include <stdint.h>

struct slope_stop {
    float degrees; /* above the horizontal, 0 to 90 */
    uint8_t color[3];
};

enum { SLOPE_STOPS = 8 };

/* From 0 to 90 degrees, ascending; colors in between are linear. */
extern const struct slope_stop slope_stops[SLOPE_STOPS];

#endif
