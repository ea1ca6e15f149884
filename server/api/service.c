#include "service.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/documents.h"
#include "server/api/forwarded.h"
#include "server/api/point_documents.h"
#include "server/api/points.h"
#include "server/api/raster_response.h"
#include "server/api/regions.h"
#include "server/api/response_cache.h"
#include "server/routing/resolve.h"
#include "server/world/seed_cache.h"

struct service {
    struct service_parts parts;
    struct snapshot *snapshot;
    struct response_cache *response_cache;
    struct pending_requests room;
    struct seed_cache *seeded;
    struct streamed_jobs *streamed_jobs;
};

/* --- Tiles ----------------------------------------------------------------- */

/* One who waits for a tile. */
struct tile_wait {
    struct pending pending; /* first: a waiting is its wait */
    struct waiter waiter;
    struct fetcher *fetcher;
    struct raster raster; /* with a hold on its world */
    bool joined;          /* what another had ordered already */
};

static bool forget_tile(struct pending *pending)
{
    struct tile_wait *wait = (struct tile_wait *)pending;
    return fetch_abandon(wait->fetcher, &wait->waiter);
}

static void end_wait(struct pending *pending)
{
    struct tile_wait *wait = (struct tile_wait *)pending;
    world_release(wait->raster.world);
    free(wait);
}

static void on_landed(struct waiter *waiter, struct blob *blob, int err)
{
    struct tile_wait *wait =
        (struct tile_wait *)((char *)waiter - offsetof(struct tile_wait, waiter));
    struct request_context *context = &wait->pending.context;

    if (err < 0) {
        pending_refuse(&wait->pending, err);
        return;
    }
    context->from = wait->joined ? FROM_JOINED : err == FETCH_FROM_DISK ? FROM_DISK : FROM_RENDER;
    raster_response_answer(context, &wait->raster, blob);
    pending_end(&wait->pending);
}

void service_sweep(struct service *service)
{
    pending_requests_expire(&service->room);
}

bool service_cancel(struct service *service)
{
    const bool empty = pending_requests_cancel(&service->room);
    return streamed_jobs_cancel(service->streamed_jobs) && empty;
}

static void wait_for_tile(struct service *service, const struct request_context *context,
                          const struct tile *tile, const struct raster *raster, bool maybe_on_disk)
{
    struct tile_wait *wait = calloc(1, sizeof *wait);
    if (!wait) {
        pending_refused(context, -ENOMEM);
        return;
    }
    wait->pending.forget = forget_tile;
    wait->pending.ended = end_wait;
    wait->waiter.mailbox = service->parts.mailbox;
    wait->waiter.completed = on_landed;
    wait->fetcher = service->parts.fetcher;
    wait->raster = *raster;
    if (pending_begin(&service->room, &wait->pending, context, service->snapshot->config)) {
        free(wait);
        return;
    }
    world_hold(tile->world);
    const struct fetch_request order = {tile, raster->key, maybe_on_disk,
                                        pending_rank(context->request)};
    int err = fetch_start(wait->fetcher, &order, &wait->waiter);
    wait->joined = err == 1;
    if (err < 0)
        pending_refuse(&wait->pending, err);
}

/* Whether the answer to REQUEST about a tile depends on its URI and If-None-Match alone, and may be
 * one that others get, too. */
static bool is_plain(const struct http_request *request)
{
    return request->method == HTTP_GET && !request->range && !request->if_match && !request->last;
}

/* Put answers about RASTER on the shelf: with the tile, or, where BLOB is NULL, 304 alone. */
static void make_ready(struct service *service, const struct request_context *context,
                       const struct raster *raster, struct blob *blob)
{
    struct cached_response ready = {
        .uri = context->request->uri, .etag = raster->etag, .blob = blob};

    if (!is_plain(context->request) || raster_response_make(&ready.same, raster, NULL))
        return;
    if (blob && raster_response_make(&ready.full, raster, blob))
        mhd_response_drop(&ready.same);
    else
        response_cache_put(service->response_cache, &ready);
}

/* The way of what is hot: no lock, no allocation. Returns whether there was an answer. */
static bool answer_from_shelf(struct service *service, struct request_context *context)
{
    const struct http_request *request = context->request;
    struct cached_response *ready;

    if (!is_plain(request) || !(ready = response_cache_find(service->response_cache, request->uri)))
        return false;
    if (conditional_if_none_match(request->if_none_match, ready->etag)) {
        response_send_cached(context, &ready->same);
        return true;
    }
    if (!ready->blob)
        return false;
    blob_use(ready->blob);
    context->from = FROM_MEMORY;
    metrics_add(service->parts.sinks.metrics, METRIC_HITS_MEMORY);
    response_send_cached(context, &ready->full);
    return true;
}

