/*
 * The head of a request, from what libmicrohttpd has made of it: what the handler wants to know,
 * and whether it may be served at all.
 */
#ifndef FARLANDS_HTTP_REQUEST_HEAD_H
#define FARLANDS_HTTP_REQUEST_HEAD_H

#include <stdbool.h>

#include "server/http/message.h"

struct MHD_Connection; /* microhttpd.h */

/*
 * Fill in REQUEST, zero but for what the head does not tell, from the one that CONNECTION has come
 * with; URI, and the headers, last as long as that does. Returns whether the connection must end
 * with its answer.
 */
bool request_head_read(struct http_request *request, struct MHD_Connection *connection,
                       const char *uri, const char *method, const char *version);

#endif
