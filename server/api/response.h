/*
 * Responses: their common headers, and complete responses for everything but rasters. Also counts
 * and logs completed requests. On the loop's thread.
 */
#ifndef FARLANDS_API_RESPONSE_H
#define FARLANDS_API_RESPONSE_H

#include "server/core/token_bucket.h"
#include "server/http/conditional.h"
#include "server/http/http.h"
#include "server/http/mhd_response.h"
#include "server/net/client_limits.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

#define CACHE_SHORT "public, max-age=3600"
#define CACHE_FOREVER "public, max-age=31536000, immutable"
#define CACHE_CHECK "no-cache"

/* Where one thread counts and logs requests and bytes. */
struct response_sinks {
    struct metrics *metrics;
    struct access_log *access_log; /* or NULL */
    unsigned ring;                 /* this thread's in access_log */
    struct client_limits *clients; /* or NULL: bytes are not counted */
    uint64_t memory;               /* the most bytes that CLIENTS may hold */
    struct token_bucket *budget;   /* the loop's time to compress, or NULL: none */
};

/* A request in progress. Lives in http_state: from the handler until the request is completed. */
struct request_context {
    const struct response_sinks *sinks;
    struct http_exchange *exchange;
    const struct http_request *request;
    const struct sockaddr *client;   /* forwarded_client's result */
    struct sockaddr_storage address; /* storage for CLIENT */
    struct modification modified;    /* when the configuration changed; without text: unknown */
    enum access_from from;           /* the source of the tile in the response */
    unsigned status;                 /* the response's, once sent */
    bool repeated;                   /* many times a second: a 304 is not logged */
    uint64_t latency;                /* ns from the request line to the response */
    uint64_t held;                   /* bytes, by response_hold */
    const struct blob *held_body;    /* by response_hold_body, or NULL; a name only */
};

/* Count and log the request, and release the bytes that it holds. SENT is as in http_parts. */
void response_completed(struct request_context *context, uint64_t sent);

/*
 * Charge CONTEXT's client with BYTES, all memory for the response, until response_completed. Call
 * this before the bytes are computed, or at the latest when they wait for the reader. Returns 0, or
 * an error as client_limits_hold does: then do without these bytes.
 */
int response_hold(struct request_context *context, uint64_t bytes);

/* The same for BODY, which a cache and other responses may share. Charged once per client, and not
 * at all if BODY was computed for this response, because then response_hold has charged it. */
int response_hold_body(struct request_context *context, const struct blob *body);

/* A response's headers. Names and values must last until the response is sent or prepared. */
enum { RESPONSE_HEADERS_MAX = 24 };

struct response_headers {
    struct http_header header[RESPONSE_HEADERS_MAX];
    int count;
};

/* Begin with the headers common to all responses. CACHE_CONTROL may be NULL. */
struct response_headers response_headers(const char *cache_control);
void response_headers_add(struct response_headers *headers, const char *name, const char *value);

/* Send RESPONSE with HEADERS; response.headers are ignored. */
void response_send(struct request_context *context, struct http_response response,
                   const struct response_headers *headers);

/* Prepare RESPONSE with HEADERS for response_send_prepared. Returns 0 or -ENOMEM. */
int response_prepare(struct mhd_response *out, struct http_response response,
                     const struct response_headers *headers);

/* Prepare a 503 that asks to retry after SECONDS. Returns 0 or -ENOMEM. */
int response_prepare_busy(struct mhd_response *out, unsigned seconds, const char *why);

/* Not allowed if http_closes. */
void response_send_prepared(struct request_context *context, struct mhd_response *response);

/* {"error": WHY} */
void response_error(struct request_context *context, unsigned status, const char *why);

/* 416: the range begins beyond the representation's LENGTH bytes. */
void response_unsatisfiable(struct request_context *context, uint64_t length);

/* 412: If-Match does not match ETAG. */
void response_precondition_failed(struct request_context *context, const char *etag);

/* Add ETAG, and Last-Modified if MODIFIED is known. */
void response_validators(struct response_headers *headers, const char *etag,
                         const struct modification *modified);

/* To OPTIONS, which is usually a CORS preflight. */
void response_options(struct request_context *context);

/* 308 to LOCATION. */
void response_redirect(struct request_context *context, const char *location);

struct static_page; /* snapshot.h */

/* PAGE in the form that the client accepts, or 304 or 412. FINGERPRINT is the described world's, or
 * NULL. */
void response_page(struct request_context *context, const struct static_page *page,
                   const char *fingerprint);

/* A document made for one response. */
struct document {
    const char *type;    /* media type */
    struct blob *body;   /* NULL: out of memory */
    struct blob *packed; /* BODY compressed by CODING, if the client accepts that; or NULL */
    enum coding coding;
    const char *cache_control;
    const char *fingerprint; /* the described world's, or NULL */
    const char *vary;        /* or NULL */
};

/* DOCUMENT, with a hash as ETag; or 304 or 412. Compressed if the client accepts that and the loop
 * has the time. The caller keeps the blobs. */
void response_document(struct request_context *context, const struct document *document);

/* An uncacheable document (health, metrics). Takes over BODY, which is NULL if out of memory. */
void response_state(struct request_context *context, unsigned status, const char *type,
                    struct blob *body);

#endif
