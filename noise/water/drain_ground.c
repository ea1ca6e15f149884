/* The ground under a drainage, and where its nodes lie. */
#include <math.h>
#include <stdlib.h>

#include "noise/exact/lattice.h"
#include "noise/farlands.h"
#include "noise/water/drain_parts.h"

/* Greater heights are cut off, in metres, so that differences fit. */
static const float HIGHEST = 15000;

/* Ground this deep on the level before is not evaluated again, because rivers need no shoals. */
enum { DEEP = -100 * COURSE_METRE };

static int interpolate(struct drain *d, int level, int64_t x, int64_t y, int32_t *out);

enum { CORNERS = DRAIN_TILE + 1 };

/* If the level before has deep ground at all corners of GRID's cells, and around them, take it as
 * HEIGHT. */
static int find_deep(struct drain *d, int level, const struct farlands_grid *grid,
                     int32_t height[CORNERS][CORNERS], bool *deep)
{
    *deep = level > 0;
    for (int r = 0; r < CORNERS && *deep; r++)
        for (int c = 0; c < CORNERS && *deep; c++) {
            const int err = interpolate(d, level - 1, grid->x + c * grid->step,
                                        grid->y + r * grid->step, &height[r][c]);
            if (err)
                return err;
            *deep = height[r][c] <= DEEP;
        }
    return 0;
}

static int find_heights(struct drain *d, const struct farlands_grid *grid,
                        int32_t height[CORNERS][CORNERS])
{
    float metres[CORNERS][CORNERS];
    const int err = d->ground(d->context, grid, metres[0]);
    for (int r = 0; r < CORNERS && !err; r++)
        for (int c = 0; c < CORNERS; c++) {
            const float h = fmaxf(-HIGHEST, fminf(metres[r][c], HIGHEST));
            height[r][c] = (int32_t)floorf(h * (float)COURSE_METRE);
        }
    return err;
}

static int make_tile(struct drain *d, int level, struct drain_tile *tile, int64_t i, int64_t j)
{
    const int64_t step = INT64_C(1) << d->level[level].cell_bits;
    const struct farlands_grid grid = {
        i * DRAIN_TILE * step, j * DRAIN_TILE * step, step, CORNERS, CORNERS, true};
    bool deep;
    int err = find_deep(d, level, &grid, tile->height, &deep);
    if (!err && !deep)
        err = find_heights(d, &grid, tile->height);
    tile->full = !err;
    tile->i = i;
    tile->j = j;
    return err;
}

static int find_tile(struct drain *d, int level, int64_t i, int64_t j,
                     const struct drain_tile **out)
{
    struct drain_level *l = &d->level[level];
    const int64_t ti = lattice_floor(i, DRAIN_TILE), tj = lattice_floor(j, DRAIN_TILE);
    struct drain_tile *tile = &l->tile[drain_slot(ti, tj, DRAIN_TILES_SIDE)];
    const bool known = tile->full && tile->i == ti && tile->j == tj;
    const int err = known ? 0 : make_tile(d, level, tile, ti, tj);
    l->recent = *out = tile;
    return err;
}

/* The ground at (X, Y), interpolated within LEVEL's cells. */
static int interpolate(struct drain *d, int level, int64_t x, int64_t y, int32_t *out)
{
    const struct drain_level *l = &d->level[level];
    const int bits = l->cell_bits;
    const int64_t i = x >> bits, j = y >> bits;
    const struct drain_tile *tile = l->recent;
    if (!tile || !tile->full || (uint64_t)(i - tile->i * DRAIN_TILE) >= DRAIN_TILE ||
        (uint64_t)(j - tile->j * DRAIN_TILE) >= DRAIN_TILE) {
        const int err = find_tile(d, level, i, j, &tile);
        if (err)
            return err;
    }
    const int c = (int)(i - tile->i * DRAIN_TILE), r = (int)(j - tile->j * DRAIN_TILE);
    /* In 1/256 of a cell. */
    const int64_t within = (INT64_C(1) << bits) - 1;
    const int64_t u = (x & within) * 256 >> bits, v = (y & within) * 256 >> bits;
    const int64_t top = tile->height[r][c] * (256 - u) + tile->height[r][c + 1] * u;
    const int64_t bottom = tile->height[r + 1][c] * (256 - u) + tile->height[r + 1][c + 1] * u;
    *out = (int32_t)((top * (256 - v) + bottom * v) >> 16);
    return 0;
}

/* How many places a node may choose from, around the one in the undisturbed lattice. */
enum { CHOICES = 4 };

