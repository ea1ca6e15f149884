#include "service.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "config/numbers.h"
#include "server/conditional.h"
#include "server/documents.h"
#include "server/resolve.h"
#include "server/viewer_files.h"

#define RAW_HEADERS                                                                     \
    "Farlands-Width, Farlands-Height, Farlands-Origin, Farlands-Step, Farlands-Range, " \
    "Farlands-Fingerprint"
#define CACHE_SHORT "public, max-age=3600"
#define CACHE_FOREVER "public, max-age=31536000, immutable"
#define CACHE_CHECK "no-cache"

enum {
    HEADERS_MAX = 16,
    KEY_MAX = FINGERPRINT_TEXT + TILE_PATH_MAX,
    ETAG_MAX = KEY_MAX + 2,
    VALUE_MAX = 80
};

struct service {
    struct service_parts parts;
    bool draining;
};

/* --- Answers --------------------------------------------------------------- */

/* The headers of one answer, with room for the values that are made for it. */
struct headers {
    struct http_header header[HEADERS_MAX];
    int count;
};

static void add_header(struct headers *headers, const char *name, const char *value)
{
    headers->header[headers->count++] = (struct http_header){name, value};
}

static struct headers common_headers(const char *cache_control)
{
    struct headers headers = {.count = 0};
    add_header(&headers, "Access-Control-Allow-Origin", "*");
    add_header(&headers, "Access-Control-Expose-Headers", "ETag, Retry-After, " RAW_HEADERS);
    add_header(&headers, "X-Content-Type-Options", "nosniff");
    if (cache_control)
        add_header(&headers, "Cache-Control", cache_control);
    return headers;
}

static void answer(struct service *service, struct http_exchange *exchange, unsigned status,
                   const char *type, struct blob *body, int64_t length,
                   const struct headers *headers)
{
    metrics_add_status(service->parts.metrics, status);
    http_answer(exchange, &(struct http_answer){.status = status,
                                                .type = type,
                                                .body = body,
                                                .length = length,
                                                .headers = headers->header,
                                                .header_count = headers->count});
}

static void answer_error(struct service *service, struct http_exchange *exchange, unsigned status,
                         const char *why)
{
    struct headers headers = common_headers("no-store");
    struct blob *body = document_error(why);

    if (status == 405)
        add_header(&headers, "Allow", "GET, HEAD, OPTIONS");
    if (status == 503)
        add_header(&headers, "Retry-After", "1");
    answer(service, exchange, status, "application/json", body, 0, &headers);
    blob_release(body);
}

/* What OPTIONS is asked for: mostly a browser's preflight. */
static void answer_options(struct service *service, struct http_exchange *exchange)
{
    struct headers headers = common_headers(NULL);
    add_header(&headers, "Allow", "GET, HEAD, OPTIONS");
    add_header(&headers, "Access-Control-Allow-Methods", "GET, HEAD, OPTIONS");
    add_header(&headers, "Access-Control-Allow-Headers", "If-None-Match, Range, Cache-Control");
    add_header(&headers, "Access-Control-Max-Age", "86400");
    answer(service, exchange, 204, NULL, NULL, 0, &headers);
}

/* A whole document, whose validator is a hash of its bytes; takes the reference
 * to BODY. FINGERPRINT is that of the world it tells about, or NULL. */
static void answer_document(struct service *service, struct http_exchange *exchange,
                            const struct http_request *request, const char *type,
                            const char *cache_control, const char *fingerprint, struct blob *body)
{
    struct headers headers = common_headers(cache_control);
    char etag[24];

    if (!body) {
        answer_error(service, exchange, 503, "out of memory");
        return;
    }
    snprintf(etag, sizeof etag, "\"%016" PRIx64 "\"",
             (uint64_t)XXH64(body->bytes, body->length, 0));
    add_header(&headers, "ETag", etag);
    if (fingerprint)
        add_header(&headers, "Farlands-Fingerprint", fingerprint);
    if (strncmp(type, "text/html", 9) == 0)
        add_header(&headers, "Content-Security-Policy",
                   "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
                   "img-src 'self' data:; connect-src 'self'");
    if (none_match_holds(request->if_none_match, etag))
        answer(service, exchange, 304, NULL, NULL, 0, &headers);
    else
        answer(service, exchange, 200, type, body, 0, &headers);
    blob_release(body);
}

/* --- Tiles ----------------------------------------------------------------- */

/* A tile that was asked for, with all that its answer says besides its bytes. */
struct wanted {
    struct tile tile;
    struct farlands_grid grid;
    const char *cache_control;
    char key[KEY_MAX]; /* its name among all tiles of all worlds */
};

