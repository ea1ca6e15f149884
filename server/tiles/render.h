/*
 * Rendering: evaluate noise, paint the layer, encode. Renders tiles, and pieces of regions and
 * volumes. Any thread, with a scratch per thread.
 */
#ifndef FARLANDS_TILES_RENDER_H
#define FARLANDS_TILES_RENDER_H

#include "server/core/blob.h"
#include "server/png/image_writer.h"
#include "server/tiles/blocks.h"
#include "server/webp/webp_writer.h"
#include "server/world/tile.h"

/* Working memory for one render at a time. Each render thread has one. */
struct render_scratch;
int render_scratch_new(struct render_scratch **out); /* 0 or -ENOMEM */
/* COUNT of them, for threads beside each other: see farlands_scratches_new. */
int render_scratches_new(struct render_scratch **out, unsigned count);
void render_scratch_free(struct render_scratch *scratch);

/* The noise library's part, for other work on the thread. */
struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch);

/* Nanoseconds for each step of a render. */
struct render_times {
    uint64_t noise, layer, encoding;
};

/* Render TILE. Returns 0 and one reference in *OUT; -ENOMEM, or -EIO if the encoder fails. PROGRESS
 * and TIMES may be NULL. */
int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_progress *progress, struct render_times *times);

/* The most samples in a piece; a scratch holds more. */
enum { RENDER_PIECE_MAX = 1 << 18 };

/*
 * The functions below render a piece of at most RENDER_PIECE_MAX samples. They return 0 and one
 * reference in *OUT, -ENOMEM, or -EIO if the encoder fails. PROGRESS may be NULL. All samples are
 * little-endian.
 */

/* CONTENT's field over GRID, in a FORMAT without pixels. */
int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid,
                  struct render_progress *progress);

/* The layer's picture of GRID, as rows of a PNG; *SUM is for image_writer_tail. For the picture's
 * first rows HEIGHT is its height, and the PNG's head comes first; otherwise HEIGHT is 0. */
int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height,
                struct render_progress *progress);

/* Densities of BOX as float32. */
int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box, struct render_progress *progress);

/* The last tile's picture, as its layer painted it. */
const void *render_scratch_pixels(const struct render_scratch *scratch);

#endif
