/* Parts shared by the render*.c files. Private to them. */
#ifndef FARLANDS_TILES_RENDER_SCRATCH_H
#define FARLANDS_TILES_RENDER_SCRATCH_H

#include "server/tiles/render.h"

enum {
    MAX_PIXEL_BYTES = 3,
    BLOCK_SIDE = 256, /* a block's: as many samples as the library evaluates together */
    HEIGHTS_SIDE = BLOCK_SIDE + 2 * LAYER_MAX_REACH,
    HEIGHTS_MAX = HEIGHTS_SIDE * HEIGHTS_SIDE,
};

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    struct webp_writer *webp;
    const struct farlands_terrain *terrain; /* of the world that is rendered; held meanwhile */
    float heights[HEIGHTS_MAX];
    float temperature[HEIGHTS_MAX], humidity[HEIGHTS_MAX], canopy[HEIGHTS_MAX];
    float water[HEIGHTS_MAX], river[HEIGHTS_MAX], bank[HEIGHTS_MAX];
    uint8_t pixels[LAYER_MAX_SIZE * LAYER_MAX_SIZE * MAX_PIXEL_BYTES];
};

/* Evaluate CONTENT's field over GRID into OUT, whose rows have STRIDE floats. */
int render_field(struct render_scratch *scratch, const struct content *content,
                 const struct farlands_grid *grid, float *out, size_t stride);

/* True if each exact sample takes milliseconds, because it has to find its own rivers. */
bool render_is_far(const struct world *world, int64_t step);

/* As render_tile, if TILE is a picture. */
int render_picture(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                   struct render_progress *progress, struct render_times *times);

#endif
