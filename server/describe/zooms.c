#include "zooms.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "server/describe/place_tile.h"
#include "server/describe/quantiles.h"
#include "server/describe/visits.h"
#include "server/world/tile.h"
#include "server/world/worlds.h"

static const double SHARE = 0.99; /* the quantile of differences */

/* A place at a pair of zooms. */
struct look {
    bool found; /* the tile exists */
    int water[2];
    float apart[ZOOMS_PIXELS];
};

struct run {
    const struct world *world;
    const struct farlands_terrain *terrain;
    const int64_t (*place)[2];
    struct look (*look)[ZOOMS_PLACES]; /* per pair of zooms */
};

/* A thread's memory. */
struct worker {
    float heights[ZOOMS_PIXELS], finer[4 * ZOOMS_PIXELS], water[4 * ZOOMS_PIXELS];
};

void zooms_compare(const float *heights, const float *finer, float *apart)
{
    for (int i = 0; i < ZOOMS_PIXELS; i++) {
        const float *four = finer + i / ZOOMS_SIDE * 4 * ZOOMS_SIDE + i % ZOOMS_SIDE * 2;
        const float mean =
            (four[0] + four[1] + four[2 * ZOOMS_SIDE] + four[2 * ZOOMS_SIDE + 1]) / 4;
        apart[i] = fabsf(heights[i] - mean);
    }
}

/* Set GRID to ZOOMS_SIDE x ZOOMS_SIDE pixels around PLACE, all of one tile at zoom Z. Returns 0, or
 * -ERANGE if there is no such tile at this zoom and the next. */
static int find_grid(const struct world *world, const int64_t place[2], int z,
                     struct farlands_grid *grid)
{
    struct tile_address address = {.world = world, .scale = 1, .z = z + 1};
    int err = tile_grid(&address, grid, NULL);
    if (err)
        return err;
    address.z = z;
    err = place_tile_find(&address, place);
    if (!err)
        err = tile_grid(&address, grid, NULL);
    if (err)
        return err;
    const int64_t part = ZOOMS_SIDE * grid->step;
    grid->x += (place[0] - grid->x) / part * part;
    grid->y += (place[1] - grid->y) / part * part;
    grid->width = grid->height = ZOOMS_SIDE;
    grid->band_limit = true;
    return 0;
}

/* Evaluate the heights in GRID, and count the pixels with water into *COUNT. */
static int evaluate(const struct run *run, struct farlands_scratch *scratch,
                    const struct farlands_grid *grid, float *heights, float *levels, int *count)
{
    const struct world_water *water = world_water(run->world);
    const int field[] = {terrain_height_field(run->terrain), water ? water->water : 0};
    float *const out[] = {heights, levels};
    const int err =
        terrain_fields(run->terrain, scratch, grid, field, water ? 2 : 1, out, (size_t)grid->width);
    for (int i = 0; !err && i < grid->width * grid->height; i++)
        *count += !(heights[i] > 0) || (water && levels[i] > heights[i]);
    return err;
}

static int visit(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    const struct run *run = context;
    const int zoom = i % ZOOMS, place = i / ZOOMS;
    struct look *look = &run->look[zoom][place];
    struct worker *worker = memory;
    struct farlands_grid grid;

    if (find_grid(run->world, run->place[place], ZOOMS_FIRST + zoom, &grid))
        return 0;
    int err = evaluate(run, scratch, &grid, worker->heights, worker->water, &look->water[0]);
    grid.step /= 2;
    grid.width = grid.height = 2 * ZOOMS_SIDE;
    if (!err)
        err = evaluate(run, scratch, &grid, worker->finer, worker->water, &look->water[1]);
    if (err)
        return err;
    zooms_compare(worker->heights, worker->finer, look->apart);
    look->found = true;
    return 0;
}

static void summarize(struct zooms *out, const struct run *run, int zoom, int places, float *values)
{
    int looks = 0, water[2] = {0};
    for (int place = 0; place < places; place++) {
        const struct look *look = &run->look[zoom][place];
        for (int i = 0; look->found && i < ZOOMS_PIXELS; i++)
            values[looks * ZOOMS_PIXELS + i] = look->apart[i];
        looks += look->found;
        water[0] += look->water[0];
        water[1] += look->water[1];
    }
    const double pixels = (double)looks * (double)ZOOMS_PIXELS;
    out->apart[zoom] = quantile_of(values, looks * ZOOMS_PIXELS, SHARE);
    out->water[zoom][0] = water[0] / pixels;
    out->water[zoom][1] = water[1] / (4 * pixels);
}

int zooms_measure(struct zooms *out, const struct world *world, unsigned threads,
                  const int64_t (*place)[2], int places)
{
    const int looks = places < ZOOMS_PLACES ? places : ZOOMS_PLACES;
    struct run run = {.world = world, .place = place};
    const struct visits visits = {looks * ZOOMS, sizeof(struct worker), visit, &run};
    int err = world_terrain_hold(world, &run.terrain);
    if (err)
        return err;
    run.look = calloc(ZOOMS, sizeof run.look[0]);
    float *values = malloc(sizeof(float) * ZOOMS_PLACES * ZOOMS_PIXELS);
    err = run.look && values ? visits_run(&visits, threads) : -ENOMEM;
    for (int zoom = 0; !err && zoom < ZOOMS; zoom++)
        summarize(out, &run, zoom, looks, values);
    free(values);
    free(run.look);
    world_terrain_release(world, run.terrain);
    return err;
}
