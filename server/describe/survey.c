#include "survey.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/graph/rivers_params.h"
#include "noise/terrain/terrain.h"
#include "server/describe/depressions.h"
#include "server/describe/survey_draws.h"
#include "server/describe/visits.h"
#include "server/world/worlds.h"

enum { WINDOW_SAMPLES = SURVEY_WINDOW * SURVEY_WINDOW };

const int relief_sides[RELIEF_SCALES] = {256, 1024, 4096, 16384};
const int steep_degrees[STEEP_ANGLES] = {10, 20, 30, 45};
const int window_steps[WINDOW_STEPS] = {16, 128};

/* Tangents of steep_degrees. */
static const float STEEP[STEEP_ANGLES] = {0.17632698f, 0.36397023f, 0.57735027f, 1};

/* A place that was drawn. */
struct sample {
    int64_t place[2];
    float height, slope;
    enum ground_class class;
};

/* A place on land that is looked at closely. */
struct view {
    float relief[RELIEF_SCALES];
    struct walk walk;
    struct depressions depressions[WINDOW_STEPS];
    int end;                /* enum farlands_water: the end of the course */
    float distance, length; /* blocks, as in struct waters */
    struct headings headings;
};

/* A survey in progress. */
struct run {
    const struct survey_options *options;
    const struct farlands_terrain *terrain;
    const struct world_fields *fields; /* or NULL */
    int height;                        /* the field */
    int groups;                        /* of places drawn: place i is in group i modulo this */
    struct sample *sample;
    float *values; /* SURVEY_DRAWN per field; NULL if the height is the only field */
    struct view *view;
    struct survey *survey;
};

/* A thread's memory. */
struct worker {
    struct run *run;
    struct farlands_scratch *scratch;
    int err; /* of any measure in this visit */
    float heights[WINDOW_SAMPLES], levels[WINDOW_SAMPLES];
    float water[WINDOW_SAMPLES]; /* only if the world has water */
    uint64_t heap[WINDOW_SAMPLES];
};

/* --- Measures --- */

static void fail(struct worker *worker, int err)
{
    worker->err = err;
}

/* Units. Looks farther apart than this leave out small rivers. */
#define COARSE (128 * FARLANDS_UNIT)

static float height_at(void *context, int64_t x, int64_t y, int64_t apart)
{
    struct worker *worker = context;
    const struct farlands_terrain *terrain = worker->run->terrain;
    const int field = worker->run->height;
    float height = NAN;
    if (apart > COARSE && terrain_has_drain(terrain)) {
        /* Finding the rivers at places far apart takes milliseconds per place. */
        const struct farlands_grid grid = {x, y, apart / 4, 1, 1, true};
        float *const out[] = {&height};
        const int err = terrain_fields(terrain, worker->scratch, &grid, &field, 1, out, 1);
        if (err)
            fail(worker, err);
        return err ? NAN : height;
    }
    height = terrain_field_at(terrain, worker->scratch, field, x, y);
    if (isnan(height))
        fail(worker, -ENOMEM);
    return height;
}

static void draw_sample(struct run *run, struct worker *worker, int i)
{
    const struct ground ground = {height_at, worker};
    struct sample *sample = &run->sample[i];
    survey_draw_place(run->options, run->groups, i, sample->place);
    const int64_t x = sample->place[0], y = sample->place[1];

    sample->height = height_at(worker, x, y, 0);
    if (sample->height > 0)
        sample->slope = ground_slope(&ground, x, y, FARLANDS_UNIT, 0);
    sample->class = ground_class_at(&ground, x, y, 0, sample->height);
    for (int field = 0; run->values && field < run->survey->fields; field++)
        run->values[(size_t)field * SURVEY_DRAWN + (size_t)i] =
            terrain_field_at(run->terrain, worker->scratch, field, x, y);
}

/* Prepare a thread's MEMORY for a visit. */
static struct worker *worker_of(struct run *run, struct farlands_scratch *scratch, void *memory)
{
    struct worker *worker = memory;
    worker->run = run;
    worker->scratch = scratch;
    worker->err = 0;
    return worker;
}

