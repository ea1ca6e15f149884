/*
 * Encoding a tile: time and bytes, and both as ratios to libpng's defaults on the same pixels in
 * the same run. One line per layer over zooms 4 to 14, the usual zooms of maps, then one per zoom.
 */
#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/png/image_writer.h"
#include "server/tiles/render.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_worlds.h"
#include "tests/worlds/fractal.h"

enum { PLACES = 6, REPEATS = 7 };

/* Times in microseconds. */
struct cost {
    double time, bytes, plain_time, plain_bytes;
};

static void add(struct cost *sum, const struct cost *more)
{
    sum->time += more->time;
    sum->bytes += more->bytes;
    sum->plain_time += more->plain_time;
    sum->plain_bytes += more->plain_bytes;
}

static void print(const char *name, int size, const char *where, const struct cost *sum, int tiles)
{
    printf("png/%s-%d%s  %.0f us  %.1f KiB  %.0fx %.2f\n", name, size, where, sum->time / tiles,
           sum->bytes / tiles / 1024, sum->plain_time / sum->time, sum->bytes / sum->plain_bytes);
    fflush(stdout);
}

static void count_bytes(png_structp png, png_bytep bytes, size_t length)
{
    (void)bytes;
    *(size_t *)png_get_io_ptr(png) += length;
}

static void flush(png_structp png)
{
    (void)png;
}

/* Encode with libpng's defaults. Returns the length of the file. */
static size_t write_plainly(enum pixel pixel, int size, const uint8_t *pixels)
{
    const size_t row = (size_t)size * pixel_bytes(pixel);
    size_t length = 0;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);

    png_set_write_fn(png, &length, count_bytes, flush);
    png_set_IHDR(png, info, (png_uint_32)size, (png_uint_32)size, pixel == PIXEL_GRAY16 ? 16 : 8,
                 pixel == PIXEL_RGB8 || pixel == PIXEL_PICTURE ? PNG_COLOR_TYPE_RGB
                                                               : PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (pixel == PIXEL_GRAY16)
        png_set_swap(png);
#endif
    for (int j = 0; j < size; j++)
        png_write_row(png, pixels + (size_t)j * row);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return length;
}

/* The minimum of REPEATS: other load on the machine can only add time. */
static int measure(struct cost *out, struct image_writer *writer, enum pixel pixel, int size,
                   const uint8_t *pixels)
{
    double quick[REPEATS];
    struct blob *blob;

    for (int i = 0; i < REPEATS; i++) {
        const uint64_t start = now();
        int err = image_writer_tile(&blob, writer, pixel, NULL, size, pixels, "");
        if (err)
            return err;
        quick[i] = (double)(now() - start) / 1e3;
        out->bytes = (double)blob->length;
        blob_release(blob);
    }
    out->time = quantile(quick, REPEATS, 0);
    out->plain_time = 1e30;
    for (int i = 0; i < 2; i++) {
        const uint64_t start = now();
        out->plain_bytes = (double)write_plainly(pixel, size, pixels);
        const double time = (double)(now() - start) / 1e3;
        out->plain_time = time < out->plain_time ? time : out->plain_time;
    }
    return 0;
}

static int bench_layer(const struct world *world, int layer, int scale,
                       struct render_scratch *scratch, struct image_writer *writer)
{
    static const int zooms[] = {-2, 2, 4, 6, 8, 10, 12, 14, 16, 18, 22};
    static struct cost costs[sizeof zooms / sizeof zooms[0]];
    struct cost sum = {0};
    int tiles = 0, size = 0;

    for (size_t z = 0; z < sizeof zooms / sizeof zooms[0]; z++) {
        costs[z] = (struct cost){0};
        for (int i = 0; i < PLACES; i++) {
            struct tile_address tile = {
                .world = world, .layer = layer, .scale = scale, .z = zooms[z]};
            struct cost cost;
            tile.x = (zooms[z] > 0 ? INT64_C(1) << (zooms[z] - 1) : 0) + i % 3;
            tile.y = (zooms[z] > 0 ? INT64_C(1) << (zooms[z] - 1) : 0) - i / 3;
            struct tile resolved;
            struct blob *blob;
            int err = tile_resolve(&resolved, &tile, NULL);
            if (!err)
                err = render_tile(&blob, scratch, &resolved, NULL, NULL);
            if (err)
                return err;
            blob_release(blob);
            size = tile_size(&tile);
            err = measure(&cost, writer, layers[layer].pixel, size, render_scratch_pixels(scratch));
            if (err)
                return err;
            add(&costs[z], &cost);
        }
        if (zooms[z] >= 4 && zooms[z] <= 14) {
            add(&sum, &costs[z]);
            tiles += PLACES;
        }
    }
    print(layers[layer].name, size, "", &sum, tiles);
    for (size_t z = 0; z < sizeof zooms / sizeof zooms[0]; z++) {
        char where[16];
        snprintf(where, sizeof where, "/z%d", zooms[z]);
        print(layers[layer].name, size, where, &costs[z], PLACES);
    }
    return 0;
}

int main(void)
{
    struct worlds *worlds = bench_worlds(FRACTAL_WORLD);
    struct render_scratch *scratch;
    struct image_writer *writer;
    int err = 0;

    if (!worlds || render_scratch_new(&scratch) || image_writer_new(&writer)) {
        fprintf(stderr, "bench_png: set-up failed\n");
        return 1;
    }
    for (int i = 0; layers[i].name && !err; i++)
        if (world_lists(&worlds->world[0], i))
            err = bench_layer(&worlds->world[0], i, 1, scratch, writer);
    if (err)
        fprintf(stderr, "bench_png: %s\n", strerror(-err));
    image_writer_free(writer);
    render_scratch_free(scratch);
    worlds_release(worlds);
    return err ? 1 : 0;
}
