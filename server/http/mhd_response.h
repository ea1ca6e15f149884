/*
 * A response in libmicrohttpd's form: status, headers, and a body that is shared, not copied.
 */
#ifndef FARLANDS_HTTP_MHD_RESPONSE_H
#define FARLANDS_HTTP_MHD_RESPONSE_H

#include <time.h>
#include <uv.h>

#include "server/http/message.h"

struct http_exchange;

/* Made once, sent any number of times, on one loop's thread. */
struct mhd_response {
    struct MHD_Response *response; /* NULL: none */
    unsigned status;
    size_t length;           /* of the body; 0 if unknown */
    const struct blob *blob; /* the body, owned by response; or NULL */
    time_t dated;            /* the second in its Date header, or 0: libmicrohttpd adds one */
};

/* The current second as a Date header has it; initially zeroed. One per loop. */
struct http_date {
    time_t second;
    char text[32];
};

/*
 * Make OUT from RESPONSE, for EXCHANGE, or for any if NULL: then it has no source, and its
 * connection must not close. Returns 0 or -ENOMEM; in either case done will be called for a source,
 * or has been.
 */
int mhd_response_make(struct mhd_response *out, const struct http_response *response,
                      struct http_exchange *exchange);

/* Set the Date header of RESPONSE, which is about to be sent, and bring DATE up to date. */
void mhd_response_date(struct mhd_response *response, struct http_date *date);

/* Drop the reference. Transfers in progress are completed. */
void mhd_response_drop(struct mhd_response *response);

#endif
