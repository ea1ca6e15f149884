/*
 * The relief painters on the same ground, the built-in default world's: colors by the palette
 * alone, by climate, and by climate with rivers. The rivers are drawn by hand, because not every
 * world has rivers. One line per zoom. One thread.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/layers/inland_water.h"
#include "server/layers/layer.h"
#include "server/tiles/render.h"
#include "server/world/worlds.h"
#include "tests/bench/bench.h"
#include "tests/bench/bench_worlds.h"

enum { SIZE = 256, STRIDE = SIZE + 2 * LAYER_MAX_REACH, REPEATS = 51 };

static float ground[3][STRIDE * STRIDE]; /* heights, temperatures, humidities */
static float water[3][STRIDE * STRIDE];  /* levels, orders, banks */

/* The ground of a tile in the middle of the map at ZOOM. */
static int make_ground(struct heights *out, const struct world *world,
                       struct farlands_scratch *scratch, int zoom)
{
    const int layer = layer_find("relief");
    const struct tile_address tile = {.world = world,
                                      .layer = layer,
                                      .scale = 1,
                                      .z = zoom,
                                      .x = INT64_C(1) << (zoom - 1),
                                      .y = INT64_C(1) << (zoom - 1)};
    const struct climate *climate = world_climate(world);
    const int field[3] = {world_height_field(world), climate->temperature, climate->humidity};
    float *const values[3] = {ground[0], ground[1], ground[2]};
    struct farlands_grid grid;

    tile_grid(&tile, &grid, NULL);
    const int reach = world_reach(world, layer, grid.step);
    const ptrdiff_t first = reach * STRIDE + reach;
    *out = (struct heights){.first = ground[0] + first,
                            .temperature = ground[1] + first,
                            .humidity = ground[2] + first,
                            .stride = STRIDE,
                            .size = SIZE,
                            .rows = SIZE,
                            .reach = reach,
                            .spacing = (float)grid.step / FARLANDS_UNIT,
                            .exaggeration = world_exaggeration(world, grid.step)};
    grid.x -= reach * grid.step;
    grid.y -= reach * grid.step;
    grid.width = grid.height = SIZE + 2 * reach;
    return terrain_fields(world->base_terrain, scratch, &grid, field, 3, values, STRIDE);
}

/* A lake in the middle, an eighth of the tile, and rivers 64 samples apart. */
static void add_water(struct heights *heights)
{
    const float step = heights->spacing;
    for (int k = 0; k < STRIDE * STRIDE; k++) {
        const int i = k % STRIDE, j = k / STRIDE;
        const bool still = abs(i - STRIDE / 2) < SIZE / 8 && abs(j - STRIDE / 2) < SIZE / 4;
        const float away = ((float)((i + j / 2) % 64) - 32) * step;
        water[2][k] = fminf(fabsf(away), 256);
        water[1][k] = fabsf(away) < 2 * step ? 6 : 0;
        water[0][k] = still ? ground[0][k] + 20 : -32768;
    }
    const ptrdiff_t first = heights->first - ground[0];
    heights->water = water[0] + first;
    heights->river = water[1] + first;
    heights->bank = water[2] + first;
    double width[RIVER_ORDERS];
    for (int k = 0; k < RIVER_ORDERS; k++)
        width[k] = ldexp(0.5, k);
    heights->rivers = river_scale_make((double)step, width);
}

static double paint(const struct heights *heights, const struct color_table *colors)
{
    static uint8_t pixels[SIZE * SIZE * 3];
    const uint64_t start = now();
    layers[layer_find("relief")].paint(heights, colors, pixels);
    return (double)(now() - start) / 1e3;
}

static int bench(const struct world *world, struct farlands_scratch *scratch)
{
    static const int zooms[] = {4, 6, 8, 10, 12, 14, 16};
    static struct color_table palette;

    int err = world_color_climate(world);
    if (err)
        return err;
    palette = *world->colors;
    palette.climate = NULL;
    for (size_t z = 0; z < sizeof zooms / sizeof zooms[0]; z++) {
        struct heights heights;
        double plain[REPEATS], climate[REPEATS], rivers[REPEATS];
        err = make_ground(&heights, world, scratch, zooms[z]);
        if (err)
            return err;
        struct heights wet = heights;
        add_water(&wet);
        for (int i = 0; i < REPEATS; i++) {
            plain[i] = paint(&heights, &palette);
            climate[i] = paint(&heights, world->colors);
            rivers[i] = paint(&wet, world->colors);
        }
        const double us = quantile(plain, REPEATS, 0.5), more = quantile(climate, REPEATS, 0.5);
        const double most = quantile(rivers, REPEATS, 0.5);
        printf("painters/relief-256/z%d  palette %.0f us  climate %.0f us  %.2fx  rivers %.0f us  "
               "%.2fx\n",
               zooms[z], us, more, more / us, most, most / more);
    }
    return 0;
}

int main(void)
{
    struct worlds *worlds = bench_worlds(NULL);
    struct render_scratch *scratch;

    if (!worlds || render_scratch_new(&scratch)) {
        fprintf(stderr, "bench_painters: set-up failed\n");
        return 1;
    }
    int err = bench(worlds_find(worlds, "default"), render_scratch_noise(scratch));
    if (err)
        fprintf(stderr, "bench_painters: %s\n", strerror(-err));
    render_scratch_free(scratch);
    worlds_release(worlds);
    return err ? 1 : 0;
}
