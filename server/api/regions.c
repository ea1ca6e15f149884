#include "regions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cutout {
    struct raster raster;    /* with a hold on its world */
    struct farlands_box box; /* of it, what has to be made: all, or no more than a part is in */
    int rows, layers;        /* of a piece; the last ones may have less */
    unsigned across;         /* pieces of a layer, where one has less than a layer */
    unsigned first;          /* the piece that the answer begins with */
    struct adler sum[];      /* of a picture's bands, in order */
};

/* --- Pieces ---------------------------------------------------------------- */

static struct farlands_box whole(const struct raster *raster)
{
    const struct farlands_grid *grid = &raster->grid;
    return (struct farlands_box){.x = grid->x,
                                 .y = grid->y,
                                 .z = raster->z,
                                 .step = grid->step,
                                 .width = grid->width,
                                 .height = grid->height,
                                 .depth = raster->depth ? raster->depth : 1};
}

/* Samples FIRST to LAST of the COUNT on an axis that begins at *PLACE. */
static void narrow(int64_t *place, int *count, int64_t step, uint64_t first, uint64_t last)
{
    *place += (int64_t)first * step;
    *count = (int)(last - first) + 1;
}

/*
 * Make BOX the smallest in which samples FIRST to LAST of it lie without gaps: layers, rows of one
 * layer, or samples of one row. Returns the number of the sample that it begins with.
 */
static uint64_t box_narrow(struct farlands_box *box, uint64_t first, uint64_t last)
{
    const uint64_t width = (uint64_t)box->width, layer = width * (uint64_t)box->height;
    const uint64_t above = first / layer, below = last / layer;
    const uint64_t north = first % layer / width, south = last % layer / width;

    narrow(&box->z, &box->depth, box->step, above, below);
    if (below > above)
        return above * layer;
    narrow(&box->y, &box->height, box->step, north, south);
    if (south > north)
        return above * layer + north * width;
    narrow(&box->x, &box->width, box->step, first % width, last % width);
    return first;
}

/* Whole layers where one fits, or else rows of one. Returns how many pieces that makes. */
static unsigned cut(struct cutout *cutout)
{
    const struct farlands_box *box = &cutout->box;
    const int flat = box->width * box->height;

    if (flat <= RENDER_PIECE_MAX) {
        const int fit = RENDER_PIECE_MAX / flat;
        cutout->rows = box->height;
        cutout->layers = fit < box->depth ? fit : box->depth;
        cutout->across = 1;
        return (unsigned)((box->depth + cutout->layers - 1) / cutout->layers);
    }
    cutout->rows = RENDER_PIECE_MAX / box->width;
    cutout->layers = 1;
    cutout->across = (unsigned)((box->height + cutout->rows - 1) / cutout->rows);
    return (unsigned)box->depth * cutout->across;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Where piece INDEX lies. */
static struct farlands_box piece_of(const struct cutout *cutout, unsigned index)
{
    struct farlands_box box = cutout->box;
    const int row = (int)(index % cutout->across) * cutout->rows;
    const int layer = (int)(index / cutout->across) * cutout->layers;

    box.y += row * box.step;
    box.z += layer * box.step;
    box.height = least(cutout->rows, box.height - row);
    box.depth = least(cutout->layers, box.depth - layer);
    return box;
}

/* --- As a calculation ------------------------------------------------------ */

static int work(void *subject, unsigned number, struct render_scratch *scratch, struct blob **out)
{
    struct cutout *cutout = subject;
    const struct raster *raster = &cutout->raster;
    const unsigned index = cutout->first + number;
    const struct farlands_box box = piece_of(cutout, index);
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
        return render_band(out, &cutout->sum[index], scratch, raster->world, &grid,
                           index == 0 ? raster->grid.height : 0);
    }
}

/* The end of a picture. */
static struct blob *tail(void *subject)
{
    struct cutout *cutout = subject;
    struct adler sum = cutout->sum[0];
    struct blob *blob;

    for (unsigned i = 1; i < cutout->across; i++)
        adler_join(&sum, &cutout->sum[i]);
    return image_writer_tail(&blob, &sum) ? NULL : blob;
}

static void give(void *subject, const struct request_context *context, struct http_response given)
{
    const struct cutout *cutout = subject;
    raster_response_give(context, &cutout->raster, given);
}

static void free_cutout(void *subject)
{
    struct cutout *cutout = subject;
    world_release(cutout->raster.world);
    free(cutout);
}

static const struct streamed_job_kind region_kind = {
    .counter = METRIC_REGIONS, .work = work, .answer = give, .free = free_cutout};
static const struct streamed_job_kind picture_kind = {
    .counter = METRIC_REGIONS, .work = work, .tail = tail, .answer = give, .free = free_cutout};
static const struct streamed_job_kind volume_kind = {
    .counter = METRIC_VOLUMES, .work = work, .answer = give, .free = free_cutout};

/* Leave out what the part that was asked for does not touch. Returns where it begins in the rest,
 * in bytes. */
