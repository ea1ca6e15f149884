/*
 * Ledges: the overhangs of generator 3. The plane is cut into squares, and each has at most one
 * ledge, whose middle lies in the ground under the middle of the square. terrain.h has the formula.
 * Private to noise/.
 *
 * Ledges never float. From any block of a ledge there is a way through its blocks to the one in its
 * middle: towards that the density rises along z, and along the longer of dx and dy, because the
 * skew is less than 1. Nothing is hollow in the top block of the ground over the middle, which is
 * in the ledge or next to it.
 */
#ifndef FARLANDS_LEDGE_H
#define FARLANDS_LEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/space/density.h"

/* The ledge of the square whose middle is (X, Y), units. HALF is -INFINITY if there is none. */
struct ledge {
    int64_t x, y;
    float middle; /* metres; NAN if its height is not known yet, as if there were none */
    float inverse, skew, half, bend;
};

/* The upper side is so many times flatter than the lower. */
enum { LEDGE_TOP = 3 };

/* The lowest altitude, in metres, above which there is nothing of the ledge. */
static inline float ledge_top(const struct ledge *ledge)
{
    return ledge->middle + ledge->half * (2 / (float)LEDGE_TOP);
}

/* DENSITY with a ledge, of which only LEVEL depends on the column; Z lies BELOW its middle. */
static inline float ledge_join(float density, float level, float bend, float below)
{
    const float away = below > 0 ? below : (float)LEDGE_TOP * below;
    const float ledge = level - bend * (away * away);
    return ledge > density ? ledge : density;
}

/* The ledge of the square of (X, Y), without its height. */
struct ledge ledge_place(const struct density *density, int64_t x, int64_t y);

/* True if (X, Y) is in the square of LEDGE. */
bool ledge_has(const struct density *density, const struct ledge *ledge, int64_t x, int64_t y);

/* The density of LEDGE at (X, Y), at the altitude of its middle. */
float ledge_level(const struct ledge *ledge, int64_t x, int64_t y);

#endif
