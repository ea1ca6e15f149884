/* Boxes of terrain: bare noise, and density, block by block. */
#include <errno.h>

#include "noise/kernel/kernel.h"
#include "noise/kernel/scratch.h"
#include "noise/terrain/ledges.h"
#include "noise/terrain/terrain_parts.h"

static bool box_in_bounds(const struct farlands_box *box)
{
    return box->step >= 1 && box->step <= FARLANDS_MAX_STEP &&
           terrain_axis_in_bounds(box->x, box->step, box->width) &&
           terrain_axis_in_bounds(box->y, box->step, box->height) &&
           terrain_axis_in_bounds(box->z, box->step, box->depth);
}

int terrain_volume(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                   const struct farlands_box *box, float *out)
{
    WITH_PLAIN_ARITHMETIC;
    if (!box_in_bounds(box))
        return -EINVAL;
    terrain->kernel->volume(terrain->noise, scratch, box, out);
    return 0;
}

/* Find BLOCK's heights and ledges. Rows are padded to whole steps. */
static int find_columns(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                        const struct density_block *block)
{
    const struct farlands_grid grid = {block->x,       block->y,    block->box->step,
                                       block->columns, block->rows, false};
    float(*heights)[KERNEL_CHUNK] = scratch->density.heights;
    int err = terrain_heights_within(terrain, scratch, &grid, heights[0], KERNEL_CHUNK);
    for (int j = 0; j < block->rows; j++)
        for (int i = block->columns; i < whole_steps(block->columns); i++)
            heights[j][i] = heights[j][block->columns - 1];
    return err || !terrain->density.cell ? err : ledges_find(terrain, scratch, &grid);
}

int terrain_density_of(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                       const struct farlands_box *box, bool known, float *out)
{
    WITH_PLAIN_ARITHMETIC;
    struct density_block block = {&terrain->density, terrain->noise, box, 0, 0, 0, 0};
    if (!box_in_bounds(box))
        return -EINVAL;
    for (int i = 0; i < box->width; i += block.columns) {
        block.x = box->x + i * box->step;
        block.columns = box->width - i < KERNEL_CHUNK ? box->width - i : KERNEL_CHUNK;
        for (int j = 0; j < box->height; j += block.rows) {
            block.y = box->y + j * box->step;
            block.rows = box->height - j < KERNEL_BOX_ROWS ? box->height - j : KERNEL_BOX_ROWS;
            const int err = known ? 0 : find_columns(terrain, scratch, &block);
            if (err)
                return err;
            terrain->kernel->density(&block, scratch,
                                     out + (size_t)j * (size_t)box->width + (size_t)i);
        }
    }
    return 0;
}

int terrain_density(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_box *box, float *out)
{
    return terrain_density_of(terrain, scratch, box, false, out);
}
