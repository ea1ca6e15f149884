/* Pixels -> PNG, through libpng. The only module that knows libpng. */
#ifndef FARLANDS_PNG_WRITER_H
#define FARLANDS_PNG_WRITER_H

#include "server/blob.h"
#include "server/layers/layer.h"

/* Version of the encoder: part of every fingerprint, since the bytes may change with it. */
#define PNG_WRITER_VERSION 3

/* Working memory of one image at a time, up to LAYER_MAX_SIZE a side. */
struct png_writer;
int png_writer_new(struct png_writer **out); /* 0 or -ENOMEM */
void png_writer_free(struct png_writer *writer);

/*
 * Encode SIZE rows of SIZE packed pixels. Only IHDR, PLTE where a PIXEL_PICTURE
 * has few enough colours, IDAT and IEND are written: no gamma, colour space or
 * time, which clients would act upon.
 * Returns 0 and one reference in *OUT, -ENOMEM, or -EIO for an error of
 * libpng's. Any thread, each with a writer of its own.
 */
int png_write(struct blob **out, struct png_writer *writer, enum pixel pixel, int size,
              const void *pixels);

#endif
