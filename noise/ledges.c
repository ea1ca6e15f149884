/* Where ledges are: one in each square, or none, of a random size. */
#include "ledges.h"

#include "lattice.h"
#include "noise/kernel/scratch.h"
#include "terrain_parts.h"

/* The middle of the square around AT, along one axis. */
static int64_t middle_of(int64_t at, int64_t width)
{
    return at - lattice_place(at, width).rest + width / 2;
}

/* A random number from 1/2^24 to 1 for the square in COLUMN and ROW. */
static float share_of(const struct density *d, int64_t column, int64_t row)
{
    if (d->cells) {
        column = lattice_place(column, d->cells).rest;
        row = lattice_place(row, d->cells).rest;
    }
    const uint64_t random = lattice_random(lattice_random(d->key, (uint64_t)column), (uint64_t)row);
    return (float)((random >> 40) + 1) * 0x1p-24f;
}

int ledge_find(struct ledge *ledge, const struct farlands_terrain *terrain,
               struct farlands_scratch *scratch, int64_t x, int64_t y)
{
    WITH_PLAIN_ARITHMETIC;
    const struct density *d = &terrain->density;
    const struct farlands_grid middle = {
        middle_of(x, d->cell), middle_of(y, d->cell), 1, 1, 1, false};
    const int64_t column = lattice_place(x, d->cell).cell, row = lattice_place(y, d->cell).cell;
    const float share = share_of(d, column, row);
    const float reach = d->most * share, below = reach * d->inverse_squash;
    float height;

    *ledge = (struct ledge){middle.x, middle.y, .half = -INFINITY};
    if (share < d->threshold)
        return 0;
    const int err = terrain_heights_within(terrain, scratch, &middle, &height, 1);
    if (err)
        return err;
    ledge->middle = height - below * (1 / (float)LEDGE_TOP) - 1;
    ledge->skew = 1.5f * share_of(d, row, column) - 0.75f;
    ledge->inverse = 1 / (reach * reach);
    ledge->half = below / 2;
    ledge->bend = 0.5f / below;
    return 0;
}

static bool covers(int64_t width, const struct ledge *ledge, int64_t x, int64_t y)
{
    const uint64_t east = (uint64_t)(x - ledge->x + width / 2);
    const uint64_t south = (uint64_t)(y - ledge->y + width / 2);
    return east < (uint64_t)width && south < (uint64_t)width;
}

static float level_at(const struct ledge *ledge, int64_t x, int64_t y)
{
    const float dx = (float)(x - ledge->x) / (float)FARLANDS_UNIT;
    const float dy = (float)(y - ledge->y) / (float)FARLANDS_UNIT;
    return ledge->half * (1 - ledge->inverse * (dx * dx + dy * dy + ledge->skew * dx * dy));
}

/* Row J of GRID. The row above it has left its ledges, some of which may be the same. */
static int find_row(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, int j)
{
    const int64_t y = grid->y + j * grid->step, cell = terrain->density.cell;
    struct ledge *ledge = scratch->density.ledge;
    struct shelf *shelf = &scratch->density.shelf[j];

    for (int i = 0; i < grid->width; i++) {
        const int64_t x = grid->x + i * grid->step;
        int err = 0;
        if (i > 0 && covers(cell, &ledge[i - 1], x, y))
            ledge[i] = ledge[i - 1];
        else if (j == 0 || !covers(cell, &ledge[i], x, y))
            err = ledge_find(&ledge[i], terrain, scratch, x, y);
        if (err)
            return err;
        shelf->level[i] = level_at(&ledge[i], x, y);
        shelf->middle[i] = ledge[i].middle;
        shelf->bend[i] = ledge[i].bend;
    }
    return 0;
}

int ledges_find(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                const struct farlands_grid *grid)
{
    int err = 0;
    for (int j = 0; j < grid->height && !err; j++)
        err = find_row(terrain, scratch, grid, j);
    return err;
}
