#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/api/place_order.h"
#include "server/api/point_documents.h"
#include "server/api/point_work.h"
#include "server/core/coding.h"
#include "server/routing/resolve.h"
#include "server/world/request_price.h"

enum {
    /* The most bytes that a list and the response take. A URL's 8 KiB hold 2048 places such as
     * "0,0", with 28 bytes each in the job, and in the response up to 16 per height and 7 per
     * place; or 1365 places such as ".1,.1", with 26 instead of 7. Compression makes no response
     * larger. */
    HEIGHTS_MEMORY = 192 * 1024,
    /* More in a world with a climate: 12 bytes for each of 2048 places, and up to 36 in the
     * response. For single places PLACE_MEMORY includes them. */
    CLIMATE_MEMORY = 96 * 1024,
    /* More in a world with rivers: 8 bytes, and up to 56. */
    WATER_MEMORY = 128 * 1024,
    /* More for each field, at one place and in a list: 20 bytes for each of 2048 values. */
    FIELD_MEMORY = 128,
    FIELDS_MEMORY = 40 * 1024,
};

/* The height at one place. */
struct place_job {
    const struct world *world; /* a reference */
    int64_t x, y;              /* units */
    struct chosen_fields fields;
};

static void add_chosen(struct place_fields *fields, const struct world *world,
                       const struct chosen_fields *chosen, float *value)
{
    for (int i = 0; i < chosen->count; i++) {
        const bool surface = world_is_surface(world, chosen->field[i]);
        place_fields_add(fields, surface ? world_height_field(world) : chosen->field[i], &value[i]);
        if (surface)
            fields->surface = &value[i];
    }
}

static struct field_values values_of(const struct world *world, const struct chosen_fields *fields,
                                     const float *value)
{
    struct field_values values = {.value = value, .count = fields->count};
    for (int i = 0; i < fields->count; i++)
        values.name[i] = world_field_name(world, fields->field[i]);
    return values;
}

static int place_in(void *subject, const struct farlands_terrain *terrain,
                    struct render_scratch *scratch, struct blob **out, void *turn)
{
    const struct place_job *job = subject;
    struct place_fields fields = {.count = 0};
    struct surface surface;
    float value[ROUTE_FIELDS_MAX], climate[CLIMATE_FIELDS], water[WATER_FIELDS];

    (void)turn;
    place_fields_add_climate(&fields, job->world, climate);
    place_fields_add_water(&fields, job->world, water);
    add_chosen(&fields, job->world, &job->fields, value);
    int err = surface_at(&surface, terrain, render_scratch_noise(scratch), job->x, job->y);
    if (!err)
        err = place_fields_compute(&fields, terrain, scratch, (int64_t[]){job->x, job->y});
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
    return points_compute(job->world, place_in, subject, scratch, out, turn);
}

static void respond_place(void *subject, struct request_context *context,
                          struct http_response bytes)
{
    const struct place_job *job = subject;
    context->from = FROM_NONE; /* one place is no render, whichever thread computed it */
    points_send(context, job->world, "application/json", bytes.body, CODING_IDENTITY, NULL);
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
    size_t far;                       /* places that are far from the others */
    int64_t (*place)[2];              /* these six are stored behind the job */
    const int64_t **order;            /* places in the order of work */
    float *height, *value;            /* values as in struct field_values; */
    float (*climate)[CLIMATE_FIELDS]; /* as in struct climate_values, if there is a climate */
    float (*water)[WATER_FIELDS];     /* the same, if the world has rivers */
    struct chosen_fields fields;
    enum coding coding;  /* the one that the client likes best */
    struct blob *packed; /* the document compressed, or NULL */
};

/* The height and all other values at place I. */
static int compute_listed(struct heights_job *job, const struct farlands_terrain *terrain,
                          struct render_scratch *scratch, size_t i)
{
    const struct world *world = job->world;
    const int64_t *at = job->place[i];
    struct place_fields fields = {.count = 0};

    if (!terrain_is_graph(terrain)) /* a noise is faster point by point */
        job->height[i] = terrain_field_at(terrain, render_scratch_noise(scratch),
                                          world_height_field(world), at[0], at[1]);
    else
        place_fields_add(&fields, world_height_field(world), &job->height[i]);
    if (job->climate)
        place_fields_add_climate(&fields, world, job->climate[i]);
    if (job->water)
        place_fields_add_water(&fields, world, job->water[i]);
    add_chosen(&fields, world, &job->fields, job->value + i * (size_t)job->fields.count);
    return place_fields_compute(&fields, terrain, scratch, at);
}

