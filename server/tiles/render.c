#include "render.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "noise/terrain.h"
#include "server/core/clock.h"
#include "server/layers/inland_water.h"
#include "server/world/picture.h"

_Static_assert((int)RENDER_PIECE_MAX == (int)PICTURE_BAND_MAX, "a piece of a picture is a band");

enum { MAX_PIXEL_BYTES = 3 };

struct render_scratch {
    struct farlands_scratch *scratch;
    struct image_writer *writer;
    struct webp_writer *webp;
    float heights[PICTURE_HEIGHTS_MAX];
    float temperature[PICTURE_HEIGHTS_MAX], humidity[PICTURE_HEIGHTS_MAX];
    float water[PICTURE_HEIGHTS_MAX], river[PICTURE_HEIGHTS_MAX], bank[PICTURE_HEIGHTS_MAX];
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
    struct farlands_grid exact = *grid;

    exact.band_limit = false;
    if (world_is_surface(world, field))
        return terrain_surfaces(world->terrain, scratch->scratch, &exact, out, stride);
    return terrain_fields(world->terrain, scratch->scratch, grid, &field, 1, &out, stride);
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
    return terrain_fields(content->world->terrain, scratch->scratch, grid, wanted.field,
                          wanted.count, wanted.out, (size_t)grid->width);
}

