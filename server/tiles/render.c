#include "render.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

struct farlands_scratch *render_scratch_scratch(struct render_scratch *scratch)
{
    return scratch->scratch;
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/*
 * How far apart slopes are measured: between neighbours, but never closer than
 * 1/8 of the terrain's finest wavelength, below which the ground is smooth and
 * float heights would show their rounding instead.
 */
static int slope_reach(const struct farlands_terrain *terrain, int64_t step)
{
    int reach = 1;
    while (reach < LAYER_MAX_REACH && 2 * reach * step < farlands_terrain_finest(terrain) / 8)
        reach *= 2;
    return reach;
}

/* The tile's heights, with the border that LAYER needs. */
static int make_heights(struct render_scratch *scratch, const struct tile *tile,
                        const struct layer *layer, struct heights *out)
{
    const struct farlands_terrain *terrain = tile->world->terrain;
    struct farlands_grid grid;
    int err = tile_grid(tile, &grid, NULL);
    if (err)
        return err;
    int reach = layer->slopes ? slope_reach(terrain, grid.step) : 0;
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

/* Floats become little-endian ones. */
static void order_floats(void *floats, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint32_t *word = floats; count > 0; word++, count--)
        *word = htole32(*word);
#else
    (void)floats, (void)count;
#endif
}

static void order_samples(uint16_t *samples, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < count; i++)
        samples[i] = htole16(samples[i]);
#else
    (void)samples, (void)count;
#endif
}

static struct blob *raw_f32(const struct heights *heights)
{
    size_t row = (size_t)heights->size * sizeof(float);
    struct blob *blob = blob_new((size_t)heights->size * row);
    for (int j = 0; blob && j < heights->size; j++) {
        uint8_t *out = blob->bytes + (size_t)j * row;
        memcpy(out, heights->first + j * heights->stride, row);
        order_floats(out, (size_t)heights->size);
    }
    return blob;
}

static struct blob *raw_r16(uint16_t *samples, size_t count)
{
    order_samples(samples, count);
    return blob_copy(samples, count * sizeof *samples);
}

int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_times *times)
{
    const struct layer *layer = &layers[tile->layer];
    struct heights heights;
    uint64_t start = now();
    int err = make_heights(scratch, tile, layer, &heights);
    if (err)
        return err;
    uint64_t sampled = now();
    if (tile->format != FORMAT_F32)
        layer->paint(&heights, tile->world->style, scratch->pixels);
    uint64_t painted = now();
    switch (tile->format) {
    case FORMAT_F32:
        *out = raw_f32(&heights);
        err = *out ? 0 : -ENOMEM;
        break;
    case FORMAT_R16:
        *out = raw_r16((uint16_t *)scratch->pixels, (size_t)heights.size * (size_t)heights.size);
        err = *out ? 0 : -ENOMEM;
        break;
    default:
        err = image_writer_tile(out, scratch->writer, layer->pixel, heights.size, scratch->pixels);
    }
    if (times)
        *times = (struct render_times){sampled - start, painted - sampled, now() - painted};
    return err;
}

/* An array in BLOB that floats can be put into at once. */
static float *floats_of(struct blob *blob)
{
    _Static_assert(offsetof(struct blob, bytes) % _Alignof(float) == 0, "floats are aligned");
    return (float *)(void *)blob->bytes;
}

int render_heights(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    struct blob *blob = blob_new(count * sizeof(float));
    if (!blob)
        return -ENOMEM;
    int err = farlands_heights(world->terrain, scratch->scratch, grid, floats_of(blob),
                               (size_t)grid->width);
    if (err) {
        blob_release(blob);
        return err;
    }
    order_floats(blob->bytes, count);
    *out = blob;
    return 0;
}

/* The samples of GRID on the easel, as pixels. */
static int sample(struct render_scratch *scratch, const struct world *world,
                  const struct farlands_grid *grid)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    assert(count <= RENDER_PIECE_MAX);
    int err = farlands_heights(world->terrain, scratch->scratch, grid, scratch->heights,
                               (size_t)grid->width);
    if (!err)
        height_samples(scratch->heights, count, world->style, (uint16_t *)scratch->pixels);
    return err;
}

int render_samples(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_grid *grid)
{
    int err = sample(scratch, world, grid);
    if (err)
        return err;
    *out = raw_r16((uint16_t *)scratch->pixels, (size_t)grid->width * (size_t)grid->height);
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

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box)
{
    const size_t count = (size_t)box->width * (size_t)box->height * (size_t)box->depth;
    struct blob *blob = blob_new(count * sizeof(float));
    if (!blob)
        return -ENOMEM;
    int err = farlands_density(world->terrain, scratch->scratch, box, floats_of(blob));
    if (err) {
        blob_release(blob);
        return err;
    }
    order_floats(blob->bytes, count);
    *out = blob;
    return 0;
}

const void *render_scratch_pixels(const struct render_scratch *scratch)
{
    return scratch->pixels;
}
