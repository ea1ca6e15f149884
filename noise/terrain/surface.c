/* The density's surface, found from above, block by block. */
#include <errno.h>
#include <math.h>

#include "noise/kernel/scratch.h"
#include "noise/terrain/ledges.h"
#include "noise/terrain/terrain_parts.h"

/* How many blocks of a column are looked at together. Usually the first part is enough. */
enum { PART = 32 };

/* Columns side by side, a block apart. Their heights become their surfaces. */
struct columns {
    int64_t x, y;
    int count; /* 1 to KERNEL_STEP */
    float *value;
    struct ledge *ledge; /* one per column, if there are any */
};

/*
 * The first whole altitude, in blocks, above which column I is all air. By the formula ground is at
 * most s + amplitude (1 - (s / amplitude)^2)^2 n, and no sum of Perlin noise reaches 1.4, so ground
 * is below 0 for s = -0.6 amplitude. Ledges have tops.
 */
static int64_t ceiling(const struct density *density, const struct columns *columns, int i)
{
    const float height = columns->value[i];
    if (!density->cell)
        return (int64_t)floor((double)height + 0.6 * (double)density->amplitude) + 1;
    const float top = ledge_top(&columns->ledge[i]); /* NAN without one */
    return (int64_t)floorf(top > height ? top : height) + 1;
}

/* Put COLUMNS' heights and ledges into SCRATCH. */
static void prepare(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct columns *columns)
{
    for (int i = 0; i < KERNEL_STEP; i++) {
        const int known = i < columns->count ? i : columns->count - 1;
        scratch->density.heights[0][i] = columns->value[known];
        if (terrain->density.cell)
            ledges_put(scratch->density.shelf, i, &columns->ledge[known],
                       columns->x + known * FARLANDS_UNIT, columns->y);
    }
}

/* How deep a column is looked at, in blocks. */
static int surface_depth(const struct farlands_terrain *terrain)
{
    enum { SHAFT = 1024 };
    return SHAFT + (int)(0.6 * (double)terrain->density.amplitude);
}

/* The surface between block TOP, which has DENSITY, and the one ABOVE. It is higher than TOP,
 * though it may be nearer to TOP than to the next float. */
static float surface_between(int64_t top, float density, float above)
{
    const double part = (double)density / ((double)density - (double)above);
    const float surface = (float)((double)top + part);
    return surface > (float)top ? surface : nextafterf((float)top, INFINITY);
}

/* Find COLUMNS' surfaces with those ledges whose heights are known. ABOVE: the densities of the
 * blocks above. */
static int find_known(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                      const struct columns *columns, float above[KERNEL_STEP])
{
    const int count = columns->count;
    float part[PART * KERNEL_STEP];
    int64_t ceilings[KERNEL_STEP], top = INT64_MIN, low = INT64_MAX;
    unsigned left = (1u << count) - 1; /* a bit for each column */

    prepare(terrain, scratch, columns);
    for (int i = 0; i < count; i++) {
        const int64_t height = (int64_t)columns->value[i];
        ceilings[i] = ceiling(&terrain->density, columns, i);
        top = ceilings[i] > top ? ceilings[i] : top;
        low = height < low ? height : low;
        above[i] = -1;
    }
    int depth = top - low < PART - 2 ? (int)(top - low) + 2 : PART;
    for (; left; depth = PART) {
        const struct farlands_box box = {columns->x,    columns->y, farlands_units(top - depth + 1),
                                         FARLANDS_UNIT, count,      1,
                                         depth};
        int err = terrain_density_of(terrain, scratch, &box, true, part);
        if (err)
            return err;
        for (int k = depth; k-- > 0; top--)
            for (int i = 0; i < count; i++) {
                const float density = part[k * count + i];
                const bool deep = ceilings[i] - top >= surface_depth(terrain);
                if (!(left >> i & 1))
                    continue;
                if (density <= 0 && !deep) {
                    above[i] = density;
                    continue;
                }
                left &= ~(1u << i);
                columns->value[i] = deep ? (float)top : surface_between(top, density, above[i]);
            }
    }
    return 0;
}

/*
 * Find COLUMNS' surfaces. A ledge whose level is at most -1 has less density than air in the block
 * over level ground, which is -1 at least. So such a ledge's height matters only if the density
 * above the surface is less, at the ground of a hole. This is rare.
 */
