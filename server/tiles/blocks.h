/*
 * A raster, cut into blocks that are rendered one after another, row by row from the north-west.
 * How it is cut depends only on the raster's size. Any thread.
 */
#ifndef FARLANDS_TILES_BLOCKS_H
#define FARLANDS_TILES_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/farlands.h"
#include "server/core/blob.h"

struct blocks {
    int width, height;             /* of the raster: samples, or columns of a volume */
    int block_width, block_height; /* smaller at the east and south edges */
    int64_t across, count;         /* blocks */
};

struct block {
    int x, y, width, height; /* samples */
};

/* Cut WIDTH x HEIGHT samples, at least 1 x 1, into blocks with sides up to SIDE. */
struct blocks blocks_cut(int width, int height, int side);

/* The part of the raster GRID that BLOCK covers. */
struct farlands_grid block_grid(const struct block *block, const struct farlands_grid *grid);

/*
 * The progress of a render that can stop between two blocks and go on later, on any thread. PAUSE
 * is asked between blocks, and returns 0 to go on, or a number that the render returns. After such
 * a stop call the render again with the same arguments, or render_progress_clear. Set the first two
 * members, and zero the rest.
 */
struct render_progress {
    int (*pause)(void *context);
    void *context;
    /* Private. */
    int64_t done;      /* blocks finished */
    struct blob *kept; /* the finished blocks' samples or pixels */
};

void render_progress_clear(struct render_progress *progress);

/*
 * Get the block after number *I, or if *I is -1, the first unfinished one. Returns false if there
 * is none, if *ERR is not 0, or if the render stops here: *ERR then is the result of PAUSE.
 * PROGRESS may be NULL.
 *
 *     for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
 *         err = ...
 */
bool blocks_next(const struct blocks *blocks, struct render_progress *progress, int64_t *i,
                 struct block *out, int *err);

/* Take the memory that PROGRESS keeps, or SIZE new bytes; NULL if out of memory. */
struct blob *render_progress_take(struct render_progress *progress, size_t size);

#endif
