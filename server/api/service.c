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
    struct setup *setup;
    struct shelf *shelf;
    struct waiting_room room;
    struct seeded *seeded;
    struct calculations *calculations;
};

/* --- Tiles ----------------------------------------------------------------- */

/* One who waits for a tile. */
struct tile_wait {
    struct waiting waiting; /* first: a waiting is its wait */
    struct waiter waiter;
    struct supply *supply;
    struct raster raster; /* with a hold on its world */
    bool joined;          /* what another had ordered already */
};

static bool forget_tile(struct waiting *waiting)
{
    struct tile_wait *wait = (struct tile_wait *)waiting;
    return supply_forget(wait->supply, &wait->waiter);
}

static void end_wait(struct waiting *waiting)
{
    struct tile_wait *wait = (struct tile_wait *)waiting;
    world_release(wait->raster.world);
    free(wait);
}

static void on_landed(struct waiter *waiter, struct blob *blob, int err)
{
    struct tile_wait *wait =
        (struct tile_wait *)((char *)waiter - offsetof(struct tile_wait, waiter));
    struct asker *asker = &wait->waiting.asker;

    if (err < 0) {
        waiting_refuse(&wait->waiting, err);
        return;
    }
    asker->from = wait->joined ? FROM_JOINED : err == SUPPLY_FROM_DISK ? FROM_DISK : FROM_RENDER;
    raster_answer(asker, &wait->raster, blob);
    waiting_end(&wait->waiting);
}

void service_sweep(struct service *service)
{
    waiting_room_sweep(&service->room);
}

bool service_cancel(struct service *service)
{
    const bool empty = waiting_room_cancel(&service->room);
    return calculations_cancel(service->calculations) && empty;
}

static void wait_for_tile(struct service *service, const struct asker *asker,
                          const struct tile *tile, const struct raster *raster, bool maybe_on_disk)
{
    struct tile_wait *wait = calloc(1, sizeof *wait);
    if (!wait) {
        waiting_refused(asker, -ENOMEM);
        return;
    }
    wait->waiting.forget = forget_tile;
    wait->waiting.ended = end_wait;
    wait->waiter.home = service->parts.mailbox;
    wait->waiter.landed = on_landed;
    wait->supply = service->parts.supply;
    wait->raster = *raster;
    if (waiting_begin(&service->room, &wait->waiting, asker, service->setup->config)) {
        free(wait);
        return;
    }
    world_hold(tile->world);
    const struct order order = {tile, raster->key, maybe_on_disk, waiting_rank(asker->request)};
    int err = supply_await(wait->supply, &order, &wait->waiter);
    wait->joined = err == 1;
    if (err < 0)
        waiting_refuse(&wait->waiting, err);
}

/* Whether the answer to REQUEST about a tile depends on its URI and If-None-Match alone, and may be
 * one that others get, too. */
static bool is_plain(const struct http_request *request)
{
    return request->method == HTTP_GET && !request->range && !request->if_match && !request->last;
}

/* Put answers about RASTER on the shelf: with the tile, or, where BLOB is NULL, 304 alone. */
static void make_ready(struct service *service, const struct asker *asker,
                       const struct raster *raster, struct blob *blob)
{
    struct ready ready = {.uri = asker->request->uri, .etag = raster->etag, .blob = blob};

    if (!is_plain(asker->request) || raster_make(&ready.same, raster, NULL))
        return;
    if (blob && raster_make(&ready.full, raster, blob))
        response_drop(&ready.same);
    else
        shelf_put(service->shelf, &ready);
}

/* The way of what is hot: no lock, no allocation. Returns whether there was an answer. */
static bool answer_from_shelf(struct service *service, struct asker *asker)
{
    const struct http_request *request = asker->request;
    struct ready *ready;

    if (!is_plain(request) || !(ready = shelf_find(service->shelf, request->uri)))
        return false;
    if (none_match_holds(request->if_none_match, ready->etag)) {
        answer_ready(asker, &ready->same);
        return true;
    }
    if (!ready->blob)
        return false;
    blob_use(ready->blob);
    asker->from = FROM_MEMORY;
    metrics_add(service->parts.ledger.metrics, METRIC_HITS_MEMORY);
    answer_ready(asker, &ready->full);
    return true;
}

static void answer_at_hand(struct service *service, struct asker *asker,
                           const struct raster *raster, const struct at_hand *found)
{
    asker->from = found->from_memory ? FROM_MEMORY : FROM_DISK;
    metrics_add(service->parts.ledger.metrics,
                found->from_memory ? METRIC_HITS_MEMORY : METRIC_HITS_DISK);
    if (found->from_memory)
        make_ready(service, asker, raster, found->blob);
    raster_answer(asker, raster, found->blob);
    blob_release(found->blob);
}

