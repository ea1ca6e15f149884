/* Layers whose colors are angles in degrees: scales that are the same in all worlds. */
#ifndef FARLANDS_LAYERS_SCALE_H
#define FARLANDS_LAYERS_SCALE_H

#include <stdint.h>

#include "clamp.h"

struct scale_stop {
    float degrees;
    uint8_t color[3];
};

enum { SLOPE_STOPS = 8, ASPECT_STOPS = 9 };

/* Ascending; colors in between are linear. For slope: 0 to 90 degrees above the horizontal. */
extern const struct scale_stop slope_stops[SLOPE_STOPS];
/* For aspect: 0 to 360 degrees clockwise from north; both ends are the same. */
extern const struct scale_stop aspect_stops[ASPECT_STOPS];

/*
 * A slope from 0 to 1 as an angle in degrees: Abramowitz and Stegun, 4.4.49, within 0.0006. Not
 * atanf, which differs between machines.
 */
INLINE float scale_degrees(float slope)
{
    const float square = slope * slope;
    const float polynomial =
        0.9998660f +
        square *
            (-0.3302995f + square * (0.1801410f + square * (-0.0851330f + square * 0.0208351f)));
    return slope * polynomial * 57.295780f;
}

/* Channel C of the color at DEGREES: the first stop's, plus a share of each step behind. */
INLINE float scale_channel(const struct scale_stop *stop, int stops, float degrees, int c)
{
    float level = (float)stop[0].color[c];
    for (int i = 1; i < stops; i++) {
        const struct scale_stop *from = &stop[i - 1], *to = &stop[i];
        const float share = (degrees - from->degrees) / (to->degrees - from->degrees);
        level += (float)(to->color[c] - from->color[c]) * clamped(share, 1);
    }
    return level;
}

#endif
