/* The ledges of a terrain, with their heights (ledge.h). Private to noise/. */
#ifndef FARLANDS_LEDGES_H
#define FARLANDS_LEDGES_H

#include "noise/space/ledge.h"

struct farlands_scratch;
struct farlands_terrain;
struct shelf;

/* Find the height of LEDGE, unless it is known or there is no ledge. Overwrites the octaves of
 * SCRATCH. Returns 0 or -ENOMEM. */
int ledges_raise(struct ledge *ledge, const struct farlands_terrain *terrain,
                 struct farlands_scratch *scratch);

/* Put the ledge of column I, at (X, Y), into SHELF. */
void ledges_put(struct shelf *shelf, int i, const struct ledge *ledge, int64_t x, int64_t y);

/* Find those of all columns of GRID, a block of a box, for density.shelf of SCRATCH. Otherwise like
 * ledges_raise. */
int ledges_find(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                const struct farlands_grid *grid);

#endif
