/* A request as libmicrohttpd has parsed it, as plain data. */
#ifndef FARLANDS_HTTP_MHD_REQUEST_H
#define FARLANDS_HTTP_MHD_REQUEST_H

#include "server/http/message.h"

struct MHD_Connection; /* microhttpd.h */

/*
 * Fill in the method, URI and headers of REQUEST, which CONNECTION has received. URI and the
 * headers' values are not copied. If URI is in absolute form, it is changed: the request's URI
 * begins at its path, and its Host is that of the URI (RFC 9112 section 3.2.2). If that is
 * malformed, the request is refused.
 */
void mhd_request_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                      const char *method);

#endif
