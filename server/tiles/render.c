#include "render.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "noise/terrain/terrain.h"
#include "server/core/clock.h"
#include "server/tiles/palette.h"
#include "server/world/worlds.h"

enum {
    MAX_PIXEL_BYTES = 3,
    /* A block's side. That of large pictures includes the samples around it that slopes need,
     * unless they reach far: the library evaluates so many together. */
    BLOCK_SIDE = 256,
    FAR_REACH = 8,
    BLOCK_MAX = BLOCK_SIDE * BLOCK_SIDE,
    VOLUME_BLOCK_MAX = 1 << 14, /* samples */
    SURFACE_BLOCK_SIDE = 32,
    FAR_PICTURE_SIDE = 2, /* where each sample takes milliseconds */
    HEIGHTS_SIDE = BLOCK_SIDE + 2 * LAYER_MAX_REACH,
    HEIGHTS_MAX = HEIGHTS_SIDE * HEIGHTS_SIDE,
};

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    struct webp_writer *webp;
    float heights[HEIGHTS_MAX];
    float temperature[HEIGHTS_MAX], humidity[HEIGHTS_MAX];
    float water[HEIGHTS_MAX], river[HEIGHTS_MAX], bank[HEIGHTS_MAX];
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
    err = webp_writer_new(&scratch->webp);
    if (err)
        goto fail_webp;
    *out = scratch;
    return 0;

fail_webp:
    image_writer_free(scratch->writer);
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
    webp_writer_free(scratch->webp);
    image_writer_free(scratch->writer);
    farlands_scratch_free(scratch->scratch);
    free(scratch);
}

struct farlands_scratch *render_scratch_noise(struct render_scratch *scratch)
{
    return scratch->scratch;
}

/* The field of CONTENT over GRID, into OUT, rows of STRIDE floats. */
static int make_values(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid, float *out, size_t stride)
{
    const struct world *world = content->world;
    const int field = world_field_over(world, content->field, grid);
    const struct farlands_terrain *terrain;
    struct farlands_grid exact = *grid;
    int err = world_terrain_hold(world, &terrain);

    if (err)
        return err;
    exact.band_limit = false;
    if (world_is_surface(world, field))
        err = terrain_surfaces(terrain, scratch->scratch, &exact, out, stride);
    else
        err = terrain_fields(terrain, scratch->scratch, grid, &field, 1, &out, stride);
    world_terrain_release(world, terrain);
    return err;
}

static void fill(float *out, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value;
}

enum { MOST_FIELDS = 6 };

/* Fields to evaluate, and where their values go. */
struct wanted {
    int field[MOST_FIELDS], count;
    float *out[MOST_FIELDS];
};

static void want(struct wanted *wanted, int field, float *out)
{
    wanted->field[wanted->count] = field;
    wanted->out[wanted->count++] = out;
}

/* The water that CONTENT's layer shows, or NULL. */
static const struct world_water *water_of(const struct content *content)
{
    return layers[content->layer].water ? world_water(content->world) : NULL;
}

/* The heights of GRID, and the climate and the water if CONTENT's layer needs them. */
static int make_ground(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid)
{
    const struct climate *climate =
        layers[content->layer].climate ? world_climate(content->world) : NULL;
    const struct world_water *water = water_of(content);
    const size_t samples = (size_t)grid->width * (size_t)grid->height;
    struct wanted wanted = {.count = 0};

    if (world_is_surface(content->world, content->field))
        return make_values(scratch, content, grid, scratch->heights, (size_t)grid->width);
    want(&wanted, content->field, scratch->heights);
    if (climate && climate->temperature >= 0)
        want(&wanted, climate->temperature, scratch->temperature);
    else if (climate)
        fill(scratch->temperature, samples, 15);
    if (climate && climate->humidity >= 0)
        want(&wanted, climate->humidity, scratch->humidity);
    else if (climate)
        fill(scratch->humidity, samples, 0.5f);
    if (water) {
        want(&wanted, water->water, scratch->water);
        want(&wanted, water->river, scratch->river);
        want(&wanted, water->bank, scratch->bank);
    }
    const struct farlands_terrain *terrain;
    int err = world_terrain_hold(content->world, &terrain);
    if (err)
        return err;
    err = terrain_fields(terrain, scratch->scratch, grid, wanted.field, wanted.count, wanted.out,
                         (size_t)grid->width);
    world_terrain_release(content->world, terrain);
    return err;
}