/* A key is an identity: with quotes around it, it is the strong validator. */
static const char *key_etag(const char *key, char etag[ETAG_MAX])
{
    snprintf(etag, ETAG_MAX, "\"%s\"", key);
    return etag;
}

/* Everything but what depends on whether a body follows. */
static void answer_tile(struct service *service, struct http_exchange *exchange,
                        const struct wanted *wanted, unsigned status, struct blob *body)
{
    const struct tile *tile = &wanted->tile;
    const bool raw = tile->format != FORMAT_PNG;
    struct headers headers = common_headers(wanted->cache_control);
    char size[VALUE_MAX], origin[VALUE_MAX], step[VALUE_MAX], range[VALUE_MAX];
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT], etag[ETAG_MAX];
    int64_t length = HTTP_LENGTH_UNKNOWN;

    add_header(&headers, "ETag", key_etag(wanted->key, etag));
    if (raw) {
        int samples = tile_size(tile);
        snprintf(size, sizeof size, "%d", samples);
        snprintf(origin, sizeof origin, "%s %s", blocks_format(wanted->grid.x, x),
                 blocks_format(wanted->grid.y, y));
        snprintf(range, sizeof range, "%.9g %.9g", (double)tile->world->style.min,
                 (double)tile->world->style.max);
        add_header(&headers, "Farlands-Width", size);
        add_header(&headers, "Farlands-Height", size);
        add_header(&headers, "Farlands-Origin", origin);
        add_header(&headers, "Farlands-Step", blocks_format(wanted->grid.step, step));
        add_header(&headers, "Farlands-Range", range);
        add_header(&headers, "Farlands-Fingerprint", tile->world->fingerprint);
        length = (int64_t)samples * samples * (tile->format == FORMAT_F32 ? 4 : 2);
    }
    answer(service, exchange, status, status == 304 ? NULL : format_type(tile->format), body,
           length, &headers);
}

static void answer_failure(struct service *service, struct http_exchange *exchange, int err)
{
    switch (err) {
    case -EBUSY:
        answer_error(service, exchange, 503, "too many tiles are being rendered; try again");
        break;
    case -ENOMEM:
        answer_error(service, exchange, 503, "out of memory; try again");
        break;
    default:
        answer_error(service, exchange, 500, "the tile could not be rendered");
    }
}

/* One who waits for a tile. */
struct request {
    struct waiter waiter; /* first: a waiter is its request */
    struct service *service;
    struct http_exchange *exchange;
    struct wanted wanted;
};

static void on_landed(struct waiter *waiter, struct blob *blob, int err)
{
    struct request *request = (struct request *)waiter;
    if (err)
        answer_failure(request->service, request->exchange, err);
    else
        answer_tile(request->service, request->exchange, &request->wanted, 200, blob);
    free(request);
}

static void wait_for_tile(struct service *service, struct http_exchange *exchange,
                          const struct wanted *wanted)
{
    struct request *request = calloc(1, sizeof *request);
    if (!request) {
        answer_failure(service, exchange, -ENOMEM);
        return;
    }
    request->waiter.landed = on_landed;
    request->service = service;
    request->exchange = exchange;
    request->wanted = *wanted;
    int err = supply_await(service->parts.supply, &wanted->tile, wanted->key, &request->waiter);
    if (err) {
        free(request);
        answer_failure(service, exchange, err);
    }
}

/* All that a tile's answer says besides its bytes. */
static void describe(struct wanted *wanted, const struct route *route)
{
    const char *fingerprint = wanted->tile.world->fingerprint;
    char path[TILE_PATH_MAX];

    snprintf(wanted->key, sizeof wanted->key, "%s/%s", fingerprint, tile_path(&wanted->tile, path));
    if (!route->version[0])
        wanted->cache_control = CACHE_SHORT;
    else if (strcmp(route->version, fingerprint) == 0)
        wanted->cache_control = CACHE_FOREVER;
    else
        wanted->cache_control = CACHE_CHECK;
}

static void handle_tile(struct service *service, struct http_exchange *exchange,
                        const struct http_request *request, const struct world *world,
                        const struct route *route)
{
    struct wanted wanted = {0};
    char why[ROUTE_WHY], etag[ETAG_MAX];

    if (resolve_tile(world, route, &wanted.tile, &wanted.grid, why)) {
        answer_error(service, exchange, 404, why);
        return;
    }
    describe(&wanted, route);
    /* The validator is known without the tile: so is whether the client has it. */
    if (none_match_holds(request->if_none_match, key_etag(wanted.key, etag))) {
        answer_tile(service, exchange, &wanted, 304, NULL);
        return;
    }
    struct blob *blob = supply_at_hand(service->parts.supply, wanted.key);
    if (blob || request->method == HTTP_HEAD)
        answer_tile(service, exchange, &wanted, 200, blob);
    else
        wait_for_tile(service, exchange, &wanted);
}