static void handle_tile(struct service *service, struct asker *asker, const struct world *world,
                        const struct route *route)
{
    const struct http_request *request = asker->request;
    struct raster raster = {.world = world};
    struct tile tile;
    char why[ROUTE_WHY];

    if (resolve_tile(world, route, &tile, &raster.grid, why)) {
        answer_error(asker, 404, why);
        return;
    }
    if (route->seeded && tile.format == FORMAT_PNG) /* which the disk has */
        seeded_keep(service->seeded);
    raster.format = tile.format;
    tile_key(&tile, raster.key);
    raster_prepare(&raster, route->version, request);
    /* The validator is known without the tile: so is whether the client wants or has it. */
    const unsigned status = raster_judge(asker, &raster);
    if (status == 304)
        make_ready(service, asker, &raster, NULL);
    if (status) {
        raster_settle(asker, &raster, status);
        return;
    }
    struct at_hand found = supply_at_hand(service->parts.supply, &tile, raster.key);
    if (found.blob)
        answer_at_hand(service, asker, &raster, &found);
    else if (request->method == HTTP_HEAD)
        raster_answer(asker, &raster, NULL);
    else
        wait_for_tile(service, asker, &tile, &raster, found.maybe_on_disk);
}

/* --- Everything else ------------------------------------------------------- */

static void handle_height(const struct asker *asker, const struct world *world,
                          const struct route *route)
{
    const struct surface surface = surface_at(world->terrain, route->at_x, route->at_y);
    answer_document(asker, (struct fresh_document){
                               .body = document_height(route->at_x, route->at_y, &surface),
                               .cache_control = CACHE_SHORT,
                               .fingerprint = world->fingerprint,
                           });
}

static void handle_tilejson(struct service *service, const struct asker *asker,
                            const struct world *world, const struct route *route)
{
    const struct site_config *site = &service->setup->config->site;
    char base[SITE_URL_MAX], why[ROUTE_WHY];
    int layer = resolve_layer(world, route, why);

    if (layer < 0)
        answer_error(asker, 404, why);
    else if (site_base_url(site, asker->request, base))
        answer_error(asker, 400,
                     "Host: needed, to give absolute URLs; accepted is HOST, HOST:PORT or "
                     "[IPV6]:PORT");
    else
        answer_document(asker, (struct fresh_document){
                                   .body = document_tilejson(world, layer, base),
                                   .cache_control = CACHE_CHECK,
                                   .fingerprint = world->fingerprint,
                                   .vary = site_vary(site, asker->request),
                               });
}

static void handle_file(struct service *service, const struct asker *asker, const char *name)
{
    const struct page *page = pages_file(service->setup->pages, name);
    if (page)
        answer_page(asker, page, NULL);
    else
        answer_error(asker, 404, "the viewer has no such file");
}

/* A page for a configured world; there may be any number of others. */
static void handle_description(struct service *service, const struct asker *asker,
                               const struct world *world, const struct route *route)
{
    if (!route->seeded)
        answer_page(asker, pages_world(service->setup->pages, world), world->fingerprint);
    else
        answer_document(asker, (struct fresh_document){
                                   .body = document_world(world),
                                   .cache_control = CACHE_CHECK,
                                   .fingerprint = world->fingerprint,
                               });
}

/* The route's world, until the next request's; or NULL, and the asker has been told why. */
static const struct world *find_world(struct service *service, const struct asker *asker,
                                      const struct route *route)
{
    char why[ROUTE_WHY];
    const struct world *world = resolve_world(service->setup->worlds, route, why);

    if (!world)
        answer_error(asker, 404, why);
    if (!world || !route->seeded)
        return world;
    world = seeded_find(service->seeded, world, route->seed);
    if (!world)
        answer_error(asker, 503, "out of memory; try again");
    return world;
}

static void handle_world(struct service *service, struct asker *asker, const struct route *route)
{
    const struct world *world = find_world(service, asker, route);

    if (!world)
        return;
    switch (route->kind) {
    case ROUTE_TILE:
        handle_tile(service, asker, world, route);
        break;
    case ROUTE_HEIGHT:
        handle_height(asker, world, route);
        break;
    case ROUTE_REGION:
    case ROUTE_VOLUME:
        cutout_answer(service->calculations, asker, world, route, service->setup->config);
        break;
    case ROUTE_HEIGHTS:
    case ROUTE_SPAWN:
        points_answer(service->calculations, asker, world, route, service->setup->config);
        break;
    case ROUTE_TILEJSON:
        handle_tilejson(service, asker, world, route);
        break;
    case ROUTE_WORLD:
        handle_description(service, asker, world, route);
        break;
    default:
        answer_error(asker, 404, "nothing is at this URL");
    }
}