/* The heights of GRID, with the border that CONTENT's layer needs. */
static int make_heights(struct render_scratch *scratch, const struct content *content,
                        const struct farlands_grid *grid, struct heights *out)
{
    const struct world *world = content->world;
    const struct tile tile = {.world = world, .layer = content->layer};
    const int reach = tile_reach(&tile, grid->step);
    struct farlands_grid bordered = *grid;
    bordered.x -= reach * grid->step;
    bordered.y -= reach * grid->step;
    bordered.width += 2 * reach;
    bordered.height += 2 * reach;
    const int stride = bordered.width;
    assert(stride * bordered.height <= PICTURE_HEIGHTS_MAX);
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

int render_values(struct blob **out, struct render_scratch *scratch, const struct content *content,
                  enum format format, const struct farlands_grid *grid)
{
    const size_t width = (size_t)grid->width, count = width * (size_t)grid->height;
    const size_t size = format_sample_bytes(format);
    struct blob *blob = blob_new(count * size);
    if (!blob)
        return -ENOMEM;
    assert(format == FORMAT_F32 || count <= PICTURE_HEIGHTS_MAX);
    float *values = format == FORMAT_F32 ? floats_of(blob) : scratch->heights;
    int err = make_values(scratch, content, grid, values, width);
    if (err) {
        blob_release(blob);
        return err;
    }
    if (format == FORMAT_R16)
        samples_16(values, count, content->range, (uint16_t *)(void *)blob->bytes);
    else if (format == FORMAT_U8)
        samples_8(values, count, content->range, blob->bytes);
    to_little_endian(blob->bytes, count, size);
    *out = blob;
    return 0;
}

int render_density(struct blob **out, struct render_scratch *scratch, const struct world *world,
                   const struct farlands_box *box)
{
    const size_t count = (size_t)box->width * (size_t)box->height * (size_t)box->depth;
    struct blob *blob = blob_new(count * sizeof(float));
    int err =
        blob ? terrain_density(world->terrain, scratch->scratch, box, floats_of(blob)) : -ENOMEM;
    if (err) {
        blob_release(blob);
        return err;
    }
    to_little_endian(blob->bytes, count, sizeof(float));
    *out = blob;
    return 0;
}

/* The ids of WORLD's biomes; those without a biome are black. */
static void fill_biomes(struct image_palette *out, const struct world *world)
{
    const struct climate *climate = world_climate(world);

    for (int i = 0; climate && i < climate->table->rows.rows; i++) {
        const int id = climate->table->rows.row[i].id;
        memcpy(out->color[id], climate->table->look[i].color, 3);
        out->colors = id < out->colors ? out->colors : id + 1;
    }
}

static void fill_water(struct image_palette *out, const struct world *world)
{
    out->colors = WATER_INDICES;
    out->is_clear = true;
    for (int i = 0; i < WATER_INDICES; i++) {
        const uint32_t color = water_color(world->colors, i);
        for (int c = 0; c < 3; c++)
            out->color[i][c] = color >> 8 * c & 255;
        out->alpha[i] = color >> 24;
    }
}

/* Make OUT the palette of LAYER's pictures of WORLD. Returns it; NULL if its pixels are no indices.
 */
static const struct image_palette *palette_of(struct image_palette *out, const struct world *world,
                                              const struct layer *layer)
{
    if (layer->pixel != PIXEL_INDEX8)
        return NULL;
    *out = (struct image_palette){.colors = 1};
    (layer->rivers ? fill_water : fill_biomes)(out, world);
    return out;
}

/* Encode SIZE rows of SIZE pixels as TILE. */
static int encode(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                  int size)
{
    const struct layer *layer = &layers[tile->layer];
    const struct webp_config *webp = &tile->world->webp;
    struct image_palette palette;
    char key[TILE_KEY_MAX];

    tile_key(tile, key);
    if (tile->format == FORMAT_WEBP)
        return webp_writer_tile(out, scratch->webp, layer->pixel, size, scratch->pixels,
                                tile->scale == 2 ? webp->quality_2x : webp->quality, webp->method,
                                key);
    return image_writer_tile(out, scratch->writer, layer->pixel,
                             palette_of(&palette, tile->world, layer), size, scratch->pixels, key);
}

/* TILE as a picture of GRID. */
static int render_picture(struct blob **out, struct render_scratch *scratch,
                          const struct tile *tile, const struct content *content,
                          const struct farlands_grid *grid, struct render_times *times)
{
    const struct layer *layer = &layers[tile->layer];
    struct heights heights;
    const uint64_t start = clock_ns(NULL);
    int err = make_heights(scratch, content, grid, &heights);
    if (err)
        return err;
    const uint64_t sampled = clock_ns(NULL);
    layer->paint(&heights, tile->world->colors, scratch->pixels);
    const uint64_t painted = clock_ns(NULL);
    err = encode(out, scratch, tile, heights.size);
    if (times)
        *times =
            (struct render_times){sampled - start, painted - sampled, clock_ns(NULL) - painted};
    return err;
}

int render_tile(struct blob **out, struct render_scratch *scratch, const struct tile *tile,
                struct render_times *times)
{
    const struct content content = tile_content(tile);
    struct farlands_grid grid;
    int err = tile_grid(tile, &grid, NULL);
    if (err)
        return err;
    if (format_is_picture(tile->format))
        return render_picture(out, scratch, tile, &content, &grid, times);
    const uint64_t start = clock_ns(NULL);
    err = render_values(out, scratch, &content, tile->format, &grid);
    if (times)
        *times = (struct render_times){.noise = clock_ns(NULL) - start};
    return err;
}

/* Paint GRID, a block of a band of WIDTH samples, into PIXELS, its first one. */
static int paint_block(struct render_scratch *scratch, const struct content *content,
                       const struct farlands_grid *grid, int width, uint8_t *pixels)
{
    const struct layer *layer = &layers[content->layer];
    const size_t bytes = pixel_bytes(layer->pixel);
    struct heights block;
    int err = make_heights(scratch, content, grid, &block);
    if (err)
        return err;
    /* Painters write packed rows of at most LAYER_MAX_SIZE pixels. */
    for (int j = 0; j < grid->height; j++)
        for (int i = 0; i < grid->width; i += LAYER_MAX_SIZE) {
            struct heights row = block;
            const ptrdiff_t at = j * block.stride + i;
            row.first += at;
            row.temperature += at;
            row.humidity += at;
            if (row.water) {
                row.water += at;
                row.river += at;
                row.bank += at;
            }
            row.size = grid->width - i < LAYER_MAX_SIZE ? grid->width - i : LAYER_MAX_SIZE;
            row.rows = 1;
            layer->paint(&row, content->world->colors, pixels + ((size_t)j * width + i) * bytes);
        }
    return 0;
}

static int paint_band(struct render_scratch *scratch, const struct content *content,
                      const struct farlands_grid *grid)
{
    const struct tile tile = {.world = content->world, .layer = content->layer};
    const struct picture_block block =
        picture_block(grid->width, grid->height, tile_reach(&tile, grid->step));
    const size_t bytes = pixel_bytes(layers[content->layer].pixel);
    int err = 0;

    assert((int64_t)grid->width * grid->height <= PICTURE_BAND_MAX);
    for (int j = 0; j < grid->height && !err; j += block.height)
        for (int i = 0; i < grid->width && !err; i += block.width) {
            struct farlands_grid part = *grid;
            part.x += i * grid->step;
            part.y += j * grid->step;
            part.width = grid->width - i < block.width ? grid->width - i : block.width;
            part.height = grid->height - j < block.height ? grid->height - j : block.height;
            err = paint_block(scratch, content, &part, grid->width,
                              scratch->pixels + ((size_t)j * grid->width + i) * bytes);
        }
    return err;
}

int render_band(struct blob **out, struct adler *sum, struct render_scratch *scratch,
                const struct content *content, const struct farlands_grid *grid, int height)
{
    const struct layer *layer = &layers[content->layer];
    const enum pixel pixel = layer->pixel;
    struct image_palette palette;
    struct blob *head, *band;
    int err = paint_band(scratch, content, grid);
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
