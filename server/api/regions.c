#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise/terrain/terrain.h"
#include "server/api/handlers.h"
#include "server/api/raster_response.h"
#include "server/api/region_pieces.h"
#include "server/routing/resolve.h"
#include "server/world/request_price.h"
#include "server/world/run_kind.h"

enum { CONTENT_TEXT = RASTER_KEY_MAX - FINGERPRINT_TEXT - 96 - sizeof ".gzip" };

/* The subject of a streamed job. */
struct region {
    struct raster raster; /* holds a reference to the world */
    struct raster_plan plan;
    struct region_pieces pieces; /* the response's */
    /* For the pieces in progress, by number. */
    struct render_progress progress[STREAMED_JOB_AHEAD];
    struct adler sum[]; /* one per piece of a picture, in order */
};

static struct farlands_grid grid_of(const struct raster *raster, const struct farlands_box *box)
{
    return (struct farlands_grid){.x = box->x,
                                  .y = box->y,
                                  .step = box->step,
                                  .width = box->width,
                                  .height = box->height,
                                  .band_limit = raster->grid.band_limit};
}

static uint64_t samples_of(const struct farlands_box *box)
{
    return (uint64_t)box->width * (uint64_t)box->height * (uint64_t)box->depth;
}

static int render(struct region *region, unsigned number, struct render_scratch *scratch,
                  struct blob **out, struct render_progress *progress)
{
    const struct raster *raster = &region->raster;
    const struct farlands_box box = region_pieces_box(&region->pieces, number);
    const struct farlands_grid grid = grid_of(raster, &box);

    if (raster->depth)
        return render_density(out, scratch, raster->content.world, &box, progress);
    return raster->format == FORMAT_PNG
               ? render_band(out, &region->sum[number], scratch, &raster->content, &grid,
                             number == 0 ? raster->grid.height : 0, progress)
               : render_values(out, scratch, &raster->content, raster->format, &grid, progress);
}

static int work(void *subject, unsigned number, struct render_scratch *scratch, struct blob **out,
                void *turn)
{
    struct region *region = subject;
    struct render_progress *progress = &region->progress[number % STREAMED_JOB_AHEAD];

    progress->pause = streamed_job_pause;
    progress->context = turn;
    const int err = render(region, number, scratch, out, progress);
    if (err != STREAMED_JOB_MORE)
        render_progress_clear(progress);
    if (err)
        return err;
    *out = coding_pack_over(*out, region->raster.coding);
    return *out ? 0 : -ENOMEM;
}

/* A picture's end. */
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
    world_release(region->raster.content.world);
    for (int i = 0; i < STREAMED_JOB_AHEAD; i++)
        render_progress_clear(&region->progress[i]);
    free(region);
}

static const struct streamed_job_kind region_kind = {
    .counter = METRIC_REGIONS,
    .work = work,
    .respond = respond,
    .free = free_region,
};
static const struct streamed_job_kind picture_kind = {
    .counter = METRIC_REGIONS,
    .work = work,
    .tail = tail,
    .respond = respond,
    .free = free_region,
};
static const struct streamed_job_kind volume_kind = {
    .counter = METRIC_VOLUMES,
    .work = work,
    .respond = respond,
    .free = free_region,
};

/* The most samples in one piece of BOX. */
static uint64_t largest_piece(const struct raster *raster, const struct farlands_box *box)
{
    if (raster->format != FORMAT_PNG)
        return RENDER_PIECE_MAX;
    const int rows = image_writer_band_rows(layers[raster->content.layer].pixel, box->width);
    const uint64_t band = (uint64_t)box->width * (uint64_t)rows;
    return band < RENDER_PIECE_MAX ? band : RENDER_PIECE_MAX;
}

static struct farlands_box box_of(const struct raster *raster)
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

/* True if all of RASTER would be made in several pieces. */
static bool is_streamed(const struct raster *raster)
{
    const struct farlands_box box = box_of(raster);
    struct region_pieces pieces;

    region_pieces_cut(&pieces, &box, largest_piece(raster, &box));
    return pieces.count > 1;
}

/* RASTER's price. */
static uint64_t price_of(const struct raster *raster)
{
    const struct farlands_box box = box_of(raster);
    const int fit = RENDER_PIECE_MAX / (box.width * box.height), deep = fit > 1 ? fit : 1;

    return raster->depth
               ? request_price_of_volume(raster->content.world, &box, (box.depth + deep - 1) / deep)
               : request_price_of_region(raster->content.world, raster->content.layer,
                                         raster->content.field, &raster->grid);
}

/*
 * The most samples per piece of BOX, which has several pieces and costs PRICE. A piece of numbers
 * takes less than a tenth of a second, so that the first bytes come soon. Pictures and volumes
 * always have the largest pieces: the cuts decide a picture's bytes, and each piece of a volume
 * computes the heights anew.
 */