static void handle_readiness(struct service *service, const struct asker *asker)
{
    static const char *const names[] = {
        [READY] = "ready", [READY_NOT_DRAINING] = "draining", [READY_NOT_STUCK] = "stuck"};
    enum readiness readiness = service->parts.readiness(service->parts.context);
    answer_state(asker, readiness == READY ? 200 : 503, "application/json",
                 document_status(names[readiness]));
}

static void handle_route(struct service *service, struct asker *asker, const struct route *route)
{
    switch (route->kind) {
    case ROUTE_VIEWER:
        handle_file(service, asker, "index.html");
        break;
    case ROUTE_ASSET:
        handle_file(service, asker, route->layer);
        break;
    case ROUTE_WORLDS:
        answer_page(asker, pages_catalogue(service->setup->pages), NULL);
        break;
    case ROUTE_HEALTH:
        answer_state(asker, 200, "application/json", document_status("ok"));
        break;
    case ROUTE_READY:
        handle_readiness(service, asker);
        break;
    case ROUTE_METRICS:
        answer_state(asker, 200, "text/plain; version=0.0.4; charset=utf-8",
                     service->parts.scrape(service->parts.context));
        break;
    default:
        handle_world(service, asker, route);
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
static void move_inside(const struct asker *asker, const struct site_config *site)
{
    char location[PREFIX_URL_MAX + 1];
    snprintf(location, sizeof location, "%s/",
             site->public_url[0] ? site->public_url : strrchr(site->base_path, '/') + 1);
    answer_moved(asker, location);
}

void service_handle(void *context, struct http_exchange *exchange,
                    const struct http_request *request)
{
    struct service *service = context;
    const struct site_config *site = &service->setup->config->site;
    struct sockaddr_storage address;
    struct asker asker = {
        .ledger = &service->parts.ledger,
        .client = site_client(site, request, &address),
        .exchange = exchange,
        .request = request,
    };
    struct route route;
    char why[ROUTE_WHY + PREFIX_PATH_MAX];
    const char *path;

    if (!request->refused && answer_from_shelf(service, &asker))
        return;
    if (request->refused) {
        answer_error(&asker, request->refused, request->why);
        return;
    }
    if (request->method == HTTP_OPTIONS) {
        answer_options(&asker);
        return;
    }
    enum site_place place = site_locate(site, request->uri, &path);
    unsigned status = route_parse(&route, path, why);
    const bool direct = status == 0 && is_for_operators(&route);
    if (place == SITE_EDGE && !direct) {
        move_inside(&asker, site);
        return;
    }
    if (place == SITE_OUTSIDE && !direct) {
        status = 404;
        snprintf(why, sizeof why, "nothing is at this URL; everything is below %s/",
                 site->base_path);
    }
    if (status)
        answer_error(&asker, status, why);
    else
        handle_route(service, &asker, &route);
}

static uint64_t shelf_budget(const struct service *service)
{
    return service->setup->config->cache.memory / SHELF_SHARE / service->parts.shelves;
}

int service_new(struct service **out, const struct service_parts *parts, struct setup *setup)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return -ENOMEM;
    service->parts = *parts;
    service->setup = setup_hold(setup);
    int err = shelf_new(&service->shelf, shelf_budget(service));
    if (!err)
        err = waiting_room_open(&service->room, parts->clients, &service->parts.ledger);
    if (!err)
        err = seeded_new(&service->seeded, parts->fingerprints);
    const struct calculations_parts for_calculations = {
        .renderers = parts->renderers,
        .mailbox = parts->mailbox,
        .room = &service->room,
        .metrics = parts->ledger.metrics,
        .streams = parts->streams,
    };
    if (!err)
        err = calculations_new(&service->calculations, &for_calculations);
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
    calculations_free(service->calculations);
    waiting_room_close(&service->room);
    shelf_free(service->shelf);
    seeded_free(service->seeded);
    setup_release(service->setup);
    free(service);
}

void service_use(struct service *service, struct setup *setup)
{
    struct setup *old = service->setup;
    service->setup = setup_hold(setup);
    shelf_clear(service->shelf, shelf_budget(service)); /* a URI may mean something else now */
    seeded_clear(service->seeded);
    setup_release(old);
}
