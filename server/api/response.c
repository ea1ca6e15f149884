#include "response.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "server/api/documents.h"
#include "server/http/conditional.h"
#include "server/telemetry/log.h"

#define JSON "application/json"
#define METHODS "GET, HEAD, OPTIONS"

void headers_add(struct headers *headers, const char *name, const char *value)
{
    assert(headers->count < HEADERS_MAX);
    headers->header[headers->count++] = (struct http_header){name, value};
}

struct headers headers_common(const char *cache_control)
{
    struct headers headers = {.count = 0};
    headers_add(&headers, "Access-Control-Allow-Origin", "*");
    headers_add(&headers, "Access-Control-Expose-Headers",
                "Accept-Ranges, Content-Length, Content-Range, ETag, Retry-After, Farlands-Width, "
                "Farlands-Height, Farlands-Depth, Farlands-Origin, Farlands-Step, Farlands-Range, "
                "Farlands-Fingerprint");
    headers_add(&headers, "X-Content-Type-Options", "nosniff");
    if (cache_control)
        headers_add(&headers, "Cache-Control", cache_control);
    return headers;
}

static void write_access(const struct request_context *context, unsigned status, size_t bytes,
                         uint64_t took)
{
    const struct http_request *request = context->request;
    struct access_entry entry = {
        .client = context->client,
        .method = request->verb,
        .uri = request->uri,
        .status = status,
        .bytes = bytes,
        .nanoseconds = took,
        .from = context->from,
        .user_agent = request->user_agent,
        .referer = request->referer,
    };

    clock_gettime(CLOCK_REALTIME, &entry.time);
    if (!access_log_write(context->sinks->access_log, context->sinks->ring, &entry))
        metrics_add(context->sinks->metrics, METRIC_ACCESS_LOG_DROPPED);
}

/* Tell who counts and who logs. */
static void note(const struct request_context *context, unsigned status, size_t body)
{
    const struct http_request *request = context->request;
    const size_t bytes = request->method == HTTP_HEAD ? 0 : body;
    const struct response_sinks *sinks = context->sinks;
    const uint64_t took = uv_hrtime() - request->begun;

    metrics_add_status(sinks->metrics, status);
    metrics_observe(sinks->metrics, HISTOGRAM_REQUEST, took);
    if (sinks->access_log)
        write_access(context, status, bytes, took);
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s %.500s %u %zu bytes %.3f ms",
                 request->refused ? "refused" : request->verb, request->uri, status, bytes,
                 (double)took / 1e6);
}

void response_send(const struct request_context *context, struct http_response answer,
                   const struct headers *headers)
{
    answer.headers = headers->header;
    answer.header_count = headers->count;
    note(context, answer.status, http_body_length(&answer));
    http_answer(context->exchange, &answer);
}

void response_send_cached(const struct request_context *context, struct mhd_response *response)
{
    note(context, response->status, response->length);
    http_give(context->exchange, response);
}

/* With one more header, where NAME is not NULL. */
static void answer_refusal(const struct request_context *context, unsigned status, const char *why,
                           const char *name, const char *value)
{
    struct headers headers = headers_common("no-store");
    struct blob *body = document_error(why);

    if (name)
        headers_add(&headers, name, value);
    response_send(context, (struct http_response){.status = status, .type = JSON, .body = body},
                  &headers);
    blob_release(body);
}

/* The header that goes with STATUS in particular; name and value NULL: none. */
static struct http_header header_of(unsigned status)
{
    switch (status) {
    case 405:
        return (struct http_header){"Allow", METHODS};
    case 503:
        return (struct http_header){"Retry-After", "1"};
    default:
        return (struct http_header){NULL, NULL};
    }
}

void response_error(const struct request_context *context, unsigned status, const char *why)
{
    const struct http_header header = header_of(status);
    answer_refusal(context, status, why, header.name, header.value);
}