static uint64_t soon_piece(const struct raster *raster, const struct farlands_box *box,
                           uint64_t price)
{
    const uint64_t each = price / samples_of(box) + 1, most = largest_piece(raster, box);
    const uint64_t soon = PRICE_SECOND / 10 / each;

    return raster->format == FORMAT_PNG || raster->depth || soon > most ? most : soon;
}

/* Cut REGION's planned part into pieces. All of REGION costs PRICE. Returns the part's price. */
static uint64_t cut(struct region *region, uint64_t price)
{
    const struct raster *raster = &region->raster;
    const unsigned size = format_sample_bytes(raster->format);
    struct farlands_box box = box_of(raster);
    const uint64_t each = price / samples_of(&box);
    struct byte_range part = region->plan.part;

    if (region->plan.status == 206)
        part.first -= region_pieces_narrow(&box, size, part.first, part.length);
    else
        part = (struct byte_range){0, samples_of(&box) * size};
    region_pieces_cut(&region->pieces, &box, largest_piece(raster, &box));
    region_pieces_keep(&region->pieces, size, part.first, part.length);
    if (region->pieces.count > 1) {
        region_pieces_cut(&region->pieces, &box, soon_piece(raster, &box, each * samples_of(&box)));
        region_pieces_keep(&region->pieces, size, part.first, part.length);
    }
    return each * samples_of(&box);
}

/* Everything that decides how long a piece takes, except its place. */
static struct run_kind kind_of(const struct region *region)
{
    const struct raster *raster = &region->raster;
    const uint64_t samples = region_pieces_largest(&region->pieces);

    return run_kind(raster->content.world,
                    &(struct run_of){.run = raster->depth > 0 ? RUN_VOLUME : RUN_REGION,
                                     .layer = raster->content.layer,
                                     .size = ilogb((double)samples),
                                     .field = raster->content.field,
                                     .format = (int)raster->format,
                                     .coding = (int)raster->coding,
                                     .spacing = ilogb((double)raster->grid.step)});
}

static void begin(struct service *service, struct request_context *context,
                  const struct raster *raster, const struct raster_plan *plan, uint64_t price)
{
    const bool picture = raster->format == FORMAT_PNG;
    struct region planned = {.raster = *raster, .plan = *plan};

    price = cut(&planned, price);
    const struct region_pieces *pieces = &planned.pieces;
    const size_t sums = picture ? pieces->count * sizeof(struct adler) : 0;
    struct region *region = malloc(sizeof *region + sums);
    if (!region) {
        pending_respond_error(context, -ENOMEM);
        return;
    }
    *region = planned;
    world_hold(raster->content.world);
    const struct streamed_job_spec spec = {
        .kind = picture         ? &picture_kind
                : raster->depth ? &volume_kind
                                : &region_kind,
        .subject = region,
        .run = kind_of(region),
        .pieces = pieces->count,
        .price = price,
        .first = pieces->offset,
        .length = plan->status == 206 ? (int64_t)plan->part.length : plan->length,
        /* Pictures take less, because terrain compresses well. Numbers exist in two forms for a
           while. */
        .memory = region_pieces_largest(pieces) * (raster->coding ? 2 : 1) *
                  (picture ? pixel_bytes(layers[raster->content.layer].pixel)
                           : format_sample_bytes(raster->format)),
    };
    streamed_job_begin(&service->jobs, &spec, context, service->snapshot->config);
}

/* "-relief", "-field.continents", ".continents", "@-50,250": a region's content, unless it is the
 * world's heights over their range. */
static void name_content(const struct raster *raster, char out[CONTENT_TEXT])
{
    const struct world *world = raster->content.world;
    const struct value_range usual = world_field_range(world, raster->content.field);
    char min[REAL_TEXT], max[REAL_TEXT];
    char *at = out;

    *at = '\0';
    if (raster->content.layer != layer_find("height"))
        at = stpcpy(stpcpy(at, "-"), layers[raster->content.layer].name);
    if (raster->content.field != world_layer_field(world, raster->content.layer))
        at = stpcpy(stpcpy(at, "."), world_field_name(world, raster->content.field));
    if (raster->content.range.min != usual.min || raster->content.range.max != usual.max)
        sprintf(at, "@%s,%s", float_format(raster->content.range.min, min),
                float_format(raster->content.range.max, max));
}

/* "{fingerprint}/region{content}/{x},{y},{step},{width}x{height}.f32", places in units. */
static void make_key(struct raster *raster)
{
    const struct farlands_grid *grid = &raster->grid;
    char z[32] = "", depth[16] = "", content[CONTENT_TEXT] = "";

    if (raster->depth) {
        snprintf(z, sizeof z, ",%" PRId64, raster->z);
        snprintf(depth, sizeof depth, "x%d", raster->depth);
    } else {
        name_content(raster, content);
    }
    snprintf(raster->key, sizeof raster->key,
             "%s/%s%s/%" PRId64 ",%" PRId64 "%s,%" PRId64 ",%dx%d%s.%s", raster->fingerprint,
             raster->depth ? "volume" : "region", content, grid->x, grid->y, z, grid->step,
             grid->width, grid->height, depth, format_extension(raster->format));
}

