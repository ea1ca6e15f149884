/* From nothing: noise, then a layer, then the encoder. Tiles, and pieces of regions and volumes. */
#ifndef FARLANDS_TILES_RENDER_H
#define FARLANDS_TILES_RENDER_H

#include "server/core/blob.h"
#include "server/png/image_writer.h"
#include "server/world/tile.h"

/* Working memory of one render at a time: one a render thread, reused for ever. */
struct render_scratch;
int render_scratch_new(struct render_scratch **out);
void render_scratch_free(struct render_scratch *scratch);

/* What it makes heights with, for other work of its thread. */
struct farlands_scratch *render_scratch_scratch(struct render_scratch *scratch);

/* Where the time of the last render on an easel went, in nanoseconds. */
struct render_times {
    uint64_t noise, layer, encoding;
};

/*
 * Render TILE, whose grid must exist (tile_grid). Returns 0 and one reference
 * in *OUT; -ENOMEM, or -EIO for an encoder's error. TIMES may be NULL. Any
 * thread, each with an easel of its own.
 */
int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_times *times);

/* The most samples of a piece, which is less than an easel holds. */
enum { RENDER_PIECE_MAX = 1 << 18 };

/*
 * Heights of GRID, at most RENDER_PIECE_MAX: as little-endian float32, as little-endian uint16 over
 * the world's range, or as rows of a picture of those, whose SUM is for image_writer_tail; HEIGHT
 * is that of the picture where they are its first rows, and its head is before them, otherwise 0.
 * And the density of BOX, as many samples, as little-endian float32. Returns 0 and one reference in
 * *OUT, -ENOMEM, or -EIO for an encoder's error. Any thread, each with an easel of its own.
 */
int render_heights(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid);
int render_samples(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid);
int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct world *world, const struct farlands_grid *grid, int height);
int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box);

/* The pixels of the last tile rendered on SCRATCH as a PNG or r16, as its layer has painted them.
 */
const void *render_scratch_pixels(const struct render_scratch *scratch);

#endif