static void answer_at_hand(struct service *service, struct request_context *context,
                           const struct raster *raster, const struct fetch_hit *found)
{
    context->from = found->from_memory ? FROM_MEMORY : FROM_DISK;
    metrics_add(service->parts.sinks.metrics,
                found->from_memory ? METRIC_HITS_MEMORY : METRIC_HITS_DISK);
    if (found->from_memory)
        make_ready(service, context, raster, found->blob);
    raster_response_answer(context, raster, found->blob);
    blob_release(found->blob);
}

static void handle_tile(struct service *service, struct request_context *context,
                        const struct world *world, const struct route *route)
{
    const struct http_request *request = context->request;
    struct raster raster = {.world = world};
    struct tile tile;
    char why[ROUTE_WHY];

    if (resolve_tile(world, route, &tile, &raster.grid, why)) {
        response_error(context, 404, why);
        return;
    }
    if (route->seeded && tile.format == FORMAT_PNG) /* which the disk has */
        seed_cache_touch(service->seeded);
    raster.format = tile.format;
    tile_key(&tile, raster.key);
    raster_response_prepare(&raster, route->version, request);
    /* The validator is known without the tile: so is whether the client wants or has it. */
    const unsigned status = raster_response_judge(context, &raster);
    if (status == 304)
        make_ready(service, context, &raster, NULL);
    if (status) {
        raster_response_settle(context, &raster, status);
        return;
    }
    struct fetch_hit found = fetch_lookup(service->parts.fetcher, &tile, raster.key);
    if (found.blob)
        answer_at_hand(service, context, &raster, &found);
    else if (request->method == HTTP_HEAD)
        raster_response_answer(context, &raster, NULL);
    else
        wait_for_tile(service, context, &tile, &raster, found.maybe_on_disk);
}

/* --- Everything else ------------------------------------------------------- */

static void handle_height(const struct request_context *context, const struct world *world,
                          const struct route *route)
{
    const struct surface surface = surface_at(world->terrain, route->at_x, route->at_y);
    response_document(context, (struct fresh_document){
                                   .body = document_height(route->at_x, route->at_y, &surface),
                                   .cache_control = CACHE_SHORT,
                                   .fingerprint = world->fingerprint,
                               });
}

static void handle_tilejson(struct service *service, const struct request_context *context,
                            const struct world *world, const struct route *route)
{
    const struct site_config *site = &service->snapshot->config->site;
    char base[FORWARDED_URL_MAX], why[ROUTE_WHY];
    int layer = resolve_layer(world, route, why);

    if (layer < 0)
        response_error(context, 404, why);
    else if (forwarded_base_url(site, context->request, base))
        response_error(context, 400,
                       "Host: needed, to give absolute URLs; accepted is HOST, HOST:PORT or "
                       "[IPV6]:PORT");
    else
        response_document(context, (struct fresh_document){
                                       .body = document_tilejson(world, layer, base),
                                       .cache_control = CACHE_CHECK,
                                       .fingerprint = world->fingerprint,
                                       .vary = forwarded_vary(site, context->request),
                                   });
}

static void handle_file(struct service *service, const struct request_context *context,
                        const char *name)
{
    const struct page *page = static_pages_file(service->snapshot->pages, name);
    if (page)
        response_page(context, page, NULL);
    else
        response_error(context, 404, "the viewer has no such file");
}

/* A page for a configured world; there may be any number of others. */
static void handle_description(struct service *service, const struct request_context *context,
                               const struct world *world, const struct route *route)
{
    if (!route->seeded)
        response_page(context, static_pages_world(service->snapshot->pages, world),
                      world->fingerprint);
    else
        response_document(context, (struct fresh_document){
                                       .body = document_world(world),
                                       .cache_control = CACHE_CHECK,
                                       .fingerprint = world->fingerprint,
                                   });
}

/* The route's world, until the next request's; or NULL, and the asker has been told why. */
static const struct world *find_world(struct service *service,
                                      const struct request_context *context,
                                      const struct route *route)
{
    char why[ROUTE_WHY];
    const struct world *world = resolve_world(service->snapshot->worlds, route, why);

    if (!world)
        response_error(context, 404, why);
    if (!world || !route->seeded)
        return world;
    world = seed_cache_find(service->seeded, world, route->seed);
    if (!world)
        response_error(context, 503, "out of memory; try again");
    return world;
}

static void handle_world(struct service *service, struct request_context *context,
                         const struct route *route)
{
    const struct world *world = find_world(service, context, route);

    if (!world)
        return;
    switch (route->kind) {
    case ROUTE_TILE:
        handle_tile(service, context, world, route);
        break;
    case ROUTE_HEIGHT:
        handle_height(context, world, route);
        break;
    case ROUTE_REGION:
    case ROUTE_VOLUME:
        regions_respond(service->streamed_jobs, context, world, route, service->snapshot->config);
        break;
    case ROUTE_HEIGHTS:
    case ROUTE_SPAWN:
        points_answer(service->streamed_jobs, context, world, route, service->snapshot->config);
        break;
    case ROUTE_TILEJSON:
        handle_tilejson(service, context, world, route);
        break;
    case ROUTE_WORLD:
        handle_description(service, context, world, route);
        break;
    default:
        response_error(context, 404, "nothing is at this URL");
    }
}