/*
 * Choice N of a node with this RANDOM number, whose place in the undisturbed lattice is (0, 0):
 * anywhere with |x| + |y| up to S / 4, so that nodes on plains form no rows. In quarters of a
 * spacing a triangle has the sides (4, 0) and (2, 4). Moves at two nodes differ by (a, b) and (c,
 * d) with |a| + |b| and |c| + |d| up to 2, so (4 + a) (4 + d) - b (2 + c) is at least 4: the
 * triangle keeps its orientation.
 */
static void choose(uint64_t random, int n, int64_t s, int64_t *x, int64_t *y)
{
    const int64_t a = (int64_t)(random >> (16 * n) & 255) - 128;
    const int64_t b = (int64_t)(random >> (16 * n + 8) & 255) - 128;
    *x = s / 4 * (a + b) / 256;
    *y = s / 4 * (a - b) / 256;
}

/* The lowest ground around a node at (X, Y) on LEVEL, because valleys count, not the ridges between
 * them. *LOW has the node's own ground. */
static int find_low(struct drain *d, int level, int64_t x, int64_t y, int32_t *low)
{
    enum { FAR = 2 };
    const int64_t s = d->level[level].spacing;
    for (int b = -FAR; b <= FAR; b++)
        for (int a = -FAR; a <= FAR; a++) {
            int32_t h;
            if (abs(a) + abs(b) > 2)
                continue;
            const int err = interpolate(d, level, x + s / 4 * a, y + s / 4 * b, &h);
            if (err)
                return err;
            *low = h < *low ? h : *low;
        }
    return 0;
}

static int make_places(struct drain *d, int level, struct drain_places *p, int64_t bi, int64_t bj)
{
    const int64_t s = d->level[level].spacing;
    p->full = false;
    for (int j = 0; j < DRAIN_SIDE; j++)
        for (int i = 0; i < DRAIN_SIDE; i++) {
            const int64_t column = bi * DRAIN_SIDE + i, row = bj * DRAIN_SIDE + j;
            const int64_t x = s * column + s / 2 * row, y = s * row;
            p->height[j][i] = INT32_MAX;
            const uint64_t random = lattice_mix(lattice_mix((uint64_t)column) + (uint64_t)row);
            for (int n = 0; n < CHOICES; n++) {
                int64_t a, b;
                int32_t h;
                choose(random, n, s, &a, &b);
                const int err = interpolate(d, level, x + a, y + b, &h);
                if (err)
                    return err;
                if (h < p->height[j][i]) {
                    p->height[j][i] = h;
                    p->x[j][i] = x + a;
                    p->y[j][i] = y + b;
                }
            }
            const bool is_land = p->height[j][i] > 0;
            if (is_land && level < d->shape.levels - 2) {
                const int err = find_low(d, level, p->x[j][i], p->y[j][i], &p->height[j][i]);
                if (err)
                    return err;
            }
            /* On land a bed is at or below the ground, and above the sea. */
            if (is_land && p->height[j][i] < d->level[level].drop)
                p->height[j][i] = d->level[level].drop;
        }
    p->i = bi;
    p->j = bj;
    p->full = true;
    return 0;
}

int drain_places(struct drain *d, int level, int64_t i, int64_t j, const struct drain_places **out)
{
    struct drain_places *p = &d->level[level].places[drain_slot(i, j, DRAIN_BLOCKS_SIDE)];
    *out = p;
    return p->full && p->i == i && p->j == j ? 0 : make_places(d, level, p, i, j);
}

int drain_heights(struct drain *d, int level, struct drain_range n, int stride, int32_t *height)
{
    for (int64_t bj = lattice_floor(n.j, DRAIN_SIDE); bj * DRAIN_SIDE < n.j + n.height; bj++)
        for (int64_t bi = lattice_floor(n.i, DRAIN_SIDE); bi * DRAIN_SIDE < n.i + n.width; bi++) {
            const struct drain_places *p;
            const int err = drain_places(d, level, bi, bj, &p);
            if (err)
                return err;
            const int64_t i = bi * DRAIN_SIDE - n.i, j = bj * DRAIN_SIDE - n.j;
            for (int r = j < 0 ? (int)-j : 0; r < DRAIN_SIDE && j + r < n.height; r++)
                for (int c = i < 0 ? (int)-i : 0; c < DRAIN_SIDE && i + c < n.width; c++)
                    height[(j + r) * stride + i + c] = p->height[r][c];
        }
    return 0;
}

int drain_pass(struct drain *d, const struct course_node *from, const struct course_node *to,
               int32_t *out)
{
    *out = INT32_MIN;
    for (int t = 1; t < 4; t++) {
        int32_t h;
        const int err = interpolate(d, 0, from->x + (to->x - from->x) / 4 * t,
                                    from->y + (to->y - from->y) / 4 * t, &h);
        if (err)
            return err;
        *out = h > *out ? h : *out;
    }
    return 0;
}
