/* The surface of the density: found from above, block by block. */
#include <errno.h>
#include <math.h>

#include "ledges.h"
#include "terrain_parts.h"

/* Densities are computed in boxes of one column, from the top down. By default the first will do.
 */
enum { PART = 32 };

/*
 * The first whole altitude, in blocks, above which all is air. By the formula ground is at most
 * s + amplitude (1 - (s / amplitude)^2)^2 n, and no sum of Perlin noise reaches 1.4; so for
 * s = -0.6 amplitude it is below 0.
 */
static int64_t ceiling(const struct density *density, float height)
{
    return (int64_t)floor((double)height + 0.6 * (double)density->amplitude) + 1;
}

/* The same with ledges. */
static int find_ceiling(int64_t *out, const struct farlands_terrain *terrain,
                        struct farlands_scratch *scratch, int64_t x, int64_t y, float height)
{
    struct ledge ledge;
    *out = ceiling(&terrain->density, height);
    if (!terrain->density.cell)
        return 0;
    const int err = ledge_find(&ledge, terrain, scratch, x, y);
    const float top = err ? 0 : ledge_top(&ledge);
    *out = (int64_t)floorf(top > height ? top : height) + 1;
    return err;
}

int terrain_surface(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    int64_t x, int64_t y, float height, float *out)
{
    float column[PART], above = -1;
    int64_t top;
    int err = find_ceiling(&top, terrain, scratch, x, y, height);
    if (err)
        return err;
    const int64_t bottom = top - terrain_surface_depth(terrain);

    for (; top > bottom; top -= PART) {
        const struct farlands_box box = {x, y,   farlands_units(top - PART + 1), FARLANDS_UNIT, 1,
                                         1, PART};
        err = terrain_density(terrain, scratch, &box, column);
        if (err)
            return err;
        for (int k = PART - 1; k >= 0; above = column[k--]) {
            if (column[k] <= 0)
                continue;
            const double rest = (double)column[k] / ((double)column[k] - (double)above);
            *out = (float)((double)(top - PART + 1 + k) + rest);
            return 0;
        }
    }
    *out = (float)bottom;
    return 0;
}

int terrain_surface_depth(const struct farlands_terrain *terrain)
{
    enum { SHAFT = 1024 };
    return SHAFT + (int)(0.6 * (double)terrain->density.amplitude);
}
