#include "render.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/png_writer.h"

enum { BORDERED = LAYER_MAX_SIZE + 2 * LAYER_MAX_REACH, MAX_PIXEL_BYTES = 3 };

struct easel {
    struct farlands_scratch *scratch;
    struct png_writer *writer;
    float heights[BORDERED * BORDERED];
    uint8_t pixels[LAYER_MAX_SIZE * LAYER_MAX_SIZE * MAX_PIXEL_BYTES];
};

int easel_new(struct easel **out)
{
    struct easel *easel = malloc(sizeof *easel);
    if (!easel)
        return -ENOMEM;
    int err = farlands_scratch_new(&easel->scratch);
    if (err)
        goto fail_scratch;
    err = png_writer_new(&easel->writer);
    if (err)
        goto fail_writer;
    *out = easel;
    return 0;

fail_writer:
    farlands_scratch_free(easel->scratch);
fail_scratch:
    free(easel);
    return err;
}

void easel_free(struct easel *easel)
{
    if (!easel)
        return;
    png_writer_free(easel->writer);
    farlands_scratch_free(easel->scratch);
    free(easel);
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
static int make_heights(struct easel *easel, const struct tile *tile, const struct layer *layer,
                        struct heights *out)
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
    err = farlands_heights(terrain, easel->scratch, &grid, easel->heights, (size_t)stride);
    if (err)
        return err;
    *out = (struct heights){
        .first = easel->heights + reach * stride + reach,
        .stride = stride,
        .size = size,
        .reach = reach,
        .spacing = (float)grid.step / FARLANDS_UNIT,
        .slope = farlands_terrain_slope(terrain, grid.step),
    };
    return 0;
}

static struct blob *raw_f32(const struct heights *heights)
{
    size_t row = (size_t)heights->size * sizeof(float);
    struct blob *blob = blob_new((size_t)heights->size * row);
    for (int j = 0; blob && j < heights->size; j++) {
        uint8_t *out = blob->bytes + (size_t)j * row;
        memcpy(out, heights->first + j * heights->stride, row);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        for (uint32_t *word = (uint32_t *)out; word < (uint32_t *)(out + row); word++)
            *word = htole32(*word);
#endif
    }
    return blob;
}

static struct blob *raw_r16(uint16_t *samples, size_t count)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (size_t i = 0; i < count; i++)
        samples[i] = htole16(samples[i]);
#endif
    return blob_copy(samples, count * sizeof *samples);
}

int render_tile(struct blob **out, struct easel *easel, const struct tile *tile,
                struct render_times *times)
{
    const struct layer *layer = &layers[tile->layer];
    struct heights heights;
    uint64_t start = now();
    int err = make_heights(easel, tile, layer, &heights);
    if (err)
        return err;
    uint64_t sampled = now();
    if (tile->format != FORMAT_F32)
        layer->paint(&heights, tile->world->style, easel->pixels);
    uint64_t painted = now();
    switch (tile->format) {
    case FORMAT_F32:
        *out = raw_f32(&heights);
        err = *out ? 0 : -ENOMEM;
        break;
    case FORMAT_R16:
        *out = raw_r16((uint16_t *)easel->pixels, (size_t)heights.size * (size_t)heights.size);
        err = *out ? 0 : -ENOMEM;
        break;
    default:
        err = png_write(out, easel->writer, layer->pixel, heights.size, easel->pixels);
    }
    if (times)
        *times = (struct render_times){sampled - start, painted - sampled, now() - painted};
    return err;
}

const void *easel_pixels(const struct easel *easel)
{
    return easel->pixels;
}
