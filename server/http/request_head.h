/*
 * The head of a request, from libmicrohttpd's parsed form: the values that the handler needs, and
 * whether the request may be served at all.
 */
#ifndef FARLANDS_HTTP_REQUEST_HEAD_H
#define FARLANDS_HTTP_REQUEST_HEAD_H

#include "server/http/message.h"

struct MHD_Connection; /* microhttpd.h */

/*
 * Fill in REQUEST, except peer, begun and last, from the request that CONNECTION has received. URI
 * and the header values are not copied. Returns true if the connection must close after the
 * response.
 */
bool request_head_read(struct http_request *request, struct MHD_Connection *connection,
                       const char *uri, const char *method, const char *version);

#endif