static uint64_t leave_out(struct cutout *cutout)
{
    const struct byte_range *part = &cutout->raster.part;
    const uint64_t size = raster_response_sample(&cutout->raster);
    const uint64_t last = (part->first + part->length - 1) / size;

    return part->first - size * box_narrow(&cutout->box, part->first / size, last);
}

/* Bytes of the box before its piece INDEX. */
static uint64_t bytes_before(const struct cutout *cutout, unsigned index)
{
    const struct farlands_box *box = &cutout->box;
    const uint64_t row = (uint64_t)box->width, layer = row * (uint64_t)box->height;

    return raster_response_sample(&cutout->raster) *
           (index / cutout->across * layer * (uint64_t)cutout->layers +
            index % cutout->across * row * (uint64_t)cutout->rows);
}

/* Have ORDER, of bytes of the whole box, begin and end with pieces that it touches: where layers
 * are cut, whole layers touch too much. */
static void skip_pieces(struct cutout *cutout, struct streamed_job_order *order)
{
    const uint64_t end = order->first + (uint64_t)order->count;
    unsigned behind = order->pieces;

    while (bytes_before(cutout, behind - 1) >= end)
        behind--;
    while (cutout->first + 1 < behind && bytes_before(cutout, cutout->first + 1) <= order->first)
        cutout->first++;
    order->pieces = behind - cutout->first;
    order->first -= bytes_before(cutout, cutout->first);
}

/*
 * Whether it takes some 20 us at most: 17 x 17 samples of the built-in world take 8, while to hand
 * them over and back costs 50. Not where samples are made one by one.
 */
static bool is_light(const struct raster *raster, const struct farlands_box *box)
{
    enum { MOST = 32 * 1024 };
    const struct farlands_params *params = &raster->world->config.terrain;
    const int64_t cost = (int64_t)box->width * box->height * params->octaves;

    return cost <= MOST && raster->depth == 0 && raster->format != FORMAT_PNG &&
           params->basis != FARLANDS_SIMPLEX && params->warp.amplitude == 0 &&
           strcmp(farlands_kernel(raster->world->terrain), "scalar") != 0;
}

static void calculate(struct streamed_jobs *streamed_jobs, const struct request_context *context,
                      const struct cutout *wanted, const struct config *config)
{
    struct cutout plan = *wanted;
    struct streamed_job_order order = {.count = plan.raster.length};

    plan.box = whole(&plan.raster);
    if (plan.raster.range == RANGE_PART) {
        order.first = leave_out(&plan);
        order.count = (int64_t)plan.raster.part.length;
    }
    order.pieces = cut(&plan);
    if (plan.raster.range == RANGE_PART)
        skip_pieces(&plan, &order);
    order.light = is_light(&plan.raster, &plan.box);
    const bool picture = plan.raster.format == FORMAT_PNG;
    const size_t sums = picture ? order.pieces * sizeof(struct adler) : 0;
    struct cutout *cutout = calloc(1, sizeof *cutout + sums);
    if (!cutout) {
        pending_refused(context, -ENOMEM);
        return;
    }
    *cutout = plan;
    world_hold(cutout->raster.world);
    order.kind = picture ? &picture_kind : plan.raster.depth ? &volume_kind : &region_kind;
    order.subject = cutout;
    streamed_job_begin(streamed_jobs, &order, context, config);
}

/* --- The request ----------------------------------------------------------- */

/* "{fingerprint}/region/{x},{y},{step},{width}x{height}.f32", places in units. */
static void name(struct raster *raster)
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

/* Returns 0, or -ENOENT where there is no such format. */
static int describe(struct raster *raster, const struct world *world, const struct route *route)
{
    const int format = format_find(route->extension);

    if (format < 0 || (route->kind == ROUTE_VOLUME && format != FORMAT_F32))
        return -ENOENT;
    *raster = (struct raster){
        .world = world,
        .format = (enum format)format,
        .grid = {.x = route->at_x,
                 .y = route->at_y,
                 .step = route->step,
                 .width = route->width,
                 .height = route->height},
        .z = route->at_z,
        .depth = route->depth,
        .cutout = true,
    };
    name(raster);
    return 0;
}

void regions_respond(struct streamed_jobs *streamed_jobs, const struct request_context *context,
                     const struct world *world, const struct route *route,
                     const struct config *config)
{
    struct cutout cutout = {0};
    struct raster *raster = &cutout.raster;

    if (describe(raster, world, route)) {
        response_error(context, 404,
                       route->kind == ROUTE_VOLUME ? "extension: a volume has f32 alone"
                                                   : "extension: a region has f32, r16 and png");
        return;
    }
    raster_response_prepare(raster, route->version, context->request);
    const unsigned status = raster_response_judge(context, raster);
    if (status)
        raster_response_settle(context, raster, status);
    else if (context->request->method == HTTP_HEAD)
        raster_response_answer(context, raster, NULL);
    else
        calculate(streamed_jobs, context, &cutout, config);
}
