/* Rasters of numbers: field values and densities. */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/tiles/render_scratch.h"
#include "server/world/worlds.h"

enum {
    VOLUME_BLOCK_MAX = 1 << 14, /* samples */
    SURFACE_BLOCK_SIDE = 32,
};

/* Whether CONTENT's samples over GRID are those of the surface: far ones are heights. */
static bool is_surface(const struct content *content, const struct farlands_grid *grid)
{
    return content->surface &&
           world_field_over(content->world, content->field, grid) == content->field;
}

int render_field(struct render_scratch *scratch, const struct content *content,
                 const struct farlands_grid *grid, float *out, size_t stride)
{
    const int field = world_field_over(content->world, content->field, grid);
    struct farlands_grid exact = *grid;

    exact.band_limit = false;
    return is_surface(content, grid)
               ? terrain_surfaces(scratch->terrain, scratch->scratch, &exact, out, stride)
               : terrain_fields(scratch->terrain, scratch->scratch, grid, &field, 1, &out, stride);
}

bool render_is_far(const struct world *world, int64_t step)
{
    return step > TERRAIN_FAR && terrain_has_drain(world->base_terrain);
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

/* The side of blocks for CONTENT's values over GRID. */
static int side_of_values(const struct content *content, const struct farlands_grid *grid)
{
    const bool surface = is_surface(content, grid);

    if (render_is_far(content->world, grid->step) && (surface || !grid->band_limit))
        return 1;
    return surface ? SURFACE_BLOCK_SIDE : BLOCK_SIDE;
}

/* Write BLOCK of the values over GRID, in FORMAT, to BLOB. */
static int make_block(struct blob *blob, struct render_scratch *scratch,
                      const struct content *content, enum format format,
                      const struct farlands_grid *grid, const struct block *block)
{
    const size_t width = (size_t)block->width, stride = (size_t)grid->width;
    const size_t size = format_sample_bytes(format);
    const struct farlands_grid part = block_grid(block, grid);
    const size_t first = (size_t)block->y * stride + (size_t)block->x;

    if (format == FORMAT_F32)
        return render_field(scratch, content, &part, floats_of(blob) + first, stride);
    int err = render_field(scratch, content, &part, scratch->heights, width);
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

/* Finish a render. If it succeeded, *OUT is BLOB; otherwise PROGRESS keeps BLOB. */
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
        blocks_cut(grid->width, grid->height, side_of_values(content, grid));
    struct block block;
    int err = world_terrain_hold(content->world, &scratch->terrain);

    if (err)
        return err;
    struct blob *blob = render_progress_take(progress, count * size);
    err = blob ? 0 : -ENOMEM;
    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = make_block(blob, scratch, content, format, grid, &block);
    world_terrain_release(content->world, scratch->terrain);
    if (!err)
        to_little_endian(blob->bytes, count, size);
    return end_numbers(out, blob, err, progress);
}

/* Copy BLOCK, columns of BOX, to its place in OUT, which holds all columns. */
static int make_columns(float *out, struct render_scratch *scratch, const struct farlands_box *box,
                        const struct block *block)
{
    struct farlands_box part = *box;
    const size_t row = (size_t)block->width;

    part.x += block->x * box->step;
    part.y += block->y * box->step;
    part.width = block->width;
    part.height = block->height;
    int err = terrain_density(scratch->terrain, scratch->scratch, &part, scratch->heights);
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
    const int columns = render_is_far(world, box->step) ? 1 : VOLUME_BLOCK_MAX / box->depth;
    const int side = columns > 1 ? (int)fmin(sqrt(columns), BLOCK_SIDE) : 1;
    const struct blocks blocks = blocks_cut(box->width, box->height, side);
    struct block block;
    int err = world_terrain_hold(world, &scratch->terrain);

    if (err)
        return err;
    struct blob *blob = render_progress_take(progress, count * sizeof(float));
    err = blob ? 0 : -ENOMEM;
    for (int64_t i = -1; blocks_next(&blocks, progress, &i, &block, &err);)
        err = make_columns(floats_of(blob), scratch, box, &block);
    world_terrain_release(world, scratch->terrain);
    if (!err)
        to_little_endian(blob->bytes, count, sizeof(float));
    return end_numbers(out, blob, err, progress);
}