static int find(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                const struct columns *columns)
{
    float height[KERNEL_STEP], above[KERNEL_STEP], one[KERNEL_STEP];

    for (int i = 0; i < columns->count; i++)
        height[i] = columns->value[i];
    int err = find_known(terrain, scratch, columns, above);
    for (int i = 0; i < columns->count && terrain->density.cell && !err; i++) {
        struct ledge *ledge = &columns->ledge[i];
        if (above[i] >= -1 || ledge->half < 0 || !isnan(ledge->middle))
            continue;
        const struct columns column = {columns->x + i * FARLANDS_UNIT, columns->y, 1,
                                       &columns->value[i], ledge};
        columns->value[i] = height[i];
        err = ledges_raise(ledge, terrain, scratch);
        if (!err)
            err = find_known(terrain, scratch, &column, one);
    }
    return err;
}

/* Set LEDGE[I] to the ledge in (X, Y)'s square, with a height if the column is near. The entries
 * before I are the ledges of the columns to the west; LEDGE[I] is still that of the column to the
 * north. */
static int place(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                 struct ledge *ledge, int i, int64_t x, int64_t y)
{
    const struct density *d = &terrain->density;

    if (i > 0 && ledge_has(d, &ledge[i - 1], x, y))
        ledge[i] = ledge[i - 1];
    else if (!ledge_has(d, &ledge[i], x, y))
        ledge[i] = ledge_place(d, x, y);
    if (!isnan(ledge[i].middle) || ledge_level(&ledge[i], x, y) <= -1)
        return 0;
    int err = ledges_raise(&ledge[i], terrain, scratch);
    for (int k = i; k > 0 && ledge_has(d, &ledge[i], ledge[k - 1].x, ledge[k - 1].y); k--)
        ledge[k - 1] = ledge[i];
    return err;
}

/* Row J in GRID, no wider than KERNEL_CHUNK. OUT has its heights. */
static int find_row(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, int j, float *out)
{
    const int64_t y = grid->y + j * grid->step;
    struct ledge *ledge = terrain->density.cell ? scratch->density.ledge : NULL;
    const int together = grid->step == FARLANDS_UNIT ? KERNEL_STEP : 1;
    int err = 0;

    for (int i = 0; ledge && i < grid->width && !err; i++)
        err = place(terrain, scratch, ledge, i, grid->x + i * grid->step, y);
    for (int i = 0; i < grid->width && !err; i += together) {
        const struct columns columns = {
            .x = grid->x + i * grid->step,
            .y = y,
            .count = grid->width - i < together ? grid->width - i : together,
            .value = out + i,
            .ledge = ledge ? ledge + i : NULL,
        };
        err = find(terrain, scratch, &columns);
    }
    return err;
}

/* GRID's surfaces into OUT, which has its heights. GRID is no wider than KERNEL_CHUNK. */
static int find_all(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *out, size_t stride)
{
    int err = 0;

    for (int i = 0; terrain->density.cell && i < grid->width; i++)
        scratch->density.ledge[i] =
            ledge_place(&terrain->density, grid->x + i * grid->step, grid->y);
    for (int j = 0; j < grid->height && !err; j++)
        err = find_row(terrain, scratch, grid, j, out + (size_t)j * stride);
    return err;
}

int terrain_surface(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                    int64_t x, int64_t y, float height, float *out)
{
    struct ledge ledge;
    float above[KERNEL_STEP];
    const struct columns column = {x, y, 1, out, &ledge};
    int err = 0;

    *out = height;
    if (terrain->density.cell) {
        ledge = ledge_place(&terrain->density, x, y);
        err = ledges_raise(&ledge, terrain, scratch);
    }
    return err ? err : find_known(terrain, scratch, &column, above);
}

int terrain_surfaces(const struct farlands_terrain *terrain, struct farlands_scratch *scratch,
                     const struct farlands_grid *grid, float *out, size_t stride)
{
    int err = grid->band_limit ? -EINVAL : terrain_heights(terrain, scratch, grid, out, stride);
    for (int i = 0; i < grid->width && !err; i += KERNEL_CHUNK) {
        struct farlands_grid part = *grid;
        part.x += i * grid->step;
        part.width = grid->width - i < KERNEL_CHUNK ? grid->width - i : KERNEL_CHUNK;
        err = find_all(terrain, scratch, &part, out + i, stride);
    }
    return err;
}
