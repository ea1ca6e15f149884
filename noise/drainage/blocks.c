/* Blocks: what the cache has, and what is solved for it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
#include "noise/exact/aligned.h"
#include "noise/exact/lattice.h"

int drainage_new(struct drainage **out, const struct drainage_params *params,
                 drainage_source *source, void *context, struct drainage_cache *cache,
                 uint64_t owner, int part)
{
    struct drainage *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->params = *params;
    d->source = source;
    d->context = context;
    d->cache = drainage_cache_share(cache);
    d->key = (struct shared_key){.owner = owner, .part = part};
    d->nodes = aligned_new(sizeof *d->nodes);
    d->patch = malloc(sizeof *d->patch);
    d->input = malloc((size_t)DRAINAGE_INPUTS * INPUT_SIDE * INPUT_SIDE * sizeof *d->input);
    d->sheet = malloc(SEVERAL_VALUES * sizeof *d->sheet);
    if (!d->nodes || !d->patch || !d->input || !d->sheet) {
        drainage_free(d);
        return -ENOMEM;
    }
    turned_make(d->lattice, params->levels, params->spacing, params->seed);
    *out = d;
    return 0;
}

void drainage_free(struct drainage *drainage)
{
    if (drainage) {
        drainage_cache_free(drainage->cache);
        aligned_free(drainage->nodes);
        free(drainage->patch);
        free(drainage->input);
        free(drainage->sheet);
    }
    free(drainage);
}

/* A place in FRAME: (X, Y) from its origin. */
static double frame_x(const struct drainage_frame *f, int64_t x, int64_t y)
{
    return f->a * (double)x + f->b * (double)y;
}

static double frame_y(const struct drainage_frame *f, int64_t x, int64_t y)
{
    return f->a * (double)y - f->b * (double)x;
}

bool drainage_block_matters(const struct drainage *d, int level, int64_t i, int64_t j,
                            const struct drainage_frame *f)
{
    const struct turned *t = &d->lattice[level];
    double left = HUGE_VAL, right = -HUGE_VAL, top = HUGE_VAL, bottom = -HUGE_VAL;
    for (int k = 0; k < 4; k++) {
        const int64_t column = (i + (k & 1)) * BLOCK_SIDE, row = (j + (k >> 1)) * BLOCK_SIDE;
        const int64_t east = turned_x(t, column, row) - f->x;
        const int64_t south = turned_y(t, column, row) - f->y;
        const double x = frame_x(f, east, south), y = frame_y(f, east, south);
        left = x < left ? x : left;
        right = x > right ? x : right;
        top = y < top ? y : top;
        bottom = y > bottom ? y : bottom;
    }
    return left < f->width + f->around && right > -f->around && top < f->height + f->around &&
           bottom > -f->around;
}

static struct shared_key block_key(const struct drainage *d, int level, int64_t i, int64_t j)
{
    struct shared_key key = d->key;
    key.size = level;
    key.i = i;
    key.j = j;
    return key;
}

int drainage_get_block(struct drainage *d, int level, int64_t i, int64_t j,
                       const struct drainage_block **out)
{
    const struct shared_key key = block_key(d, level, i, j);
    *out = shared_cache_pin(d->cache->blocks, &key);
    const int err = *out ? 0 : drainage_solve(d, level, i, j);
    if (*out || err)
        return err;
    struct drainage_block *b = shared_cache_claim(d->cache->blocks, &key);
    b->i = i;
    b->j = j;
    drainage_keep_nodes(d, b);
    shared_cache_publish(d->cache->blocks, b);
    *out = b;
    return 0;
}

struct drainage_frame drainage_frame_of(int64_t x, int64_t y, int64_t width, int64_t height,
                                        double around)
{
    return (struct drainage_frame){x, y, 1, 0, (double)width, (double)height, around};
}

