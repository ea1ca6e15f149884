/* One tile from nothing: noise, then its layer, then the encoder. */
#ifndef FARLANDS_RENDER_H
#define FARLANDS_RENDER_H

#include "server/blob.h"
#include "server/tile.h"

/* Working memory of one render at a time: one a render thread, reused for ever. */
struct easel;
int easel_new(struct easel **out);
void easel_free(struct easel *easel);

/* Where the time of the last render on an easel went, in nanoseconds. */
struct render_times {
    uint64_t noise, layer, encoding;
};

/*
 * Render TILE, whose grid must exist (tile_grid). Returns 0 and one reference
 * in *OUT; -ENOMEM, or -EIO for an encoder's error. TIMES may be NULL. Any
 * thread, each with an easel of its own.
 */
int render_tile(struct blob **out, struct easel *easel, const struct tile *tile,
                struct render_times *times);

/* The pixels of the last tile rendered on EASEL as a PNG or r16, as its layer has painted them. */
const void *easel_pixels(const struct easel *easel);

#endif
