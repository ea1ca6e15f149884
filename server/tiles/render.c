#include "render.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "server/world/picture.h"

_Static_assert((int)RENDER_PIECE_MAX == (int)PICTURE_BAND_MAX, "a piece of a picture is a band");

enum { MAX_PIXEL_BYTES = 3 };

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    float heights[PICTURE_HEIGHTS_MAX];
    uint8_t pixels[LAYER_MAX_SIZE * LAYER_MAX_SIZE * MAX_PIXEL_BYTES];
};

int render_scratch_new(struct render_scratch **out)
{
    struct render_scratch *scratch = malloc(sizeof *scratch);
    if (!scratch)
        return -ENOMEM;
    int err = farlands_scratch_new(&scratch->scratch);
    if (err)
        goto fail_scratch;
    err = image_writer_new(&scratch->writer);
    if (err)
        goto fail_writer;
    *out = scratch;
    return 0;

fail_writer:
    farlands_scratch_free(scratch->scratch);
fail_scratch:
    free(scratch);
    return err;
}

void render_scratch_free(struct render_scratch *scratch)
{
    if (!scratch)
        return;
    image_writer_free(scratch->writer);
    farlands_scratch_free(scratch->scratch);
    free(scratch);
}

struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch)
{
    return scratch->scratch;
}

/* The heights of GRID, with the border that LAYER needs. */
static int make_heights(struct render_scratch *scratch, const struct world *world, int layer,
                        const struct farlands_grid *grid, struct heights *out)
{
    const struct tile tile = {.world = world, .layer = layer};
    const int reach = tile_reach(&tile, grid->step);
    struct farlands_grid bordered = *grid;
    bordered.x -= reach * grid->step;
    bordered.y -= reach * grid->step;
    bordered.width += 2 * reach;
    bordered.height += 2 * reach;
    const int stride = bordered.width;
    assert(stride * bordered.height <= PICTURE_HEIGHTS_MAX);
    int err = farlands_heights(world->terrain, scratch->scratch, &bordered, scratch->heights,
                               (size_t)stride);
    if (err)
        return err;
    *out = (struct heights){
        .first = scratch->heights + reach * stride + reach,
        .stride = stride,
        .size = grid->width,
        .rows = grid->height,
        .reach = reach,
        .spacing = (float)grid->step / FARLANDS_UNIT,
        .slope = farlands_terrain_slope(world->terrain, grid->step),
    };
    return 0;
}

/* Reverse the bytes of COUNT values of WIDTH bytes if this machine is big-endian. */
static void to_little_endian(uint8_t *value, size_t count, size_t width)
{
    if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
        return;
    for (; count > 0; count--, value += width)
        for (size_t i = 0; i < width / 2; i++) {
            const uint8_t byte = value[i];
            value[i] = value[width - 1 - i];
            value[width - 1 - i] = byte;
        }
}

static struct blob *raw_f32(const struct heights *heights)
{
    const size_t size = (size_t)heights->size, row = size * sizeof(float);
    struct blob *blob = blob_new(size * row);
    for (size_t j = 0; blob && j < size; j++)
        memcpy(blob->bytes + j * row, heights->first + (ptrdiff_t)j * heights->stride, row);
    if (blob)
        to_little_endian(blob->bytes, size * size, sizeof(float));
    return blob;
}

static struct blob *raw_r16(uint8_t *samples, size_t count)
{
    to_little_endian(samples, count, sizeof(uint16_t));
    return blob_copy(samples, count * sizeof(uint16_t));
}

int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_times *times)
{
    const struct layer *layer = &layers[tile->layer];
    struct farlands_grid grid;
    struct heights heights;
    struct blob *blob = NULL;
    char key[TILE_KEY_MAX];
    uint64_t start = uv_hrtime();
    int err = tile_grid(tile, &grid, NULL);
    if (!err)
        err = make_heights(scratch, tile->world, tile->layer, &grid, &heights);
    if (err)
        return err;
    uint64_t sampled = uv_hrtime();
    if (tile->format != FORMAT_F32)
        layer->paint(&heights, tile->world->colors, scratch->pixels);
    uint64_t painted = uv_hrtime();
    switch (tile->format) {
    case FORMAT_F32:
        blob = raw_f32(&heights);
        break;
    case FORMAT_R16:
        blob = raw_r16(scratch->pixels, (size_t)heights.size * (size_t)heights.size);
        break;
    default:
        err = image_writer_tile(&blob, scratch->writer, layer->pixel, heights.size, scratch->pixels,
                                tile_key(tile, key));
    }
    if (err)
        return err;
    if (times)
        *times = (struct render_times){sampled - start, painted - sampled, uv_hrtime() - painted};
    *out = blob;
    return blob ? 0 : -ENOMEM;
}

