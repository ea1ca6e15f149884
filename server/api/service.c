#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/documents.h"
#include "server/api/forwarded.h"
#include "server/api/handlers.h"
#include "server/routing/resolve.h"

/* Takes over BODY, which is NULL if out of memory. WORLD may be NULL. */
static void send_document(struct request_context *context, const char *type, struct blob *body,
                          const struct world *world, const char *vary)
{
    response_document(context,
                      &(struct document){.type = type,
                                         .body = body,
                                         .cache_control = CACHE_CHECK,
                                         .fingerprint = world ? world->fingerprints.region : NULL,
                                         .vary = vary});
    blob_release(body);
}

/* Send DOCUMENT about WORLD, or about all worlds if WORLD is NULL, with absolute URLs. */
static void handle_document(struct service *service, struct request_context *context,
                            const struct world *world, enum world_document document, int layer,
                            int field)
{
    const struct site_config *site = &service->snapshot->config->site;
    struct world_documents *documents = service->snapshot->documents;
    char base[FORWARDED_URL_MAX];

    if (forwarded_base_url(site, context->request, base))
        response_error(context, 400,
                       "Host: needed for absolute URLs; expected HOST, HOST:PORT or [IPV6]:PORT");
    else
        send_document(context, world_documents_type(document),
                      world ? world_documents_get(documents, world, document, layer, field, base)
                            : world_documents_wmts(documents, base),
                      world, forwarded_vary(site, context->request));
}

static void handle_layer_document(struct service *service, struct request_context *context,
                                  const struct world *world, const struct route *route,
                                  enum world_document document)
{
    char why[ROUTE_WHY];
    int field;
    const int layer = resolve_layer(world, route, &field, why);

    if (layer < 0)
        response_error(context, 404, why);
    else if (document == WORLD_DOCUMENT_TILEJSON_WEBP && !resolve_tilejson(layer, route, why))
        response_error(context, 400, why);
    else
        handle_document(service, context, world, document, layer, field);
}

static void handle_description(struct service *service, struct request_context *context,
                               const struct world *world)
{
    const struct snapshot *snapshot = service->snapshot;
    const struct static_page *page = snapshot_description(snapshot, world);
    if (page)
        response_page(context, page, world->fingerprints.region);
    else
        send_document(
            context, "application/json",
            world_documents_get(snapshot->documents, world, WORLD_DOCUMENT_DESCRIPTION, 0, 0, ""),
            world, NULL);
}

/* For a viewer that follows a watched configuration. */
static void handle_changes(struct service *service, struct request_context *context)
{
    struct config_error error;

    context->repeated = true;
    context->modified.text[0] = '\0'; /* a reload's error changes the document, too */
    service->parts.reload_error(service->parts.context, &error);
    send_document(
        context, "application/json",
        document_changes(service->snapshot->catalogue.form[CODING_IDENTITY].etag, error.text), NULL,
        NULL);
}

static void handle_file(struct service *service, struct request_context *context, const char *name)
{
    const struct static_page *page = snapshot_file(service->snapshot, name);
    if (service->snapshot->config->watch && strcmp(DOCUMENT_CHANGES, name) == 0)
        handle_changes(service, context);
    else if (page)
        response_page(context, page, NULL);
    else
        response_error(context, 404, "no such file of the viewer");
}

static void handle_viewer(struct service *service, struct request_context *context)
{
    const struct snapshot *snapshot = service->snapshot;
    const struct site_config *site = &snapshot->config->site;
    const char *uri = context->request->uri, *query = strchrnul(uri, '?');
    char base[FORWARDED_URL_MAX];

    if (forwarded_base_url(site, context->request, base))
        base[0] = '\0';
    send_document(
        context, "text/html; charset=utf-8",
        viewer_page_fill(snapshot->viewer_page, snapshot->worlds, *query ? query + 1 : query, base),
        NULL, forwarded_vary(site, context->request));
}

static void handle_readiness(struct service *service, struct request_context *context)
{
    static const char *const names[] = {
        [READY] = "ready", [READY_NOT_DRAINING] = "draining", [READY_NOT_STUCK] = "stuck"};
    enum readiness readiness = service->parts.readiness(service->parts.context);
    response_state(context, readiness == READY ? 200 : 503, "application/json",
                   document_message("status", names[readiness]));
}

