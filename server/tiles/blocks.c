#include "blocks.h"

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* The size of the largest equal parts of COUNT that do not exceed MOST. */
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

static struct block block_at(const struct blocks *blocks, int64_t number)
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

/* Ask whether to stop before block I. Returns 0 or the render's result. */
static int pause_before(struct render_progress *progress, int64_t i)
{
    const int stop =
        progress && progress->pause && i > progress->done ? progress->pause(progress->context) : 0;

    if (stop)
        progress->done = i;
    return stop;
}

bool blocks_next(const struct blocks *blocks, struct render_progress *progress, int64_t *i,
                 struct block *out, int *err)
{
    if (*err)
        return false;
    *i = *i >= 0 ? *i + 1 : progress ? progress->done : 0;
    if (*i >= blocks->count)
        return false;
    *out = block_at(blocks, *i);
    *err = pause_before(progress, *i);
    return *err == 0;
}

struct blob *render_progress_take(struct render_progress *progress, size_t size)
{
    struct blob *kept = progress ? progress->kept : NULL;

    if (kept)
        progress->kept = NULL;
    return kept ? kept : blob_new(size);
}

void render_progress_clear(struct render_progress *progress)
{
    blob_release(progress->kept);
    progress->kept = NULL;
    progress->done = 0;
}
