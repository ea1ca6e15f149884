#include "blocks.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The greatest size up to MOST of equal parts of COUNT. */
static int equal_part(int count, int most)
{
    const int parts = (count + most - 1) / most;
    return (count + parts - 1) / parts;
}

struct blocks blocks_cut(int width, int height, int side)
{
    const int block_width = equal_part(width, side), block_height = equal_part(height, side);
    const int64_t across = (width + block_width - 1) / block_width;
    const int64_t down = (height + block_height - 1) / block_height;

    return (struct blocks){width, height, block_width, block_height, across, across * down};
}

struct block blocks_at(const struct blocks *blocks, int64_t number)
{
    struct block block = {.x = (int)(number % blocks->across) * blocks->block_width,
                          .y = (int)(number / blocks->across) * blocks->block_height};

    block.width = least(blocks->width - block.x, blocks->block_width);
    block.height = least(blocks->height - block.y, blocks->block_height);
    return block;
}

struct farlands_grid block_grid(const struct block *block, const struct farlands_grid *grid)
{
    struct farlands_grid part = *grid;

    part.x += block->x * grid->step;
    part.y += block->y * grid->step;
    part.width = block->width;
    part.height = block->height;
    return part;
}
