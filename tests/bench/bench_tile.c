/*
 * Where a cold tile's time goes: noise, layer, encoding, disk. Prints one line per layer: the
 * median over many tiles, each at another place. One thread.
 *
 * With the arguments LAYER ZOOM X Y WIDTH COUNT STRIDE TILES: the CPU time of TILES tiles alone, in
 * the order in which tiles.lua requests them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/cache/disk_cache.h"
#include "server/tiles/render.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_worlds.h"
#include "tests/worlds/fractal.h"

enum { TILES = 200 };

static double median(double *values)
{
    return quantile(values, TILES, 0.5);
}

/* Costs of one kind of tile in microseconds, and their bytes. */
struct costs {
    double noise[TILES], layer[TILES], encoding[TILES], disk[TILES], bytes[TILES];
};

static int measure(struct costs *costs, struct render_scratch *scratch, struct disk_cache *cache,
                   struct tile_address *address)
{
    for (int i = 0; i < TILES; i++) {
        struct render_times times;
        struct tile tile;
        struct blob *blob;
        address->x = (INT64_C(1) << (address->z - 1)) + i % 20;
        address->y = (INT64_C(1) << (address->z - 1)) + i / 20;
        int err = tile_resolve(&tile, address, NULL);
        if (!err)
            err = render_tile(&blob, scratch, &tile, NULL, &times);
        if (err)
            return err;
        uint64_t start = now();
        if (address->format == FORMAT_PNG)
            err = disk_cache_put(cache, tile.key, blob);
        costs->disk[i] = (double)(now() - start) / 1e3;
        costs->noise[i] = (double)times.noise / 1e3;
        costs->layer[i] = (double)times.layer / 1e3;
        costs->encoding[i] = (double)times.encoding / 1e3;
        costs->bytes[i] = (double)blob->length;
        blob_release(blob);
        if (err)
            return err;
    }
    return 0;
}

static int bench(const struct worlds *worlds, struct render_scratch *scratch,
                 struct disk_cache *cache)
{
    static const int zooms[] = {6, 10, 14, 18};
    static struct costs costs;

    for (int i = 0; layers[i].name; i++)
        for (size_t z = 0; world_lists(&worlds->world[0], i) && z < sizeof zooms / sizeof zooms[0];
             z++) {
            struct tile_address tile = {
                .world = &worlds->world[0], .layer = i, .scale = 1, .z = zooms[z]};
            int err = measure(&costs, scratch, cache, &tile);
            if (err)
                return err;
            printf("tile/%s-256/z%d  noise %.0f us  layer %.0f us  png %.0f us  disk %.0f us  "
                   "%.1f KiB\n",
                   layers[i].name, zooms[z], median(costs.noise), median(costs.layer),
                   median(costs.encoding), median(costs.disk), median(costs.bytes) / 1024);
        }
    return 0;
}

/* Render the tiles that ARGUMENTS, as above, name. */
static int render(const struct worlds *worlds, struct render_scratch *scratch, char **arguments)
{
    int64_t number[7];
    struct tile_address tile = {.world = &worlds->world[0], .scale = 1};
    size_t bytes = 0;

    while (layers[tile.layer].name && strcmp(layers[tile.layer].name, arguments[0]) != 0)
        tile.layer++;
    if (!layers[tile.layer].name)
        return -ENOENT;
    for (int i = 0; i < 7; i++)
        number[i] = strtoll(arguments[i + 1], NULL, 10);
    tile.z = (int)number[0];
    const int64_t width = number[3], count = number[4], stride = number[5], tiles = number[6];
    const clock_t begun = clock();
    for (int64_t n = 0; n < tiles; n++) {
        struct blob *blob;
        const int64_t i = n * stride % count;
        tile.x = number[1] + i % width;
        tile.y = number[2] + i / width;
        struct tile resolved;
        int err = tile_resolve(&resolved, &tile, NULL);
        if (!err)
            err = render_tile(&blob, scratch, &resolved, NULL, NULL);
        if (err)
            return err;
        bytes += blob->length;
        blob_release(blob);
    }
    printf("render %.1f us  %.1f KiB\n",
           1e6 * (double)(clock() - begun) / CLOCKS_PER_SEC / (double)tiles,
           (double)bytes / (double)tiles / 1024);
    return 0;
}

int main(int count, char **arguments)
{
    char directory[] = "/tmp/farlands-bench-XXXXXX", command[64];
    struct worlds *worlds = bench_worlds(FRACTAL_WORLD);
    struct render_scratch *scratch;
    struct disk_cache *cache;
    static const struct footprint quota = {UINT64_C(1) << 40, 1 << 30};

    if (!worlds || render_scratch_new(&scratch) || !mkdtemp(directory) ||
        disk_cache_open(&cache, directory, &quota, NULL, NULL)) {
        fprintf(stderr, "bench_tile: set-up failed\n");
        return 1;
    }
    printf("kernel %s\n", terrain_kernel(worlds->world[0].base_terrain));
    int err = count == 9 ? render(worlds, scratch, arguments + 1) : bench(worlds, scratch, cache);
    if (err)
        fprintf(stderr, "bench_tile: %s\n", strerror(-err));
    disk_cache_close(cache);
    render_scratch_free(scratch);
    worlds_release(worlds);
    snprintf(command, sizeof command, "rm -r %s", directory);
    return err || system(command) ? 1 : 0;
}
