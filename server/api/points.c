#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/exact_numbers.h"
#include "noise/terrain.h"
#include "server/api/handlers.h"
#include "server/api/point_documents.h"
#include "server/core/clock.h"
#include "server/core/coding.h"
#include "server/routing/resolve.h"
#include "server/world/request_price.h"
#include "server/world/run_kind.h"

enum {
    /* Bytes that a job and its response take at most. A URL's 8 KiB hold 2048 places such as "0,0"
     * with 20 bytes each in the job, and up to 16 per height and 7 per place in the response; or
     * 1365 such as ".1,.1", with 26 instead of 7. Compressed it is no larger. A search has the
     * heights and the biomes of one lattice, 20 KiB, the blocks of one square, 16 KiB, and up to 64
     * places with 700 bytes each in the response. Its thread has part of a square, 90 KiB.
     */
    PLACE_MEMORY = 1024,
    HEIGHTS_MEMORY = 192 * 1024,
    SPAWN_MEMORY = 96 * 1024,
    /* Of a list in a world with a climate: 12 bytes for each of 2048 places, and up to 36 in the
     * response. A place's is in PLACE_MEMORY. */
    CLIMATE_MEMORY = 96 * 1024,
    /* The same of each field, of a place and of a list: 20 bytes for each of 2048 values. */
    FIELD_MEMORY = 128,
    /* Of a point of a course: 40 bytes in the job, up to 200 in the response. */
    POINT_MEMORY = 240,
    /* Of a list in a world with rivers, as CLIMATE_MEMORY: 8 bytes, and up to 56. */
    WATER_MEMORY = 128 * 1024,
    FIELDS_MEMORY = 40 * 1024,
};

/* The height at one place. */
struct place_job {
    const struct world *world; /* a reference */
    int64_t x, y;              /* units */
    struct chosen_fields fields;
};

/* Fields to compute at a place, each once, and their values. */
struct place_fields {
    int field[1 + CLIMATE_FIELDS + WATER_FIELDS + ROUTE_FIELDS_MAX], count;
    float *out[1 + CLIMATE_FIELDS + WATER_FIELDS + ROUTE_FIELDS_MAX];
    float *surface; /* has the height, and gets the surface; NULL without */
};

static void add_field(struct place_fields *fields, int field, float *out)
{
    fields->field[fields->count] = field;
    fields->out[fields->count++] = out;
}

/* The fields of the climate of WORLD, if it has one. */
static void add_climate(struct place_fields *fields, const struct world *world,
                        float value[CLIMATE_FIELDS])
{
    const struct climate *climate = world_climate(world);
    if (!climate)
        return;
    add_field(fields, climate->biome, &value[CLIMATE_BIOME]);
    if (climate->temperature >= 0)
        add_field(fields, climate->temperature, &value[CLIMATE_TEMPERATURE]);
    if (climate->humidity >= 0)
        add_field(fields, climate->humidity, &value[CLIMATE_HUMIDITY]);
}

static void add_water(struct place_fields *fields, const struct world *world,
                      float value[WATER_FIELDS])
{
    if (!world_water(world))
        return;
    add_field(fields, world_water(world)->water, &value[WATER_LEVEL]);
    add_field(fields, world_water(world)->river, &value[WATER_ORDER]);
}

static void add_chosen(struct place_fields *fields, const struct world *world,
                       const struct chosen_fields *chosen, float *value)
{
    for (int i = 0; i < chosen->count; i++) {
        const bool surface = world_is_surface(world, chosen->field[i]);
        add_field(fields, surface ? world_height_field(world) : chosen->field[i], &value[i]);
        if (surface)
            fields->surface = &value[i];
    }
}

