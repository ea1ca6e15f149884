/*
 * A raster of samples or columns, cut into blocks that are rendered one after another, row by row
 * from the north-west. How it is cut depends on its size alone. Any thread.
 */
#ifndef FARLANDS_TILES_BLOCKS_H
#define FARLANDS_TILES_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "noise/farlands.h"
#include "server/core/blob.h"

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

/* The part of GRID, the raster, that BLOCK covers. */
struct farlands_grid block_grid(const struct block *block, const struct farlands_grid *grid);

/*
 * A render that can stop and go on later, on any thread. It is made in blocks; how these are cut
 * depends on what is rendered alone. Between two blocks it asks whether to stop: PAUSE returns 0 to
 * go on, or a number that the render returns. After that, call it again with the same arguments, or
 * render_progress_clear. Zero all but the first two at first.
 */
struct render_progress {
    int (*pause)(void *context);
    void *context;
    /* Private. */
    int64_t done;      /* blocks */
    struct blob *kept; /* what they are made into */
};

void render_progress_clear(struct render_progress *progress);

/*
 * The block after number *I, or if that is -1, the first one that PROGRESS lacks. Returns false if
 * there is none, if *ERR is not 0, or if the render stops here: then *ERR is what PAUSE returned.
 * PROGRESS may be NULL.
 *
 *     for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
 *         err = ...
 */
bool blocks_next(const struct blocks *blocks, struct render_progress *progress, int64_t *i,
                 struct block *out, int *err);

/* The memory that PROGRESS keeps, SIZE bytes, or a new one; NULL if out of memory. */
struct blob *render_progress_take(struct render_progress *progress, size_t size);

#endif
