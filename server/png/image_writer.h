/* Pixels -> PNG files, through libpng, which only this module knows. Increase IMAGE_VERSION
 * (image_version.h) if any byte changes. */
#ifndef FARLANDS_PNG_IMAGE_WRITER_H
#define FARLANDS_PNG_IMAGE_WRITER_H

#include "server/core/blob.h"
#include "server/layers/layer.h"
#include "server/png/deflate/adler.h"

/* Working memory for one image at a time, up to LAYER_MAX_SIZE per side, or for one band. */
struct image_writer;
int image_writer_new(struct image_writer **out); /* 0 or -ENOMEM */
void image_writer_free(struct image_writer *writer);

/*
 * Encode SIZE rows of SIZE packed pixels as IHDR, IDAT, flKY (image_checksum.h) and IEND, with PLTE
 * if a PIXEL_PICTURE has few enough colors. PIXEL_INDEX8 keeps all bytes and gets all of PALETTE,
 * with tRNS if PALETTE is clear; for other pixels PALETTE may be NULL. KEY is the tile's
 * (tile_key); NULL: no flKY. No gamma, color space or time is written, because clients would act on
 * them. Returns 0 with a reference in *OUT, -ENOMEM, or -EIO if libpng fails. Any thread, each with
 * its own writer.
 */
int image_writer_tile(struct blob **out, struct image_writer *writer, enum pixel pixel,
                      const struct image_palette *palette, int size, const void *pixels,
                      const char *key);

/*
 * A large picture in bands of rows, encoded on any threads in any order: the file is
 * image_writer_head, the bands from north to south, and image_writer_tail. PIXEL_PICTURE gets no
 * palette. Each band has its own codes, and the first row is predicted from the left alone, so
 * terrain in bands of 16 rows is 1 % longer than in bands of 64, and in single rows up to 20 %. All
 * return 0 with a reference in *OUT, -ENOMEM, or -EIO if libpng fails.
 */
enum {
    IMAGE_WIDTH_MAX = 4097, /* pixels */
    IMAGE_BAND_MAX =
        512 * (1 + 512 * 3), /* bytes, one more per row; decides the files' bytes, too */
};

/* How many rows of WIDTH pixels, 1 to IMAGE_WIDTH_MAX, fit into a band: at least 64. */
int image_writer_band_rows(enum pixel pixel, int width);

/* A picture's beginning, for WIDTH x HEIGHT pixels, with PALETTE for PIXEL_INDEX8. Any thread. */
int image_writer_head(struct blob **out, enum pixel pixel, const struct image_palette *palette,
                      int width, int height);

/*
 * A band with ROWS rows, 1 to image_writer_band_rows, of WIDTH packed pixels. *SUM is this band's
 * alone. The same pixels give the same bytes on any machine. Any thread, each with its own writer.
 */
int image_writer_band(struct blob **out, struct adler *sum, struct image_writer *writer,
                      enum pixel pixel, int width, int rows, const void *pixels);

/* The end. SUM joins all bands: zeros, then adler_join for each. Any thread. */
int image_writer_tail(struct blob **out, const struct adler *sum);

#endif