/* Compute FIELDS at a place, which is within the limits: together, as far as evaluations take. */
static int fields_at(const struct farlands_terrain *terrain, struct render_scratch *scratch,
                     const struct place_fields *fields, const int64_t at[2])
{
    const struct farlands_grid grid = {at[0], at[1], 1, 1, 1, false};
    int err = 0;

    for (int i = 0; i < fields->count && !err; i += TERRAIN_MAX_FIELDS) {
        const int left = fields->count - i;
        err = terrain_fields(terrain, render_scratch_noise(scratch), &grid, &fields->field[i],
                             left < TERRAIN_MAX_FIELDS ? left : TERRAIN_MAX_FIELDS, &fields->out[i],
                             1);
    }
    if (!err && fields->surface)
        err = terrain_surface(terrain, render_scratch_noise(scratch), at[0], at[1],
                              *fields->surface, fields->surface);
    return err;
}

static struct field_values values_of(const struct world *world, const struct chosen_fields *fields,
                                     const float *value)
{
    struct field_values values = {.value = value, .count = fields->count};
    for (int i = 0; i < fields->count; i++)
        values.name[i] = world_field_name(world, fields->field[i]);
    return values;
}

/* PACKED is BODY by CODING, or NULL. */
static void send_typed(struct request_context *context, const struct world *world, const char *type,
                       struct blob *body, enum coding coding, struct blob *packed)
{
    response_document(context, &(struct document){.type = type,
                                                  .body = body,
                                                  .packed = packed,
                                                  .coding = coding,
                                                  .cache_control = CACHE_SHORT,
                                                  .fingerprint = world->fingerprint});
}

static void send_document(struct request_context *context, const struct world *world,
                          struct blob *body, enum coding coding, struct blob *packed)
{
    send_typed(context, world, "application/json", body, coding, packed);
}

/* A part of the work of a job: SUBJECT in TERRAIN, as streamed_job_kind.work. */
typedef int compute(void *subject, const struct farlands_terrain *terrain,
                    struct render_scratch *scratch, struct blob **out, void *turn);

/* Compute with the terrain of WORLD, which is held no longer than a slice: waiting jobs hold none.
 */
static int compute_in(const struct world *world, compute *on, void *subject,
                      struct render_scratch *scratch, struct blob **out, void *turn)
{
    const struct farlands_terrain *terrain;
    int err = world_terrain_hold(world, &terrain);
    if (err)
        return err;
    err = on(subject, terrain, scratch, out, turn);
    world_terrain_release(world, terrain);
    return err;
}

static int place_in(void *subject, const struct farlands_terrain *terrain,
                    struct render_scratch *scratch, struct blob **out, void *turn)
{
    const struct place_job *job = subject;
    struct place_fields fields = {.count = 0};
    struct surface surface;
    float value[ROUTE_FIELDS_MAX], climate[CLIMATE_FIELDS], water[WATER_FIELDS];

    (void)turn;
    add_climate(&fields, job->world, climate);
    add_water(&fields, job->world, water);
    add_chosen(&fields, job->world, &job->fields, value);
    int err = surface_at(&surface, terrain, render_scratch_noise(scratch), job->x, job->y);
    if (!err)
        err = fields_at(terrain, scratch, &fields, (int64_t[]){job->x, job->y});
    if (err)
        return err;
    const struct field_values values = values_of(job->world, &job->fields, value);
    *out = document_height(job->x, job->y, &surface,
                           &(struct climate_values){world_climate(job->world), &climate,
                                                    world_water(job->world), &water},
                           &values);
    return *out ? 0 : -ENOMEM;
}

static int compute_place(void *subject, unsigned number, struct render_scratch *scratch,
                         struct blob **out, void *turn)
{
    const struct place_job *job = subject;
    (void)number;
    return compute_in(job->world, place_in, subject, scratch, out, turn);
}

static void respond_place(void *subject, struct request_context *context,
                          struct http_response bytes)
{
    const struct place_job *job = subject;
    context->from = FROM_NONE; /* one place is no render, whichever thread computed it */
    send_document(context, job->world, bytes.body, CODING_IDENTITY, NULL);
}

static void free_place(void *subject)
{
    struct place_job *job = subject;
    world_release(job->world);
    free(job);
}

