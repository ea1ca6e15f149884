#include "image_writer.h"

#include <assert.h>
#include <errno.h>
#include <png.h>
#include <stdlib.h>
#include <string.h>

#include "server/png/deflate/deflate.h"
#include "server/png/image_checksum.h"
#include "server/png/paeth.h"
#include "server/png/palette.h"
#include "server/telemetry/log.h"

enum {
    PIXEL_BYTES_MAX = 3,
    ROW_MAX = IMAGE_WIDTH_MAX * PIXEL_BYTES_MAX,
    TILE_MAX = LAYER_MAX_SIZE * (1 + LAYER_MAX_SIZE * PIXEL_BYTES_MAX),
};

_Static_assert((int)IMAGE_BAND_MAX <= TILE_MAX && LAYER_MAX_SIZE <= (int)IMAGE_WIDTH_MAX,
               "a band fits in the memory of a tile");
_Static_assert(LAYER_MAX_SIZE *LAYER_MAX_SIZE <= (int)PALETTE_PIXELS_MAX, "a tile is a picture");

struct image_writer {
    struct deflate *deflate;
    struct palette_maker *maker;
    uint8_t filtered[TILE_MAX + DEFLATE_SLACK];
    uint8_t rows[2][ROW_MAX]; /* the last two in PNG's byte order, if the machine has another */
    uint8_t indices[LAYER_MAX_SIZE * LAYER_MAX_SIZE];
    uint8_t palette[PALETTE_COLORS][3];
};

int image_writer_new(struct image_writer **out)
{
    struct image_writer *writer = calloc(1, sizeof *writer);
    if (!writer)
        return -ENOMEM;
    int err = deflate_new(&writer->deflate, TILE_MAX);
    if (err)
        goto fail_deflate;
    err = -ENOMEM;
    writer->maker = palette_maker_new();
    if (!writer->maker)
        goto fail_maker;
    *out = writer;
    return 0;

fail_maker:
    deflate_free(writer->deflate);
fail_deflate:
    free(writer);
    return err;
}

void image_writer_free(struct image_writer *writer)
{
    if (!writer)
        return;
    palette_maker_free(writer->maker);
    deflate_free(writer->deflate);
    free(writer);
}

/* An image, or a band of rows, in PNG's terms. */
struct image {
    int width, height;
    int depth, color_type;
    size_t pixel_bytes;
    const uint8_t *pixels; /* 16 bits in native byte order */
    const uint8_t (*palette)[3];
    int colors;           /* in the palette; 0: none */
    const uint8_t *alpha; /* per color; NULL: all are opaque */
};

static struct image describe(enum pixel pixel, int width, int height, const void *pixels)
{
    static const int color_type[] = {
        [PIXEL_GRAY8] = PNG_COLOR_TYPE_GRAY,     [PIXEL_GRAY16] = PNG_COLOR_TYPE_GRAY,
        [PIXEL_RGB8] = PNG_COLOR_TYPE_RGB,       [PIXEL_PICTURE] = PNG_COLOR_TYPE_RGB,
        [PIXEL_INDEX8] = PNG_COLOR_TYPE_PALETTE,
    };
    return (struct image){
        .width = width,
        .height = height,
        .depth = pixel == PIXEL_GRAY16 ? 16 : 8,
        .color_type = color_type[pixel],
        .pixel_bytes = pixel_bytes(pixel),
        .pixels = pixels,
    };
}

/* Give PALETTE to IMAGE, whose pixels are indices. */
static void set_palette(struct image *image, const struct image_palette *palette)
{
    image->palette = palette->color;
    image->colors = palette->colors;
    image->alpha = palette->is_clear ? palette->alpha : NULL;
}

/* How many bits an index into COLORS takes. */
static int index_depth(int colors)
{
    return colors <= 2 ? 1 : colors <= 4 ? 2 : colors <= 16 ? 4 : 8;
}

