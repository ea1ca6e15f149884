#include "png_writer.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "server/deflate/deflate.h"
#include "server/log.h"
#include "server/paeth.h"
#include "server/palette.h"

enum {
    PIXEL_BYTES_MAX = 3,
    ROW_MAX = LAYER_MAX_SIZE * PIXEL_BYTES_MAX,
    FILTERED_MAX = LAYER_MAX_SIZE * (ROW_MAX + 1),
};

struct png_writer {
    struct deflate *deflate;
    uint8_t filtered[FILTERED_MAX + DEFLATE_SLACK];
    uint8_t indices[LAYER_MAX_SIZE * LAYER_MAX_SIZE];
    uint8_t palette[PALETTE_COLOURS][3];
};

int png_writer_new(struct png_writer **out)
{
    struct png_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return -ENOMEM;
    int err = deflate_new(&writer->deflate, FILTERED_MAX);
    if (err) {
        free(writer);
        return err;
    }
    *out = writer;
    return 0;
}

void png_writer_free(struct png_writer *writer)
{
    if (!writer)
        return;
    deflate_free(writer->deflate);
    free(writer);
}

/* An image as PNG has it. */
struct image {
    int size;
    int depth, colour_type;
    size_t pixel_bytes;
    const uint8_t *pixels; /* GRAY16 in native order */
    int colours;           /* of the palette, or 0 */
};

static struct image describe(struct png_writer *writer, enum pixel pixel, int size,
                             const void *pixels)
{
    struct image image = {size, 8, PNG_COLOR_TYPE_GRAY, pixel_bytes(pixel), pixels, 0};
    switch (pixel) {
    case PIXEL_GRAY8:
        break;
    case PIXEL_GRAY16:
        image.depth = 16;
        break;
    case PIXEL_PICTURE:
        image.colours =
            palette_index(writer->indices, writer->palette, pixels, (size_t)size * (size_t)size);
        /* fall through */
    case PIXEL_RGB8:
        image.colour_type = PNG_COLOR_TYPE_RGB;
    }
    if (image.colours) {
        image.colour_type = PNG_COLOR_TYPE_PALETTE;
        image.pixel_bytes = 1;
        image.pixels = writer->indices;
    }
    return image;
}

/* Row J in PNG's order of bytes: where it stands, or in BUFFER. */
static const uint8_t *row_at(const struct image *image, int j, uint8_t buffer[ROW_MAX])
{
    const size_t length = (size_t)image->size * image->pixel_bytes;
    const uint8_t *row = image->pixels + (size_t)j * length;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (image->depth == 16) {
        for (size_t i = 0; i < length; i += 2) {
            buffer[i] = row[i + 1];
            buffer[i + 1] = row[i];
        }
        return buffer;
    }
#endif
    (void)buffer;
    return row;
}

/* Differences to what the neighbours predict, which terrain makes small, into writer->filtered. */
static size_t filter(struct png_writer *writer, const struct image *image)
{
    const size_t length = (size_t)image->size * image->pixel_bytes;
    uint8_t buffer[2][ROW_MAX], *out = writer->filtered;
    const uint8_t *above = NULL;

    for (int j = 0; j < image->size; j++) {
        const uint8_t *row = row_at(image, j, buffer[j & 1]);
        *out = PAETH_TYPE;
        paeth_row(out + 1, row, above, length, image->pixel_bytes);
        out += 1 + length;
        above = row;
    }
    return (size_t)(out - writer->filtered);
}

/* What libpng has written so far. */
struct memory {
    struct blob *blob;
    size_t written;
};

static void write_memory(png_structp png, png_bytep bytes, size_t length)
{
    struct memory *memory = png_get_io_ptr(png);
    if (length > memory->blob->length - memory->written)
        png_error(png, "more bytes than a PNG of this size has");
    memcpy(memory->blob->bytes + memory->written, bytes, length);
    memory->written += length;
}

static void flush_memory(png_structp png)
{
    (void)png;
}

static void on_error(png_structp png, png_const_charp message)
{
    log_line(LOG_ERROR, "libpng: %s", message);
    png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    log_line(LOG_WARNING, "libpng: %s", message);
}

/* Everything that may jump; what it works with was made before setjmp and is not changed. */
static int write_chunks(png_structp png, png_infop info, struct memory *memory,
                        const struct image *image, const uint8_t (*palette)[3],
                        const uint8_t *stream, size_t length)
{
    if (setjmp(png_jmpbuf(png)))
        return -EIO;
    png_set_write_fn(png, memory, write_memory, flush_memory);
    png_set_IHDR(png, info, (png_uint_32)image->size, (png_uint_32)image->size, image->depth,
                 image->colour_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (image->colours) {
        png_color colours[PALETTE_COLOURS];
        for (int i = 0; i < image->colours; i++)
            colours[i] = (png_color){palette[i][0], palette[i][1], palette[i][2]};
        png_set_PLTE(png, info, colours, image->colours);
    }
    png_write_info(png, info);
    /* The rows are compressed already; png_write_end would miss them, so IEND is a chunk too. */
    png_write_chunk(png, (png_const_bytep) "IDAT", stream, length);
    png_write_chunk(png, (png_const_bytep) "IEND", NULL, 0);
    return memory->written == memory->blob->length ? 0 : -EIO;
}

/* A signature, and chunks: length, type and CRC each, IHDR's 13 bytes, PLTE's, IDAT's. */
static size_t file_length(const struct image *image, size_t stream_length)
{
    const size_t frame = 12;
    return 8 + (frame + 13) + (image->colours ? frame + (size_t)image->colours * 3 : 0) +
           (frame + stream_length) + frame;
}

int png_write(struct blob **out, struct png_writer *writer, enum pixel pixel, int size,
              const void *pixels)
{
    const struct image image = describe(writer, pixel, size, pixels);
    size_t length;
    const uint8_t *stream =
        deflate_stream(writer->deflate, writer->filtered, filter(writer, &image),
                       (unsigned)image.pixel_bytes, &length);
    struct memory memory = {blob_new(file_length(&image, length)), 0};
    int err = -ENOMEM;

    if (!memory.blob)
        return err;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    if (!png)
        goto fail_png;
    png_infop info = png_create_info_struct(png);
    if (!info)
        goto fail_info;
    err = write_chunks(png, info, &memory, &image, writer->palette, stream, length);
    png_destroy_write_struct(&png, &info);
    if (err)
        goto fail_png;
    *out = memory.blob;
    return 0;

fail_info:
    png_destroy_write_struct(&png, NULL);
fail_png:
    blob_release(memory.blob);
    return err;
}
