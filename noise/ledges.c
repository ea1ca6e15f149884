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

struct ledge ledge_place(const struct density *d, int64_t x, int64_t y)
{
    WITH_PLAIN_ARITHMETIC;
    const int64_t column = lattice_place(x, d->cell).cell, row = lattice_place(y, d->cell).cell;
    const float share = share_of(d, column, row);
    const float reach = d->most * share, below = reach * d->inverse_squash;
    struct ledge ledge = {middle_of(x, d->cell), middle_of(y, d->cell), .middle = NAN};

    ledge.half = -INFINITY;
    if (share < d->threshold)
        return ledge;
    ledge.skew = 1.5f * share_of(d, row, column) - 0.75f;
    ledge.inverse = 1 / (reach * reach);
    ledge.half = below / 2;
    ledge.bend = 0.5f / below;
    return ledge;
}

int ledge_raise(struct ledge *ledge, const struct farlands_terrain *terrain,
                struct farlands_scratch *scratch)
{
    WITH_PLAIN_ARITHMETIC;
    const struct farlands_grid middle = {ledge->x, ledge->y, 1, 1, 1, false};
    const float below = 2 * ledge->half;
    float height;

    if (below < 0 || !isnan(ledge->middle))
        return 0;
    const int err = terrain_heights_within(terrain, scratch, &middle, &height, 1);
    if (!err)
        ledge->middle = height - below * (1 / (float)LEDGE_TOP) - 1;
    return err;
}

bool ledge_has(const struct density *d, const struct ledge *ledge, int64_t x, int64_t y)
{
    const uint64_t east = (uint64_t)(x - ledge->x + d->cell / 2);
    const uint64_t south = (uint64_t)(y - ledge->y + d->cell / 2);
    return east < (uint64_t)d->cell && south < (uint64_t)d->cell;
}

float ledge_level(const struct ledge *ledge, int64_t x, int64_t y)
{
    WITH_PLAIN_ARITHMETIC;
    const float dx = (float)(x - ledge->x) / (float)FARLANDS_UNIT;
    const float dy = (float)(y - ledge->y) / (float)FARLANDS_UNIT;
    return ledge->half * (1 - ledge->inverse * (dx * dx + dy * dy + ledge->skew * dx * dy));
}

void ledge_put(struct shelf *shelf, int i, const struct ledge *ledge, int64_t x, int64_t y)
{
    shelf->level[i] = ledge_level(ledge, x, y);
    shelf->middle[i] = ledge->middle;
    shelf->bend[i] = ledge->bend;
}

/* Row J of GRID. The row above it has left its ledges, some of which may be the same. */
static int find_row(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, int j)
{
    const int64_t y = grid->y + j * grid->step;
    const struct density *d = &terrain->density;
    struct ledge *ledge = scratch->density.ledge;

    for (int i = 0; i < grid->width; i++) {
        const int64_t x = grid->x + i * grid->step;
        if (i > 0 && ledge_has(d, &ledge[i - 1], x, y))
            ledge[i] = ledge[i - 1];
        else if (j == 0 || !ledge_has(d, &ledge[i], x, y))
            ledge[i] = ledge_place(d, x, y);
        int err = ledge_raise(&ledge[i], terrain, scratch);
        if (err)
            return err;
        ledge_put(&scratch->density.shelf[j], i, &ledge[i], x, y);
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