/* Turn IMAGE into indexed color, if 256 colors can stand for it. */
static void use_palette(struct image *image, struct image_writer *writer)
{
    const size_t count = (size_t)image->width * (size_t)image->height;
    image->colors =
        palette_make(writer->maker, writer->indices, writer->palette, image->pixels, count);
    if (image->colors) {
        image->palette = writer->palette;
        image->color_type = PNG_COLOR_TYPE_PALETTE;
        image->pixel_bytes = 1;
        image->pixels = writer->indices;
        image->depth = index_depth(image->colors);
    }
}

static size_t row_bytes(const struct image *image)
{
    if (image->depth < 8)
        return ((size_t)image->width * (size_t)image->depth + 7) / 8;
    return (size_t)image->width * image->pixel_bytes;
}

/* Pack WIDTH indices into DEPTH bits each, the leftmost in the highest bits. */
static void pack(uint8_t *out, const uint8_t *index, int width, int depth)
{
    memset(out, 0, ((size_t)width * (size_t)depth + 7) / 8);
    for (int i = 0; i < width; i++)
        out[i * depth / 8] |= (uint8_t)(index[i] << (8 - depth - i * depth % 8));
}

/* Row J in PNG's byte order, in place or in BUFFER. */
static const uint8_t *row_at(const struct image *image, int j, uint8_t buffer[ROW_MAX])
{
    const size_t length = (size_t)image->width * image->pixel_bytes;
    const uint8_t *row = image->pixels + (size_t)j * length;
    if (image->depth < 8) {
        pack(buffer, row, image->width, image->depth);
        return buffer;
    }
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (image->depth == 16) {
        for (size_t i = 0; i < length; i += 2) {
            buffer[i] = row[i + 1];
            buffer[i + 1] = row[i];
        }
        return buffer;
    }
#endif
    return row;
}

/* Filter types: no prediction, and from the left alone (PNG, third edition, 9.2). */
enum { NONE_TYPE = 0, SUB_TYPE = 1 };

/*
 * Filter the rows into writer->filtered; returns how many bytes. The first row gets the type FIRST:
 * without a row above, Paeth and Sub give the same, but FIRST must be SUB_TYPE if a decoder knows a
 * row above. Indices narrower than a byte are not filtered, because that makes them longer.
 */
static size_t filter(struct image_writer *writer, const struct image *image, uint8_t first)
{
    const size_t length = row_bytes(image);
    uint8_t *out = writer->filtered;
    const uint8_t *above = NULL;

    for (int j = 0; j < image->height; j++) {
        const uint8_t *row = row_at(image, j, writer->rows[j & 1]);
        if (image->depth < 8) {
            *out = NONE_TYPE;
            memcpy(out + 1, row, length);
        } else {
            *out = above ? PAETH_TYPE : first;
            paeth_row(out + 1, row, above, length, image->pixel_bytes);
        }
        out += 1 + length;
        above = row;
    }
    return (size_t)(out - writer->filtered);
}

/* libpng's output. */
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

/* The part that one call writes. */
struct part {
    const struct image *head; /* signature, IHDR, PLTE, tRNS; or NULL */
    const uint8_t *stream;    /* for one IDAT */
    size_t length;
    const char *key; /* for flKY; or NULL */
    bool tail;       /* IEND */
};

static size_t part_length(const struct part *part)
{
    enum { SIGNATURE = 8, CHUNK = 12 /* length, type, CRC */, IHDR = 13 };
    size_t length = CHUNK + part->length;
    if (part->head)
        length += SIGNATURE + CHUNK + IHDR;
    if (part->head && part->head->colors)
        length += CHUNK + (size_t)part->head->colors * 3;
    if (part->head && part->head->alpha)
        length += CHUNK + (size_t)part->head->colors;
    if (part->key)
        length += CHUNK + IMAGE_CHECKSUM;
    return length + (part->tail ? CHUNK : 0);
}

static void write_head(png_structp png, png_infop info, const struct image *image)
{
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, image->depth,
                 image->color_type, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    if (image->colors) {
        png_color colors[PALETTE_COLORS];
        memcpy(colors, image->palette, (size_t)image->colors * sizeof *colors);
        png_set_PLTE(png, info, colors, image->colors);
    }
    if (image->alpha)
        png_set_tRNS(png, info, image->alpha, image->colors, NULL);
    png_write_info(png, info);
}

