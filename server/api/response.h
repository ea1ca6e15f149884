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
struct ledger {
    struct metrics *metrics;
    struct access_log *access_log; /* or NULL */
    unsigned lane;                 /* in it */
};

/* Who is answered. The request lasts until then. */
struct asker {
    const struct ledger *ledger;
    const struct sockaddr *client; /* see site_client */
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
void answer(const struct asker *asker, struct http_answer answer, const struct headers *headers);

/* What answer_error gives, to be given any number of times. Returns 0 or -ENOMEM. */
int answer_make_error(struct http_response *out, unsigned status, const char *why);

/* With what was made before; not where the request is its connection's last. */
void answer_ready(const struct asker *asker, struct http_response *response);

/* {"error": WHY} */
void answer_error(const struct asker *asker, unsigned status, const char *why);

/* No byte of the LENGTH that there are was asked for. */
void answer_unsatisfiable(const struct asker *asker, uint64_t length);

/* If-Match does not hold for what has this ETAG. */
void answer_unlike(const struct asker *asker, const char *etag);

/* What OPTIONS is asked for: mostly a browser's preflight. */
void answer_options(const struct asker *asker);

/* The same, at LOCATION. */
void answer_moved(const struct asker *asker, const char *location);

void answer_page(const struct asker *asker, const struct page *page, const char *fingerprint);

/* What is made for one answer. */
struct fresh_document {
    struct blob *body; /* or NULL where memory is out */
    const char *cache_control;
    const char *fingerprint; /* of the world it tells about, or NULL */
    const char *vary;        /* or NULL */
};

/* A JSON document, whose validator is a hash of its bytes; takes the reference to its body. */
void answer_document(const struct asker *asker, struct fresh_document document);

/* What is true only now; takes the reference to BODY, which is NULL where memory is out. */
void answer_state(const struct asker *asker, unsigned status, const char *type, struct blob *body);

#endif
