/* Lattices, and blocks that are kept. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/drainage/drainage_parts.h"
#include "noise/drainage/lakes.h"
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
    d->input = malloc((size_t)DRAINAGE_INPUTS * INPUT_SIDE * INPUT_SIDE * sizeof *d->input);
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

/* A place in FRAME: (X, Y) from its origin. */
static double frame_x(const struct drainage_frame *f, int64_t x, int64_t y)
{
    return f->a * (double)x + f->b * (double)y;
}

static double frame_y(const struct drainage_frame *f, int64_t x, int64_t y)
{
    return f->a * (double)y - f->b * (double)x;
}

/* Whether nodes of a block matter for FRAME. */
static bool matters(const struct turned *t, int64_t i, int64_t j, const struct drainage_frame *f)
{
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

int drainage_get_block(struct drainage *d, int level, int64_t i, int64_t j,
                       const struct drainage_frame *frame, struct drainage_block **out)
{
    *out = NULL;
    if (!matters(&d->lattice[level], i, j, frame))
        return 0;
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

int drainage_fill_patch(struct drainage *d, int level, struct turned_range range,
                        const struct drainage_frame *frame, bool only_lakes)
{
    enum { MOST = 9 }; /* a patch is at most two blocks wide */
    const struct turned *t = &d->lattice[level];
    struct drainage_block *block[MOST] = {NULL};
    int count = 0, err = 0;
    bool has_lakes = false;
    const int64_t right = lattice_floor(range.i + range.width - 1, BLOCK_SIDE);
    const int64_t bottom = lattice_floor(range.j + range.height - 1, BLOCK_SIDE);
    for (int64_t j = lattice_floor(range.j, BLOCK_SIDE); j <= bottom && !err; j++)
        for (int64_t i = lattice_floor(range.i, BLOCK_SIDE); i <= right && !err; i++) {
            err = drainage_get_block(d, level, i, j, frame, &block[count]);
            if (err || !block[count])
                continue;
            has_lakes |= block[count]->has_lakes;
            count++;
        }
    d->patch->range = range;
    d->patch->has_lakes = has_lakes;
    memset(d->patch->receiver, NODE_UNKNOWN, (size_t)range.width * (size_t)range.height);
    for (int k = 0; k < count && block[k]; k++) {
        if (!err && (!only_lakes || has_lakes))
            copy_nodes(t, block[k], frame, d->patch);
        block[k]->pins--;
    }
    return err;
}
