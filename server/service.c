#include "service.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/documents.h"
#include "server/resolve.h"
#include "server/site.h"
#include "server/tile_answer.h"

struct service {
    struct service_parts parts;
    struct pages *pages;
    bool draining;
};

/* --- Tiles ----------------------------------------------------------------- */

/* One who waits for a tile. */
struct waiting {
    struct waiter waiter; /* first: a waiter is its waiting */
    struct asker asker;
    struct wanted wanted;
};

static void on_landed(struct waiter *waiter, struct blob *blob, int err)
{
    struct waiting *waiting = (struct waiting *)waiter;
    if (err)
        tile_answer_failed(&waiting->asker, err);
    else
        tile_answer(&waiting->asker, &waiting->wanted, blob);
    free(waiting);
}

static void wait_for_tile(struct service *service, const struct asker *asker,
                          const struct wanted *wanted)
{
    struct waiting *waiting = calloc(1, sizeof *waiting);
    if (!waiting) {
        tile_answer_failed(asker, -ENOMEM);
        return;
    }
    *waiting = (struct waiting){.waiter.landed = on_landed, .asker = *asker, .wanted = *wanted};
    int err = supply_await(service->parts.supply, &wanted->tile, wanted->key, &waiting->waiter);
    if (err) {
        free(waiting);
        tile_answer_failed(asker, err);
    }
}

static void handle_tile(struct service *service, const struct asker *asker,
                        const struct world *world, const struct route *route)
{
    const struct http_request *request = asker->request;
    struct wanted wanted = {0};
    char why[ROUTE_WHY];

    if (resolve_tile(world, route, &wanted.tile, &wanted.grid, why)) {
        answer_error(asker, 404, why);
        return;
    }
    tile_answer_prepare(&wanted, route, request);
    /* The validator is known without the tile: so is whether the client wants or has it. */
    if (!match_holds(request->if_match, wanted.etag)) {
        answer_unlike(asker, wanted.etag);
        return;
    }
    if (none_match_holds(request->if_none_match, wanted.etag)) {
        tile_answer_had(asker, &wanted);
        return;
    }
    if (tile_answer_is_beyond(asker, &wanted)) {
        answer_unsatisfiable(asker, (uint64_t)wanted.length);
        return;
    }
    struct blob *blob = supply_at_hand(service->parts.supply, wanted.key);
    if (blob || request->method == HTTP_HEAD)
        tile_answer(asker, &wanted, blob);
    else
        wait_for_tile(service, asker, &wanted);
    blob_release(blob);
}

/* --- Everything else ------------------------------------------------------- */

static void handle_height(const struct asker *asker, const struct world *world,
                          const struct route *route)
{
    float height = farlands_height(world->terrain, route->at_x, route->at_y);
    answer_document(asker, (struct fresh_document){
                               .body = document_height(route->at_x, route->at_y, height),
                               .cache_control = CACHE_SHORT,
                               .fingerprint = world->fingerprint,
                           });
}

static void handle_tilejson(struct service *service, const struct asker *asker,
                            const struct world *world, const struct route *route)
{
    const struct site_config *site = service->parts.site;
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
    const struct page *page = pages_file(service->pages, name);
    if (page)
        answer_page(asker, page, NULL);
    else
        answer_error(asker, 404, "the viewer has no such file");
}

static void handle_world(struct service *service, const struct asker *asker,
                         const struct route *route)
{
    char why[ROUTE_WHY];
    const struct world *world = resolve_world(service->parts.worlds, route, why);

    if (!world) {
        answer_error(asker, 404, why);
        return;
    }
    switch (route->kind) {
    case ROUTE_TILE:
        handle_tile(service, asker, world, route);
        break;
    case ROUTE_HEIGHT:
        handle_height(asker, world, route);
        break;
    case ROUTE_TILEJSON:
        handle_tilejson(service, asker, world, route);
        break;
    default:
        answer_page(asker, pages_world(service->pages, world), world->fingerprint);
    }
}

static void handle_route(struct service *service, const struct asker *asker,
                         const struct route *route)
{
    switch (route->kind) {
    case ROUTE_VIEWER:
        handle_file(service, asker, "index.html");
        break;
    case ROUTE_ASSET:
        handle_file(service, asker, route->layer);
        break;
    case ROUTE_WORLDS:
        answer_page(asker, pages_catalogue(service->pages), NULL);
        break;
    case ROUTE_HEALTH:
        answer_state(asker, 200, "application/json", document_status("ok"));
        break;
    case ROUTE_READY:
        answer_state(asker, service->draining ? 503 : 200, "application/json",
                     document_status(service->draining ? "draining" : "ready"));
        break;
    case ROUTE_METRICS:
        answer_state(asker, 200, "text/plain; version=0.0.4; charset=utf-8",
                     metrics_text(service->parts.metrics));
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
    const struct site_config *site = service->parts.site;
    const struct asker asker = {service->parts.metrics, exchange, request};
    struct route route;
    char why[ROUTE_WHY + PREFIX_PATH_MAX];
    const char *path;

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

int service_new(struct service **out, const struct service_parts *parts)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return -ENOMEM;
    service->parts = *parts;
    int err = pages_new(&service->pages, parts->worlds);
    if (err) {
        free(service);
        return err;
    }
    *out = service;
    return 0;
}

void service_free(struct service *service)
{
    if (!service)
        return;
    pages_free(service->pages);
    free(service);
}

void service_drain(struct service *service)
{
    service->draining = true;
}