static const struct streamed_job_kind place_kind = {
    .counter = METRIC_PLACES,
    .work = compute_place,
    .respond = respond_place,
    .free = free_place,
};

static struct place_job *new_place(const struct world *world, const struct route *route,
                                   const struct chosen_fields *fields)
{
    struct place_job *job = malloc(sizeof *job);
    if (job)
        *job = (struct place_job){world_hold(world), route->at_x, route->at_y, *fields};
    return job;
}

struct heights_job {
    const struct world *world;        /* a reference */
    size_t count, known;              /* places, and heights so far */
    int64_t (*place)[2];              /* these five are stored behind the job */
    float *height, *value;            /* values as in struct field_values; */
    float (*climate)[CLIMATE_FIELDS]; /* as in struct climate_values, if there is a climate */
    float (*water)[WATER_FIELDS];     /* the same, if the world has rivers */
    struct chosen_fields fields;
    enum coding coding;  /* that the client likes best */
    struct blob *packed; /* the document compressed, or NULL */
};

/* The height at place I, and what else is told of it. */
static int compute_listed(struct heights_job *job, const struct farlands_terrain *terrain,
                          struct render_scratch *scratch, size_t i)
{
    const struct world *world = job->world;
    const int64_t *at = job->place[i];
    struct place_fields fields = {.count = 0};

    if (!terrain_is_graph(terrain)) /* which is faster point by point */
        job->height[i] = terrain_field_at(terrain, render_scratch_noise(scratch),
                                          world_height_field(world), at[0], at[1]);
    else
        add_field(&fields, world_height_field(world), &job->height[i]);
    if (job->climate)
        add_climate(&fields, world, job->climate[i]);
    if (job->water)
        add_water(&fields, world, job->water[i]);
    add_chosen(&fields, world, &job->fields, job->value + i * (size_t)job->fields.count);
    return fields_at(terrain, scratch, &fields, at);
}

static int heights_in(void *subject, const struct farlands_terrain *terrain,
                      struct render_scratch *scratch, struct blob **out, void *turn)
{
    struct heights_job *job = subject;
    int err = 0;

    while (job->known < job->count && !err) {
        err = compute_listed(job, terrain, scratch, job->known++);
        if (!err && job->known < job->count)
            err = streamed_job_pause(turn);
    }
    if (err)
        return err;
    const struct field_values values = values_of(job->world, &job->fields, job->value);
    *out = document_heights(job->height, job->place, job->count,
                            &(struct climate_values){world_climate(job->world),
                                                     (const float(*)[CLIMATE_FIELDS])job->climate,
                                                     world_water(job->world),
                                                     (const float(*)[WATER_FIELDS])job->water},
                            &values);
    if (*out && job->coding && (*out)->length >= CODING_MIN)
        job->packed = coding_pack(*out, job->coding, false);
    return *out ? 0 : -ENOMEM;
}

static int compute_heights(void *subject, unsigned number, struct render_scratch *scratch,
                           struct blob **out, void *turn)
{
    const struct heights_job *job = subject;
    (void)number;
    return compute_in(job->world, heights_in, subject, scratch, out, turn);
}

static void respond_heights(void *subject, struct request_context *context,
                            struct http_response bytes)
{
    const struct heights_job *job = subject;
    send_document(context, job->world, bytes.body, job->coding, job->packed);
}

static void free_heights(void *subject)
{
    struct heights_job *job = subject;
    blob_release(job->packed);
    world_release(job->world);
    free(job);
}

static const struct streamed_job_kind heights_kind = {
    .counter = METRIC_HEIGHTS,
    .work = compute_heights,
    .respond = respond_heights,
    .free = free_heights,
};

