#include "render.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { BORDERED = LAYER_MAX_SIZE + 2 * LAYER_MAX_REACH, MAX_PIXEL_BYTES = 3 };

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    float heights[BORDERED * BORDERED];
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

/* The heights of TILE, with the border that its layer needs. */
static int make_heights(struct render_scratch *scratch, const struct tile *tile,
                        struct heights *out)
{
    const struct farlands_terrain *terrain = tile->world->terrain;
    struct farlands_grid grid;
    int err = tile_grid(tile, &grid, NULL);
    if (err)
        return err;
    int reach = tile_border(tile, grid.step);
    int size = grid.width, stride = size + 2 * reach;
    grid.x -= reach * grid.step;
    grid.y -= reach * grid.step;
    grid.width = grid.height = stride;
    err = farlands_heights(terrain, scratch->scratch, &grid, scratch->heights, (size_t)stride);
    if (err)
        return err;
    *out = (struct heights){
        .first = scratch->heights + reach * stride + reach,
        .stride = stride,
        .size = size,
        .reach = reach,
        .spacing = (float)grid.step / FARLANDS_UNIT,
        .slope = farlands_terrain_slope(terrain, grid.step),
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
    struct heights heights;
    struct blob *blob = NULL;
    char key[TILE_KEY_MAX];
    uint64_t start = uv_hrtime();
    int err = make_heights(scratch, tile, &heights);
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

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct world *world, const struct farlands_grid *grid, int height)
{
    struct blob *head, *band;
    int err = sample(scratch, world, grid);
    if (!err)
        err = image_writer_band(&band, sum, scratch->writer, PIXEL_GRAY16, grid->width,
                                grid->height, scratch->pixels);
    if (err)
        return err;
    if (height > 0) {
        err = image_writer_head(&head, PIXEL_GRAY16, grid->width, height);
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