/* The route's world, valid until the next request; or NULL with *STATUS and a message in WHY. */
static const struct world *find_world(struct service *service, const struct route *route,
                                      unsigned *status, char why[ROUTE_WHY])
{
    const struct world *world = resolve_world(service->snapshot->worlds, route, why);

    *status = 404;
    if (!world || !route->seeded)
        return world;
    *status = 503;
    snprintf(why, ROUTE_WHY, "out of memory; retry later");
    return seed_cache_find(service->seed_cache, world, route->seed);
}

static void handle_world(struct service *service, struct request_context *context,
                         const struct route *route)
{
    char why[ROUTE_WHY];
    unsigned status;
    const struct world *world = find_world(service, route, &status, why);

    if (!world && !(status == 404 && route->kind == ROUTE_WMTS_TILE)) {
        response_error(context, status, why);
        return;
    }
    switch (route->kind) {
    case ROUTE_TILE:
        tiles_respond(service, context, world, route);
        break;
    case ROUTE_REGION:
    case ROUTE_VOLUME:
        regions_respond(service, context, world, route);
        break;
    case ROUTE_HEIGHT:
    case ROUTE_HEIGHTS:
        points_respond(service, context, world, route);
        break;
    case ROUTE_SPAWN:
        spawns_respond(service, context, world, route);
        break;
    case ROUTE_DOWNSTREAM:
        courses_respond(service, context, world, route);
        break;
    case ROUTE_TILEJSON:
        handle_layer_document(service, context, world, route,
                              route->format == FORMAT_WEBP ? WORLD_DOCUMENT_TILEJSON_WEBP
                                                           : WORLD_DOCUMENT_TILEJSON);
        break;
    case ROUTE_GDAL:
        handle_layer_document(service, context, world, route, WORLD_DOCUMENT_GDAL);
        break;
    case ROUTE_WMTS:
        handle_document(service, context, world, WORLD_DOCUMENT_WMTS, 0, 0);
        break;
    case ROUTE_WMTS_TILE:
        wmts_respond(service, context, world, route, why);
        break;
    case ROUTE_WORLD:
        handle_description(service, context, world);
        break;
    default:
        response_error(context, 404, "nothing is at this URL");
    }
}

static void handle_route(struct service *service, struct request_context *context,
                         const struct route *route)
{
    switch (route->kind) {
    case ROUTE_VIEWER:
        handle_viewer(service, context);
        break;
    case ROUTE_ASSET:
        handle_file(service, context, route->layer);
        break;
    case ROUTE_WORLDS:
        response_page(context, &service->snapshot->catalogue, NULL);
        break;
    case ROUTE_HEALTH:
        response_state(context, 200, "application/json", document_message("status", "ok"));
        break;
    case ROUTE_READY:
        handle_readiness(service, context);
        break;
    case ROUTE_METRICS:
        response_state(context, 200, "text/plain; version=0.0.4; charset=utf-8",
                       service->parts.scrape(service->parts.context));
        break;
    case ROUTE_WMTS:
        if (!route->world[0]) {
            handle_document(service, context, NULL, WORLD_DOCUMENT_WMTS, 0, 0);
            break;
        }
        __attribute__((fallthrough));
    default:
        handle_world(service, context, route);
    }
}

/* Operators reach these directly, without a proxy, at any base path. */
static bool is_for_operators(const struct route *route)
{
    return route->kind == ROUTE_HEALTH || route->kind == ROUTE_READY ||
           route->kind == ROUTE_METRICS;
}

/* Without a configured public URL the location is relative, so it is right behind a proxy that adds
 * a prefix, too. */
static void redirect_inside(struct request_context *context, const struct site_config *site)
{
    char location[URL_PREFIX_URL_MAX + 1];
    snprintf(location, sizeof location, "%s/",
             site->public_url[0] ? site->public_url : strrchr(site->base_path, '/') + 1);
    response_redirect(context, location);
}

static void handle_uri(struct service *service, struct request_context *context)
{
    const struct site_config *site = &service->snapshot->config->site;
    struct route route;
    char why[ROUTE_WHY + URL_PREFIX_PATH_MAX];
    const char *path;
    enum forwarded_scope scope = forwarded_scope_of(site, context->request->uri, &path);
    unsigned status = route_parse(&route, path, why);
    const bool direct = status == 0 && is_for_operators(&route);

    /* A proxy that keeps these from clients may know only the plain names. */
    if (direct && context->request->decoded) {
        response_error(context, 404, "nothing is at this URL");
        return;
    }
    if (scope == FORWARDED_EDGE && !direct) {
        redirect_inside(context, site);
        return;
    }
    if (scope == FORWARDED_OUTSIDE && !direct) {
        status = 404;
        snprintf(why, sizeof why, "nothing is at this URL; everything is below %s/",
                 site->base_path);
    }
    if (status && route.fault.code && scope == FORWARDED_INSIDE)
        wmts_respond_fault(context, &route.fault, why);
    else if (status)
        response_error(context, status, why);
    else
        handle_route(service, context, &route);
}

