#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/handlers.h"
#include "server/api/raster_response.h"
#include "server/routing/resolve.h"

/* A request that waits for a tile. */
struct tile_wait {
    struct pending pending; /* first: cast back in the callbacks */
    struct waiter waiter;
    struct fetcher *fetcher;
    struct raster raster; /* holds a reference to the world */
    struct raster_plan plan;
    bool joined; /* another request's fetch */
};

static bool on_cancel(struct pending *pending)
{
    struct tile_wait *wait = (struct tile_wait *)pending;
    return single_flight_leave(wait->fetcher->flights, &wait->waiter);
}

static void on_ended(struct pending *pending)
{
    struct tile_wait *wait = (struct tile_wait *)pending;
    world_release(wait->raster.content.world);
    free(wait);
}

static void send_tile(struct request_context *context, const struct raster *raster,
                      struct raster_plan *plan, struct blob *blob)
{
    struct http_response bytes = {.body = blob};

    /* Equal tiles have equal bytes, pictures too, so ranges from different fetches fit together. */
    raster_response_set_length(plan, blob->length);
    if (plan->status == 206) {
        bytes.first = (size_t)plan->part.first;
        bytes.count = (size_t)plan->part.length;
    }
    raster_response_send(context, raster, plan, bytes);
}

static void on_fetched(struct waiter *waiter, struct blob *blob, int err)
{
    struct tile_wait *wait =
        (struct tile_wait *)((char *)waiter - offsetof(struct tile_wait, waiter));
    struct request_context *context = wait->pending.context;

    if (err < 0) {
        pending_fail(&wait->pending, err);
        return;
    }
    int full = response_hold_body(context, blob);
    if (full) {
        pending_fail(&wait->pending, full);
        return;
    }
    context->from = wait->joined               ? FROM_JOINED
                    : err == FETCH_FROM_MEMORY ? FROM_MEMORY
                    : err == FETCH_FROM_DISK   ? FROM_DISK
                                               : FROM_RENDER;
    send_tile(context, &wait->raster, &wait->plan, blob);
    pending_end(&wait->pending);
}

static void wait_for_tile(struct service *service, struct request_context *context,
                          const struct raster *raster, const struct raster_plan *plan,
                          struct fetch_request *request)
{
    struct tile_wait *wait = calloc(1, sizeof *wait);
    if (!wait) {
        pending_respond_error(context, -ENOMEM);
        return;
    }
    wait->pending.cancel = on_cancel;
    wait->pending.ended = on_ended;
    wait->waiter.mailbox = service->parts.mailbox;
    wait->waiter.completed = on_fetched;
    wait->fetcher = service->parts.fetcher;
    wait->raster = *raster;
    wait->plan = *plan;
    world_hold(raster->content.world);
    if (pending_begin(&service->pending, &wait->pending, context, service->snapshot->config))
        return;
    request->client = wait->pending.client;
    int err = fetch_start(wait->fetcher, request, &wait->waiter);
    wait->joined = err == 1;
    if (err < 0)
        pending_fail(&wait->pending, err);
}

/* True if the response to REQUEST may be shared: it depends on the URI, If-None-Match and
 * If-Modified-Since only. */
static bool is_shareable(const struct http_request *request)
{
    return request->method == HTTP_GET && !request->range && !request->if_match && !request->last;
}

static int prepare(struct mhd_response *out, const struct raster *raster,
                   const struct raster_plan *plan, struct blob *blob)
{
    const struct http_response response = {.status = blob ? 200 : 304,
                                           .type = blob ? format_type(raster->format) : NULL,
                                           .body = blob};
    struct raster_headers out_headers;

    raster_response_headers(&out_headers, raster, plan);
    return response_prepare(out, response, &out_headers.headers);
}

/* Keep prepared responses for the next requests with this URI: 304 and, unless BLOB is NULL, 200.
 */
static void keep_prepared(struct service *service, const struct request_context *context,
                          const struct raster *raster, const struct raster_plan *plan,
                          struct blob *blob)
{
    struct cached_response ready = {.uri = context->request->uri,
                                    .etag = plan->etag,
                                    .plain = raster_is_negotiated(raster),
                                    .blob = blob};

    if (!plan->may_be_prepared || raster->coding || !is_shareable(context->request) ||
        prepare(&ready.not_modified, raster, plan, NULL))
        return;
    if (blob && prepare(&ready.whole, raster, plan, blob))
        mhd_response_drop(&ready.not_modified);
    else
        response_cache_put(service->response_cache, &ready);
}

bool tiles_respond_prepared(struct service *service, struct request_context *context)
{
    const struct http_request *request = context->request;
    struct cached_response *ready;

    if (!is_shareable(request) ||
        !(ready = response_cache_find(service->response_cache, request->uri)) ||
        (ready->plain && conditional_coding(request->accept_encoding, CODED_BY_ANY)))
        return false;
    if (conditional_not_modified(request->if_none_match, request->if_modified_since, ready->etag,
                                 &context->modified)) {
        response_send_prepared(context, &ready->not_modified);
        return true;
    }
    if (!ready->blob)
        return false;
    blob_use(ready->blob);
    context->from = FROM_MEMORY;
    response_send_prepared(context, &ready->whole);
    return true;
}

/* Respond at once, with a tile that is there, or to HEAD. Returns false if the request must wait.
 */
static bool respond_now(struct service *service, struct request_context *context,
                        const struct raster *raster, struct raster_plan *plan,
                        struct fetch_request *request)
{
    struct blob *blob = fetch_lookup(service->parts.fetcher, request);

    if (blob) {
        context->from = request->from_memory ? FROM_MEMORY : FROM_DISK;
        if (request->from_memory)
            keep_prepared(service, context, raster, plan, blob);
        send_tile(context, raster, plan, blob);
        blob_release(blob);
        return true;
    }
    if (context->request->method != HTTP_HEAD)
        return false;
    raster_response_send(context, raster, plan, (struct http_response){0});
    return true;
}

void tiles_respond(struct service *service, struct request_context *context,
                   const struct world *world, const struct route *route)
{
    struct raster_plan plan;
    struct tile tile;
    char why[ROUTE_WHY];

    if (resolve_tile(world, route, &tile, why)) {
        response_error(context, 404, why);
        return;
    }
    const struct tile_address *address = &tile.address;
    if (route->seeded && format_is_picture(address->format)) /* only pictures are on disk */
        seed_cache_touch(service->seed_cache, tile_kind(address->layer, address->format));
    struct raster raster = {.content = tile.content,
                            .grid = tile.grid,
                            .fingerprint = tile_fingerprint(address),
                            .format = address->format};
    stpcpy(raster.key, tile.key);
    raster_choose_coding(&raster, context->request);
    if (raster.coding)
        tile_set_coding(&tile, raster.coding);
    raster_response_plan(&plan, &raster, route->version, context->request, &context->modified);
    /* URLs with cache-busting numbers must not displace other prepared responses. */
    plan.may_be_prepared =
        !route->others && (!route->version[0] || strcmp(route->version, raster.fingerprint) == 0);
    if (plan.status != 200 && plan.status != 206) {
        if (plan.status == 304)
            keep_prepared(service, context, &raster, &plan, NULL);
        raster_response_send(context, &raster, &plan, (struct http_response){0});
        return;
    }
    struct fetch_request request = {.tile = &tile, .rank = pending_rank(context->request)};
    if (!respond_now(service, context, &raster, &plan, &request))
        wait_for_tile(service, context, &raster, &plan, &request);
}