static int visit_group(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    struct run *run = context;
    struct worker *worker = worker_of(run, scratch, memory);
    for (; i < SURVEY_DRAWN; i += run->groups)
        draw_sample(run, worker, i);
    return worker->err;
}

/* Get the heights at SIDE x SIDE samples around PLACE, STEP units apart. */
static void look(struct worker *worker, const int64_t place[2], int side, int64_t step)
{
    const struct farlands_grid grid = {.x = place[0] - side / 2 * step,
                                       .y = place[1] - side / 2 * step,
                                       .step = step,
                                       .width = side,
                                       .height = side};
    int err = terrain_heights(worker->run->terrain, worker->scratch, &grid, worker->heights,
                              (size_t)side);
    if (err)
        fail(worker, err);
}

static float relief(struct worker *worker, const int64_t place[2], int blocks)
{
    float min = INFINITY, max = -INFINITY;
    look(worker, place, SURVEY_RELIEF, blocks * FARLANDS_UNIT / (SURVEY_RELIEF - 1));
    for (int i = 0; i < SURVEY_RELIEF * SURVEY_RELIEF; i++) {
        min = fminf(min, worker->heights[i]);
        max = fmaxf(max, worker->heights[i]);
    }
    return max - min;
}

/* Like look, with the water levels, too. */
static void look_at_water(struct worker *worker, const int64_t place[2], int side, int64_t step)
{
    const struct run *run = worker->run;
    const struct farlands_grid grid = {.x = place[0] - side / 2 * step,
                                       .y = place[1] - side / 2 * step,
                                       .step = step,
                                       .width = side,
                                       .height = side};
    const int field[] = {run->height, world_water(run->options->world)->water};
    float *const out[] = {worker->heights, worker->water};
    int err = terrain_fields(run->terrain, worker->scratch, &grid, field, 2, out, (size_t)side);
    if (err)
        fail(worker, err);
}

/* Count sunken land around PLACE. A lake is no depression. */
static struct depressions depressions(struct worker *worker, const int64_t place[2], int step)
{
    const bool has_water = worker->run->survey->has_water;
    (has_water ? look_at_water : look)(worker, place, SURVEY_WINDOW, step * FARLANDS_UNIT);
    depressions_fill(worker->heights, SURVEY_WINDOW, SURVEY_WINDOW, worker->levels, worker->heap);
    if (has_water)
        depressions_leave_lakes(worker->heights, worker->water, SURVEY_WINDOW, SURVEY_WINDOW,
                                worker->levels, worker->heap);
    return depressions_count(worker->heights, worker->levels, WINDOW_SAMPLES, SURVEY_PUDDLE);
}

/* Follow the water from PLACE to the end of its course. */
static void follow(struct worker *worker, const int64_t place[2], struct view *view)
{
    enum { ROOM = 64 };
    const struct run *run = worker->run;
    const int water = world_water(run->options->world)->water;
    struct farlands_course_point point[ROOM];
    struct farlands_course course;
    int64_t x = place[0], y = place[1];
    size_t count = ROOM;
    double way = 0;
    bool is_dry = true;
    struct headings_line river = {0};
    int err = terrain_course_at(run->terrain, worker->scratch, water, x, y, &course);

    while (!err && count == ROOM) {
        err =
            terrain_downstream(run->terrain, worker->scratch, water, &course, point, ROOM, &count);
        for (size_t i = 0; !err && i < count; i++) {
            way += hypot((double)(point[i].x - x), (double)(point[i].y - y)) / FARLANDS_UNIT;
            x = point[i].x;
            y = point[i].y;
            if (is_dry && point[i].kind != FARLANDS_LAND)
                view->distance = (float)way;
            is_dry = is_dry && point[i].kind == FARLANDS_LAND;
            view->end = point[i].kind;
            if (point[i].kind == FARLANDS_RIVER)
                headings_go(&river, x, y);
            else
                headings_lift(&river);
        }
    }
    view->length = (float)way;
    view->headings = river.headings;
    if (err)
        fail(worker, err);
}

