#include "tile_times.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "noise/estimate.h"
#include "noise/terrain.h"
#include "server/core/clock.h"
#include "server/describe/quantiles.h"
#include "server/tiles/render.h"

const int tile_times_zooms[TILE_TIMES_ZOOMS] = {0, 4, 8, 10, 12, 14, 16};

struct bench {
    const struct world *world;
    const struct farlands_terrain *terrain;
    struct render_scratch *scratch;
    float *samples; /* of a tile */
};

static int evaluate_all(struct bench *bench, const struct tile *tile, struct farlands_grid grid)
{
    (void)tile;
    return terrain_heights(bench->terrain, render_scratch_noise(bench->scratch), &grid,
                           bench->samples, TILE_SIZE);
}

static int evaluate_picture(struct bench *bench, const struct tile *tile, struct farlands_grid grid)
{
    grid.band_limit = true;
    return evaluate_all(bench, tile, grid);
}

static int render(struct bench *bench, const struct tile *tile, struct farlands_grid grid)
{
    struct blob *blob;
    (void)grid;
    int err = render_tile(&blob, bench->scratch, tile, NULL, NULL);
    if (!err)
        blob_release(blob);
    return err;
}

/* The tile of zoom Z that has PLACE, and its grid. Returns 0 or -ERANGE. */
static int find_tile(const struct world *world, int layer, int z, const int64_t place[2],
                     struct tile *tile, struct farlands_grid *grid)
{
    *tile = (struct tile){.world = world, .layer = layer, .format = FORMAT_PNG, .scale = 1, .z = z};
    int err = tile_grid(tile, grid, NULL); /* of tile 0, 0, for the step */
    if (err)
        return err;
    const double side = (double)TILE_SIZE * (double)grid->step;
    tile->x = (int64_t)floor(((double)place[0] - (double)world->config->origin[0]) / side);
    tile->y = (int64_t)floor(((double)place[1] - (double)world->config->origin[1]) / side);
    return tile_grid(tile, grid, NULL);
}

/* Set TIMES to the medians over PLACES of what MEASURE takes at the zooms of LAYER. */
static int measure(struct bench *bench, int layer, const int64_t (*places)[2], int count,
                   int (*measured)(struct bench *, const struct tile *, struct farlands_grid),
                   double times[TILE_TIMES_ZOOMS])
{
    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS; zoom++) {
        float ms[TILE_TIMES_PLACES];
        int done = 0;
        for (int i = 0; i < count && i < TILE_TIMES_PLACES; i++) {
            struct tile tile;
            struct farlands_grid grid;
            if (find_tile(bench->world, layer, tile_times_zooms[zoom], places[i], &tile, &grid))
                continue;
            const double start = clock_thread_ns();
            int err = measured(bench, &tile, grid);
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

/* Share the time of a picture's heights among the fields, in a tile. *KEPT is for estimate_field.
 */
static int share_tile(struct tile_times *out, const struct farlands_terrain *terrain, int zoom,
                      struct farlands_grid grid, struct evaluation **kept)
{
    const int height = terrain_field(terrain, "height", 6);
    double ns[GRAPH_MAX_NODES] = {0};
    struct estimate whole;

    grid.band_limit = true;
    int err = estimate_field(&whole, terrain, height, &grid, ns, kept);
    for (int i = 0; i < terrain_field_count(terrain) && !err; i++)
        out->share[i][zoom] = ns[i] / whole.ns;
    return err;
}

/* The same at all zooms, around PLACE. */
static int share(struct tile_times *out, const struct bench *bench, const int64_t place[2])
{
    struct evaluation *kept = NULL;
    int err = 0;

    for (int zoom = 0; zoom < TILE_TIMES_ZOOMS && !err; zoom++) {
        struct farlands_grid grid;
        struct tile tile;
        if (find_tile(bench->world, layer_find("relief"), tile_times_zooms[zoom], place, &tile,
                      &grid) == 0)
            err = share_tile(out, bench->terrain, zoom, grid, &kept);
    }
    evaluation_free(kept);
    return err;
}

static int measure_all(struct tile_times *out, struct bench *bench, const int64_t (*places)[2],
                       int count)
{
    int err = share(out, bench, places[0]);
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
    out->share = calloc((size_t)terrain_field_count(bench.terrain), sizeof out->share[0]);
    err = bench.samples && out->share ? measure_all(out, &bench, places, count) : -ENOMEM;
    if (err) {
        free(out->share);
        out->share = NULL;
    }
    free(bench.samples);
    render_scratch_free(bench.scratch);
fail_scratch:
    world_terrain_release(world, bench.terrain);
    return err;
}
