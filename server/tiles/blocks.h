/*
 * A raster of samples or columns, cut into blocks that are rendered one after another, row by row
 * from the north-west. How it is cut depends on its size alone. Pure, any thread.
 */
#ifndef FARLANDS_TILES_BLOCKS_H
#define FARLANDS_TILES_BLOCKS_H

#include <stdint.h>

#include "noise/farlands.h"

struct blocks {
    int width, height;             /* of the raster */
    int block_width, block_height; /* those at the east and south edge may be smaller */
    int64_t across, count;         /* blocks */
};

struct block {
    int x, y, width, height; /* samples */
};

/* Cut WIDTH x HEIGHT samples, at least 1 x 1, into blocks with sides of at most SIDE. */
struct blocks blocks_cut(int width, int height, int side);

/* Block NUMBER, from 0 on. */
struct block blocks_at(const struct blocks *blocks, int64_t number);

/* The part of GRID, the raster, that BLOCK covers. */
struct farlands_grid block_grid(const struct block *block, const struct farlands_grid *grid);

#endif
