#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers.h"
#include "server/api/raster_response.h"
#include "server/api/region_pieces.h"

/* The subject of a streamed job. */
struct region {
    struct raster raster; /* with a reference to its world */
    struct raster_plan plan;
    struct region_pieces pieces;
    struct adler sum[]; /* of a picture's pieces, in order */
};

static int work(void *subject, unsigned number, struct render_scratch *scratch, struct blob **out)
{
    struct region *region = subject;
    const struct raster *raster = &region->raster;
    const struct farlands_box box = region_pieces_box(&region->pieces, number);
    const struct farlands_grid grid = {
        .x = box.x, .y = box.y, .step = box.step, .width = box.width, .height = box.height};

    if (raster->depth)
        return render_density(out, scratch, raster->world, &box);
    switch (raster->format) {
    case FORMAT_F32:
        return render_heights(out, scratch, raster->world, &grid);
    case FORMAT_R16:
        return render_samples(out, scratch, raster->world, &grid);
    default:
        return render_band(out, &region->sum[number], scratch, raster->world, &grid,
                           number == 0 ? raster->grid.height : 0);
    }
}

static uint32_t cost_of_piece(const void *subject, unsigned number)
{
    const struct region *region = subject;
    const struct farlands_box box = region_pieces_box(&region->pieces, number);
    const int64_t samples = (int64_t)box.width * box.height * box.depth;

    return (uint32_t)(samples / 64 + 1);
}

/* The end of a picture. */
static struct blob *tail(void *subject)
{
    struct region *region = subject;
    struct adler sum = region->sum[0];
    struct blob *blob;

    for (unsigned i = 1; i < region->pieces.count; i++)
        adler_join(&sum, &region->sum[i]);
    return image_writer_tail(&blob, &sum) ? NULL : blob;
}

static void respond(void *subject, struct request_context *context, struct http_response bytes)
{
    const struct region *region = subject;
    raster_response_send(context, &region->raster, &region->plan, bytes);
}

static void free_region(void *subject)
{
    struct region *region = subject;
    world_release(region->raster.world);
    free(region);
}

static const struct streamed_job_kind region_kind = {
    .counter = METRIC_REGIONS,
    .work = work,
    .cost_us = cost_of_piece,
    .respond = respond,
    .free = free_region,
};
static const struct streamed_job_kind picture_kind = {
    .counter = METRIC_REGIONS,
    .work = work,
    .cost_us = cost_of_piece,
    .tail = tail,
    .respond = respond,
    .free = free_region,
};
static const struct streamed_job_kind volume_kind = {
    .counter = METRIC_VOLUMES,
    .work = work,
    .cost_us = cost_of_piece,
    .respond = respond,
    .free = free_region,
};

/*
 * True if rendering BOX takes about 20 us at most: 17 x 17 samples of the built-in world take 8,
 * while handing them to a render thread costs 50. Not if samples are computed one by one.
 */
static bool is_cheap(const struct raster *raster, const struct farlands_box *box)
{
    enum { MOST = 32 * 1024 };
    const struct farlands_params *params = &raster->world->config.terrain;
    const int64_t cost = (int64_t)box->width * box->height * params->octaves;

    return cost <= MOST && raster->depth == 0 && raster->format != FORMAT_PNG &&
           params->basis != FARLANDS_SIMPLEX && params->warp.amplitude == 0 &&
           strcmp(farlands_kernel(raster->world->terrain), "scalar") != 0;
}

static struct region_pieces cut(const struct raster *raster, const struct raster_plan *plan)
{
    const struct farlands_grid *grid = &raster->grid;
    const struct farlands_box box = {.x = grid->x,
                                     .y = grid->y,
                                     .z = raster->z,
                                     .step = grid->step,
                                     .width = grid->width,
                                     .height = grid->height,
                                     .depth = raster->depth ? raster->depth : 1};
    struct region_pieces pieces;

    if (plan->status == 206)
        region_pieces_cut_range(&pieces, &box, raster_response_sample_size(raster->format),
                                plan->part.first, plan->part.length);
    else
        region_pieces_cut(&pieces, &box);
    return pieces;
}

static void begin(struct service *service, struct request_context *context,
                  const struct raster *raster, const struct raster_plan *plan)
{
    const struct region_pieces pieces = cut(raster, plan);
    const bool picture = raster->format == FORMAT_PNG;
    const size_t sums = picture ? pieces.count * sizeof(struct adler) : 0;
    struct region *region = malloc(sizeof *region + sums);

    if (!region) {
        pending_respond_error(context, -ENOMEM);
        return;
    }
    *region = (struct region){.raster = *raster, .plan = *plan, .pieces = pieces};
    world_hold(raster->world);
    const struct streamed_job_spec spec = {
        .kind = picture         ? &picture_kind
                : raster->depth ? &volume_kind
                                : &region_kind,
        .subject = region,
        .pieces = pieces.count,
        .immediate = pieces.count == 1 && is_cheap(raster, &pieces.box),
        .first = pieces.offset,
        .length = plan->status == 206 ? (int64_t)plan->part.length : plan->length,
        /* Pictures are less: terrain compresses. */
        .memory = region_pieces_largest(&pieces) * raster_response_sample_size(raster->format),
    };
    streamed_job_begin(&service->jobs, &spec, context, service->snapshot->config);
}

/* "{fingerprint}/region/{x},{y},{step},{width}x{height}.f32", places in units. */
static void make_key(struct raster *raster)
{
    const struct farlands_grid *grid = &raster->grid;
    char z[32] = "", depth[16] = "";

    if (raster->depth) {
        snprintf(z, sizeof z, ",%" PRId64, raster->z);
        snprintf(depth, sizeof depth, "x%d", raster->depth);
    }
    snprintf(raster->key, sizeof raster->key,
             "%s/%s/%" PRId64 ",%" PRId64 "%s,%" PRId64 ",%dx%d%s.%s", raster->world->fingerprint,
             raster->depth ? "volume" : "region", grid->x, grid->y, z, grid->step, grid->width,
             grid->height, depth, format_extension(raster->format));
}

void regions_respond(struct service *service, struct request_context *context,
                     const struct world *world, const struct route *route)
{
    const bool volume = route->kind == ROUTE_VOLUME;
    const int format = format_find(route->extension);
    struct raster_plan plan;

    if (format < 0 || (volume && format != FORMAT_F32)) {
        response_error(context, 404,
                       volume ? "extension: expected f32 for a volume"
                              : "extension: expected f32, r16 or png for a region");
        return;
    }
    struct raster raster = {
        .world = world,
        .format = (enum format)format,
        .grid = {.x = route->at_x,
                 .y = route->at_y,
                 .step = route->step,
                 .width = route->width,
                 .height = route->height},
        .z = route->at_z,
        .depth = route->depth,
        .region = true,
    };
    make_key(&raster);
    raster_response_plan(&plan, &raster, route->version, context->request);
    if (context->request->method == HTTP_HEAD || (plan.status != 200 && plan.status != 206))
        raster_response_send(context, &raster, &plan, (struct http_response){0});
    else
        begin(service, context, &raster, &plan);
}
