#include "windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "server/describe/quantiles.h"
#include "server/describe/resample.h"
#include "server/describe/visits.h"
#include "server/world/worlds.h"

const char *const window_names[WINDOW_CLASSES] = {
    [WINDOW_MOUNTAINS] = "mountains",
    [WINDOW_HILLS] = "hills",
    [WINDOW_PLAINS] = "plains",
};

static const float RELIEF[WINDOW_CLASSES] = {1000, 200, 20}; /* metres, at least */
static const double LAND = 0.6;                              /* at least */
static const float FOOT = 0.3048f;
static const int64_t SIDE = FORM_SIDE * FORM_SPACING * FARLANDS_UNIT;

enum {
    GLANCE = 32, /* samples per side, to choose windows by */
    BAND = 96,   /* rows of samples that are evaluated at a time */
    BAND_SAMPLES = BAND * RESAMPLE_SIDE
};

_Static_assert(RESAMPLE_SIDE % BAND == 0, "whole bands");

/* A place whose window may be measured. */
struct candidate {
    const int64_t *place;
    bool land;
    float relief;
};

struct window {
    const int64_t *place;
    enum window_class class;
    double measure[FORM_MEASURES];
};

struct run {
    unsigned threads;
    const struct farlands_terrain *terrain;
    const struct world_water *water; /* or NULL */
    int height;                      /* the field */
    struct candidate *candidate;
    struct window window[WINDOW_CLASSES * WINDOWS_MOST];
    int windows;
};

/* A thread's memory. */
struct worker {
    float height[BAND_SAMPLES], water[BAND_SAMPLES];
    float surface[RESAMPLE_SAMPLES], bank[RESAMPLE_SAMPLES], resampled[RESAMPLE_SAMPLES];
    float heights[FORM_CELLS], banks[FORM_CELLS];
    struct form_memory form;
};

/* A grid over the window around PLACE. */
static struct farlands_grid grid_of(const int64_t place[2], int samples)
{
    return (struct farlands_grid){.x = place[0] - SIDE / 2,
                                  .y = place[1] - SIDE / 2,
                                  .step = SIDE / samples,
                                  .width = samples,
                                  .height = samples};
}

/* --- Choosing windows --- */

static int glance(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    const struct run *run = context;
    struct candidate *candidate = &run->candidate[i];
    struct farlands_grid grid = grid_of(candidate->place, GLANCE);
    float *const heights = memory;
    float low = INFINITY, high = -INFINITY;
    int land = 0;

    grid.band_limit = true;
    int err = terrain_heights(run->terrain, scratch, &grid, heights, GLANCE);
    if (err)
        return err;
    for (int k = 0; k < GLANCE * GLANCE; k++) {
        if (!(heights[k] > 0))
            continue;
        land++;
        low = fminf(low, heights[k]);
        high = fmaxf(high, heights[k]);
    }
    candidate->land = land >= LAND * (double)(GLANCE * GLANCE);
    candidate->relief = high - low;
    return 0;
}

static bool overlap(const int64_t a[2], const int64_t b[2])
{
    /* Unsigned, because places may be as far apart as the world is wide. */
    const uint64_t x =
        a[0] < b[0] ? (uint64_t)b[0] - (uint64_t)a[0] : (uint64_t)a[0] - (uint64_t)b[0];
    const uint64_t y =
        a[1] < b[1] ? (uint64_t)b[1] - (uint64_t)a[1] : (uint64_t)a[1] - (uint64_t)b[1];
    return x < (uint64_t)SIDE && y < (uint64_t)SIDE;
}

static void consider(struct run *run, const struct candidate *candidate, int count[WINDOW_CLASSES])
{
    int class = 0;
    while (class < WINDOW_CLASSES && candidate->relief < RELIEF[class])
        class ++;
    if (!candidate->land || class == WINDOW_CLASSES || count[class] == WINDOWS_MOST)
        return;
    for (int i = 0; i < run->windows; i++)
        if (overlap(run->window[i].place, candidate->place))
            return;
    count[class]++;
    run->window[run->windows++] =
        (struct window){.place = candidate->place, .class = (enum window_class) class};
}

