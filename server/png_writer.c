#include "png_writer.h"

#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "server/log.h"

/* What libpng has written so far; it never grows past its capacity. */
struct memory {
    struct blob *blob;
    size_t capacity;
};

/* Worst case: incompressible rows stored as they are, with chunk overheads. */
static size_t capacity_for(enum pixel pixel, int size)
{
    size_t raw = (size_t)size * ((size_t)size * pixel_bytes(pixel) + 1);
    return raw + raw / 8 + 4096;
}

static void write_memory(png_structp png, png_bytep bytes, size_t length)
{
    struct memory *memory = png_get_io_ptr(png);
    if (length > memory->capacity - memory->blob->length)
        png_error(png, "the image does not compress");
    memcpy(memory->blob->bytes + memory->blob->length, bytes, length);
    memory->blob->length += length;
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

/* Everything that may jump; PNG, INFO and MEMORY were made before setjmp and are not changed. */
static int write_image(png_structp png, png_infop info, struct memory *memory, enum pixel pixel,
                       int size, const uint8_t *pixels)
{
    if (setjmp(png_jmpbuf(png)))
        return -EIO;
    png_set_write_fn(png, memory, write_memory, flush_memory);
    png_set_IHDR(png, info, (png_uint_32)size, (png_uint_32)size, pixel == PIXEL_GRAY16 ? 16 : 8,
                 pixel == PIXEL_RGB8 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    /* Terrain has few repeats for a match finder: differences to the row above,
     * Huffman-coded alone, are ten times faster than the defaults and nearly as small. */
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_UP);
    png_set_compression_level(png, 1);
    png_set_compression_strategy(png, Z_HUFFMAN_ONLY);
    png_set_compression_buffer_size(png, memory->capacity); /* one IDAT chunk */
    png_write_info(png, info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (pixel == PIXEL_GRAY16)
        png_set_swap(png);
#endif
    for (int j = 0; j < size; j++)
        png_write_row(png, pixels + (size_t)j * (size_t)size * pixel_bytes(pixel));
    png_write_end(png, NULL);
    return 0;
}

int png_write(struct blob **out, enum pixel pixel, int size, const void *pixels)
{
    struct memory memory = {NULL, capacity_for(pixel, size)};
    int err = -ENOMEM;

    memory.blob = blob_new(memory.capacity);
    if (!memory.blob)
        return err;
    memory.blob->length = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    if (!png)
        goto fail_png;
    png_infop info = png_create_info_struct(png);
    if (!info)
        goto fail_info;
    err = write_image(png, info, &memory, pixel, size, pixels);
    png_destroy_write_struct(&png, &info);
    if (err)
        goto fail_png;
    *out = blob_copy(memory.blob->bytes, memory.blob->length); /* give the slack back */
    if (!*out)
        err = -ENOMEM;
    blob_release(memory.blob);
    return err;

fail_info:
    png_destroy_write_struct(&png, NULL);
fail_png:
    blob_release(memory.blob);
    return err;
}