static float *floats_of(struct blob *blob)
{
    _Static_assert(offsetof(struct blob, bytes) % _Alignof(float) == 0, "floats are aligned");
    return (float *)(void *)blob->bytes;
}

/* The end of render_heights and render_density: BLOB holds floats unless ERR. */
static int give_floats(struct blob **out, struct blob *blob, int err)
{
    if (err) {
        blob_release(blob);
        return err;
    }
    to_little_endian(blob->bytes, blob->length / sizeof(float), sizeof(float));
    *out = blob;
    return 0;
}

int render_heights(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid)
{
    const size_t width = (size_t)grid->width;
    struct blob *blob = blob_new(width * (size_t)grid->height * sizeof(float));
    int err = blob
                  ? farlands_heights(world->terrain, scratch->scratch, grid, floats_of(blob), width)
                  : -ENOMEM;
    return give_floats(out, blob, err);
}

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box)
{
    const size_t count = (size_t)box->width * (size_t)box->height * (size_t)box->depth;
    struct blob *blob = blob_new(count * sizeof(float));
    int err =
        blob ? farlands_density(world->terrain, scratch->scratch, box, floats_of(blob)) : -ENOMEM;
    return give_floats(out, blob, err);
}

/* Put the samples of GRID, as uint16 over the world's range, into the scratch's pixels. */
static int sample(struct render_scratch *scratch, const struct world *world,
                  const struct farlands_grid *grid)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    assert(count <= RENDER_PIECE_MAX);
    int err = farlands_heights(world->terrain, scratch->scratch, grid, scratch->heights,
                               (size_t)grid->width);
    if (!err)
        height_samples(scratch->heights, count, world->colors, (uint16_t *)scratch->pixels);
    return err;
}

int render_samples(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid)
{
    int err = sample(scratch, world, grid);
    if (err)
        return err;
    *out = raw_r16(scratch->pixels, (size_t)grid->width * (size_t)grid->height);
    return *out ? 0 : -ENOMEM;
}

/* Paint GRID, a block of a band of WIDTH samples, into PIXELS, its first one. */
static int paint_block(struct render_scratch *scratch, const struct world *world, int layer,
                       const struct farlands_grid *grid, int width, uint8_t *pixels)
{
    const size_t bytes = pixel_bytes(layers[layer].pixel);
    struct heights block;
    int err = make_heights(scratch, world, layer, grid, &block);
    if (err)
        return err;
    /* Painters write packed rows of at most LAYER_MAX_SIZE pixels. */
    for (int j = 0; j < grid->height; j++)
        for (int i = 0; i < grid->width; i += LAYER_MAX_SIZE) {
            struct heights row = block;
            row.first += j * block.stride + i;
            row.size = grid->width - i < LAYER_MAX_SIZE ? grid->width - i : LAYER_MAX_SIZE;
            row.rows = 1;
            layers[layer].paint(&row, world->colors, pixels + ((size_t)j * width + i) * bytes);
        }
    return 0;
}

static int paint_band(struct render_scratch *scratch, const struct world *world, int layer,
                      const struct farlands_grid *grid)
{
    const struct tile tile = {.world = world, .layer = layer};
    const struct picture_block block =
        picture_block(grid->width, grid->height, tile_reach(&tile, grid->step));
    const size_t bytes = pixel_bytes(layers[layer].pixel);
    int err = 0;

    assert((int64_t)grid->width * grid->height <= PICTURE_BAND_MAX);
    for (int j = 0; j < grid->height && !err; j += block.height)
        for (int i = 0; i < grid->width && !err; i += block.width) {
            struct farlands_grid part = *grid;
            part.x += i * grid->step;
            part.y += j * grid->step;
            part.width = grid->width - i < block.width ? grid->width - i : block.width;
            part.height = grid->height - j < block.height ? grid->height - j : block.height;
            err = paint_block(scratch, world, layer, &part, grid->width,
                              scratch->pixels + ((size_t)j * grid->width + i) * bytes);
        }
    return err;
}

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct world *world, int layer, const struct farlands_grid *grid, int height)
{
    const enum pixel pixel = layers[layer].pixel;
    struct blob *head, *band;
    int err = paint_band(scratch, world, layer, grid);
    if (!err)
        err = image_writer_band(&band, sum, scratch->writer, pixel, grid->width, grid->height,
                                scratch->pixels);
    if (err)
        return err;
    if (height > 0) {
        err = image_writer_head(&head, pixel, grid->width, height);
        if (err) {
            blob_release(band);
            return err;
        }
        band = blob_join(head, band);
    }
    *out = band;
    return band ? 0 : -ENOMEM;
}

const void *render_scratch_pixels(const struct render_scratch *scratch)
{
    return scratch->pixels;
}