static struct heights_job *new_heights(const struct world *world, struct query_places places,
                                       const struct chosen_fields *fields,
                                       const char *accept_encoding)
{
    const size_t count = places.count;
    const bool climate = world_climate(world), water = world_water(world) != NULL;
    const size_t values = count * (size_t)(1 + fields->count + (climate ? CLIMATE_FIELDS : 0) +
                                           (water ? WATER_FIELDS : 0));
    struct heights_job *job =
        malloc(sizeof *job + count * sizeof *job->place + values * sizeof *job->height);
    if (!job)
        return NULL;
    *job = (struct heights_job){.world = world_hold(world),
                                .count = count,
                                .fields = *fields,
                                .coding = conditional_coding(accept_encoding, CODED_BY_ANY)};
    job->place = (int64_t(*)[2])(job + 1);
    job->height = (void *)(job->place + count);
    job->value = job->height + count;
    if (climate)
        job->climate = (void *)(job->value + count * (size_t)fields->count);
    if (water)
        job->water = (void *)(job->value + count * (size_t)fields->count +
                              (climate ? count * CLIMATE_FIELDS : 0));
    size_t taken = 0;
    while (query_next_place(&places, &job->place[taken][0], &job->place[taken][1]))
        taken++;
    assert(taken == count);
    return job;
}

/* Refuse more PLACES of a PRICE than are computed in time if they lie far from each other. Returns
 * 0, or an HTTP status. */
static unsigned check_price(size_t places, uint64_t price, char why[ROUTE_WHY])
{
    const uint64_t fit = REQUEST_PRICE_MOST / price;

    if (places <= fit)
        return 0;
    return query_reject(why, 413, "at: %zu places take up to %.0f s; at most %" PRIu64 " fit",
                        places, (double)places * (double)price / (double)PRICE_SECOND,
                        fit > 1 ? fit : 1);
}

struct spawn_job {
    const struct world *world; /* held */
    struct spawn_query query;
    struct spawn_search *search;
    bool found, is_list, has_biomes;
    bool is_dry; /* the least height is a default */
    int known;   /* places whose climate and water are known */
    float climate[SPAWN_PLACES_MAX][CLIMATE_FIELDS], water[SPAWN_PLACES_MAX][WATER_FIELDS];
};

/* Compute what else is told of each place; then the document. */
static int tell_spawn(struct spawn_job *job, const struct farlands_terrain *terrain,
                      struct render_scratch *scratch, struct blob **out, void *turn)
{
    int count;
    const struct spawn_place *place = spawn_search_places(job->search, &count);

    for (; job->known < count; job->known++) {
        const int i = job->known;
        struct place_fields fields = {.count = 0};
        add_climate(&fields, job->world, job->climate[i]);
        add_water(&fields, job->world, job->water[i]);
        int err = i > 0 ? streamed_job_pause(turn) : 0;
        if (!err)
            err = fields_at(terrain, scratch, &fields, (int64_t[]){place[i].x, place[i].y});
        if (err)
            return err;
    }
    const struct climate_values values = {
        world_climate(job->world), (const float(*)[CLIMATE_FIELDS])job->climate,
        world_water(job->world), (const float(*)[WATER_FIELDS])job->water};
    const int64_t x = job->query.x, y = job->query.y;
    const int searched = count < job->query.count ? spawn_search_radius(job->search) : -1;
    *out = job->is_list ? document_spawns(place, count, &values, x, y, searched)
                        : document_spawn(place, &values, x, y);
    return *out ? 0 : -ENOMEM;
}

static int spawn_in(void *subject, const struct farlands_terrain *terrain,
                    struct render_scratch *scratch, struct blob **out, void *turn)
{
    struct spawn_job *job = subject;
    enum spawn_state state;
    int err = 0;

    spawn_search_use(job->search, terrain);
    do
        state = spawn_search_run(job->search, render_scratch_noise(scratch), 1);
    while (state == SPAWN_NOT_YET && (err = streamed_job_pause(turn)) == 0);
    if (state == SPAWN_NOT_YET)
        return err;
    if (state == SPAWN_FAILED)
        return -ENOMEM;
    job->found = state == SPAWN_FOUND;
    if (job->found)
        return tell_spawn(job, terrain, scratch, out, turn);
    *out = blob_new(0); /* not NULL: the job is done */
    return *out ? 0 : -ENOMEM;
}