/* The heights of GRID, with the border that CONTENT's layer needs. */
static int make_heights(struct render_scratch *scratch, const struct content *content,
                        const struct farlands_grid *grid, struct heights *out)
{
    const struct world *world = content->world;
    const int reach = world_reach(world, content->layer, grid->step);
    struct farlands_grid bordered = *grid;
    bordered.x -= reach * grid->step;
    bordered.y -= reach * grid->step;
    bordered.width += 2 * reach;
    bordered.height += 2 * reach;
    const int stride = bordered.width;
    assert(stride * bordered.height <= HEIGHTS_MAX);
    int err = layers[content->layer].climate ? world_color_climate(world) : 0;
    if (!err)
        err = make_ground(scratch, content, &bordered);
    if (err)
        return err;
    const ptrdiff_t first = reach * stride + reach;
    const bool water = water_of(content);
    *out = (struct heights){
        .first = scratch->heights + first,
        .temperature = scratch->temperature + first,
        .humidity = scratch->humidity + first,
        .water = water ? scratch->water + first : NULL,
        .river = water ? scratch->river + first : NULL,
        .bank = water ? scratch->bank + first : NULL,
        .rivers = water ? world_river_scale(world, grid->step) : (struct river_scale){0},
        .stride = stride,
        .size = grid->width,
        .rows = grid->height,
        .reach = reach,
        .spacing = (float)grid->step / FARLANDS_UNIT,
        .exaggeration = world_exaggeration(world, grid->step),
        .range = content->range,
    };
    return 0;
}

/* --- Numbers --- */

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

static float *floats_of(struct blob *blob)
{
    _Static_assert(offsetof(struct blob, bytes) % _Alignof(float) == 0, "floats are aligned");
    return (float *)(void *)blob->bytes;
}

/* True if each exact sample takes milliseconds, because it has to find rivers of its own. */
static bool is_far(const struct world *world, int64_t step)
{
    return step > TERRAIN_FAR && terrain_has_drain(world->base_terrain);
}

/* The side of a block of FIELD's values over GRID. */
static int side_of_values(const struct world *world, int field, const struct farlands_grid *grid)
{
    field = world_field_over(world, field, grid);
    const bool surface = world_is_surface(world, field);

    if (is_far(world, grid->step) && (surface || !grid->band_limit))
        return 1;
    return surface ? SURFACE_BLOCK_SIDE : BLOCK_SIDE;
}

/* BLOCK of the values over GRID, as FORMAT, into BLOB. */
static int make_block(struct blob *blob, struct render_scratch *scratch,
                      const struct content *content, enum format format,
                      const struct farlands_grid *grid, const struct block *block)
{
    const size_t width = (size_t)block->width, stride = (size_t)grid->width;
    const size_t size = format_sample_bytes(format);
    const struct farlands_grid part = block_grid(block, grid);
    const size_t first = (size_t)block->y * stride + (size_t)block->x;

    if (format == FORMAT_F32)
        return make_values(scratch, content, &part, floats_of(blob) + first, stride);
    int err = make_values(scratch, content, &part, scratch->heights, width);
    for (size_t j = 0; j < (size_t)block->height && !err; j++) {
        const float *row = scratch->heights + j * width;
        uint8_t *out = blob->bytes + (first + j * stride) * size;
        if (format == FORMAT_R16)
            samples_16(row, width, content->range, (uint16_t *)(void *)out);
        else
            samples_8(row, width, content->range, out);
    }
    return err;
}