/* Copy the part of BLOCK that lies in PATCH. */
static void copy_nodes(const struct turned *t, const struct drainage_block *b,
                       const struct drainage_frame *f, struct drainage_patch *p)
{
    const struct turned_range r = p->range;
    const int64_t left = b->i * BLOCK_SIDE, top = b->j * BLOCK_SIDE;
    const int64_t right = left + BLOCK_SIDE, bottom = top + BLOCK_SIDE;
    const int64_t i2 = r.i + r.width < right ? r.i + r.width : right;
    const int64_t j2 = r.j + r.height < bottom ? r.j + r.height : bottom;
    for (int64_t j = r.j > top ? r.j : top; j < j2; j++)
        for (int64_t i = r.i > left ? r.i : left; i < i2; i++) {
            const int from = (int)(j - top) * BLOCK_SIDE + (int)(i - left);
            const int to = (int)(j - r.j) * r.width + (int)(i - r.i);
            /* In whole units, so that all frames see the same place. */
            const int64_t x = turned_x(t, i, j) - f->x + (turned_x(t, b->x[from], b->y[from]) >> 8);
            const int64_t y = turned_y(t, i, j) - f->y + (turned_y(t, b->x[from], b->y[from]) >> 8);
            p->x[to] = frame_x(f, x, y);
            p->y[to] = frame_y(f, x, y);
            p->value[to][PATCH_HEIGHT] = b->height[from];
            p->value[to][PATCH_MEAN] = b->mean[from];
            for (int k = 0; k < 2; k++)
                p->value[to][PATCH_ROCK + k] = (float)b->rock[k][from] * (1.0f / ROCK_UNIT);
            p->area[to] = b->area[from];
            p->lake[to] = lake_level(b->lake[from]);
            p->depth[to] = lake_depth(b->depth[from]);
            p->kind[to] = b->kind[from];
            p->receiver[to] = b->receiver[from];
        }
}

/* Blocks of a level: columns from LEFT to RIGHT, rows from TOP to BOTTOM. */
struct blocks {
    int64_t left, right, top, bottom;
};

/* Copy those of BLOCKS that matter for FRAME into the patch, and unpin them. Returns false if the
 * cache has lost one. ONLY_LAKES: copy nothing if there is no lake. */
static bool copy_blocks(struct drainage *d, int level, const struct blocks *blocks,
                        const struct drainage_frame *frame, bool only_lakes)
{
    struct drainage_patch *p = d->patch;
    bool copies = !only_lakes, has_lakes = false;
    memset(p->receiver, NODE_UNKNOWN, (size_t)p->range.width * (size_t)p->range.height);
    for (int64_t j = blocks->top; j <= blocks->bottom; j++)
        for (int64_t i = blocks->left; i <= blocks->right; i++) {
            if (!drainage_block_matters(d, level, i, j, frame))
                continue;
            const struct shared_key key = block_key(d, level, i, j);
            const struct drainage_block *b = shared_cache_pin(d->cache->blocks, &key);
            if (!b)
                return false;
            has_lakes |= b->has_lakes;
            if (copies)
                copy_nodes(&d->lattice[level], b, frame, p);
            shared_cache_unpin(d->cache->blocks, b);
        }
    p->has_lakes = has_lakes;
    return copies || !has_lakes || copy_blocks(d, level, blocks, frame, false);
}

int drainage_fill_patch(struct drainage *d, int level, struct turned_range range,
                        const struct drainage_frame *frame, bool only_lakes)
{
    const struct blocks blocks = {
        lattice_floor(range.i, BLOCK_SIDE), lattice_floor(range.i + range.width - 1, BLOCK_SIDE),
        lattice_floor(range.j, BLOCK_SIDE), lattice_floor(range.j + range.height - 1, BLOCK_SIDE)};
    /* All are solved before the first is copied, because that needs the patch, too. */
    do {
        for (int64_t j = blocks.top; j <= blocks.bottom; j++)
            for (int64_t i = blocks.left; i <= blocks.right; i++) {
                const struct drainage_block *b;
                if (!drainage_block_matters(d, level, i, j, frame))
                    continue;
                const int err = drainage_get_block(d, level, i, j, &b);
                if (err)
                    return err;
                shared_cache_unpin(d->cache->blocks, b);
            }
        d->patch->range = range;
    } while (!copy_blocks(d, level, &blocks, frame, only_lakes));
    return 0;
}