static int visit_place(void *context, struct farlands_scratch *scratch, void *memory, int i)
{
    struct run *run = context;
    struct worker *worker = worker_of(run, scratch, memory);
    const struct ground ground = {height_at, worker};
    const int64_t *place = run->survey->place[i];
    struct view *view = &run->view[i];
    double direction[2];

    for (int scale = 0; scale < RELIEF_SCALES; scale++)
        view->relief[scale] = relief(worker, place, relief_sides[scale]);
    survey_draw_direction(run->options->seed, i, direction);
    view->walk = walk_from(&ground, place[0], place[1], direction);
    for (int step = 0; i < run->survey->windows && step < WINDOW_STEPS; step++)
        view->depressions[step] = depressions(worker, place, window_steps[step]);
    if (run->survey->has_water)
        follow(worker, place, view);
    return worker->err;
}

/* --- From samples to a survey --- */

/* Choose the first places on land, and count all places per class. */
static void choose(struct run *run)
{
    struct survey *survey = run->survey;
    memcpy(survey->place[0], run->sample[0].place, sizeof survey->place[0]);
    for (int i = 0; i < SURVEY_DRAWN; i++) {
        const struct sample *sample = &run->sample[i];
        survey->class_count[sample->class]++;
        if (!(sample->height > 0))
            continue;
        survey->land++;
        if (survey->places < (int)run->options->places)
            memcpy(survey->place[survey->places++], sample->place, sizeof sample->place);
    }
    survey->windows = survey->places < SURVEY_WINDOWS ? survey->places : SURVEY_WINDOWS;
}

static void summarize_samples(struct run *run, float values[SURVEY_DRAWN])
{
    struct survey *survey = run->survey;
    int land = 0;

    for (int i = 0; i < SURVEY_DRAWN; i++)
        values[i] = run->sample[i].height;
    survey->height = quantiles_of(values, SURVEY_DRAWN);
    for (int i = 0; i < SURVEY_DRAWN; i++)
        if (run->sample[i].height > 0)
            values[land++] = run->sample[i].height;
    survey->land_height = quantiles_of(values, land);
    land = 0;
    for (int i = 0; i < SURVEY_DRAWN; i++)
        if (run->sample[i].height > 0)
            values[land++] = run->sample[i].slope;
    survey->slope = quantiles_of(values, land);
    for (int angle = 0; angle < STEEP_ANGLES; angle++) {
        int steeper = 0;
        for (int i = 0; i < land; i++)
            steeper += values[i] > STEEP[angle];
        survey->steeper[angle] = (double)steeper / land;
    }
}

static void summarize_fields(struct run *run)
{
    for (int i = 0; i < run->survey->fields; i++) {
        struct field_values *field = &run->survey->field[i];
        field->name = terrain_field_name(run->terrain, i);
        field->unit = run->fields ? world_fields_unit(run->fields, i) : "m";
        terrain_field_range(run->terrain, i, &field->min, &field->max);
        field->values = run->values
                            ? quantiles_of(run->values + (size_t)i * SURVEY_DRAWN, SURVEY_DRAWN)
                            : run->survey->height;
    }
}

/* Set the shares of rivers and lakes among places on land or in a lake. */
static void summarize_shares(struct run *run)
{
    const struct world_water *water = world_water(run->options->world);
    const float *level = run->values + (size_t)water->water * SURVEY_DRAWN;
    const float *order = run->values + (size_t)water->river * SURVEY_DRAWN;
    int land = 0, rivers = 0, lakes = 0;

    for (int i = 0; i < SURVEY_DRAWN; i++) {
        const bool is_river = order[i] > 0, is_lake = !is_river && level[i] > RIVERS_DRY;
        const bool is_land = run->sample[i].height > 0;
        land += is_land || is_lake;
        rivers += is_land && is_river;
        lakes += is_lake;
    }
    run->survey->water.rivers = (double)rivers / land;
    run->survey->water.lakes = (double)lakes / land;
}

static void summarize_courses(struct run *run, float values[SURVEY_DRAWN])
{
    struct survey *survey = run->survey;

    for (int i = 0; i < survey->places; i++) {
        survey->water.sea += run->view[i].end == FARLANDS_SEA;
        survey->water.ends += run->view[i].end == FARLANDS_END_LAKE;
        survey->water.headings.chords += run->view[i].headings.chords;
        survey->water.headings.real += run->view[i].headings.real;
        survey->water.headings.imaginary += run->view[i].headings.imaginary;
        values[i] = run->view[i].distance;
    }
    survey->water.distance = quantiles_of(values, survey->places);
    for (int i = 0; i < survey->places; i++)
        values[i] = run->view[i].length;
    survey->water.length = quantiles_of(values, survey->places);
}

