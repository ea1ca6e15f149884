/*
 * A response in libmicrohttpd's form: status, headers, and a body that is shared, not copied.
 */
#ifndef FARLANDS_HTTP_MHD_RESPONSE_H
#define FARLANDS_HTTP_MHD_RESPONSE_H

#include <time.h>
#include <uv.h>

#include "server/http/message.h"

/* Made once, sent any number of times, on one loop's thread. */
struct mhd_response {
    struct MHD_Response *response; /* NULL: none */
    unsigned status;
    size_t length;              /* of the body; 0 if unknown */
    const struct blob *blob;    /* the body, owned by response; or NULL */
    struct streamed_body *body; /* owned by response, or NULL if it has no source */
    time_t dated;               /* the second in its Date header, or 0: libmicrohttpd adds one */
};

/* The current second as a Date header has it; initially zeroed. One per loop. */
struct http_date {
    time_t second;
    char text[32];
};

/*
 * Make OUT from RESPONSE. HEAD: to a HEAD request. CLOSES: the connection closes after it. Returns
 * 0 or -ENOMEM; in either case done will be called for a source, or has been.
 */
int mhd_response_make(struct mhd_response *out, const struct http_response *response, bool head,
                      bool closes);

/* Set the Date header of RESPONSE, which is about to be sent, and bring DATE up to date. */
void mhd_response_date(struct mhd_response *response, struct http_date *date);

/* Drop the reference. Transfers in progress are completed. */
void mhd_response_drop(struct mhd_response *response);

struct MHD_Connection;
struct clock;
struct deadline;

/*
 * Send BODY on CONNECTION of LOOP, with its DEADLINE, timed by CLOCK or LOOP. *PLACE points to the
 * body until it is freed, then it is NULL. *SENT, which is 0, counts the bytes of the blocks that
 * are sent.
 */
void streamed_body_bind(struct streamed_body *body, struct MHD_Connection *connection,
                        struct deadline *deadline, const struct clock *clock, const uv_loop_t *loop,
                        struct streamed_body **place, uint64_t *sent);

/* There are bytes again. Returns true if the connection was resumed: libmicrohttpd must run. */
bool streamed_body_wake(struct streamed_body *body);

/* Send no more of it and end the connection. Returns as streamed_body_wake does. */
bool streamed_body_cut(struct streamed_body *body);

#endif