static int search_spawn(void *subject, unsigned number, struct render_scratch *scratch,
                        struct blob **out, void *turn)
{
    const struct spawn_job *job = subject;
    (void)number;
    return compute_in(job->world, spawn_in, subject, scratch, out, turn);
}

enum { WHY = 352 };

/* Say what was not found, with the names of the URL's parameters. */
static void explain(const struct spawn_job *job, char why[WHY])
{
    const struct spawn_query *query = &job->query;
    const struct {
        const char *name, *more;
        float bound;
    } bounds[] = {{"min", job->is_dry ? " (by default; under_water=1 lifts it)" : "", query->min},
                  {"max", "", query->max},
                  {"slope", "", query->slope}};
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], bound[REAL_TEXT];
    const int searched = spawn_search_radius(job->search);

    const char *has = " has";
    int n = snprintf(why, WHY, "spawn: no ground found within %d blocks of x %s, y %s%s", searched,
                     blocks_format(query->x, x), blocks_format(query->y, y),
                     searched < SPAWN_FAR ? ", as far as a search may go," : "");
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (isfinite(bounds[i].bound)) {
            n += snprintf(why + n, (size_t)(WHY - n), "%s %s %s%s", has, bounds[i].name,
                          float_format(bounds[i].bound, bound), bounds[i].more);
            has = "";
        }
    if (query->near_water > 0) {
        n += snprintf(why + n, (size_t)(WHY - n), "%s near_water %d", has, query->near_water);
        has = "";
    }
    if (job->has_biomes)
        n += snprintf(why + n, (size_t)(WHY - n), "%s",
                      *has ? " has such a biome" : ", and such a biome");
    if (why[n - 1] == ',')
        why[n - 1] = '\0';
}

static void respond_spawn(void *subject, struct request_context *context,
                          struct http_response bytes)
{
    const struct spawn_job *job = subject;
    char why[WHY];

    if (job->found) {
        send_document(context, job->world, bytes.body, CODING_IDENTITY, NULL);
        return;
    }
    explain(job, why);
    response_error(context, 404, why);
}

static void free_spawn(void *subject)
{
    struct spawn_job *job = subject;
    spawn_search_free(job->search);
    world_release(job->world);
    free(job);
}

static const struct streamed_job_kind spawn_kind = {
    .counter = METRIC_SPAWNS,
    .work = search_spawn,
    .respond = respond_spawn,
    .free = free_spawn,
};

static bool has_sea(const struct world *world)
{
    float lowest, highest;
    terrain_range(world->base_terrain, &lowest, &highest);
    return lowest < 0;
}

/* Players stand on land: if ROUTE does not say how high, they get the least height 0 in a world
 * that has both a sea and land. */
static bool is_for_land(const struct world *world, const struct route *route)
{
    float lowest, highest;
    terrain_range(world->base_terrain, &lowest, &highest);
    return lowest < 0 && highest >= 0 && !route->under_water && route->min == -INFINITY &&
           route->max >= 0;
}

static struct spawn_job *new_spawn(const struct world *world, const struct route *route,
                                   const struct spawn_biomes *biomes)
{
    const bool is_dry = is_for_land(world, route);
    struct spawn_job *job = malloc(sizeof *job);
    if (!job)
        return NULL;
    *job = (struct spawn_job){
        .is_list = route->count > 0,
        .has_biomes = route->biomes.length > 0,
        .is_dry = is_dry,
        .query = {.x = route->at_x,
                  .y = route->at_y,
                  .min = is_dry ? 0 : route->min,
                  .max = route->max,
                  .slope = route->slope,
                  .near_water = route->near_water,
                  .biomes = *biomes,
                  .count = route->count},
    };
    const struct world_water *water = world_water(world);
    const struct climate *climate = world_climate(world);
    const struct spawn_fields fields = {.water = water ? water->water : -1,
                                        .bank = water ? water->bank : -1,
                                        .biome = climate ? climate->biome : -1};
    if (spawn_search_new(&job->search, world->base_terrain, &fields, &job->query)) {
        free(job);
        return NULL;
    }
    job->world = world_hold(world);
    return job;
}

