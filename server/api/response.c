#include "response.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/api/documents.h"
#include "server/api/snapshot.h"
#include "server/core/clock.h"
#include "server/core/coding.h"
#include "server/http/conditional.h"
#include "server/telemetry/log.h"

#define JSON "application/json"
#define METHODS "GET, HEAD, OPTIONS"

void response_headers_add(struct response_headers *headers, const char *name, const char *value)
{
    assert(headers->count < RESPONSE_HEADERS_MAX);
    headers->header[headers->count++] = (struct http_header){name, value};
}

struct response_headers response_headers(const char *cache_control)
{
    struct response_headers headers = {.count = 0};
    response_headers_add(&headers, "Access-Control-Allow-Origin", "*");
    response_headers_add(
        &headers, "Access-Control-Expose-Headers",
        "Accept-Ranges, Content-Length, Content-Range, ETag, Retry-After, Farlands-Width, "
        "Farlands-Height, Farlands-Depth, Farlands-Origin, Farlands-Step, Farlands-Field, "
        "Farlands-Range, Farlands-Scale, Farlands-Offset, Farlands-Fingerprint, "
        "Farlands-Filtered");
    response_headers_add(&headers, "Cross-Origin-Resource-Policy", "cross-origin");
    response_headers_add(&headers, "Timing-Allow-Origin", "*");
    response_headers_add(&headers, "X-Content-Type-Options", "nosniff");
    if (cache_control)
        response_headers_add(&headers, "Cache-Control", cache_control);
    return headers;
}

void response_validators(struct response_headers *headers, const char *etag,
                         const struct modification *modified)
{
    response_headers_add(headers, "ETag", etag);
    if (modified->text[0])
        response_headers_add(headers, "Last-Modified", modified->text);
}

static void write_access(const struct request_context *context, uint64_t sent)
{
    const struct http_request *request = context->request;
    const struct access_entry entry = {
        .time = clock_of_day(),
        .client = context->client,
        .method = request->verb,
        .uri = request->uri,
        .status = context->status,
        .bytes = sent,
        .nanoseconds = context->latency,
        .from = context->from,
        .user_agent = request->user_agent,
        .referer = request->referer,
    };

    if (!access_log_write(context->sinks->access_log, context->sinks->ring, &entry))
        metrics_add(context->sinks->metrics, METRIC_ACCESS_LOG_DROPPED);
}

int response_hold(struct request_context *context, uint64_t bytes)
{
    const struct response_sinks *sinks = context->sinks;

    if (bytes <= context->held || !sinks->clients)
        return 0;
    int err =
        client_limits_hold(sinks->clients, context->client, bytes - context->held, sinks->memory);
    if (!err)
        context->held = bytes;
    return err;
}

int response_hold_body(struct request_context *context, const struct blob *body)
{
    const struct response_sinks *sinks = context->sinks;

    if (body->length <= context->held || context->held_body || !sinks->clients)
        return 0;
    int err = client_limits_hold_shared(sinks->clients, context->client, body, body->length,
                                        sinks->memory);
    if (!err)
        context->held_body = body;
    return err;
}

static void release(struct request_context *context)
{
    struct client_limits *clients = context->sinks->clients;

    if (context->held)
        client_limits_drop(clients, context->client, context->held);
    if (context->held_body)
        client_limits_drop_shared(clients, context->client, context->held_body);
    context->held = 0;
    context->held_body = NULL;
}

void response_completed(struct request_context *context, uint64_t sent)
{
    const struct http_request *request = context->request;
    const struct response_sinks *sinks = context->sinks;

    release(context);
    metrics_add_status(sinks->metrics, context->status);
    metrics_observe(sinks->metrics, HISTOGRAM_REQUEST, context->latency);
    if (context->from == FROM_MEMORY)
        metrics_add(sinks->metrics, METRIC_HITS_MEMORY);
    else if (context->from == FROM_DISK)
        metrics_add(sinks->metrics, METRIC_HITS_DISK);
    if (sinks->access_log && !(context->repeated && context->status == 304))
        write_access(context, sent);
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s %.500s %u %" PRIu64 " bytes %.3f ms",
                 request->refused ? "refused" : request->verb, request->uri, context->status, sent,
                 (double)context->latency / 1e6);
}

static void note(struct request_context *context, unsigned status)
{
    context->status = status;
    context->latency = clock_ns(NULL) - context->request->begun;
}

void response_send(struct request_context *context, struct http_response response,
                   const struct response_headers *headers)
{
    response.headers = headers->header;
    response.header_count = headers->count;
    note(context, response.status);
    http_respond(context->exchange, &response);
}

int response_prepare(struct mhd_response *out, struct http_response response,
                     const struct response_headers *headers)
{
    response.headers = headers->header;
    response.header_count = headers->count;
    return mhd_response_make(out, &response, NULL);
}

