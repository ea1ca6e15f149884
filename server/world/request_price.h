/*
 * Request prices, in picoseconds: the number of samples times the price of one
 * (noise/terrain/price.h), the same on every machine. Takes a few multiplications, so an event loop
 * may call it. Any thread.
 */
#ifndef FARLANDS_WORLD_REQUEST_PRICE_H
#define FARLANDS_WORLD_REQUEST_PRICE_H

#include "noise/terrain/price.h"
#include "server/world/world.h"

/* A dearer request is refused, because the response would come too late. */
#define REQUEST_PRICE_MOST (60 * PRICE_SECOND)

/* A spawn search or a course. The true time depends on the result; in the built-in worlds none
 * takes more than a second. */
#define REQUEST_PRICE_SEARCH PRICE_SECOND

/* FIELD over GRID, as numbers or as a picture by LAYER. */
uint64_t request_price_of_region(const struct world *world, int layer, int field,
                                 const struct farlands_grid *grid);

/* The densities of BOX, cut into PARTS along z. Each part computes the columns' heights. */
uint64_t request_price_of_volume(const struct world *world, const struct farlands_box *box,
                                 int parts);

/* PLACES, of which FAR are far from the others: the height, the climate or water, and COUNT FIELDS.
 */
uint64_t request_price_of_places(const struct world *world, const int *field, int count,
                                 size_t places, size_t far);

#endif
