/*
 * Answers as libmicrohttpd takes them: status, headers, and a body that is
 * shared, not copied. The only places, beside this one, that know
 * libmicrohttpd are http.c, head.c and body.c.
 */
#ifndef FARLANDS_HTTP_MHD_RESPONSE_H
#define FARLANDS_HTTP_MHD_RESPONSE_H

#include <stdbool.h>
#include <time.h>

#include "server/http/message.h"

/* Made once, given any number of times, on one loop's thread. */
struct mhd_response {
    struct MHD_Response *response;
    unsigned status;
    size_t length;              /* of the body */
    struct streamed_body *body; /* of an answer with a source, else NULL; the response's own */
    time_t dated; /* the second that its Date tells, or 0: libmicrohttpd makes one each time */
};

/* The second that it is, as Date wants it; zeroed to begin with. One a loop. */
struct http_date {
    time_t second;
    char text[32];
};

/*
 * ANSWER for a request that is HEAD or not; CLOSES says that the connection
 * ends with it. Returns 0, or -ENOMEM: then a source is done.
 */
int mhd_response_make(struct mhd_response *response, const struct http_response *answer, bool head,
                      bool closes);

/* Have RESPONSE, which is about to be given, tell the time. DATE is brought up to date. */
void mhd_response_date(struct mhd_response *response, struct http_date *date);

/* What is being sent of it is sent nevertheless. */
void mhd_response_drop(struct mhd_response *response);

#endif