/* What WORLD lacks of what the spawn ROUTE is about. Returns 0, or an HTTP status. */
static unsigned check_spawn(const struct world *world, const struct route *route,
                            struct spawn_biomes *biomes, char why[ROUTE_WHY])
{
    if (route->near_water > 0 && !has_sea(world) && !world_water(world))
        return query_reject(why, 404, "near_water: this world has neither a sea nor rivers");
    return resolve_biomes(world, route, biomes, why);
}

struct course_job {
    const struct world *world; /* a reference */
    struct course_part part;   /* whose points are stored behind the job */
    struct farlands_course_point *point;
    struct farlands_course last; /* that begins with the last point */
    bool has_begun, is_wrong;    /* no such course */
    enum coding coding;          /* that the client likes best */
    struct blob *packed;         /* the document compressed, or NULL */
};

/* Follow the course for a slice. */
static int follow_course(struct course_job *job, const struct farlands_terrain *terrain,
                         struct farlands_scratch *scratch, void *turn)
{
    enum { STRIDE = 16 };
    const int water = world_course_field(job->world);
    const size_t most = (size_t)job->part.limit;
    struct course_part *part = &job->part;
    int err = 0;

    if (!job->has_begun)
        err = terrain_course_at(terrain, scratch, water, part->x, part->y, &part->course);
    job->has_begun = true;
    while (!err && part->count < most && !part->has_ended) {
        /* The last point comes alone: the next part begins with it, so that the lines join. */
        const size_t left = most - part->count;
        const size_t room = left <= 1 ? left : left - 1 < STRIDE ? left - 1 : STRIDE;
        size_t more;
        if (left == 1)
            job->last = part->course;
        err = job->part.count > 0 ? streamed_job_pause(turn) : 0;
        if (err)
            return err;
        err = terrain_downstream(terrain, scratch, water, &part->course, job->point + part->count,
                                 room, &more);
        if (!err) {
            part->count += more;
            part->has_ended = more < room || job->point[part->count - 1].kind >= FARLANDS_SEA;
        }
    }
    return err;
}

/* The next part begins with the last point of this one, unless that is its only one. A line has two
 * ends, even if the course has one point. */
static void end_part(struct course_job *job)
{
    struct course_part *part = &job->part;
    if (part->limit > 1 && !part->has_ended)
        part->course = job->last;
    if (part->limit > 1 && part->count == 1)
        job->point[part->count++] = job->point[0];
}

static int course_in(void *subject, const struct farlands_terrain *terrain,
                     struct render_scratch *scratch, struct blob **out, void *turn)
{
    struct course_job *job = subject;
    const int err = follow_course(job, terrain, render_scratch_noise(scratch), turn);
    if (!err)
        end_part(job);
    job->is_wrong = err == -EINVAL || (!err && job->part.count == 0);
    if (err && !job->is_wrong)
        return err;
    *out = job->is_wrong ? blob_new(0) : document_course(&job->part);
    if (*out && job->coding && (*out)->length >= CODING_MIN)
        job->packed = coding_pack(*out, job->coding, false);
    return *out ? 0 : -ENOMEM;
}

static int compute_course(void *subject, unsigned number, struct render_scratch *scratch,
                          struct blob **out, void *turn)
{
    const struct course_job *job = subject;
    (void)number;
    return compute_in(job->world, course_in, subject, scratch, out, turn);
}

static void respond_course(void *subject, struct request_context *context,
                           struct http_response bytes)
{
    const struct course_job *job = subject;
    if (job->is_wrong)
        response_error(context, 400,
                       "after: no such part of a course; expected that of a response");
    else
        send_typed(context, job->world, "application/geo+json", bytes.body, job->coding,
                   job->packed);
}

