/* Pictures: evaluate the ground, paint it, encode the pixels. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/core/clock.h"
#include "server/tiles/render_scratch.h"
#include "server/world/worlds.h"

enum {
    /* In a large picture, a block's side includes the border that slopes need, unless that is wider
     * than this. */
    FAR_REACH = 8,
    FAR_PICTURE_SIDE = 2, /* a block's, if each sample takes milliseconds */
};

static void fill(float *out, size_t count, float value)
{
    for (size_t i = 0; i < count; i++)
        out[i] = value;
}

enum { MOST_FIELDS = 7 };

/* Fields to evaluate, and buffers for their values. */
struct wanted {
    int field[MOST_FIELDS], count;
    float *out[MOST_FIELDS];
};

static void want(struct wanted *wanted, int field, float *out)
{
    wanted->field[wanted->count] = field;
    wanted->out[wanted->count++] = out;
}

/* The field whose plants CONTENT's layer shades, or -1. */
static int canopy_of(const struct content *content)
{
    return content->climate && layers[content->layer].canopy ? content->climate->canopy : -1;
}

/* Evaluate GRID's heights, and the climate and water if CONTENT's layer needs them. */
static int make_ground(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid)
{
    const struct climate *climate = content->climate;
    const struct world_water *water = content->water;
    const size_t samples = (size_t)grid->width * (size_t)grid->height;
    struct wanted wanted = {.count = 0};

    if (content->surface)
        return render_field(scratch, content, grid, scratch->heights, (size_t)grid->width);
    want(&wanted, content->field, scratch->heights);
    if (climate && climate->temperature >= 0)
        want(&wanted, climate->temperature, scratch->temperature);
    else if (climate)
        fill(scratch->temperature, samples, 15);
    if (climate && climate->humidity >= 0)
        want(&wanted, climate->humidity, scratch->humidity);
    else if (climate)
        fill(scratch->humidity, samples, 0.5f);
    if (canopy_of(content) >= 0)
        want(&wanted, canopy_of(content), scratch->canopy);
    if (water) {
        want(&wanted, water->water, scratch->water);
        want(&wanted, water->river, scratch->river);
        want(&wanted, water->bank, scratch->bank);
    }
    return terrain_fields(scratch->terrain, scratch->scratch, grid, wanted.field, wanted.count,
                          wanted.out, (size_t)grid->width);
}

/* Evaluate GRID with the border of REACH samples that CONTENT's layer needs. */
static int make_heights(struct render_scratch *scratch, const struct content *content,
                        const struct farlands_grid *grid, int reach, struct heights *out)
{
    const struct world *world = content->world;
    struct farlands_grid bordered = *grid;
    bordered.x -= reach * grid->step;
    bordered.y -= reach * grid->step;
    bordered.width += 2 * reach;
    bordered.height += 2 * reach;
    const int stride = bordered.width;
    assert(stride * bordered.height <= HEIGHTS_MAX);
    int err = make_ground(scratch, content, &bordered);
    if (err)
        return err;
    const ptrdiff_t first = reach * stride + reach;
    const bool water = content->water;
    *out = (struct heights){
        .first = scratch->heights + first,
        .temperature = scratch->temperature + first,
        .humidity = scratch->humidity + first,
        .canopy = canopy_of(content) >= 0 ? scratch->canopy + first : NULL,
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

/* Fill OUT with the palette for LAYER's pictures of WORLD. Returns OUT, or NULL if LAYER's pixels
 * are not indices. */
static const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                              const struct layer *layer)
{
    const struct climate *climate = world_climate(world);

    if (!layer->palette)
        return NULL;
    *out = (struct image_palette){.colors = 1};
    layer->palette(out, world->colors, climate ? climate->table : NULL);
    return out;
}

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

/* Cut a picture of GRID into blocks with a border of REACH samples. */
static struct blocks cut_picture(const struct world *world, const struct farlands_grid *grid,
                                 int reach)
{
    const bool small = grid->width <= BLOCK_SIDE && grid->height <= BLOCK_SIDE;

    if (render_is_far(world, grid->step) && !grid->band_limit)
        return blocks_cut(grid->width, grid->height, FAR_PICTURE_SIDE);
    return blocks_cut(grid->width, grid->height,
                      small || reach > FAR_REACH ? BLOCK_SIDE : BLOCK_SIDE - 2 * reach);
}

/* Paint BLOCK of GRID's picture into the scratch's pixels. */
static int paint_block(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid, int reach, const struct block *block,
                       struct render_times *times)
{
    const struct layer *layer = &layers[content->layer];
    const size_t bytes = pixel_bytes(layer->pixel);
    const struct farlands_grid part = block_grid(block, grid);
    struct heights rows;
    const uint64_t start = clock_ns(NULL);
    int err = make_heights(scratch, content, &part, reach, &rows);
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
        if (rows.canopy)
            rows.canopy += rows.stride;
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

/* A picture's render stops or fails with ERR: keep SIZE bytes of pixels for later. */
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

/* Paint GRID's picture into the scratch's pixels. */
static int paint(struct render_scratch *scratch, const struct content *content,
                 const struct farlands_grid *grid, struct render_progress *progress,
                 struct render_times *times)
{
    const struct world *world = content->world;
    const int reach = world_reach(world, content->layer, grid->step);
    const struct blocks blocks = cut_picture(world, grid, reach);
    const size_t row = (size_t)grid->width * pixel_bytes(layers[content->layer].pixel);
    struct block block;
    int err = content->climate ? world_color_climate(world) : 0;

    if (!err)
        err = world_terrain_hold(world, &scratch->terrain);
    if (err)
        return err;
    assert((size_t)grid->height * row <= sizeof scratch->pixels);
    if (progress && progress->kept)
        memcpy(scratch->pixels, progress->kept->bytes, progress->kept->length);
    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = paint_block(scratch, content, grid, reach, &block, times);
    world_terrain_release(world, scratch->terrain);
    return err ? keep_pixels(progress, scratch, (size_t)grid->height * row, err) : 0;
}

int render_picture(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                   struct render_progress *progress, struct render_times *times)
{
    int err = paint(scratch, &tile->content, &tile->grid, progress, times);
    if (err)
        return err;
    const uint64_t painted = clock_ns(NULL);
    err = encode(out, scratch, tile);
    times->encoding = clock_ns(NULL) - painted;
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