/* The layer, field, format and range that ROUTE asks for. Returns 0 or -ENOENT. */
static int find_content(struct raster *raster, const struct route *route, char why[ROUTE_WHY])
{
    const struct world *world = raster->content.world;
    const struct span field = {route->field, strlen(route->field)};

    int layer = layer_find("height"), number = world_height_field(world);
    if (route->layer[0])
        layer = resolve_layer(world, route, &number, why);
    else if (field.length)
        number = resolve_field(world, field, why);
    if (layer < 0 || number < 0)
        return -ENOENT;
    const int format = resolve_format(layer, route, why);
    if (format == FORMAT_WEBP)
        snprintf(why, ROUTE_WHY, "extension: pictures of regions are png, not webp");
    if (format < 0 || format == FORMAT_WEBP)
        return -ENOENT;
    raster->format = (enum format)format;
    raster->content = world_content(world, layer, number);
    content_show(&raster->content, number);
    if (route->range[0] < route->range[1])
        raster->content.range = (struct value_range){route->range[0], route->range[1]};
    return 0;
}

/* The layer whose coarse tiles show RASTER's field. Returns BUFFER. */
static const char *far_layer(const struct raster *raster, char buffer[LAYER_NAME_MAX])
{
    const struct world *world = raster->content.world;
    const struct climate *climate = world_climate(world);
    const char *name = "field.of";
    if (raster->depth || raster->content.field == world_height_field(world) ||
        world_is_surface(world, raster->content.field))
        name = "height";
    else if (climate && raster->content.field == climate->biome)
        name = "biome";
    return layer_name(world, layer_find(name), raster->content.field, buffer);
}

enum { WHY = 256, OTHERS = 128 };

/* If RASTER's exact samples are far apart, other ways to get heights: ", or a step up to 64; ...".
 */
static void name_others(const struct raster *raster, char text[OTHERS])
{
    char layer[LAYER_NAME_MAX];
    struct raster near = *raster;

    near.grid.step = TERRAIN_FAR;
    text[0] = '\0';
    if (!raster->grid.band_limit && raster->grid.step > TERRAIN_FAR)
        snprintf(text, OTHERS, "%s; tiles of \"%.70s\" are filtered",
                 price_of(&near) <= REQUEST_PRICE_MOST ? ", or a step up to 64" : "",
                 far_layer(raster, layer));
}

/* True, with a message in WHY, if PRICE, RASTER's price, is above the limit for a request. */
static bool is_too_dear(const struct raster *raster, uint64_t price, char why[WHY])
{
    const struct farlands_grid *grid = &raster->grid;
    char step[BLOCKS_TEXT], others[OTHERS];

    if (price <= REQUEST_PRICE_MOST)
        return false;
    const double share = (double)REQUEST_PRICE_MOST / (double)price;
    const int side = (int)fmax(sqrt((double)grid->width * (double)grid->height * share), 1);
    name_others(raster, others);
    snprintf(why, WHY,
             "step: %d x %d %s samples %s blocks apart take some %.0f s; at most %d x %d fit%s",
             grid->width, grid->height, grid->band_limit ? "filtered" : "exact",
             blocks_format(grid->step, step), (double)price / (double)PRICE_SECOND, side, side,
             others);
    return true;
}

void regions_respond(struct service *service, struct request_context *context,
                     const struct world *world, const struct route *route)
{
    char why[WHY];
    const bool volume = route->kind == ROUTE_VOLUME;
    struct raster_plan plan;
    struct raster raster = {
        .content = {.world = world},
        .grid = {.x = route->at_x,
                 .y = route->at_y,
                 .step = route->step,
                 .width = route->width,
                 .height = route->height},
        .z = route->at_z,
        .depth = route->depth,
        .region = true,
    };

    if (find_content(&raster, route, why) || (volume && raster.format != FORMAT_F32)) {
        response_error(context, 404, volume ? "extension: expected f32 for a volume" : why);
        return;
    }
    raster.fingerprint =
        volume ? world->fingerprints.volume
               : world_region_fingerprint(world, raster.content.layer, raster.content.field);
    raster.grid.band_limit = !format_is_exact(raster.content.layer, raster.format);
    const uint64_t price = price_of(&raster);
    if (is_too_dear(&raster, price, why)) {
        response_error(context, 413, why);
        return;
    }
    make_key(&raster);
    raster.streamed = is_streamed(&raster);
    raster_choose_coding(&raster, context->request);
    raster_response_plan(&plan, &raster, route->version, context->request, &context->modified);
    if (context->request->method == HTTP_HEAD || (plan.status != 200 && plan.status != 206))
        raster_response_send(context, &raster, &plan, (struct http_response){0});
    else
        begin(service, context, &raster, &plan, price);
}