static void handle_readiness(struct service *service, const struct request_context *context)
{
    static const char *const names[] = {
        [READY] = "ready", [READY_NOT_DRAINING] = "draining", [READY_NOT_STUCK] = "stuck"};
    enum readiness readiness = service->parts.readiness(service->parts.context);
    response_state(context, readiness == READY ? 200 : 503, "application/json",
                   document_status(names[readiness]));
}

static void handle_route(struct service *service, struct request_context *context,
                         const struct route *route)
{
    switch (route->kind) {
    case ROUTE_VIEWER:
        handle_file(service, context, "index.html");
        break;
    case ROUTE_ASSET:
        handle_file(service, context, route->layer);
        break;
    case ROUTE_WORLDS:
        response_page(context, static_pages_catalogue(service->snapshot->pages), NULL);
        break;
    case ROUTE_HEALTH:
        response_state(context, 200, "application/json", document_status("ok"));
        break;
    case ROUTE_READY:
        handle_readiness(service, context);
        break;
    case ROUTE_METRICS:
        response_state(context, 200, "text/plain; version=0.0.4; charset=utf-8",
                       service->parts.scrape(service->parts.context));
        break;
    default:
        handle_world(service, context, route);
    }
}

/* Probes and scrapers come directly, whatever the base path is. */
static bool is_for_operators(const struct route *route)
{
    return route->kind == ROUTE_HEALTH || route->kind == ROUTE_READY ||
           route->kind == ROUTE_METRICS;
}

/* Where no public URL says what the base path is to clients, relative, so that it holds behind
 * proxies that put something before it. */
static void move_inside(const struct request_context *context, const struct site_config *site)
{
    char location[URL_PREFIX_URL_MAX + 1];
    snprintf(location, sizeof location, "%s/",
             site->public_url[0] ? site->public_url : strrchr(site->base_path, '/') + 1);
    response_redirect(context, location);
}

void service_handle(void *self, struct http_exchange *exchange, const struct http_request *request)
{
    struct service *service = self;
    const struct site_config *site = &service->snapshot->config->site;
    struct sockaddr_storage address;
    struct request_context context = {
        .sinks = &service->parts.sinks,
        .client = forwarded_client(site, request, &address),
        .exchange = exchange,
        .request = request,
    };
    struct route route;
    char why[ROUTE_WHY + URL_PREFIX_PATH_MAX];
    const char *path;

    if (!request->refused && answer_from_shelf(service, &context))
        return;
    if (request->refused) {
        response_error(&context, request->refused, request->why);
        return;
    }
    if (request->method == HTTP_OPTIONS) {
        response_options(&context);
        return;
    }
    enum forwarded_scope place = forwarded_scope_of(site, request->uri, &path);
    unsigned status = route_parse(&route, path, why);
    const bool direct = status == 0 && is_for_operators(&route);
    if (place == FORWARDED_EDGE && !direct) {
        move_inside(&context, site);
        return;
    }
    if (place == FORWARDED_OUTSIDE && !direct) {
        status = 404;
        snprintf(why, sizeof why, "nothing is at this URL; everything is below %s/",
                 site->base_path);
    }
    if (status)
        response_error(&context, status, why);
    else
        handle_route(service, &context, &route);
}

static uint64_t shelf_budget(const struct service *service)
{
    return config_response_memory(service->snapshot->config) / service->parts.shelves;
}

int service_new(struct service **out, const struct service_parts *parts, struct snapshot *snapshot)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return -ENOMEM;
    service->parts = *parts;
    service->snapshot = snapshot_hold(snapshot);
    int err = response_cache_new(&service->response_cache, shelf_budget(service));
    if (!err)
        err = pending_requests_init(&service->room, parts->clients, &service->parts.sinks);
    if (!err)
        err = seed_cache_new(&service->seeded, parts->recent_worlds);
    const struct streamed_jobs_parts for_calculations = {
        .renderers = parts->renderers,
        .mailbox = parts->mailbox,
        .room = &service->room,
        .metrics = parts->sinks.metrics,
        .streams = parts->streams,
    };
    if (!err)
        err = streamed_jobs_new(&service->streamed_jobs, &for_calculations);
    if (err) {
        service_free(service);
        return err;
    }
    *out = service;
    return 0;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    streamed_jobs_free(service->streamed_jobs);
    pending_requests_close(&service->room);
    response_cache_free(service->response_cache);
    seed_cache_free(service->seeded);
    snapshot_release(service->snapshot);
    free(service);
}

void service_use(struct service *service, struct snapshot *snapshot)
{
    struct snapshot *old = service->snapshot;
    service->snapshot = snapshot_hold(snapshot);
    response_cache_clear(service->response_cache,
                         shelf_budget(service)); /* a URI may mean something else now */
    seed_cache_clear(service->seeded);
    snapshot_release(old);
}
