/*
 * Answers as libmicrohttpd takes them: status, headers, and a body that is
 * shared, not copied. The only place, beside http.c, that knows libmicrohttpd.
 */
#ifndef FARLANDS_RESPONSE_H
#define FARLANDS_RESPONSE_H

#include <stdbool.h>

#include "server/http.h"

/* Made once, given any number of times, on one loop's thread. */
struct http_response {
    struct MHD_Response *response;
    unsigned status;
    size_t length; /* of the body */
};

/*
 * ANSWER for a request that is HEAD or not; CLOSES says that the connection
 * ends with it. Returns 0, or -ENOMEM.
 */
int response_make(struct http_response *response, const struct http_answer *answer, bool head,
                  bool closes);

/* What is being sent of it is sent nevertheless. */
void response_drop(struct http_response *response);

#endif
