/*
 * Rendering: evaluate noise, paint the layer, encode. Tiles, and pieces of regions and volumes. Any
 * thread, each with a scratch of its own.
 */
#ifndef FARLANDS_TILES_RENDER_H
#define FARLANDS_TILES_RENDER_H

#include "server/core/blob.h"
#include "server/png/image_writer.h"
#include "server/tiles/blocks.h"
#include "server/webp/webp_writer.h"
#include "server/world/tile.h"

/* Working memory of one render at a time. Each render thread has one and reuses it. */
struct render_scratch;
int render_scratch_new(struct render_scratch **out); /* 0 or -ENOMEM */
void render_scratch_free(struct render_scratch *scratch);

/* The noise library's part of it, for other work of the thread. */
struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch);

/* The time that each step of a render took, in nanoseconds. */
struct render_times {
    uint64_t noise, layer, encoding;
};

/* Render TILE. Returns 0 and one reference in *OUT; -ENOMEM, or
 * -EIO if the encoder fails. PROGRESS and TIMES may be NULL. */
int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_progress *progress, struct render_times *times);

/* Samples of a piece at most; a scratch holds more. */
enum { RENDER_PIECE_MAX = 1 << 18 };

/*
 * Render a piece of at most RENDER_PIECE_MAX samples. Returns 0 and one reference in *OUT, -ENOMEM,
 * or -EIO if the encoder fails. PROGRESS may be NULL. All samples are little-endian.
 */

/* The field's values over GRID in a FORMAT without pixels. */
int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid,
                  struct render_progress *progress);

/* The layer's picture of GRID, as rows of a PNG; *SUM is for image_writer_tail. If these are its
 * first rows, HEIGHT is the picture's height, and its head comes before them; otherwise 0. */
int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height,
                struct render_progress *progress);

/* Densities of BOX as float32. */
int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box, struct render_progress *progress);

/* The pixels of the last picture of a tile, as its layer has painted them. */
const void *render_scratch_pixels(const struct render_scratch *scratch);

#endif
