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

static void write_access(const struct asker *asker, unsigned status, size_t bytes, uint64_t took)
{
    const struct http_request *request = asker->request;
    struct access_entry entry = {
        .client = asker->client,
        .method = request->verb,
        .uri = request->uri,
        .status = status,
        .bytes = bytes,
        .nanoseconds = took,
        .from = asker->from,
        .user_agent = request->user_agent,
        .referer = request->referer,
    };

    clock_gettime(CLOCK_REALTIME, &entry.time);
    if (!access_log_write(asker->ledger->access_log, asker->ledger->lane, &entry))
        metrics_add(asker->ledger->metrics, METRIC_ACCESS_LOG_DROPPED);
}

/* Tell who counts and who logs. */
static void note(const struct asker *asker, unsigned status, size_t body)
{
    const struct http_request *request = asker->request;
    const size_t bytes = request->method == HTTP_HEAD ? 0 : body;
    const struct ledger *ledger = asker->ledger;
    const uint64_t took = uv_hrtime() - request->begun;

    metrics_add_status(ledger->metrics, status);
    metrics_observe(ledger->metrics, HISTOGRAM_REQUEST, took);
    if (ledger->access_log)
        write_access(asker, status, bytes, took);
    if (log_enabled(LOG_DEBUG))
        log_line(LOG_DEBUG, "%s %.500s %u %zu bytes %.3f ms",
                 request->refused ? "refused" : request->verb, request->uri, status, bytes,
                 (double)took / 1e6);
}

void answer(const struct asker *asker, struct http_answer answer, const struct headers *headers)
{
    answer.headers = headers->header;
    answer.header_count = headers->count;
    note(asker, answer.status, http_body_length(&answer));
    http_answer(asker->exchange, &answer);
}

void answer_ready(const struct asker *asker, struct http_response *response)
{
    note(asker, response->status, response->length);
    http_give(asker->exchange, response);
}

/* With one more header, where NAME is not NULL. */
static void answer_refusal(const struct asker *asker, unsigned status, const char *why,
                           const char *name, const char *value)
{
    struct headers headers = headers_common("no-store");
    struct blob *body = document_error(why);

    if (name)
        headers_add(&headers, name, value);
    answer(asker, (struct http_answer){.status = status, .type = JSON, .body = body}, &headers);
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

void answer_error(const struct asker *asker, unsigned status, const char *why)
{
    const struct http_header header = header_of(status);
    answer_refusal(asker, status, why, header.name, header.value);
}

int answer_make_error(struct http_response *out, unsigned status, const char *why)
{
    const struct http_header header = header_of(status);
    struct headers headers = headers_common("no-store");
    struct http_answer made = {.status = status, .type = JSON, .body = document_error(why)};

    if (header.name)
        headers_add(&headers, header.name, header.value);
    made.headers = headers.header;
    made.header_count = headers.count;
    int err = response_make(out, &made, false, false);
    blob_release(made.body);
    return err;
}

void answer_unsatisfiable(const struct asker *asker, uint64_t length)
{
    char why[80], range[40];
    snprintf(why, sizeof why, "Range: begins beyond the end; there are %" PRIu64 " bytes", length);
    snprintf(range, sizeof range, "bytes */%" PRIu64, length);
    answer_refusal(asker, 416, why, "Content-Range", range);
}

void answer_options(const struct asker *asker)
{
    struct headers headers = headers_common(NULL);
    headers_add(&headers, "Allow", METHODS);
    headers_add(&headers, "Access-Control-Allow-Methods", METHODS);
    headers_add(&headers, "Access-Control-Allow-Headers",
                "Range, If-Match, If-None-Match, If-Range, Cache-Control");
    headers_add(&headers, "Access-Control-Max-Age", "86400");
    answer(asker, (struct http_answer){.status = 204}, &headers);
}

void answer_moved(const struct asker *asker, const char *location)
{
    struct headers headers = headers_common(CACHE_CHECK);
    headers_add(&headers, "Location", location);
    answer(asker, (struct http_answer){.status = 308}, &headers);
}

void answer_unlike(const struct asker *asker, const char *etag)
{
    answer_refusal(asker, 412, "If-Match: names something else than what is here; see ETag", "ETag",
                   etag);
}

/* BODY, or 304 where the asker has it: HEADERS, and its ETAG among them. */
static void answer_unless_had(const struct asker *asker, const char *type, struct blob *body,
                              const char *etag, struct headers *headers)
{
    headers_add(headers, "ETag", etag);
    if (!match_holds(asker->request->if_match, etag))
        answer_unlike(asker, etag);
    else if (none_match_holds(asker->request->if_none_match, etag))
        answer(asker, (struct http_answer){.status = 304}, headers);
    else
        answer(asker, (struct http_answer){.status = 200, .type = type, .body = body}, headers);
}

void answer_page(const struct asker *asker, const struct page *page, const char *fingerprint)
{
    struct headers headers = headers_common(CACHE_CHECK);
    const struct page_form *form = &page->plain;

    if (fingerprint)
        headers_add(&headers, "Farlands-Fingerprint", fingerprint);
    if (page->gzip.body) {
        headers_add(&headers, "Vary", "Accept-Encoding");
        if (accepts_gzip(asker->request->accept_encoding)) {
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
    answer_unless_had(asker, page->type, form->body, form->etag, &headers);
}

void answer_document(const struct asker *asker, struct fresh_document document)
{
    struct headers headers = headers_common(document.cache_control);
    char etag[HASH_ETAG];

    if (!document.body) {
        answer_error(asker, 503, "out of memory");
        return;
    }
    if (document.fingerprint)
        headers_add(&headers, "Farlands-Fingerprint", document.fingerprint);
    if (document.vary)
        headers_add(&headers, "Vary", document.vary);
    etag_hash(document.body->bytes, document.body->length, etag);
    answer_unless_had(asker, JSON, document.body, etag, &headers);
    blob_release(document.body);
}

void answer_state(const struct asker *asker, unsigned status, const char *type, struct blob *body)
{
    struct headers headers = headers_common("no-store");
    if (!body) {
        answer_error(asker, 503, "out of memory");
        return;
    }
    answer(asker, (struct http_answer){.status = status, .type = type, .body = body}, &headers);
    blob_release(body);
}
