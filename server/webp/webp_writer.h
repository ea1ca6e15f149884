/*
 * Pixels -> WebP files, through libwebp, which only this module knows. The same pixels give the
 * same bytes from one version of libwebp; another may choose others, so its version is part of the
 * fingerprints (webp_writer_identity).
 */
#ifndef FARLANDS_WEBP_WEBP_WRITER_H
#define FARLANDS_WEBP_WEBP_WRITER_H

#include "config/config.h"
#include "server/core/blob.h"
#include "server/layers/layer.h"
#include "server/png/image_writer.h"

/* Working memory for one picture of up to LAYER_MAX_SIZE per side at a time. libwebp allocates its
 * own, and frees it after each picture. */
struct webp_writer;
int webp_writer_new(struct webp_writer **out); /* 0 or -ENOMEM */
void webp_writer_free(struct webp_writer *writer);

/*
 * Encode SIZE rows of SIZE packed pixels, as image_writer_tile does, but not PIXEL_GRAY16. QUALITY
 * is 0 to 100, METHOD 0 (fast) to 6. PIXEL_INDEX8 has the colors of PALETTE, is encoded without
 * loss, and is as transparent as the palette. If KEY, the tile's (tile_key), is not NULL, the file
 * is in the extended format (VP8X), and its last chunk binds it to KEY (image_checksum.h). Returns
 * 0 with a reference in *OUT, -ENOMEM, or -EIO if libwebp fails. Any thread, each with its own
 * writer.
 */
int webp_writer_tile(struct blob **out, struct webp_writer *writer, enum pixel pixel,
                     const struct image_palette *palette, int size, const void *pixels,
                     unsigned quality, unsigned method, const char *key);

/* Decides the bytes of WebP tiles, besides their pixels: CONFIG, this module, and the version of
 * libwebp at hand. */
uint64_t webp_writer_identity(const struct webp_config *config);

#endif
