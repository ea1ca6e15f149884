/* Pixels -> PNG, through libpng. The only module that knows libpng. */
#ifndef FARLANDS_PNG_IMAGE_WRITER_H
#define FARLANDS_PNG_IMAGE_WRITER_H

#include "server/core/blob.h"
#include "server/layers/layer.h"
#include "server/png/deflate/adler.h"

/* Working memory of one image, up to LAYER_MAX_SIZE a side, or one band at a time. */
struct image_writer;
int image_writer_new(struct image_writer **out); /* 0 or -ENOMEM */
void image_writer_free(struct image_writer *writer);

/*
 * Encode SIZE rows of SIZE packed pixels. Only IHDR, PLTE where a PIXEL_PICTURE
 * has few enough colours, IDAT and IEND are written: no gamma, colour space or
 * time, which clients would act upon.
 * Returns 0 and one reference in *OUT, -ENOMEM, or -EIO for an error of
 * libpng's. Any thread, each with a writer of its own.
 */
int image_writer_tile(struct blob **out, struct image_writer *writer, enum pixel pixel, int size,
                      const void *pixels);

/*
 * A picture in bands of rows, each encoded by itself, on any thread and in any
 * order: image_writer_head, the bands from north to south and image_writer_tail, one right behind
 * the other, are the file. PIXEL_PICTURE gets no palette, since nobody sees all
 * colours. A band's first row is predicted from the left alone and its codes are
 * its own: terrain in bands of 16 rows is 1 % longer than in bands of 64, in single
 * rows up to 20 %. All return 0 and one reference in *OUT, -ENOMEM, or -EIO for an
 * error of libpng's.
 */

/* What a band can be: pixels in a row; bytes of all rows, each with one more for its filter. */
enum {
    IMAGE_WIDTH_MAX = 4097,
    IMAGE_BAND_MAX = LAYER_MAX_SIZE * (1 + LAYER_MAX_SIZE * 3),
};

/* How many rows of WIDTH pixels, 1 to IMAGE_WIDTH_MAX, fit a band: at least 64. */
int image_writer_band_rows(enum pixel pixel, int width);

/* The beginning, for WIDTH and HEIGHT of the whole picture. Any thread. */
int image_writer_head(struct blob **out, enum pixel pixel, int width, int height);

/*
 * ROWS rows, 1 to image_writer_band_rows, of WIDTH packed pixels. *SUM is that of this
 * band alone. The same pixels give the same bytes, whichever writer, on any
 * machine. Any thread, each with a writer of its own.
 */
int image_writer_band(struct blob **out, struct adler *sum, struct image_writer *writer,
                      enum pixel pixel, int width, int rows, const void *pixels);

/* The end. SUM is that of all bands, by adler_join from zeros on. Any thread. */
int image_writer_tail(struct blob **out, const struct adler *sum);

#endif