void response_send_prepared(struct request_context *context, struct mhd_response *response)
{
    note(context, response->status);
    http_respond_prepared(context->exchange, response);
}

/* RETRY_AFTER is for 503. The caller releases the body. */
static struct http_response make_error(struct response_headers *headers, unsigned status,
                                       const char *why, const char *retry_after)
{
    *headers = response_headers("no-store");
    if (status == 405)
        response_headers_add(headers, "Allow", METHODS);
    else if (status == 503)
        response_headers_add(headers, "Retry-After", retry_after);
    return (struct http_response){
        .status = status, .type = JSON, .body = document_message("error", why)};
}

/* With the additional header NAME, unless that is NULL. */
static void send_error(struct request_context *context, unsigned status, const char *why,
                       const char *name, const char *value)
{
    struct response_headers headers;
    const struct http_response response = make_error(&headers, status, why, "1");

    if (name)
        response_headers_add(&headers, name, value);
    response_send(context, response, &headers);
    blob_release(response.body);
}

void response_error(struct request_context *context, unsigned status, const char *why)
{
    send_error(context, status, why, NULL, NULL);
}

int response_prepare_busy(struct mhd_response *out, unsigned seconds, const char *why)
{
    struct response_headers headers;
    char text[12];
    snprintf(text, sizeof text, "%u", seconds);
    const struct http_response response = make_error(&headers, 503, why, text);
    int err = response_prepare(out, response, &headers);
    blob_release(response.body);
    return err;
}

void response_unsatisfiable(struct request_context *context, uint64_t length)
{
    char why[80], range[40];
    snprintf(why, sizeof why, "Range: begins beyond the end, at %" PRIu64 " bytes", length);
    snprintf(range, sizeof range, "bytes */%" PRIu64, length);
    send_error(context, 416, why, "Content-Range", range);
}

/* Longer texts would not fit into the memory for a response's head. */
enum { WANTED_MAX = 1024 };

/*
 * A page from another origin may send any headers. The preflight's headers are repeated by name,
 * because "*" does not include Authorization, and old browsers do not know "*". There is nothing to
 * protect: a page can have the same effects without these headers.
 */
static const char *allowed_headers(const struct http_request *request)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~, \t";
    const char *wanted = request->wanted;
    const size_t length = wanted ? strnlen(wanted, WANTED_MAX + 1) : 0;

    return length > 0 && length <= WANTED_MAX && strspn(wanted, letters) == length
               ? wanted
               : "*, Authorization";
}

void response_options(struct request_context *context)
{
    struct response_headers headers = response_headers(NULL);
    response_headers_add(&headers, "Allow", METHODS);
    response_headers_add(&headers, "Access-Control-Allow-Methods", METHODS);
    response_headers_add(&headers, "Access-Control-Allow-Headers",
                         allowed_headers(context->request));
    response_headers_add(&headers, "Access-Control-Max-Age", "86400");
    response_headers_add(&headers, "Vary", "Access-Control-Request-Headers");
    response_send(context, (struct http_response){.status = 204}, &headers);
}

void response_redirect(struct request_context *context, const char *location)
{
    struct response_headers headers = response_headers(CACHE_CHECK);
    response_headers_add(&headers, "Location", location);
    response_send(context, (struct http_response){.status = 308}, &headers);
}

void response_precondition_failed(struct request_context *context, const char *etag)
{
    send_error(context, 412, "If-Match: does not match; see ETag", "ETag", etag);
}

/* Enough for 60 KB, such as WMTS or the document of a built-in world. No render thread compresses
 * these, and a tenth of the bytes are sent. */
enum { COMPRESS_LOOP_US = 160 };

/* BODY compressed: one reference, or NULL if that takes too long for the loop, or saves nothing. */
static struct blob *compress(struct request_context *context, const struct blob *body,
                             enum coding coding)
{
    struct token_bucket *budget = context->sinks->budget;
    const uint32_t cost_us = coding_cost_us(body->length);
    const int64_t cost = (int64_t)cost_us * 1000;
    const uint64_t now = clock_ns(NULL);

    if (!budget || cost_us > COMPRESS_LOOP_US || !token_bucket_take(budget, now, cost))
        return NULL;
    struct blob *out = coding_pack(body, coding, false);
    token_bucket_correct(budget, (int64_t)(clock_ns(NULL) - now) - cost);
    return out;
}

static bool is_named(const struct http_request *request, const char *etag)
{
    return request->if_match ? conditional_if_match(request->if_match, etag)
                             : conditional_if_none_match(request->if_none_match, etag);
}

/* PAGE's coding for REQUEST: one that PAGE has, or for which the loop has time now. CODING_IDENTITY
 * if the client has the plain form alone. */
