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
#ifndef FARLANDS_LEDGES_H
#define FARLANDS_LEDGES_H

#include <math.h>
#include <stdint.h>

#include "farlands.h"

struct farlands_terrain;

/* The ledge of the square whose middle is (X, Y), units. HALF is -INFINITY if there is none. */
struct ledge {
    int64_t x, y;
    float middle; /* metres */
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
    const float away = below > 0 ? below : LEDGE_TOP * below;
    const float ledge = level - bend * (away * away);
    return ledge > density ? ledge : density;
}

/* Find the ledge of the square of (X, Y). Overwrites the octaves of SCRATCH. Returns 0 or -ENOMEM.
 */
int ledge_find(struct ledge *ledge, const struct farlands_terrain *terrain,
               struct farlands_scratch *scratch, int64_t x, int64_t y);

/* Find those of all columns of GRID, a block of a box, for density.shelf of SCRATCH. Otherwise like
 * ledge_find. */
int ledges_find(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                const struct farlands_grid *grid);

#endif