static void summarize_places(struct run *run, float values[SURVEY_DRAWN])
{
    struct survey *survey = run->survey;

    for (int scale = 0; scale < RELIEF_SCALES; scale++) {
        for (int i = 0; i < survey->places; i++)
            values[i] = run->view[i].relief[scale];
        survey->relief[scale] = quantiles_of(values, survey->places);
        survey->variety[scale] =
            survey->relief[scale].value[QUANTILE_HIGH] / survey->relief[scale].value[QUANTILE_LOW];
    }
    for (int goal = 0; goal < WALK_GOALS; goal++) {
        for (int i = 0; i < survey->places; i++)
            values[i] = run->view[i].walk.way[goal];
        survey->way[goal] = quantiles_of(values, survey->places);
    }
    for (int step = 0; step < WINDOW_STEPS; step++) {
        double land = 0, sunken = 0;
        for (int i = 0; i < survey->windows; i++) {
            land += run->view[i].depressions[step].land;
            sunken += run->view[i].depressions[step].sunken;
        }
        survey->sunken[step] = sunken / land;
    }
}

static int measure(struct run *run, float values[SURVEY_DRAWN])
{
    struct visits visits = {run->groups, sizeof(struct worker), visit_group, run};
    int err = visits_run(&visits, run->options->threads);
    if (err)
        return err;
    choose(run);
    visits.count = run->survey->places;
    visits.visit = visit_place;
    err = visits_run(&visits, run->options->threads);
    if (err)
        return err;
    summarize_samples(run, values);
    summarize_fields(run);
    summarize_places(run, values);
    if (run->survey->has_water) {
        summarize_shares(run);
        summarize_courses(run, values);
    }
    return 0;
}

static struct survey *allocate(const struct survey_options *options, int fields)
{
    struct survey *survey = calloc(1, sizeof *survey);
    if (!survey)
        return NULL;
    survey->place = calloc(options->places, sizeof survey->place[0]);
    survey->field = calloc((size_t)fields, sizeof survey->field[0]);
    survey->fields = fields;
    if (survey->place && survey->field)
        return survey;
    survey_free(survey);
    return NULL;
}

static int run_in(struct survey **out, const struct survey_options *options,
                  const struct farlands_terrain *terrain)
{
    const int fields = terrain_field_count(terrain);
    struct run run = {.options = options,
                      .terrain = terrain,
                      .fields = options->world->config->fields,
                      .height = terrain_field(terrain, "height", 6),
                      .groups = SURVEY_DRAWN / (terrain_is_built(terrain) ? SURVEY_TOGETHER : 1),
                      .survey = allocate(options, fields),
                      .sample = calloc(SURVEY_DRAWN, sizeof run.sample[0]),
                      .view = calloc(options->places, sizeof run.view[0])};
    float *values = malloc(SURVEY_DRAWN * sizeof *values);
    if (fields > 1)
        run.values = malloc((size_t)fields * SURVEY_DRAWN * sizeof run.values[0]);
    if (run.survey)
        run.survey->has_water = world_water(options->world) != NULL;
    int err = run.survey && run.sample && run.view && values && (fields == 1 || run.values)
                  ? measure(&run, values)
                  : -ENOMEM;
    if (err)
        survey_free(run.survey);
    else
        *out = run.survey;
    free(run.sample);
    free(run.values);
    free(run.view);
    free(values);
    return err;
}

int survey_run(struct survey **out, const struct survey_options *options)
{
    const struct farlands_terrain *terrain;
    int err = world_terrain_hold(options->world, &terrain);
    if (err)
        return err;
    err = run_in(out, options, terrain);
    world_terrain_release(options->world, terrain);
    return err;
}

void survey_free(struct survey *survey)
{
    if (!survey)
        return;
    free(survey->place);
    free(survey->field);
    free(survey);
}