static int heights_in(void *subject, const struct farlands_terrain *terrain,
                      struct render_scratch *scratch, struct blob **out, void *turn)
{
    struct heights_job *job = subject;
    int err = 0;

    while (job->known < job->count && !err) {
        err = compute_listed(job, terrain, scratch,
                             (size_t)(job->order[job->known++] - job->place[0]) / 2);
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
    return points_compute(job->world, heights_in, subject, scratch, out, turn);
}

static void respond_heights(void *subject, struct request_context *context,
                            struct http_response bytes)
{
    const struct heights_job *job = subject;
    points_send(context, job->world, "application/json", bytes.body, job->coding, job->packed);
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
        malloc(sizeof *job + count * (sizeof *job->order + sizeof *job->place) +
               values * sizeof *job->height);
    if (!job)
        return NULL;
    *job = (struct heights_job){.world = world_hold(world),
                                .count = count,
                                .fields = *fields,
                                .coding = conditional_coding(accept_encoding, CODED_BY_ANY)};
    job->place = (int64_t(*)[2])(job + 1);
    job->order = (const int64_t **)(job->place + count);
    job->height = (void *)(job->order + count);
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
    job->far = place_order((const int64_t(*)[2])job->place, count, job->order);
    return job;
}

/* Refuse a list of PLACES, of which FAR are far from the others, if its PRICE is too high. ONE: the
 * price of one far place. Returns 0, or an HTTP status. */
static unsigned check_price(size_t places, size_t far, uint64_t price, uint64_t one,
                            char why[ROUTE_WHY])
{
    if (price <= REQUEST_PRICE_MOST)
        return 0;
    const uint64_t fit = REQUEST_PRICE_MOST / one;

    return query_reject(why, 413,
                        "at: %zu places, %zu of them far from the others, take up to %.0f s; "
                        "at most %" PRIu64 " far ones fit",
                        places, far, (double)price / (double)PRICE_SECOND, fit > 1 ? fit : 1);
}

static void respond_height(struct service *service, struct request_context *context,
                           const struct world *world, const struct route *route,
                           const struct chosen_fields *fields)
{
    struct streamed_job_spec spec = {.kind = &place_kind,
                                     .subject = new_place(world, route, fields),
                                     .memory =
                                         PLACE_MEMORY + (uint64_t)fields->count * FIELD_MEMORY};
    const struct run_of run = {.run = RUN_PLACE, .size = fields->count};
    points_begin(service, context, world, &run, &spec);
}

static void respond_list(struct service *service, struct request_context *context,
                         const struct world *world, const struct route *route,
                         const struct chosen_fields *fields)
{
    struct heights_job *job =
        new_heights(world, route->places, fields, context->request->accept_encoding);
    const size_t count = route->places.count, far = job ? job->far : 0;
    char why[ROUTE_WHY];
    const uint64_t price = request_price_of_places(world, fields->field, fields->count, count, far);
    const uint64_t one = request_price_of_places(world, fields->field, fields->count, 1, 1);
    const unsigned status = job ? check_price(count, far, price, one, why) : 0;

    if (status) {
        free_heights(job);
        response_error(context, status, why);
        return;
    }
    struct streamed_job_spec spec = {.kind = &heights_kind,
                                     .subject = job,
                                     .price = price,
                                     .memory = HEIGHTS_MEMORY +
                                               (uint64_t)fields->count * FIELDS_MEMORY +
                                               (world_climate(world) ? CLIMATE_MEMORY : 0) +
                                               (world_water(world) ? WATER_MEMORY : 0)};
    const struct run_of run = {.run = RUN_HEIGHTS, .size = ilogb((double)count)};
    points_begin(service, context, world, &run, &spec);
}

void points_respond(struct service *service, struct request_context *context,
                    const struct world *world, const struct route *route)
{
    struct chosen_fields fields;
    char why[ROUTE_WHY];
    const unsigned status = resolve_fields(world, route, &fields, why);

    if (status)
        response_error(context, status, why);
    else
        (route->kind == ROUTE_HEIGHT ? respond_height : respond_list)(service, context, world,
                                                                      route, &fields);
}
