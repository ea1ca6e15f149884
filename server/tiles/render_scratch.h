/* What the files that render share. Private to them. */
#ifndef FARLANDS_TILES_RENDER_SCRATCH_H
#define FARLANDS_TILES_RENDER_SCRATCH_H

#include "server/tiles/render.h"

enum {
    MAX_PIXEL_BYTES = 3,
    BLOCK_SIDE = 256, /* of a block: the library evaluates so many samples together */
    HEIGHTS_SIDE = BLOCK_SIDE + 2 * LAYER_MAX_REACH,
    HEIGHTS_MAX = HEIGHTS_SIDE * HEIGHTS_SIDE,
};

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    struct webp_writer *webp;
    float heights[HEIGHTS_MAX];
    float temperature[HEIGHTS_MAX], humidity[HEIGHTS_MAX];
    float water[HEIGHTS_MAX], river[HEIGHTS_MAX], bank[HEIGHTS_MAX];
    uint8_t pixels[LAYER_MAX_SIZE * LAYER_MAX_SIZE * MAX_PIXEL_BYTES];
};

/* The field of CONTENT over GRID, into OUT, rows of STRIDE floats. */
int render_field(struct render_scratch *scratch, const struct content *content,
                 const struct farlands_grid *grid, float *out, size_t stride);

/* True if each exact sample takes milliseconds, because it has to find rivers of its own. */
bool render_is_far(const struct world *world, int64_t step);

/* The picture TILE, as render_tile. */
int render_picture(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                   struct render_progress *progress, struct render_times *times);

#endif