static void free_course(void *subject)
{
    struct course_job *job = subject;
    blob_release(job->packed);
    world_release(job->world);
    free(job);
}

static const struct streamed_job_kind course_kind = {
    .counter = METRIC_COURSES,
    .work = compute_course,
    .respond = respond_course,
    .free = free_course,
};

static struct course_job *new_course(const struct world *world, const struct route *route,
                                     const char *accept_encoding)
{
    struct course_job *job = malloc(sizeof *job + (size_t)route->limit * sizeof *job->point);
    if (!job)
        return NULL;
    *job =
        (struct course_job){.world = world_hold(world),
                            .part = {.x = route->at_x,
                                     .y = route->at_y,
                                     .limit = route->limit,
                                     .course = route->after,
                                     .crs = route->crs,
                                     .origin = {world->config->origin[0], world->config->origin[1]},
                                     .native_zoom = world->config->native_zoom},
                            .point = (struct farlands_course_point *)(job + 1),
                            .has_begun = route->after.step != ROUTE_FROM_PLACE,
                            .coding = conditional_coding(accept_encoding, CODED_BY_ANY)};
    job->part.point = job->point;
    return job;
}

void points_respond(struct service *service, struct request_context *context,
                    const struct world *world, const struct route *route)
{
    struct streamed_job_spec spec = {
        .price = PRICE_SECOND, .pieces = 1, .length = HTTP_LENGTH_UNKNOWN};
    struct chosen_fields fields;
    char why[ROUTE_WHY];
    struct spawn_biomes biomes;
    unsigned status = resolve_fields(world, route, &fields, why);

    if (!status && route->kind == ROUTE_HEIGHTS) {
        const uint64_t price = request_price_of_place(world, fields.field, fields.count);
        status = check_price(route->places.count, price, why);
        spec.price = route->places.count * price;
    }
    if (!status && route->kind == ROUTE_SPAWN)
        status = check_spawn(world, route, &biomes, why);
    if (status) {
        response_error(context, status, why);
        return;
    }
    if (route->kind == ROUTE_DOWNSTREAM && world_course_field(world) < 0) {
        response_error(context, 404,
                       "downstream: this world has no rivers; it needs a field \"water\" that is "
                       "the water of a drain");
        return;
    }
    struct run_of run = {.run = RUN_PLACE, .size = fields.count};
    if (route->kind == ROUTE_HEIGHT) {
        spec.kind = &place_kind;
        spec.price = 0;
        spec.subject = new_place(world, route, &fields);
        spec.memory = PLACE_MEMORY + (uint64_t)fields.count * FIELD_MEMORY;
    } else if (route->kind == ROUTE_HEIGHTS) {
        run = (struct run_of){.run = RUN_HEIGHTS, .size = ilogb((double)route->places.count)};
        spec.kind = &heights_kind;
        spec.subject =
            new_heights(world, route->places, &fields, context->request->accept_encoding);
        spec.memory = HEIGHTS_MEMORY + (uint64_t)fields.count * FIELDS_MEMORY +
                      (world_climate(world) ? CLIMATE_MEMORY : 0) +
                      (world_water(world) ? WATER_MEMORY : 0);
    } else if (route->kind == ROUTE_DOWNSTREAM) {
        run.run = RUN_COURSE;
        spec.kind = &course_kind;
        spec.subject = new_course(world, route, context->request->accept_encoding);
        spec.memory = PLACE_MEMORY + (uint64_t)route->limit * POINT_MEMORY;
    } else {
        run.run = RUN_SPAWN;
        spec.kind = &spawn_kind;
        spec.subject = new_spawn(world, route, &biomes);
        spec.memory = SPAWN_MEMORY;
    }
    spec.run = run_kind(world, &run);
    if (spec.subject)
        streamed_job_begin(&service->jobs, &spec, context, service->snapshot->config);
    else
        pending_respond_error(context, -ENOMEM);
}
