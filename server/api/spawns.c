#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/values/exact_numbers.h"
#include "noise/terrain/terrain.h"
#include "server/api/point_documents.h"
#include "server/api/point_work.h"
#include "server/routing/resolve.h"
#include "server/world/request_price.h"

/* One lattice's heights and biomes take 20 KiB, one square's blocks 16 KiB, and up to 64 places 700
 * bytes each in the response. The thread's part of a square, 90 KiB, is not counted. */
enum { SPAWN_MEMORY = 96 * 1024 };

struct spawn_job {
    const struct world *world; /* held */
    struct spawn_query query;
    struct spawn_search *search;
    bool found, is_list, has_biomes;
    bool is_dry; /* the least height is a default */
    int known;   /* places whose climate and water are known */
    float climate[SPAWN_PLACES_MAX][CLIMATE_FIELDS], water[SPAWN_PLACES_MAX][WATER_FIELDS];
};

/* Compute the other values at each place; then the document. */
static int tell_spawn(struct spawn_job *job, const struct farlands_terrain *terrain,
                      struct render_scratch *scratch, struct blob **out, void *turn)
{
    int count;
    const struct spawn_place *place = spawn_search_places(job->search, &count);

    for (; job->known < count; job->known++) {
        const int i = job->known;
        struct place_fields fields = {.count = 0};
        place_fields_add_climate(&fields, job->world, job->climate[i]);
        place_fields_add_water(&fields, job->world, job->water[i]);
        int err = i > 0 ? streamed_job_pause(turn) : 0;
        if (!err)
            err = place_fields_compute(&fields, terrain, scratch,
                                       (int64_t[]){place[i].x, place[i].y});
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
    return points_compute(job->world, spawn_in, subject, scratch, out, turn);
}

enum { WHY = 352 };

/* The message about what was not found, with the names of the URL's parameters. */
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
        points_send(context, job->world, "application/json", bytes.body, CODING_IDENTITY, NULL);
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

/* Players stand on land: without a height in ROUTE, the least height is 0 in a world that has both
 * sea and land. */
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

/* Check that WORLD has everything that ROUTE, a spawn, asks for. Returns 0, or an HTTP status. */
static unsigned check_spawn(const struct world *world, const struct route *route,
                            struct spawn_biomes *biomes, char why[ROUTE_WHY])
{
    if (route->near_water > 0 && !has_sea(world) && !world_water(world))
        return query_reject(why, 404, "near_water: this world has neither a sea nor rivers");
    return resolve_biomes(world, route, biomes, why);
}

void spawns_respond(struct service *service, struct request_context *context,
                    const struct world *world, const struct route *route)
{
    char why[ROUTE_WHY];
    struct spawn_biomes biomes;
    const unsigned status = check_spawn(world, route, &biomes, why);

    if (status) {
        response_error(context, status, why);
        return;
    }
    struct streamed_job_spec spec = {.kind = &spawn_kind,
                                     .subject = new_spawn(world, route, &biomes),
                                     .price = REQUEST_PRICE_SEARCH,
                                     .memory = SPAWN_MEMORY};
    points_begin(service, context, world, &(struct run_of){.run = RUN_SPAWN}, &spec);
}
