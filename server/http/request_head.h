/*
 * The head of a request, as libmicrohttpd has parsed it. Refuses all that this server and a proxy
 * in front of it could read in two ways (request smuggling), and all bodies, which no URL here
 * needs.
 *
 * libmicrohttpd 1.0 refuses most of that by itself. 0.9 takes a bare line feed for the end of a
 * line, joins folded lines, and cuts values off at a NUL. Then the size of the head, which it
 * tells, is not that of its parts.
 */
#ifndef FARLANDS_HTTP_REQUEST_HEAD_H
#define FARLANDS_HTTP_REQUEST_HEAD_H

#include <microhttpd.h>
#include <stdbool.h>

#include "server/http/message.h"

/* The value of MHD_OPTION_STRICT_FOR_CLIENT: whether libmicrohttpd refuses heads with more than one
 * reading. In 0.9 that option does less than request_head_read, and has worse responses. */
enum { REQUEST_HEAD_STRICT = MHD_VERSION >= 0x00097701 };

/*
 * Fill in REQUEST, except peer and begun, in the first call of libmicrohttpd's handler. URI is the
 * request line's, from MHD_OPTION_URI_LOG_CALLBACK; it is the caller's, and is changed. REQUEST
 * uses it and the strings of libmicrohttpd until the request is completed. If the URI is in
 * absolute form, the Host is taken from there (RFC 9112 section 3.2.2).
 *
 * Returns false if the connection must be closed after the response: the bytes that follow could be
 * meant as a part of this request. With 0.9 that is so unless the head has just the size of its
 * parts in their usual form, such as NAME: VALUE.
 */
bool request_head_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                       const char *method, const char *version);

#endif
