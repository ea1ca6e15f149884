/*
 * The prices of requests, in picoseconds: samples times the price of each (noise/terrain/price.h),
 * the same on every machine. Multiplications only, so that an event loop may wait for them. Any
 * thread.
 */
#ifndef FARLANDS_WORLD_REQUEST_PRICE_H
#define FARLANDS_WORLD_REQUEST_PRICE_H

#include "noise/terrain/price.h"
#include "server/world/world.h"

/* A request that costs more is refused: its end would come too late. */
#define REQUEST_PRICE_MOST (60 * PRICE_SECOND)

/* A search, or a course: its length depends on what it finds. In the built-in worlds none takes
 * more than a second. */
#define REQUEST_PRICE_SEARCH PRICE_SECOND

/* FIELD over GRID, or a picture of LAYER that shows it. */
uint64_t request_price_of_region(const struct world *world, int layer, int field,
                                 const struct farlands_grid *grid);

/* The densities of BOX, cut into PARTS along z: each computes the heights of its columns. */
uint64_t request_price_of_volume(const struct world *world, const struct farlands_box *box,
                                 int parts);

/* The height of a place far from others, what is told of it, and COUNT of its FIELDS. */
uint64_t request_price_of_place(const struct world *world, const int *field, int count);

#endif
