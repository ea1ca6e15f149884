/*
 * Ledges: the overhangs of generator 3. The plane is cut into squares. Each has at most one ledge,
 * centered in the ground under the square's middle. terrain.h has the formula. Private to noise/.
 *
 * A ledge never floats. From each block a way leads through the ledge to the block in the middle,
 * because density rises that way: along z, and along the longer of dx and dy, since the skew is
 * less than 1. The ground's top block above the middle is in the ledge or next to it, and never
 * hollow.
 */
#ifndef FARLANDS_LEDGE_H
#define FARLANDS_LEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/space/density.h"

/* The ledge in the square around (X, Y), in units. HALF is -INFINITY if there is none. */
struct ledge {
    int64_t x, y;
    float middle; /* metres; NAN while its height is unknown, which acts like no ledge */
    float inverse, skew, half, bend;
};

/* How many times flatter the upper side is than the lower side. */
enum { LEDGE_TOP = 3 };

/* The altitude in metres at which the ledge ends. */
static inline float ledge_top(const struct ledge *ledge)
{
    return ledge->middle + ledge->half * (2 / (float)LEDGE_TOP);
}

/* DENSITY joined with a ledge. Only LEVEL depends on the column. Z lies BELOW the ledge's middle.
 */
static inline float ledge_join(float density, float level, float bend, float below)
{
    const float away = below > 0 ? below : (float)LEDGE_TOP * below;
    const float ledge = level - bend * (away * away);
    return ledge > density ? ledge : density;
}

/* The ledge in (X, Y)'s square, without its height. */
struct ledge ledge_place(const struct density *density, int64_t x, int64_t y);

/* True if (X, Y) is in LEDGE's square. */
bool ledge_has(const struct density *density, const struct ledge *ledge, int64_t x, int64_t y);

/* LEDGE's density at (X, Y), at the altitude of its middle. */
float ledge_level(const struct ledge *ledge, int64_t x, int64_t y);

#endif