/* BLOB is whole, and *OUT; or the render stops, or fails, and PROGRESS keeps it. */
static int end_numbers(struct blob **out, struct blob *blob, int err,
                       struct render_progress *progress)
{
    if (err && progress)
        progress->kept = blob;
    else if (err)
        blob_release(blob);
    else
        *out = blob;
    return err;
}

int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid,
                  struct render_progress *progress)
{
    const size_t count = (size_t)grid->width * (size_t)grid->height;
    const size_t size = format_sample_bytes(format);
    const struct blocks blocks =
        blocks_cut(grid->width, grid->height, side_of_values(content->world, content->field, grid));
    struct blob *blob = render_progress_take(progress, count * size);
    struct block block;
    int err = blob ? 0 : -ENOMEM;

    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = make_block(blob, scratch, content, format, grid, &block);
    if (!err)
        to_little_endian(blob->bytes, count, size);
    return end_numbers(out, blob, err, progress);
}

/* BLOCK of columns of BOX into OUT, which has all of them. */
static int make_columns(float *out, struct render_scratch *scratch, const struct world *world,
                        const struct farlands_box *box, const struct block *block)
{
    struct farlands_box part = *box;
    const size_t row = (size_t)block->width;

    part.x += block->x * box->step;
    part.y += block->y * box->step;
    part.width = block->width;
    part.height = block->height;
    const struct farlands_terrain *terrain;
    int err = world_terrain_hold(world, &terrain);
    if (err)
        return err;
    err = terrain_density(terrain, scratch->scratch, &part, scratch->heights);
    world_terrain_release(world, terrain);
    const float *from = scratch->heights;
    for (int k = 0; k < box->depth && !err; k++)
        for (int j = 0; j < block->height; j++, from += row)
            memcpy(out +
                       ((size_t)k * (size_t)box->height + (size_t)(block->y + j)) *
                           (size_t)box->width +
                       block->x,
                   from, row * sizeof *out);
    return err;
}

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box, struct render_progress *progress)
{
    const size_t count = (size_t)box->width * (size_t)box->height * (size_t)box->depth;
    const int columns = is_far(world, box->step) ? 1 : VOLUME_BLOCK_MAX / box->depth;
    const int side = columns > 1 ? (int)fmin(sqrt(columns), BLOCK_SIDE) : 1;
    const struct blocks blocks = blocks_cut(box->width, box->height, side);
    struct blob *blob = render_progress_take(progress, count * sizeof(float));
    struct block block;
    int err = blob ? 0 : -ENOMEM;

    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = make_columns(floats_of(blob), scratch, world, box, &block);
    if (!err)
        to_little_endian(blob->bytes, count, sizeof(float));
    return end_numbers(out, blob, err, progress);
}

/* --- Pictures --- */

/* Encode the scratch's pixels as TILE. */
static int encode(struct blob **out, struct render_scratch *scratch, const struct tile *tile)
{
    const struct layer *layer = &layers[tile->content.layer];
    const struct webp_config *webp = &tile->content.world->webp;
    const int size = tile->grid.width;
    struct image_palette palette;

    if (tile->address.format == FORMAT_WEBP)
        return webp_writer_tile(out, scratch->webp, layer->pixel, size, scratch->pixels,
                                tile->address.scale == 2 ? webp->quality_2x : webp->quality,
                                webp->method, tile->key);
    return image_writer_tile(out, scratch->writer, layer->pixel,
                             palette_of(&palette, tile->content.world, layer), size,
                             scratch->pixels, tile->key);
}

/* The blocks of a picture of GRID. */
static struct blocks cut_picture(const struct content *content, const struct farlands_grid *grid)
{
    const int reach = world_reach(content->world, content->layer, grid->step);
    const bool small = grid->width <= BLOCK_SIDE && grid->height <= BLOCK_SIDE;

    if (is_far(content->world, grid->step) && !grid->band_limit)
        return blocks_cut(grid->width, grid->height, FAR_PICTURE_SIDE);
    return blocks_cut(grid->width, grid->height,
                      small || reach > FAR_REACH ? BLOCK_SIDE : BLOCK_SIDE - 2 * reach);
}

