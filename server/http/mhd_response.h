/*
 * A response in libmicrohttpd's form: status, headers, and a body that is shared, not copied.
 */
#ifndef FARLANDS_HTTP_MHD_RESPONSE_H
#define FARLANDS_HTTP_MHD_RESPONSE_H

#include <time.h>
#include <uv.h>

#include "server/http/message.h"

struct http_exchange;

/* Made once and sent any number of times, on one loop's thread. */
struct mhd_response {
    struct MHD_Response *response; /* NULL: none */
    unsigned status;
    size_t length;           /* body bytes; 0 if unknown */
    const struct blob *blob; /* the body, owned by response; or NULL */
    time_t dated;            /* the Date header's second, or 0: libmicrohttpd adds the header */
};

/* The current second as text for the Date header; initially zeroed. One per loop. */
struct http_date {
    time_t second;
    char text[32];
};

/*
 * Make OUT from RESPONSE for EXCHANGE. If EXCHANGE is NULL, OUT is for any exchange: RESPONSE has
 * no source, and the connection must not close. Returns 0 or -ENOMEM; either way the source's done
 * will be called, or has been.
 */
int mhd_response_make(struct mhd_response *out, const struct http_response *response,
                      struct http_exchange *exchange);

/* Bring DATE up to date, and RESPONSE's Date header, just before RESPONSE is sent. */
void mhd_response_date(struct mhd_response *response, struct http_date *date);

/* Drop the reference. Transfers in progress are completed. */
void mhd_response_drop(struct mhd_response *response);

#endif
