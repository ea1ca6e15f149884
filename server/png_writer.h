/* Pixels -> PNG, through libpng. The only module that knows libpng. */
#ifndef FARLANDS_PNG_WRITER_H
#define FARLANDS_PNG_WRITER_H

#include "server/blob.h"
#include "server/layers/layer.h"

/* Version of the encoder: part of every fingerprint, since the bytes may change with it. */
#define PNG_WRITER_VERSION 1

/*
 * Encode SIZE rows of SIZE packed pixels. Only IHDR, IDAT and IEND are
 * written: no gamma, colour space or time, which clients would act upon.
 * Returns 0 and one reference in *OUT, -ENOMEM, or -EIO for an error of libpng's. Any thread.
 */
int png_write(struct blob **out, enum pixel pixel, int size, const void *pixels);

#endif
