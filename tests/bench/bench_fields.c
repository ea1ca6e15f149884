/*
 * Speed of a world that is a graph of fields, next to a world of a single noise. They take
 * turns on the same core, so that other load affects both alike:
 *
 *     fields/relief-256/z14  380 us  2.4x the single noise's 158 us
 *
 * The heights are those that a relief tile of 256 x 256 needs, two more on each axis. A first point
 * is far from the one before it, a near one is 100 blocks away. Then the default world's climate
 * and biomes, computed with the heights. Run in the folder of the sources.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/world/worlds.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_worlds.h"
#include "tests/worlds/fractal.h"

#define WORLD "config/worlds/continents.yaml"

enum { ROUNDS = 60, POINTS = 50, SIDE = 256 + 2 };
enum { GRAPH, SINGLE, KINDS };

struct bench {
    const struct farlands_terrain *terrain[KINDS];
    struct farlands_scratch *scratch[KINDS]; /* a scratch remembers its last terrain */
    int native_zoom[KINDS];
    float out[SIDE * SIDE], more[3][SIDE * SIDE];
};

/* Tile NUMBER at ZOOM, at another place each. */
static struct farlands_grid tile_at(int native_zoom, int zoom, int number)
{
    const int64_t step = FARLANDS_UNIT << native_zoom >> zoom;
    return (struct farlands_grid){.x = (number % 8 - 4) * 256 * step - step,
                                  .y = (number / 8 - 4) * 256 * step - step,
                                  .step = step,
                                  .width = SIDE,
                                  .height = SIDE,
                                  .band_limit = true};
}

/* The time of a tile, in us. */
static double time_tile(struct bench *bench, int kind, int zoom, int number)
{
    const struct farlands_grid grid = tile_at(bench->native_zoom[kind], zoom, number);
    const uint64_t start = now();
    terrain_heights(bench->terrain[kind], bench->scratch[kind], &grid, bench->out, SIDE);
    return (double)(now() - start) / 1e3;
}

static void print(const char *name, double times[KINDS][ROUNDS])
{
    const double graph = quantile(times[GRAPH], ROUNDS, 0.1);
    const double single = quantile(times[SINGLE], ROUNDS, 0.1);
    printf("fields/%s  %.*f us  %.1fx the single noise's %.*f us\n", name, graph < 100 ? 1 : 0,
           graph, graph / single, single < 100 ? 1 : 0, single);
    fflush(stdout);
}

static void bench_zoom(struct bench *bench, int zoom)
{
    double times[KINDS][ROUNDS];
    char name[32];
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++)
            times[kind][round] = time_tile(bench, kind, zoom, round);
    snprintf(name, sizeof name, "relief-256/z%d", zoom);
    print(name, times);
}

/* POINTS points that are BLOCKS apart, in us each. */
static double time_points(struct bench *bench, int kind, int64_t blocks, int round)
{
    const struct farlands_terrain *terrain = bench->terrain[kind];
    const int field = terrain_height_field(terrain);
    const int64_t x = round * 7919 * 1000 * FARLANDS_UNIT;
    float sum = 0;
    terrain_field_at(terrain, bench->scratch[kind], field, x, 0);
    const uint64_t start = now();
    for (int i = 1; i <= POINTS; i++)
        sum += terrain_field_at(terrain, bench->scratch[kind], field,
                                x + i % 7 * blocks * FARLANDS_UNIT, i % 5 * blocks * FARLANDS_UNIT);
    bench->out[0] = sum;
    return (double)(now() - start) / 1e3 / POINTS;
}

static void bench_points(struct bench *bench, const char *name, int64_t blocks)
{
    double times[KINDS][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int kind = 0; kind < KINDS; kind++)
            times[kind][round] = time_points(bench, kind, blocks, round);
    print(name, times);
}

static int load(struct bench *bench, int kind, const char *file, struct worlds **worlds)
{
    *worlds = bench_worlds(file);
    if (!*worlds)
        return -EINVAL;
    bench->terrain[kind] = (*worlds)->world[0].base_terrain;
    bench->native_zoom[kind] = (*worlds)->world[0].config->native_zoom;
    return farlands_scratch_new(&bench->scratch[kind]);
}

/* Fields of the default world over the samples of a tile. Returns the time in us. */
static double time_fields(struct bench *bench, struct farlands_scratch *scratch,
                          const struct world *world, int zoom, int number, const int *field,
                          int count)
{
    float *out[] = {bench->out, bench->more[0], bench->more[1], bench->more[2]};
    const struct farlands_grid grid = tile_at(world->config->native_zoom, zoom, number);
    const uint64_t start = now();
    terrain_fields(world->base_terrain, scratch, &grid, field, count, out, SIDE);
    return (double)(now() - start) / 1e3;
}

/* What the climate of the default world costs beside its heights, and what the biomes cost then. */
static void bench_climate(struct bench *bench, struct farlands_scratch *const scratch[3],
                          const struct world *world, int zoom)
{
    const struct climate *climate = world_climate(world);
    const int field[] = {world_height_field(world), climate->temperature, climate->humidity,
                         climate->biome};
    static const int counts[] = {1, 3, 4};
    double times[3][ROUNDS];
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < 3; k++)
            times[k][round] = time_fields(bench, scratch[k], world, zoom, round, field, counts[k]);
    const double heights = quantile(times[0], ROUNDS, 0.1);
    printf("fields/climate-256/z%d  heights %.0f us  with climate %.2fx  with biomes %.2fx\n", zoom,
           heights, quantile(times[1], ROUNDS, 0.1) / heights,
           quantile(times[2], ROUNDS, 0.1) / heights);
}

static int bench_climates(struct bench *bench, const int *zooms, size_t count)
{
    struct farlands_scratch *scratch[3] = {NULL}; /* which remember broad fields of their tiles */
    struct worlds *worlds = bench_worlds(NULL);
    int err = worlds ? 0 : -EINVAL;
    for (int k = 0; k < 3 && !err; k++)
        err = farlands_scratch_new(&scratch[k]);
    for (size_t i = 0; i < count && !err; i++)
        bench_climate(bench, scratch, worlds_find(worlds, "default"), zooms[i]);
    for (int k = 0; k < 3; k++)
        farlands_scratch_free(scratch[k]);
    worlds_release(worlds);
    return err;
}

int main(void)
{
    static const int zooms[] = {0, 3, 5, 6, 8, 10, 12, 14, 16};
    static struct bench bench;
    struct worlds *worlds[KINDS] = {NULL};
    int err = load(&bench, GRAPH, WORLD, &worlds[GRAPH]);
    if (!err)
        err = load(&bench, SINGLE, FRACTAL_WORLD, &worlds[SINGLE]);
    for (size_t i = 0; !err && i < sizeof zooms / sizeof zooms[0]; i++)
        bench_zoom(&bench, zooms[i]);
    if (!err) {
        bench_points(&bench, "point-first", 100000);
        bench_points(&bench, "point-near", 100);
    }
    if (!err)
        err = bench_climates(&bench, zooms, sizeof zooms / sizeof zooms[0]);
    for (int kind = 0; kind < KINDS; kind++) {
        farlands_scratch_free(bench.scratch[kind]);
        worlds_release(worlds[kind]);
    }
    return err ? 1 : 0;
}
