#include "cutout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct cutout {
    struct raster raster;   /* with a hold on its world */
    int rows, layers;       /* of a piece; the last ones may have less */
    unsigned across;        /* pieces of a layer, where one has less than a layer */
    unsigned first;         /* the piece that the answer begins with */
    bool parted;            /* PART is what was asked for */
    struct byte_range part; /* of the raster's bytes */
    struct adler sum[];     /* of a picture's bands, in order */
};

/* --- Pieces ---------------------------------------------------------------- */

static int depth_of(const struct raster *raster)
{
    return raster->depth ? raster->depth : 1;
}

/* Whole layers where one fits, or else rows of one. Returns how many pieces that makes. */
static unsigned cut(struct cutout *cutout)
{
    const struct farlands_grid *grid = &cutout->raster.grid;
    const int depth = depth_of(&cutout->raster), flat = grid->width * grid->height;

    if (flat <= RENDER_PIECE_MAX) {
        const int fit = RENDER_PIECE_MAX / flat;
        cutout->rows = grid->height;
        cutout->layers = fit < depth ? fit : depth;
        cutout->across = 1;
        return (unsigned)((depth + cutout->layers - 1) / cutout->layers);
    }
    cutout->rows = RENDER_PIECE_MAX / grid->width;
    cutout->layers = 1;
    cutout->across = (unsigned)((grid->height + cutout->rows - 1) / cutout->rows);
    return (unsigned)depth * cutout->across;
}

/* Samples before piece INDEX. */
static uint64_t samples_before(const struct cutout *cutout, unsigned index)
{
    const struct farlands_grid *grid = &cutout->raster.grid;
    const uint64_t row = (uint64_t)grid->width, layer = row * (uint64_t)grid->height;

    return index / cutout->across * layer * (uint64_t)cutout->layers +
           index % cutout->across * row * (uint64_t)cutout->rows;
}

static uint64_t bytes_before(const struct cutout *cutout, unsigned index)
{
    return samples_before(cutout, index) * (cutout->raster.format == FORMAT_F32 ? 4 : 2);
}

/* The piece of COUNT in which the byte at POSITION lies. */
static unsigned piece_at(const struct cutout *cutout, unsigned count, uint64_t position)
{
    unsigned low = 0, high = count;
    while (high - low > 1) {
        const unsigned middle = low + (high - low) / 2;
        if (bytes_before(cutout, middle) <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Where piece INDEX lies. */
static struct farlands_box box_of(const struct cutout *cutout, unsigned index)
{
    const struct raster *raster = &cutout->raster;
    const struct farlands_grid *grid = &raster->grid;
    const int row = (int)(index % cutout->across) * cutout->rows;
    const int layer = (int)(index / cutout->across) * cutout->layers;

    return (struct farlands_box){
        .x = grid->x,
        .y = grid->y + row * grid->step,
        .z = raster->z + layer * grid->step,
        .step = grid->step,
        .width = grid->width,
        .height = least(cutout->rows, grid->height - row),
        .depth = least(cutout->layers, depth_of(raster) - layer),
    };
}

/* --- As a calculation ------------------------------------------------------ */

static int work(void *subject, unsigned number, struct easel *easel, struct blob **out)
{
    struct cutout *cutout = subject;
    const struct raster *raster = &cutout->raster;
    const unsigned index = cutout->first + number;
    const struct farlands_box box = box_of(cutout, index);

    if (raster->depth)
        return render_density(out, easel, raster->world, &box);
    struct farlands_grid grid = raster->grid;
    grid.y = box.y;
    grid.height = box.height;
    switch (raster->format) {
    case FORMAT_F32:
        return render_heights(out, easel, raster->world, &grid);
    case FORMAT_R16:
        return render_samples(out, easel, raster->world, &grid);
    default:
        return render_band(out, &cutout->sum[index], easel, raster->world, &grid,
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
    return png_tail(&blob, &sum) ? NULL : blob;
}

static void give(void *subject, const struct asker *asker, struct http_answer given)
{
    const struct cutout *cutout = subject;
    raster_give(asker, &cutout->raster, given, cutout->parted ? &cutout->part : NULL);
}

static void free_cutout(void *subject)
{
    struct cutout *cutout = subject;
    world_release(cutout->raster.world);
    free(cutout);
}

static const struct calculation_kind region_kind = {METRIC_REGIONS, work, NULL, give, free_cutout};
static const struct calculation_kind picture_kind = {METRIC_REGIONS, work, tail, give, free_cutout};
static const struct calculation_kind volume_kind = {METRIC_VOLUMES, work, NULL, give, free_cutout};

static void calculate(struct calculations *calculations, const struct asker *asker,
                      const struct cutout *wanted, const struct config *config)
{
    struct cutout plan = *wanted;
    const bool picture = plan.raster.format == FORMAT_PNG;
    unsigned pieces = cut(&plan);
    struct cutout *cutout =
        calloc(1, sizeof *cutout + (picture ? pieces : 0) * sizeof(struct adler));

    if (!cutout) {
        waiting_refused(asker, -ENOMEM);
        return;
    }
    struct calculation_order order = {
        .kind = picture             ? &picture_kind
                : plan.raster.depth ? &volume_kind
                                    : &region_kind,
        .subject = cutout,
        .pieces = pieces,
        .count = plan.raster.length,
    };
    if (plan.parted) {
        plan.first = piece_at(&plan, pieces, plan.part.first);
        order.pieces =
            piece_at(&plan, pieces, plan.part.first + plan.part.length - 1) + 1 - plan.first;
        order.first = plan.part.first - bytes_before(&plan, plan.first);
        order.count = (int64_t)plan.part.length;
    }
    *cutout = plan;
    world_hold(cutout->raster.world);
    calculation_begin(calculations, &order, asker, config);
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

void cutout_answer(struct calculations *calculations, const struct asker *asker,
                   const struct world *world, const struct route *route,
                   const struct config *config)
{
    const struct http_request *request = asker->request;
    struct cutout cutout = {0};
    struct raster *raster = &cutout.raster;

    if (describe(raster, world, route)) {
        answer_error(asker, 404,
                     route->kind == ROUTE_VOLUME ? "extension: a volume has f32 alone"
                                                 : "extension: a region has f32, r16 and png");
        return;
    }
    raster_prepare(raster, route->version, request);
    if (!match_holds(request->if_match, raster->etag)) {
        answer_unlike(asker, raster->etag);
    } else if (none_match_holds(request->if_none_match, raster->etag)) {
        raster_had(asker, raster);
    } else if (raster_is_beyond(asker, raster)) {
        answer_unsatisfiable(asker, (uint64_t)raster->length);
    } else if (request->method == HTTP_HEAD) {
        raster_answer(asker, raster, NULL);
    } else {
        cutout.parted =
            raster->ranged && raster->length != HTTP_LENGTH_UNKNOWN &&
            range_parse(request->range, (uint64_t)raster->length, &cutout.part) == RANGE_PART;
        calculate(calculations, asker, &cutout, config);
    }
}