int response_make_error(struct mhd_response *out, unsigned status, const char *why)
{
    const struct http_header header = header_of(status);
    struct headers headers = headers_common("no-store");
    struct http_response made = {.status = status, .type = JSON, .body = document_error(why)};

    if (header.name)
        headers_add(&headers, header.name, header.value);
    made.headers = headers.header;
    made.header_count = headers.count;
    int err = mhd_response_make(out, &made, false, false);
    blob_release(made.body);
    return err;
}

void response_unsatisfiable(const struct request_context *context, uint64_t length)
{
    char why[80], range[40];
    snprintf(why, sizeof why, "Range: begins beyond the end; there are %" PRIu64 " bytes", length);
    snprintf(range, sizeof range, "bytes */%" PRIu64, length);
    answer_refusal(context, 416, why, "Content-Range", range);
}

void response_options(const struct request_context *context)
{
    struct headers headers = headers_common(NULL);
    headers_add(&headers, "Allow", METHODS);
    headers_add(&headers, "Access-Control-Allow-Methods", METHODS);
    headers_add(&headers, "Access-Control-Allow-Headers",
                "Range, If-Match, If-None-Match, If-Range, Cache-Control");
    headers_add(&headers, "Access-Control-Max-Age", "86400");
    response_send(context, (struct http_response){.status = 204}, &headers);
}

void response_redirect(const struct request_context *context, const char *location)
{
    struct headers headers = headers_common(CACHE_CHECK);
    headers_add(&headers, "Location", location);
    response_send(context, (struct http_response){.status = 308}, &headers);
}

void response_precondition_failed(const struct request_context *context, const char *etag)
{
    answer_refusal(context, 412, "If-Match: names something else than what is here; see ETag",
                   "ETag", etag);
}

/* BODY, or 304 where the asker has it: HEADERS, and its ETAG among them. */
static void answer_unless_had(const struct request_context *context, const char *type,
                              struct blob *body, const char *etag, struct headers *headers)
{
    headers_add(headers, "ETag", etag);
    if (!conditional_if_match(context->request->if_match, etag))
        response_precondition_failed(context, etag);
    else if (conditional_if_none_match(context->request->if_none_match, etag))
        response_send(context, (struct http_response){.status = 304}, headers);
    else
        response_send(context, (struct http_response){.status = 200, .type = type, .body = body},
                      headers);
}

void response_page(const struct request_context *context, const struct page *page,
                   const char *fingerprint)
{
    struct headers headers = headers_common(CACHE_CHECK);
    const struct page_form *form = &page->plain;

    if (fingerprint)
        headers_add(&headers, "Farlands-Fingerprint", fingerprint);
    if (page->gzip.body) {
        headers_add(&headers, "Vary", "Accept-Encoding");
        if (conditional_accepts_gzip(context->request->accept_encoding)) {
            headers_add(&headers, "Content-Encoding", "gzip");
            form = &page->gzip;
        }
    }
    /* A map library makes its workers from blobs; heights are computed in WebAssembly. */
    if (strncmp(page->type, "text/html", 9) == 0)
        headers_add(
            &headers, "Content-Security-Policy",
            "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
            "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; "
            "child-src 'self' blob:");
    answer_unless_had(context, page->type, form->body, form->etag, &headers);
}

void response_document(const struct request_context *context, struct fresh_document document)
{
    struct headers headers = headers_common(document.cache_control);
    char etag[HASH_ETAG];

    if (!document.body) {
        response_error(context, 503, "out of memory");
        return;
    }
    if (document.fingerprint)
        headers_add(&headers, "Farlands-Fingerprint", document.fingerprint);
    if (document.vary)
        headers_add(&headers, "Vary", document.vary);
    conditional_etag_hash(document.body->bytes, document.body->length, etag);
    answer_unless_had(context, JSON, document.body, etag, &headers);
    blob_release(document.body);
}

void response_state(const struct request_context *context, unsigned status, const char *type,
                    struct blob *body)
{
    struct headers headers = headers_common("no-store");
    if (!body) {
        response_error(context, 503, "out of memory");
        return;
    }
    response_send(context, (struct http_response){.status = status, .type = type, .body = body},
                  &headers);
    blob_release(body);
}