/* BLOCK of the picture of GRID into the scratch's pixels. */
static int paint_block(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid, const struct block *block,
                       struct render_times *times)
{
    const struct layer *layer = &layers[content->layer];
    const size_t bytes = pixel_bytes(layer->pixel);
    const struct farlands_grid part = block_grid(block, grid);
    struct heights rows;
    const uint64_t start = clock_ns(NULL);
    int err = make_heights(scratch, content, &part, &rows);
    if (err)
        return err;
    const uint64_t sampled = clock_ns(NULL);
    uint8_t *pixel = scratch->pixels + ((size_t)block->y * (size_t)grid->width + block->x) * bytes;
    /* Painters write packed rows. */
    const bool packed = block->width == grid->width;
    rows.rows = packed ? block->height : 1;
    for (int j = 0; j < block->height; j += rows.rows) {
        layer->paint(&rows, content->world->colors, pixel);
        pixel += (size_t)grid->width * bytes;
        rows.first += rows.stride;
        rows.temperature += rows.stride;
        rows.humidity += rows.stride;
        if (rows.water) {
            rows.water += rows.stride;
            rows.river += rows.stride;
            rows.bank += rows.stride;
        }
    }
    times->noise += sampled - start;
    times->layer += clock_ns(NULL) - sampled;
    return 0;
}

/* The render of a picture stops or fails with ERR: keep its SIZE bytes of pixels for later. */
static int keep_pixels(struct render_progress *progress, const struct render_scratch *scratch,
                       size_t size, int err)
{
    if (!progress)
        return err;
    if (!progress->kept)
        progress->kept = blob_new(size);
    if (!progress->kept)
        return -ENOMEM;
    memcpy(progress->kept->bytes, scratch->pixels, size);
    return err;
}

/* The picture of GRID into the scratch's pixels. */
static int paint(struct render_scratch *scratch, const struct content *content,
                 const struct farlands_grid *grid, struct render_progress *progress,
                 struct render_times *times)
{
    const struct blocks blocks = cut_picture(content, grid);
    const size_t row = (size_t)grid->width * pixel_bytes(layers[content->layer].pixel);
    struct block block;
    int err = 0;

    assert((size_t)grid->height * row <= sizeof scratch->pixels);
    if (progress && progress->kept)
        memcpy(scratch->pixels, progress->kept->bytes, progress->kept->length);
    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = paint_block(scratch, content, grid, &block, times);
    return err ? keep_pixels(progress, scratch, (size_t)grid->height * row, err) : 0;
}

static int render_picture(struct blob **out, struct render_scratch *scratch,
                          const struct tile *tile, struct render_progress *progress,
                          struct render_times *times)
{
    int err = paint(scratch, &tile->content, &tile->grid, progress, times);
    if (err)
        return err;
    const uint64_t painted = clock_ns(NULL);
    err = encode(out, scratch, tile);
    times->encoding = clock_ns(NULL) - painted;
    return err;
}

int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_progress *progress, struct render_times *times)
{
    struct render_times unused;
    if (!times)
        times = &unused;
    *times = (struct render_times){.noise = 0};
    if (format_is_picture(tile->address.format))
        return render_picture(out, scratch, tile, progress, times);
    const uint64_t start = clock_ns(NULL);
    const int err =
        render_values(out, scratch, &tile->content, tile->address.format, &tile->grid, progress);
    times->noise = clock_ns(NULL) - start;
    return err;
}

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height,
                struct render_progress *progress)
{
    const struct layer *layer = &layers[content->layer];
    const enum pixel pixel = layer->pixel;
    struct image_palette palette;
    struct render_times unused = {.noise = 0};
    struct blob *head, *band;
    int err = paint(scratch, content, grid, progress, &unused);
    if (!err)
        err = image_writer_band(&band, sum, scratch->writer, pixel, grid->width, grid->height,
                                scratch->pixels);
    if (err)
        return err;
    if (height > 0) {
        err = image_writer_head(&head, pixel, palette_of(&palette, content->world, layer),
                                grid->width, height);
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
