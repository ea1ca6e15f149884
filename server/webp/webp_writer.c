/* File layout: RFC 9649, section 2. */
#include "webp_writer.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <webp/encode.h>

#include "server/core/multiversion.h"
#include "server/png/image_checksum.h"

/* Increase this if any encoded byte changes. */
enum { VERSION = 1 };

enum {
    RIFF_HEAD = 12, /* "RIFF", length, "WEBP" */
    EXTENDED = 18,  /* the chunk VP8X */
    SIDE_BYTES = 3, /* width - 1; the height follows */
    FIRST_BYTES = 1 << 16,
};

struct webp_writer {
    uint8_t *bytes; /* libwebp's file */
    size_t length, capacity;
    uint32_t pixels[LAYER_MAX_SIZE * LAYER_MAX_SIZE]; /* ARGB */
};

int webp_writer_new(struct webp_writer **out)
{
    struct webp_writer *writer = malloc(sizeof *writer);
    if (!writer)
        return -ENOMEM;
    writer->capacity = FIRST_BYTES;
    writer->bytes = malloc(writer->capacity);
    if (!writer->bytes) {
        free(writer);
        return -ENOMEM;
    }
    *out = writer;
    return 0;
}

void webp_writer_free(struct webp_writer *writer)
{
    if (!writer)
        return;
    free(writer->bytes);
    free(writer);
}

/* --- Pixels --- */

INLINE uint32_t opaque(uint32_t red, uint32_t green, uint32_t blue)
{
    return 255U << 24 | red << 16 | green << 8 | blue;
}

static MULTIVERSION void convert_gray(uint32_t *restrict out, const uint8_t *restrict gray,
                                      size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = opaque(gray[i], gray[i], gray[i]);
}

static MULTIVERSION void convert_rgb(uint32_t *restrict out, const uint8_t *restrict rgb,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        out[i] = opaque(rgb[3 * i], rgb[3 * i + 1], rgb[3 * i + 2]);
}

static void convert(uint32_t *out, enum pixel pixel, const void *pixels, size_t count)
{
    assert(pixel == PIXEL_GRAY8 || pixel == PIXEL_RGB8 || pixel == PIXEL_PICTURE);
    if (pixel == PIXEL_GRAY8)
        convert_gray(out, pixels, count);
    else
        convert_rgb(out, pixels, count);
}

/* --- Files --- */

/* A WebPWriterFunction: 0 if out of memory. */
static int append(const uint8_t *bytes, size_t length, const WebPPicture *picture)
{
    struct webp_writer *writer = picture->custom_ptr;
    if (length > writer->capacity - writer->length) {
        const size_t capacity = 2 * (writer->length + length);
        uint8_t *larger = realloc(writer->bytes, capacity);
        if (!larger)
            return 0;
        writer->bytes = larger;
        writer->capacity = capacity;
    }
    memcpy(writer->bytes + writer->length, bytes, length);
    writer->length += length;
    return 1;
}

/* The code for a failure. libwebp does not always say if memory ran out. */
static int failure(WebPEncodingError error)
{
    return error == VP8_ENC_OK || error == VP8_ENC_ERROR_OUT_OF_MEMORY ||
                   error == VP8_ENC_ERROR_BITSTREAM_OUT_OF_MEMORY ||
                   error == VP8_ENC_ERROR_BAD_WRITE
               ? -ENOMEM
               : -EIO;
}

static int encode(struct webp_writer *writer, int size, unsigned quality, unsigned method)
{
    WebPConfig config;
    WebPPicture picture;

    if (!WebPConfigInit(&config) || !WebPPictureInit(&picture))
        return -EIO; /* another version's library */
    config.quality = (float)quality;
    config.method = (int)method;
    picture.use_argb = 1;
    picture.width = picture.height = size;
    picture.argb = writer->pixels;
    picture.argb_stride = size;
    picture.writer = append;
    picture.custom_ptr = writer;
    writer->length = 0;
    const bool done = WebPEncode(&config, &picture);
    const WebPEncodingError error = picture.error_code;
    WebPPictureFree(&picture); /* frees all but the pixels, which are ours */
    return done ? 0 : failure(error);
}

static uint8_t *put_number(uint8_t *at, size_t number, int bytes)
{
    for (; bytes > 0; bytes--, number >>= 8)
        *at++ = number & 255;
    return at;
}

static uint8_t *put_bytes(uint8_t *at, const void *bytes, size_t length)
{
    return (uint8_t *)memcpy(at, bytes, length) + length;
}

/* Put the encoded picture, the only chunk in libwebp's simple file, into an extended file with KEY.
 */
static struct blob *extend(const struct webp_writer *writer, int size, const char *key)
{
    const size_t length = writer->length + EXTENDED + IMAGE_CHECKSUM_RIFF;
    struct blob *blob = blob_new(length);
    if (!blob)
        return NULL;
    uint8_t *at = put_bytes(blob->bytes, "RIFF", 4);
    at = put_number(at, length - 8, 4);
    at = put_bytes(at, "WEBPVP8X\x0a\0\0", 8 + 4);
    at = put_number(at, 0, 4); /* no features */
    at = put_number(at, (size_t)size - 1, SIDE_BYTES);
    at = put_number(at, (size_t)size - 1, SIDE_BYTES);
    at = put_bytes(at, writer->bytes + RIFF_HEAD, writer->length - RIFF_HEAD);
    image_checksum_riff(at, blob->bytes, (size_t)(at - blob->bytes), key);
    return blob;
}

int webp_writer_tile(struct blob **out, struct webp_writer *writer, enum pixel pixel, int size,
                     const void *pixels, unsigned quality, unsigned method, const char *key)
{
    convert(writer->pixels, pixel, pixels, (size_t)size * (size_t)size);
    int err = encode(writer, size, quality, method);
    if (err)
        return err;
    *out = key ? extend(writer, size, key) : blob_copy(writer->bytes, writer->length);
    return *out ? 0 : -ENOMEM;
}

uint64_t webp_writer_identity(const struct webp_config *config)
{
    return (uint64_t)WebPGetEncoderVersion() << 32 | (uint64_t)VERSION << 24 |
           config->quality << 16 | config->quality_2x << 8 | config->method;
}