/* --- Everything else ------------------------------------------------------- */

static void handle_height(struct service *service, struct http_exchange *exchange,
                          const struct http_request *request, const struct world *world,
                          const struct route *route)
{
    float height = farlands_height(world->terrain, route->at_x, route->at_y);
    answer_document(service, exchange, request, "application/json", CACHE_SHORT, world->fingerprint,
                    document_height(route->at_x, route->at_y, height));
}

static void handle_tilejson(struct service *service, struct http_exchange *exchange,
                            const struct http_request *request, const struct world *world,
                            const struct route *route)
{
    static const char host_letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-:[]";
    const char *host = request->host;
    char base[300], why[ROUTE_WHY];
    int layer = resolve_layer(world, route, why);

    if (layer < 0) {
        answer_error(service, exchange, 404, why);
        return;
    }
    if (!host || !*host || strlen(host) > 255 || host[strspn(host, host_letters)]) {
        answer_error(service, exchange, 400, "Host: needed, to give absolute URLs");
        return;
    }
    snprintf(base, sizeof base, "http://%s", host);
    answer_document(service, exchange, request, "application/json", CACHE_CHECK, world->fingerprint,
                    document_tilejson(world, layer, base));
}

static void handle_file(struct service *service, struct http_exchange *exchange,
                        const struct http_request *request, const char *name)
{
    const struct viewer_file *file = viewer_file_find(name);
    if (!file)
        answer_error(service, exchange, 404, "the viewer has no such file");
    else
        answer_document(service, exchange, request, file->type, CACHE_CHECK, NULL,
                        blob_copy(file->bytes, (size_t)*file->length));
}

/* What is true only now; takes the reference to BODY. */
static void answer_state(struct service *service, struct http_exchange *exchange, unsigned status,
                         const char *type, struct blob *body)
{
    struct headers headers = common_headers("no-store");
    answer(service, exchange, status, type, body, 0, &headers);
    blob_release(body);
}

static void handle_world(struct service *service, struct http_exchange *exchange,
                         const struct http_request *request, const struct route *route)
{
    char why[ROUTE_WHY];
    const struct world *world = resolve_world(service->parts.worlds, route, why);

    if (!world) {
        answer_error(service, exchange, 404, why);
        return;
    }
    switch (route->kind) {
    case ROUTE_TILE:
        handle_tile(service, exchange, request, world, route);
        break;
    case ROUTE_HEIGHT:
        handle_height(service, exchange, request, world, route);
        break;
    case ROUTE_TILEJSON:
        handle_tilejson(service, exchange, request, world, route);
        break;
    default:
        answer_document(service, exchange, request, "application/json", CACHE_CHECK,
                        world->fingerprint, document_world(world));
    }
}

static void handle_route(struct service *service, struct http_exchange *exchange,
                         const struct http_request *request, const struct route *route)
{
    switch (route->kind) {
    case ROUTE_VIEWER:
        handle_file(service, exchange, request, "index.html");
        break;
    case ROUTE_ASSET:
        handle_file(service, exchange, request, route->layer);
        break;
    case ROUTE_WORLDS:
        answer_document(service, exchange, request, "application/json", CACHE_CHECK, NULL,
                        document_worlds(service->parts.worlds));
        break;
    case ROUTE_HEALTH:
        answer_state(service, exchange, 200, "application/json", document_status("ok"));
        break;
    case ROUTE_READY:
        answer_state(service, exchange, service->draining ? 503 : 200, "application/json",
                     document_status(service->draining ? "draining" : "ready"));
        break;
    case ROUTE_METRICS:
        answer_state(service, exchange, 200, "text/plain; version=0.0.4; charset=utf-8",
                     metrics_text(service->parts.metrics));
        break;
    default:
        handle_world(service, exchange, request, route);
    }
}

void service_handle(void *context, struct http_exchange *exchange,
                    const struct http_request *request)
{
    struct service *service = context;
    struct route route;
    char why[ROUTE_WHY];

    if (request->refused) {
        answer_error(service, exchange, request->refused, request->why);
        return;
    }
    if (request->method == HTTP_OPTIONS) {
        answer_options(service, exchange);
        return;
    }
    unsigned status = route_parse(&route, request->uri, why);
    if (status)
        answer_error(service, exchange, status, why);
    else
        handle_route(service, exchange, request, &route);
}

int service_new(struct service **out, const struct service_parts *parts)
{
    struct service *service = calloc(1, sizeof *service);
    if (!service)
        return -ENOMEM;
    service->parts = *parts;
    *out = service;
    return 0;
}

void service_free(struct service *service)
{
    free(service);
}

void service_drain(struct service *service)
{
    service->draining = true;
}
