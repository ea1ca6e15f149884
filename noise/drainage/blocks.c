/* Lattices, and blocks that are kept. */
#include <errno.h>
#include <stdlib.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/exact/aligned.h"
#include "noise/exact/lattice.h"

int drainage_new(struct drainage **out, const struct drainage_params *params,
                 drainage_source *source, void *context)
{
    struct drainage *d = calloc(1, sizeof *d);
    if (!d)
        return -ENOMEM;
    d->params = *params;
    d->source = source;
    d->context = context;
    d->nodes = aligned_new(sizeof *d->nodes);
    d->patch = malloc(sizeof *d->patch);
    d->input = malloc((size_t)INPUT_SIDE * INPUT_SIDE * sizeof *d->input);
    if (!d->nodes || !d->patch || !d->input) {
        drainage_free(d);
        return -ENOMEM;
    }
    turned_make(d->lattice, params->levels, params->spacing, params->seed);
    *out = d;
    return 0;
}

void drainage_free(struct drainage *drainage)
{
    for (int k = 0; drainage && k < DRAINAGE_BLOCKS; k++)
        free(drainage->block[k]);
    if (drainage) {
        aligned_free(drainage->nodes);
        free(drainage->patch);
        free(drainage->input);
    }
    free(drainage);
}

/* The block of LEVEL with nodes from (I, J) BLOCK_SIDEs on; or one that may be displaced. */
static int find_slot(const struct drainage *d, int level, int64_t i, int64_t j)
{
    int oldest = -1;
    for (int k = 0; k < DRAINAGE_BLOCKS; k++) {
        const struct drainage_block *b = d->block[k];
        if (!b)
            return k; /* no later one is used */
        if (b->full && b->level == level && b->i == i && b->j == j)
            return k;
        if (b->pins == 0 && (oldest < 0 || b->used < d->block[oldest]->used))
            oldest = k;
    }
    return oldest;
}

/* Get a block, pinned. */
static int get_block(struct drainage *d, int level, int64_t i, int64_t j,
                     struct drainage_block **out)
{
    const int k = find_slot(d, level, i, j);
    if (!d->block[k])
        d->block[k] = calloc(1, sizeof *d->block[k]);
    struct drainage_block *b = *out = d->block[k];
    if (!b)
        return -ENOMEM;
    const bool found = b->full && b->level == level && b->i == i && b->j == j;
    b->used = ++d->clock;
    b->pins++;
    if (found)
        return 0;
    b->full = false;
    b->level = (int8_t)level;
    b->i = i;
    b->j = j;
    const int err = drainage_solve(d, b);
    b->full = !err;
    if (err)
        b->pins--;
    return err;
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
            p->x[to] = f->a * (double)x + f->b * (double)y;
            p->y[to] = f->a * (double)y - f->b * (double)x;
            p->height[to] = b->height[from];
            p->mean[to] = b->mean[from];
            p->area[to] = b->area[from];
            for (int k = 0; k < 2; k++)
                p->rock[k][to] = (float)b->rock[k][from] * (1.0f / ROCK_UNIT);
            p->kind[to] = b->kind[from];
            p->receiver[to] = b->receiver[from];
        }
}

int drainage_fill_patch(struct drainage *d, int level, struct turned_range range,
                        const struct drainage_frame *frame)
{
    enum { MOST = 9 }; /* a patch is little wider than a block */
    struct drainage_block *block[MOST];
    int count = 0, err = 0;
    const int64_t right = lattice_floor(range.i + range.width - 1, BLOCK_SIDE);
    const int64_t bottom = lattice_floor(range.j + range.height - 1, BLOCK_SIDE);
    for (int64_t j = lattice_floor(range.j, BLOCK_SIDE); j <= bottom && !err; j++)
        for (int64_t i = lattice_floor(range.i, BLOCK_SIDE); i <= right && !err; i++) {
            err = get_block(d, level, i, j, &block[count]);
            count += !err;
        }
    d->patch->range = range;
    for (int k = 0; k < count; k++) {
        if (!err)
            copy_nodes(&d->lattice[level], block[k], frame, d->patch);
        block[k]->pins--;
    }
    return err;
}
