/* The ledges of a terrain, with their heights (ledge.h). Private to noise/. */
#ifndef FARLANDS_LEDGES_H
#define FARLANDS_LEDGES_H

#include "noise/space/ledge.h"

struct farlands_scratch;
struct farlands_terrain;
struct shelf;

/* Find LEDGE's height, unless it is known or there is no ledge. Overwrites SCRATCH's octaves.
 * Returns 0 or -ENOMEM. */
int ledges_raise(struct ledge *ledge, const struct farlands_terrain *terrain,
                 struct farlands_scratch *scratch);

/* Put column I's ledge into SHELF. The column is at (X, Y). */
void ledges_put(struct shelf *shelf, int i, const struct ledge *ledge, int64_t x, int64_t y);

/* Find the ledges of all columns in GRID, a block of a box, and put them into SCRATCH's
 * density.shelf. Otherwise like ledges_raise. */
int ledges_find(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                const struct farlands_grid *grid);

#endif
