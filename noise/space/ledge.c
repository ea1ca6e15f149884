/* Where ledges are: at most one per square, with a random size. */
#include "ledge.h"

#include "noise/exact/lattice.h"

/* The middle of AT's square, along one axis. */
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
