/*
 * The head of a request, as libmicrohttpd has parsed it. Refuses all that this server and a proxy
 * in front of it could read in two ways (request smuggling), and all bodies, which no URL here
 * needs.
 *
 * libmicrohttpd 1.0 refuses most of that by itself. 0.9 takes a bare line feed for the end of a
 * line, appends a folded line to the name before it, and cuts values off at a NUL. The parts that
 * it gives point into the head as it arrived: if they do not follow each other there, something
 * else is between them, and the request is refused.
 */
#ifndef FARLANDS_HTTP_REQUEST_HEAD_H
#define FARLANDS_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "server/http/message.h"

struct MHD_Connection;

/* The value of MHD_OPTION_STRICT_FOR_CLIENT: true if libmicrohttpd refuses heads with more than one
 * reading. In 0.9 that option does less than request_head_read, and has worse responses. */
bool request_head_strict(void);

/*
 * Fill in REQUEST, except peer and begun, in the first call of libmicrohttpd's handler, with its
 * URL, METHOD and VERSION. URI is the request line's, from MHD_OPTION_URI_LOG_CALLBACK; it is the
 * caller's, and is changed. REQUEST uses it and the strings of libmicrohttpd until the request is
 * completed. If the URI is in absolute form, the Host is taken from there (RFC 9112 section 3.2.2).
 * Returns the number of bytes of the head.
 */
size_t request_head_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                         const char *url, const char *method, const char *version);

/* Free what REQUEST owns: lists in several lines. */
void request_head_free(struct http_request *request);

#endif
