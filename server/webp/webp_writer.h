/*
 * Pixels -> WebP files, through libwebp, which only this module knows. One libwebp version makes
 * the same bytes from the same pixels; another version may make others, so the version is part of
 * fingerprints (webp_writer_identity).
 */
#ifndef FARLANDS_WEBP_WEBP_WRITER_H
#define FARLANDS_WEBP_WEBP_WRITER_H

#include "config/daemon/config.h"
#include "server/core/blob.h"
#include "server/layers/layer.h"

/* Working memory for one picture at a time, up to LAYER_MAX_SIZE per side. libwebp allocates more,
 * and frees that after each picture. */
struct webp_writer;
int webp_writer_new(struct webp_writer **out); /* 0 or -ENOMEM */
void webp_writer_free(struct webp_writer *writer);

/*
 * Encode SIZE rows of SIZE packed pixels, gray or colors with 8 bits, with losses. QUALITY is 0 to
 * 100, METHOD 0 (fast) to 6. Not for transparent pictures, because opacities need lossless coding,
 * and that writes torn files without an error if memory runs out (libwebp 1.2.4). If KEY, the
 * tile's (tile_key), is not NULL, the file is in the extended format (VP8X), and the last chunk
 * binds it to KEY (image_checksum.h). Returns 0 with a reference in *OUT, -ENOMEM, or -EIO if
 * libwebp fails. Any thread, each with its own writer.
 */
int webp_writer_tile(struct blob **out, struct webp_writer *writer, enum pixel pixel, int size,
                     const void *pixels, unsigned quality, unsigned method, const char *key);

/* Everything but pixels that decides the bytes of WebP tiles: CONFIG, this module, and libwebp's
 * version. */
uint64_t webp_writer_identity(const struct webp_config *config);

#endif