/* REQUEST's client. Warns if REQUEST has proxy headers, but its peer is not a listed proxy. */
static const struct sockaddr *client_of(const struct service *service,
                                        const struct http_request *request,
                                        struct sockaddr_storage *storage)
{
    struct snapshot *snapshot = service->snapshot;
    const struct site_config *site = &snapshot->config->site;
    const char *header = forwarded_header(request);

    if (header && request->peer && !forwarded_is_proxy(site, request->peer))
        unlisted_peers_warn(&snapshot->unlisted, request->peer, header);
    return forwarded_client(site, request, storage);
}

void service_handle(void *self, struct http_exchange *exchange, const struct http_request *request)
{
    struct service *service = self;
    struct request_context *context = http_state(exchange);

    context->sinks = &service->parts.sinks;
    context->exchange = exchange;
    context->request = request;
    context->client = client_of(service, request, &context->address);
    context->modified = service->snapshot->modified;
    context->from = FROM_NONE;
    context->repeated = false;
    context->held = 0;
    context->held_body = NULL;
    if (request->refused)
        response_error(context, request->refused, request->why);
    else if (tiles_respond_prepared(service, context))
        return;
    else if (request->method == HTTP_OPTIONS)
        response_options(context);
    else
        handle_uri(service, context);
}

void service_completed(void *self, struct http_exchange *exchange, uint64_t sent)
{
    (void)self;
    response_completed(http_state(exchange), sent);
}

bool service_waits(void *self, struct http_exchange *exchange, const struct blob *body)
{
    struct service *service = self;

    if (response_hold_body(http_state(exchange), body) == 0)
        return true;
    metrics_add(service->parts.sinks.metrics, METRIC_RESPONSES_REFUSED);
    return false;
}

void service_expire(struct service *service)
{
    pending_requests_expire(&service->pending);
}

void service_drain(struct service *service)
{
    streamed_jobs_drain(&service->jobs, service->snapshot->config->limits.drain);
}

bool service_cancel(struct service *service)
{
    const bool none = pending_requests_cancel(&service->pending);
    return streamed_jobs_cancel(&service->jobs) && none;
}

static uint64_t response_cache_budget(const struct service *service)
{
    return config_response_memory(service->snapshot->config) / service->parts.services;
}

int service_new(struct service **out, const struct service_parts *parts, struct snapshot *snapshot)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return -ENOMEM;
    service->parts = *parts;
    service->parts.sinks.clients = parts->clients;
    service->parts.sinks.memory = snapshot->response_memory;
    service->parts.sinks.budget = &service->budget;
    service->snapshot = snapshot_hold(snapshot);
    service->jobs = (struct streamed_jobs){
        .renderers = parts->fetcher->renderers,
        .mailbox = parts->mailbox,
        .pending = &service->pending,
        .streams = parts->streams,
    };
    service->pending = (struct pending_requests){
        .loop = parts->loop,
        .clients = parts->clients,
        .renderers = parts->fetcher->renderers,
        .sinks = &service->parts.sinks,
    };
    int err = response_cache_new(&service->response_cache, response_cache_budget(service));
    if (!err)
        err = pending_requests_init(&service->pending);
    if (!err)
        err = seed_cache_new(&service->seed_cache, parts->recent_worlds);
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
    pending_requests_close(&service->pending);
    response_cache_free(service->response_cache);
    seed_cache_free(service->seed_cache);
    snapshot_release(service->snapshot);
    free(service);
}

void service_use(struct service *service, struct snapshot *snapshot)
{
    struct snapshot *old = service->snapshot;
    service->snapshot = snapshot_hold(snapshot);
    service->parts.sinks.memory = snapshot->response_memory;
    /* URIs and names may mean other worlds now. */
    response_cache_clear(service->response_cache, response_cache_budget(service));
    seed_cache_clear(service->seed_cache);
    snapshot_release(old);
}