static enum coding choose_coding(const struct http_request *request, const struct static_page *page)
{
    unsigned available = 0;
    for (int coding = 0; coding < CODINGS; coding++)
        available |= (unsigned)(page->form[coding].etag[0] != '\0') << coding;
    const enum coding coding = conditional_coding(request->accept_encoding, available);
    return is_named(request, page->form[CODING_IDENTITY].etag) &&
                   !is_named(request, page->form[coding].etag)
               ? CODING_IDENTITY
               : coding;
}

/* True if If-None-Match lists ETAG, so the client has those bytes; "*" does not say which. */
static bool has_named(const struct http_request *request, const char *etag)
{
    return request->if_none_match && !strchr(request->if_none_match, '*') &&
           conditional_if_none_match(request->if_none_match, etag);
}

/* Send PAGE with HEADERS, or 304 or 412. Compresses PAGE if it has no such form yet. */
static void send_page(struct request_context *context, const struct static_page *page,
                      struct response_headers *headers)
{
    enum coding coding = choose_coding(context->request, page);
    struct blob *made = NULL;

    assert(page->form[CODING_IDENTITY].body);
    /* The coding decides the ETag, in 304 and 412 as well. */
    if (!page->form[coding].body && !has_named(context->request, page->form[coding].etag)) {
        made = compress(context, page->form[CODING_IDENTITY].body, coding);
        coding = made ? coding : CODING_IDENTITY;
    }
    const struct static_page_form *form = &page->form[coding];
    /* The map library starts workers from blobs; heights are computed in WebAssembly. */
    if (strncmp(page->type, "text/html", 9) == 0)
        response_headers_add(
            headers, "Content-Security-Policy",
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; "
            "child-src 'self' blob:");
    if (!conditional_if_match(context->request->if_match, form->etag)) {
        response_precondition_failed(context, form->etag);
        blob_release(made);
        return;
    }
    struct http_response response = {.status = 304};
    if (!conditional_not_modified(context->request->if_none_match,
                                  context->request->if_modified_since, form->etag,
                                  &context->modified)) {
        response = (struct http_response){
            .status = 200, .type = page->type, .body = made ? made : form->body};
        if (coding)
            response_headers_add(headers, "Content-Encoding", coding_name(coding));
    }
    response_validators(headers, form->etag, &context->modified);
    response_send(context, response, headers);
    blob_release(made);
}

void response_page(struct request_context *context, const struct static_page *page,
                   const char *fingerprint)
{
    struct response_headers headers = response_headers(CACHE_CHECK);

    if (fingerprint)
        response_headers_add(&headers, "Farlands-Fingerprint", fingerprint);
    if (page->form[CODING_GZIP].body)
        response_headers_add(&headers, "Vary", "Accept-Encoding");
    send_page(context, page, &headers);
}

void response_document(struct request_context *context, const struct document *document)
{
    struct response_headers headers = response_headers(document->cache_control);
    struct blob *body = document->body;
    char vary[160];

    if (!body) {
        response_error(context, 503, "out of memory");
        return;
    }
    const bool compressible = body->length >= CODING_MIN;
    struct static_page page = {.type = document->type};
    snprintf(vary, sizeof vary, "%s%s%s", document->vary ? document->vary : "",
             document->vary && compressible ? ", " : "", compressible ? "Accept-Encoding" : "");
    if (vary[0])
        response_headers_add(&headers, "Vary", vary);
    if (document->fingerprint)
        response_headers_add(&headers, "Farlands-Fingerprint", document->fingerprint);
    struct static_page_form *plain = &page.form[CODING_IDENTITY];
    page.form[document->coding].body = document->packed;
    plain->body = body;
    conditional_etag_hash(body->bytes, body->length, plain->etag);
    for (enum coding coding = CODING_GZIP; coding < CODINGS && compressible; coding++)
        conditional_etag_coded(plain->etag, coding, page.form[coding].etag);
    send_page(context, &page, &headers);
}

void response_state(struct request_context *context, unsigned status, const char *type,
                    struct blob *body)
{
    struct response_headers headers = response_headers("no-store");
    if (!body) {
        response_error(context, 503, "out of memory");
        return;
    }
    const enum coding coding = conditional_coding(context->request->accept_encoding, CODED_BY_ANY);
    struct blob *packed = NULL;
    if (body->length >= CODING_MIN) {
        response_headers_add(&headers, "Vary", "Accept-Encoding");
        if (coding)
            packed = compress(context, body, coding);
    }
    if (packed)
        response_headers_add(&headers, "Content-Encoding", coding_name(coding));
    response_send(
        context,
        (struct http_response){.status = status, .type = type, .body = packed ? packed : body},
        &headers);
    blob_release(packed);
    blob_release(body);
}
