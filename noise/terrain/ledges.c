/* The ledges of a terrain: where they are in the ground. */
#include "ledges.h"

#include "noise/kernel/scratch.h"
#include "noise/terrain/terrain_parts.h"

int ledges_raise(struct ledge *ledge, const struct farlands_terrain *terrain,
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

void ledges_put(struct shelf *shelf, int i, const struct ledge *ledge, int64_t x, int64_t y)
{
    shelf->level[i] = ledge_level(ledge, x, y);
    shelf->middle[i] = ledge->middle;
    shelf->bend[i] = ledge->bend;
}

/* Row J in GRID. The row above left its ledges, and some may be the same. */
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
        int err = ledges_raise(&ledge[i], terrain, scratch);
        if (err)
            return err;
        ledges_put(&scratch->density.shelf[j], i, &ledge[i], x, y);
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
