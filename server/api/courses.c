#include <errno.h>
#include <stdlib.h>

#include "noise/terrain/terrain.h"
#include "server/api/point_documents.h"
#include "server/api/point_work.h"
#include "server/core/coding.h"
#include "server/world/request_price.h"

/* Per point: 40 bytes in the job, up to 200 in the response. */
enum { POINT_MEMORY = 240 };

struct course_job {
    const struct world *world; /* a reference */
    struct course_part part;   /* its points are stored behind the job */
    struct farlands_course_point *point;
    struct farlands_course last; /* the course from the last point on */
    bool has_begun, is_wrong;    /* is_wrong: no such course */
    enum coding coding;          /* the one that the client likes best */
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

/* The next part begins with this part's last point, unless that is the only one. A line has two
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
    return points_compute(job->world, course_in, subject, scratch, out, turn);
}

static void respond_course(void *subject, struct request_context *context,
                           struct http_response bytes)
{
    const struct course_job *job = subject;
    if (job->is_wrong)
        response_error(context, 400,
                       "after: no such part of a course; expected that of a response");
    else
        points_send(context, job->world, "application/geo+json", bytes.body, job->coding,
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

void courses_respond(struct service *service, struct request_context *context,
                     const struct world *world, const struct route *route)
{
    if (world_course_field(world) < 0) {
        response_error(context, 404,
                       "downstream: this world has no rivers; it needs a field \"water\" that is "
                       "the water of a drain");
        return;
    }
    struct streamed_job_spec spec = {
        .kind = &course_kind,
        .subject = new_course(world, route, context->request->accept_encoding),
        .price = REQUEST_PRICE_SEARCH,
        .memory = PLACE_MEMORY + (uint64_t)route->limit * POINT_MEMORY};
    points_begin(service, context, world, &(struct run_of){.run = RUN_COURSE}, &spec);
}