static int choose(struct run *run, const int64_t (*place)[2], int places, int count[WINDOW_CLASSES])
{
    const struct visits visits = {places, GLANCE * GLANCE * sizeof(float), glance, run};
    run->candidate = calloc((size_t)places + 1, sizeof run->candidate[0]);
    if (!run->candidate)
        return -ENOMEM;
    for (int i = 0; i < places; i++)
        run->candidate[i].place = place[i];
    int err = visits_run(&visits, run->threads);
    for (int i = 0; !err && i < places; i++)
        consider(run, &run->candidate[i], count);
    free(run->candidate);
    return err;
}

/* --- Measuring windows --- */

/* Evaluate BAND rows of GRID from ROW on into the worker's surface and bank. */
static int evaluate(const struct run *run, struct farlands_scratch *scratch, struct worker *worker,
                    struct farlands_grid grid, int row)
{
    const struct world_water *water = run->water;
    const size_t first = (size_t)row * RESAMPLE_SIDE;
    const int field[] = {run->height, water ? water->water : 0, water ? water->bank : 0};
    float *const out[] = {worker->height, worker->water, worker->bank + first};

    grid.y += row * grid.step;
    grid.height = BAND;
    int err =
        terrain_fields(run->terrain, scratch, &grid, field, water ? 3 : 1, out, RESAMPLE_SIDE);
    for (int i = 0; !err && i < BAND_SAMPLES; i++) {
        const float level = water ? fmaxf(worker->height[i], worker->water[i]) : worker->height[i];
        worker->surface[first + (size_t)i] = fmaxf(level, 0);
    }
    return err;
}

static int measure(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    struct run *run = context;
    struct window *window = &run->window[i];
    struct worker *worker = memory;
    const struct farlands_grid grid = grid_of(window->place, RESAMPLE_SIDE);
    int err = 0;

    for (int row = 0; !err && row < RESAMPLE_SIDE; row += BAND)
        err = evaluate(run, scratch, worker, grid, row);
    if (err)
        return err;
    resample(worker->surface, worker->resampled, worker->heights);
    for (int k = 0; k < FORM_CELLS; k++)
        worker->heights[k] = rintf(worker->heights[k] / FOOT) * FOOT;
    if (run->water)
        resample(worker->bank, worker->resampled, worker->banks);
    form_measure(worker->heights, run->water ? worker->banks : NULL, &worker->form,
                 window->measure);
    return 0;
}

static double median(const struct run *run, int class, int which)
{
    float values[WINDOWS_MOST];
    int count = 0;
    for (int i = 0; i < run->windows; i++)
        if ((int)run->window[i].class == class && !isnan(run->window[i].measure[which]))
            values[count++] = (float)run->window[i].measure[which];
    return quantile_of(values, count, 0.5);
}

static int measure_all(struct windows *out, struct run *run, const int64_t (*place)[2], int places)
{
    int err = choose(run, place, places < WINDOWS_PLACES ? places : WINDOWS_PLACES, out->count);
    if (err)
        return err;
    const struct visits visits = {run->windows, sizeof(struct worker), measure, run};
    err = visits_run(&visits, run->threads);
    for (int class = 0; !err && class < WINDOW_CLASSES; class ++)
        for (int which = 0; which < FORM_MEASURES; which++)
            out->median[class][which] = median(run, class, which);
    return err;
}

int windows_measure(struct windows *out, const struct world *world, unsigned threads,
                    const int64_t (*place)[2], int places)
{
    struct run run = {.threads = threads, .water = world_water(world)};
    int err = world_terrain_hold(world, &run.terrain);
    if (err)
        return err;
    *out = (struct windows){0};
    run.height = terrain_height_field(run.terrain);
    err = measure_all(out, &run, place, places);
    world_terrain_release(world, run.terrain);
    return err;
}