/* The chunk flKY, from the bytes written before. */
static void write_checksum(png_structp png, const struct memory *memory, const char *key)
{
    uint8_t checksum[IMAGE_CHECKSUM];
    image_checksum(checksum, memory->blob->bytes, memory->written, key);
    png_write_chunk(png, (png_const_bytep)IMAGE_CHECKSUM_TYPE, checksum, sizeof checksum);
}

/* All calls that may jump back to setjmp; no local variable changes in between. */
static int write_chunks(png_structp png, png_infop info, struct memory *memory,
                        const struct part *part)
{
    if (setjmp(png_jmpbuf(png)))
        return -EIO;
    png_set_write_fn(png, memory, write_memory, flush_memory);
    if (part->head)
        write_head(png, info, part->head);
    /* The rows are compressed already, and png_write_end would miss them: IEND is a chunk, too. */
    png_write_chunk(png, (png_const_bytep) "IDAT", part->stream, part->length);
    if (part->key)
        write_checksum(png, memory, part->key);
    if (part->tail)
        png_write_chunk(png, (png_const_bytep) "IEND", NULL, 0);
    return memory->written == memory->blob->length ? 0 : -EIO;
}

static int write_part(struct blob **out, const struct part *part)
{
    struct memory memory = {blob_new(part_length(part)), 0};
    int err = -ENOMEM;

    if (!memory.blob)
        return err;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, on_error, on_warning);
    if (!png)
        goto fail_png;
    png_infop info = png_create_info_struct(png);
    if (!info)
        goto fail_info;
    err = write_chunks(png, info, &memory, part);
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

int image_writer_tile(struct blob **out, struct image_writer *writer, enum pixel pixel,
                      const struct image_palette *palette, int size, const void *pixels,
                      const char *key)
{
    struct image image = describe(pixel, size, size, pixels);
    struct part part = {.head = &image, .key = key, .tail = true};

    if (pixel == PIXEL_PICTURE)
        use_palette(&image, writer);
    else if (pixel == PIXEL_INDEX8)
        set_palette(&image, palette);
    part.stream =
        deflate_stream(writer->deflate, writer->filtered, filter(writer, &image, PAETH_TYPE),
                       (unsigned)image.pixel_bytes, &part.length);
    return write_part(out, &part);
}

int image_writer_band_rows(enum pixel pixel, int width)
{
    assert(width >= 1 && width <= IMAGE_WIDTH_MAX);
    return IMAGE_BAND_MAX / (1 + width * (int)pixel_bytes(pixel));
}

int image_writer_head(struct blob **out, enum pixel pixel, const struct image_palette *palette,
                      int width, int height)
{
    struct image image = describe(pixel, width, height, NULL);
    const struct part part = {.head = &image, .stream = deflate_head, .length = DEFLATE_HEAD};
    if (pixel == PIXEL_INDEX8)
        set_palette(&image, palette);
    return write_part(out, &part);
}

int image_writer_band(struct blob **out, struct adler *sum, struct image_writer *writer,
                      enum pixel pixel, int width, int rows, const void *pixels)
{
    const struct image image = describe(pixel, width, rows, pixels);
    struct part part = {.head = NULL};

    assert(rows >= 1 && rows <= image_writer_band_rows(pixel, width));
    const size_t length = filter(writer, &image, SUB_TYPE);
    *sum = adler_of(writer->filtered, length);
    part.stream = deflate_part(writer->deflate, writer->filtered, length,
                               (unsigned)image.pixel_bytes, &part.length);
    return write_part(out, &part);
}

int image_writer_tail(struct blob **out, const struct adler *sum)
{
    uint8_t tail[DEFLATE_TAIL];
    const struct part part = {.stream = tail, .length = sizeof tail, .tail = true};
    deflate_tail(tail, sum);
    return write_part(out, &part);
}
