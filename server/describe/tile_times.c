#include "tile_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "server/core/clock.h"
#include "server/describe/place_tile.h"
#include "server/describe/quantiles.h"
#include "server/tiles/render.h"
#include "server/world/worlds.h"

const int tile_times_zooms[TILE_TIMES_ZOOMS] = {0, 4, 8, 10, 12, 14, 16};

struct bench {
    const struct world *world;
    const struct farlands_terrain *terrain;
    struct render_scratch *scratch;
    float *samples; /* one tile's */
};

static int evaluate(struct bench *bench, const struct farlands_grid *grid)
{
    return terrain_heights(bench->terrain, render_scratch_noise(bench->scratch), grid,
                           bench->samples, TILE_SIZE);
}

static int evaluate_all(struct bench *bench, const struct tile *tile)
{
    return evaluate(bench, &tile->grid);
}

static int evaluate_picture(struct bench *bench, const struct tile *tile)
{
    struct farlands_grid grid = tile->grid;
    grid.band_limit = true;
    return evaluate(bench, &grid);
}

static int render(struct bench *bench, const struct tile *tile)
{
    struct blob *blob;
    int err = render_tile(&blob, bench->scratch, tile, NULL, NULL);
    if (!err)
        blob_release(blob);
    return err;
}

/* Find the tile at zoom Z that contains PLACE. Returns 0 or -ERANGE. */
static int find_tile(const struct world *world, int layer, int z, const int64_t place[2],
                     struct tile *tile)
{
    struct tile_address address = {
        .world = world, .layer = layer, .format = FORMAT_PNG, .scale = 1, .z = z};
    const int err = place_tile_find(&address, place);
    return err ? err : tile_resolve(tile, &address, NULL);
}

/* Set TIMES, for the zooms of LAYER, to the median time that MEASURED takes at PLACES. */
static int measure(struct bench *bench, int layer, const int64_t (*places)[2], int count,
                   int (*measured)(struct bench *, const struct tile *),
                   double times[TILE_TIMES_ZOOMS])
{
    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS; zoom++) {
        float ms[TILE_TIMES_PLACES];
        int done = 0;
        for (int i = 0; i < count && i < TILE_TIMES_PLACES; i++) {
            struct tile tile;
            if (find_tile(bench->world, layer, tile_times_zooms[zoom], places[i], &tile))
                continue;
            const double start = clock_thread_ns();
            int err = measured(bench, &tile);
            if (err)
                return err;
            ms[done++] = (float)((clock_thread_ns() - start) / 1e6);
        }
        times[zoom] = quantiles_of(ms, done).value[QUANTILE_MEDIAN];
    }
    return 0;
}

static int first_layer(const struct world *world)
{
    int layer = 0;
    while (!world_serves(world, layer))
        layer++;
    return layer;
}

/* Set each field's times, computed alone over the picture around PLACE. A whole tile is evaluated
 * first, which finds the rivers: otherwise the first field's time would include that. */
static int measure_fields(struct tile_times *out, struct bench *bench, const int64_t place[2])
{
    const struct farlands_terrain *terrain = bench->terrain;
    const int layer = layer_find("relief"), fields = terrain_field_count(terrain);
    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS; zoom++) {
        struct tile tile;
        const bool none = find_tile(bench->world, layer, tile_times_zooms[zoom], place, &tile) != 0;
        int err = none ? 0 : evaluate_picture(bench, &tile);
        tile.grid.band_limit = true;
        for (int i = 0; i < fields && !err; i++) {
            const double start = clock_thread_ns();
            if (!none)
                err = terrain_fields(terrain, render_scratch_noise(bench->scratch), &tile.grid, &i,
                                     1, &bench->samples, TILE_SIZE);
            out->field[i][zoom] = none ? (double)NAN : (clock_thread_ns() - start) / 1e6;
        }
        if (err)
            return err;
    }
    return 0;
}

static int measure_all(struct tile_times *out, struct bench *bench, const int64_t (*places)[2],
                       int count)
{
    int err = measure_fields(out, bench, places[0]);
    if (!err)
        err = measure(bench, layer_find("height"), places, count, evaluate_all, out->heights);
    if (!err)
        err = measure(bench, layer_find("relief"), places, count, evaluate_picture, out->picture);
    return err ? err : measure(bench, out->layer, places, count, render, out->tile);
}

int tile_times_measure(struct tile_times *out, const struct world *world,
                       const int64_t (*places)[2], int count)
{
    struct bench bench = {.world = world};
    *out = (struct tile_times){.layer = first_layer(world)};
    int err = world_terrain_hold(world, &bench.terrain);
    if (err)
        return err;
    err = render_scratch_new(&bench.scratch);
    if (err)
        goto fail_scratch;
    bench.samples = malloc(sizeof(float) * TILE_SIZE * TILE_SIZE);
    out->field = calloc((size_t)terrain_field_count(bench.terrain), sizeof out->field[0]);
    err = bench.samples && out->field ? measure_all(out, &bench, places, count) : -ENOMEM;
    if (err) {
        free(out->field);
        out->field = NULL;
    }
    free(bench.samples);
    render_scratch_free(bench.scratch);
fail_scratch:
    world_terrain_release(world, bench.terrain);
    return err;
}
