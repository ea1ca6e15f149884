#include "layer_rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/layers/climate_colors.h"
#include "server/png/image_writer.h"
#include "server/webp/webp_writer.h"

/*
 * Terrain takes from one to ten times as long to encode as level ground, depending on its detail,
 * and pictures with palettes up to four times. These are about the middles between the fastest and
 * the slowest tiles.
 */
#define TERRAIN_TO_LEVEL 2.7
#define PICTURE_TO_LEVEL 1.8

/* Of a layer: as many as this takes, but at least LAYER_REPEATS. The first ones have cold caches.
 */
enum { LAYER_REPEATS = 3, LAYER_NS = 500000 };

/* Paint and encode level ground. */
static int measure_layer(struct layer_rates *rates, const struct layer *layer,
                         struct image_writer *writer, const struct heights *heights,
                         const struct color_table *colors, void *pixels)
{
    static const struct image_palette black = {.colors = 1};
    const double samples = (double)heights->size * heights->size;
    const double detail = layer->pixel == PIXEL_PICTURE ? PICTURE_TO_LEVEL : TERRAIN_TO_LEVEL;
    *rates = (struct layer_rates){.paint = INFINITY, .encode = INFINITY};
    const double begun = clock_thread_ns();
    for (int repeat = 0; repeat < LAYER_REPEATS || clock_thread_ns() - begun < LAYER_NS; repeat++) {
        struct blob *blob;
        const double start = clock_thread_ns();
        layer->paint(heights, colors, pixels);
        const double painted = clock_thread_ns();
        int err =
            image_writer_tile(&blob, writer, layer->pixel, &black, heights->size, pixels, NULL);
        if (err)
            return err;
        const double encoded = clock_thread_ns();
        blob_release(blob);
        rates->paint = fmin(rates->paint, (painted - start) / samples);
        rates->encode = fmin(rates->encode, detail * (encoded - painted) / samples);
    }
    rates->climate = rates->paint;
    return 0;
}

enum {
    HIGHEST = 1000, /* metres */
    LEVEL_SIZE = 256,
    LEVEL_STRIDE = LEVEL_SIZE + 2,
    LEVEL_SAMPLES = LEVEL_STRIDE * LEVEL_STRIDE
};

struct level_ground {
    struct color_table colors;
    float heights[LEVEL_SAMPLES];
    uint8_t pixels[LEVEL_SIZE * LEVEL_SIZE * 3];
};

static struct heights heights_of(const float *heights, const float *climate)
{
    const int first = LEVEL_STRIDE + 1;
    return (struct heights){.first = heights + first,
                            .temperature = climate + first,
                            .humidity = climate + first,
                            .stride = LEVEL_STRIDE,
                            .size = LEVEL_SIZE,
                            .rows = LEVEL_SIZE,
                            .reach = 1,
                            .spacing = 1,
                            .exaggeration = 1,
                            .range = {0, HIGHEST}};
}

/* Ground with a climate, and black colors of two levels: only the time counts. */
struct climate_ground {
    float heights[LEVEL_SAMPLES], climate[LEVEL_SAMPLES];
    struct climate_colors colors; /* its colors follow */
};

/*
 * Level ground is painted faster, since it has neither rock nor two levels at a place: half of the
 * ground rises by the spacing of samples, through a change of levels.
 */
static int measure_climate(struct layer_rates *rates, const struct layer *layer,
                           const struct color_table *colors, void *pixels)
{
    struct climate_ground *ground =
        calloc(1, sizeof *ground + (size_t)climate_entry(CLIMATE_PLACES, 2) * sizeof(uint32_t));
    if (!ground)
        return -ENOMEM;
    ground->colors.levels = 2;
    ground->colors.change[0] = (struct climate_change){0, 1.0f / LEVEL_STRIDE};
    for (int k = 0; k < LEVEL_SAMPLES; k++) {
        ground->heights[k] = k < LEVEL_SAMPLES / 2 ? 0 : (float)(k % LEVEL_STRIDE);
        ground->climate[k] = (float)(k % LEVEL_STRIDE) / LEVEL_STRIDE;
    }
    struct color_table with_climate = *colors;
    with_climate.climate = &ground->colors;
    const struct heights heights = heights_of(ground->heights, ground->climate);
    rates->climate = INFINITY;
    for (int repeat = 0; repeat < LAYER_REPEATS; repeat++) {
        const double start = clock_thread_ns();
        layer->paint(&heights, &with_climate, pixels);
        rates->climate =
            fmin(rates->climate, (clock_thread_ns() - start) / ((double)LEVEL_SIZE * LEVEL_SIZE));
    }
    free(ground);
    return 0;
}

int layer_rates_measure(struct layer_rates rates[CONFIG_LAYERS_MAX])
{
    struct level_ground *ground = calloc(1, sizeof *ground);
    struct image_writer *writer = NULL;
    int err = ground ? image_writer_new(&writer) : -ENOMEM;

    if (!err)
        ground->colors =
            (struct color_table){.max = HIGHEST, .scale = (float)COLOR_TABLE_SIZE / HIGHEST};
    for (int i = 0; !err && layers[i].name; i++) {
        const struct heights heights = heights_of(ground->heights, ground->heights);
        err =
            measure_layer(&rates[i], &layers[i], writer, &heights, &ground->colors, ground->pixels);
        if (!err && layers[i].climate)
            err = measure_climate(&rates[i], &layers[i], &ground->colors, ground->pixels);
    }
    image_writer_free(writer);
    free(ground);
    return err;
}

/*
 * WebP of level ground, in gray or in colors. Of a picture this small, half of the time is that of
 * beginning: so this is twice the time of a sample of level tiles, and half of that of terrain.
 */
int layer_rates_measure_webp(struct layer_rates rates[CONFIG_LAYERS_MAX],
                             const struct webp_config *webp)
{
    enum { SIDE = LEVEL_SIZE / 2 };
    static const uint8_t level[SIDE * SIDE];
    struct webp_writer *writer = NULL;
    double best = INFINITY;
    int err = webp_writer_new(&writer);

    for (int repeat = 0; repeat < 2 && !err; repeat++) {
        struct blob *blob;
        const double start = clock_thread_ns();
        err = webp_writer_tile(&blob, writer, PIXEL_GRAY8, SIDE, level, webp->quality, webp->method,
                               NULL);
        if (err)
            break;
        best = fmin(best, clock_thread_ns() - start);
        blob_release(blob);
    }
    webp_writer_free(writer);
    for (int i = 0; layers[i].name; i++)
        if (layers[i].formats & 1U << FORMAT_WEBP)
            rates[i].webp = best / (SIDE * SIDE);
    return err;
}
