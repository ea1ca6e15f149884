#include "points.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/exact_numbers.h"
#include "server/api/point_documents.h"

enum {
    /* How long a thread works on one question before others have their turn. */
    SLICE_NS = 4 * 1000 * 1000,
    /* To find that there is nothing takes a core for many seconds in some worlds, and asked for
     * again it would take them again. */
    SPAWN_PATIENCE_MS = 60 * 1000,
};

static void answer_with(const struct request_context *context, const struct world *world,
                        struct blob *body)
{
    response_document(context, (struct fresh_document){
                                   .body = blob_hold(body),
                                   .cache_control = CACHE_SHORT,
                                   .fingerprint = world->fingerprint,
                               });
}

/* --- Heights --------------------------------------------------------------- */

struct place {
    int64_t x, y; /* units */
};

struct heights_question {
    const struct world *world; /* held */
    size_t count, known;       /* places, and heights so far */
    float *height;             /* behind the places */
    struct place place[];
};

static int work_out_heights(void *subject, unsigned index, struct render_scratch *scratch,
                            struct blob **out)
{
    struct heights_question *question = subject;
    const uint64_t since = uv_hrtime();

    (void)index, (void)scratch;
    while (question->known < question->count) {
        const struct place *place = &question->place[question->known];
        question->height[question->known++] =
            farlands_height(question->world->terrain, place->x, place->y);
        if (question->known % 64 == 0 && uv_hrtime() - since > SLICE_NS)
            return STREAMED_JOB_MORE;
    }
    *out = document_heights(question->height, question->count);
    return *out ? 0 : -ENOMEM;
}

static void answer_heights(void *subject, const struct request_context *context,
                           struct http_response given)
{
    const struct heights_question *question = subject;
    answer_with(context, question->world, given.body);
}

static void free_heights(void *subject)
{
    struct heights_question *question = subject;
    world_release(question->world);
    free(question);
}

static const struct streamed_job_kind heights_kind = {
    .counter = METRIC_HEIGHTS,
    .work = work_out_heights,
    .answer = answer_heights,
    .free = free_heights,
};

/* The list is copied, for it is the request's, which may end before the work does. */
static struct heights_question *new_heights(const struct world *world, struct span places)
{
    size_t count = 0;
    struct place place;
    for (struct span rest = places; query_next_place(&rest, &place.x, &place.y);)
        count++;
    struct heights_question *question =
        malloc(sizeof *question + count * (sizeof place + sizeof *question->height));
    if (!question)
        return NULL;
    *question = (struct heights_question){.world = world_hold(world), .count = count};
    question->height = (float *)(question->place + count);
    for (size_t i = 0; query_next_place(&places, &place.x, &place.y); i++)
        question->place[i] = place;
    return question;
}

/* --- Spawns ---------------------------------------------------------------- */

struct spawn_question {
    const struct world *world; /* held */
    struct spawn_query wish;
    struct spawn_search *search;
    bool found;
};

static int work_out_spawn(void *subject, unsigned index, struct render_scratch *scratch,
                          struct blob **out)
{
    struct spawn_question *question = subject;
    const uint64_t since = uv_hrtime();
    enum spawn_state state;

    (void)index;
    do
        state = spawn_search_run(question->search, render_scratch_scratch(scratch), 1);
    while (state == SPAWN_NOT_YET && uv_hrtime() - since < SLICE_NS);
    if (state == SPAWN_NOT_YET)
        return STREAMED_JOB_MORE;
    question->found = state == SPAWN_FOUND;
    *out = question->found ? document_spawn(spawn_search_place(question->search))
                           : blob_new(0); /* nothing, but an answer */
    return *out ? 0 : -ENOMEM;
}

enum { WHY = 240 };

/* What there is nothing for, by the names that the URL has for it. */
static void explain(const struct spawn_query *wish, char why[WHY])
{
    const struct {
        const char *name;
        float bound;
    } bounds[] = {{"min", wish->min}, {"max", wish->max}, {"slope", wish->slope}};
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], bound[REAL_TEXT];

    int n = snprintf(why, WHY, "spawn: no block within %d blocks of x %s, y %s has", SPAWN_RADIUS,
                     blocks_format(wish->x, x), blocks_format(wish->y, y));
    for (size_t i = 0; i < sizeof bounds / sizeof bounds[0]; i++)
        if (isfinite(bounds[i].bound))
            n += snprintf(why + n, (size_t)(WHY - n), " %s %s", bounds[i].name,
                          float_format(bounds[i].bound, bound));
}

static void answer_spawn(void *subject, const struct request_context *context,
                         struct http_response given)
{
    const struct spawn_question *question = subject;
    char why[WHY];

    if (question->found) {
        answer_with(context, question->world, given.body);
        return;
    }
    explain(&question->wish, why);
    response_error(context, 404, why);
}

static void free_spawn(void *subject)
{
    struct spawn_question *question = subject;
    spawn_search_free(question->search);
    world_release(question->world);
    free(question);
}

static const struct streamed_job_kind spawn_kind = {
    .counter = METRIC_SPAWNS,
    .patience_ms = SPAWN_PATIENCE_MS,
    .work = work_out_spawn,
    .answer = answer_spawn,
    .free = free_spawn,
};

static struct spawn_question *new_spawn(const struct world *world, const struct route *route)
{
    struct spawn_question *question = malloc(sizeof *question);
    if (!question)
        return NULL;
    *question = (struct spawn_question){
        .wish = {.x = route->at_x,
                 .y = route->at_y,
                 .min = route->min,
                 .max = route->max,
                 .slope = route->slope},
    };
    if (spawn_search_new(&question->search, world->terrain, &question->wish)) {
        free(question);
        return NULL;
    }
    question->world = world_hold(world);
    return question;
}

void points_answer(struct streamed_jobs *streamed_jobs, const struct request_context *context,
                   const struct world *world, const struct route *route,
                   const struct config *config)
{
    const bool list = route->kind == ROUTE_HEIGHTS;
    const struct streamed_job_order order = {
        .kind = list ? &heights_kind : &spawn_kind,
        .subject = list ? (void *)new_heights(world, route->places) : new_spawn(world, route),
        .pieces = 1,
        .count = HTTP_LENGTH_UNKNOWN,
    };

    if (order.subject)
        streamed_job_begin(streamed_jobs, &order, context, config);
    else
        pending_refused(context, -ENOMEM);
}
