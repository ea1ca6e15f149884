/*
 * Answers: what every one of them says, and whole ones for everything but
 * tiles. Each function here answers the asker, always once. On the loop's thread.
 */
#ifndef FARLANDS_API_RESPONSE_H
#define FARLANDS_API_RESPONSE_H

#include "server/api/static_pages.h"
#include "server/http/http.h"
#include "server/http/mhd_response.h"
#include "server/telemetry/access_log.h"
#include "server/telemetry/metrics.h"

#define CACHE_SHORT "public, max-age=3600"
#define CACHE_FOREVER "public, max-age=31536000, immutable"
#define CACHE_CHECK "no-cache"

/* Where answers are counted and logged: those of one thread. */
struct response_sinks {
    struct metrics *metrics;
    struct access_log *access_log; /* or NULL */
    unsigned ring;                 /* of the access log */
};

/* Who is answered. The request lasts until then. */
struct request_context {
    const struct response_sinks *sinks;
    const struct sockaddr *client; /* see forwarded_client */
    struct http_exchange *exchange;
    const struct http_request *request;
    enum access_from from; /* where the tile of the answer comes from */
};

/* The headers of one answer; values must last until it is given. */
enum { HEADERS_MAX = 20 };

struct headers {
    struct http_header header[HEADERS_MAX];
    int count;
};

/* Those of every answer. */
struct headers headers_common(const char *cache_control);
void headers_add(struct headers *headers, const char *name, const char *value);

/* ANSWER with HEADERS; its own are not needed. */
void response_send(const struct request_context *context, struct http_response answer,
                   const struct headers *headers);

/* What response_error gives, to be given any number of times. Returns 0 or -ENOMEM. */
int response_make_error(struct mhd_response *out, unsigned status, const char *why);

/* With what was made before; not where the request is its connection's last. */
void response_send_cached(const struct request_context *context, struct mhd_response *response);

/* {"error": WHY} */
void response_error(const struct request_context *context, unsigned status, const char *why);

/* No byte of the LENGTH that there are was asked for. */
void response_unsatisfiable(const struct request_context *context, uint64_t length);

/* If-Match does not hold for what has this ETAG. */
void response_precondition_failed(const struct request_context *context, const char *etag);

/* What OPTIONS is asked for: mostly a browser's preflight. */
void response_options(const struct request_context *context);

/* The same, at LOCATION. */
void response_redirect(const struct request_context *context, const char *location);

void response_page(const struct request_context *context, const struct page *page,
                   const char *fingerprint);

/* What is made for one answer. */
struct fresh_document {
    struct blob *body; /* or NULL where memory is out */
    const char *cache_control;
    const char *fingerprint; /* of the world it tells about, or NULL */
    const char *vary;        /* or NULL */
};

/* A JSON document, whose validator is a hash of its bytes; takes the reference to its body. */
void response_document(const struct request_context *context, struct fresh_document document);

/* What is true only now; takes the reference to BODY, which is NULL where memory is out. */
void response_state(const struct request_context *context, unsigned status, const char *type,
                    struct blob *body);

#endif
