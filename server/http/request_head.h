/*
 * A request's head, as libmicrohttpd has parsed it. Refuses a head that this server and a proxy in
 * front of it might read differently (request smuggling), and all bodies, because no URL here needs
 * one.
 *
 * libmicrohttpd 1.0 refuses most such heads by itself. Version 0.9 takes a bare line feed for a
 * line's end, appends a folded line to the name before it, and cuts values off at a NUL. Names and
 * values point into the head as it arrived. If they do not follow each other there, something else
 * is between them, and the request is refused.
 */
#ifndef FARLANDS_HTTP_REQUEST_HEAD_H
#define FARLANDS_HTTP_REQUEST_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "server/http/message.h"

struct MHD_Connection;

/* The value for MHD_OPTION_STRICT_FOR_CLIENT: true if libmicrohttpd is to refuse ambiguous heads.
 * In 0.9 that option does less than request_head_read, and has worse responses. */
bool request_head_strict(void);

/*
 * Fill in REQUEST, except peer and begun, when libmicrohttpd first calls its handler with URL,
 * METHOD and VERSION. URI is the request line's, from MHD_OPTION_URI_LOG_CALLBACK: the caller owns
 * it, and it is changed. REQUEST uses URI and libmicrohttpd's strings until the request is
 * completed. A URI in absolute form names the Host (RFC 9112 section 3.2.2). Returns the head's
 * length in bytes.
 */
size_t request_head_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                         const char *url, const char *method, const char *version);

/* Free JOINED, the lists that came in several lines. */
void request_head_free(struct http_request *request);

#endif
