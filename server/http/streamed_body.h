/*
 * A body that is made while it is sent, as libmicrohttpd asks for it: its connection is suspended
 * while there is nothing to send. On the loop's thread.
 */
#ifndef FARLANDS_HTTP_STREAMED_BODY_H
#define FARLANDS_HTTP_STREAMED_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "server/http/http.h"
#include "server/net/deadlines.h"

struct body;
struct MHD_Connection; /* microhttpd.h */

/* What asks for bytes of it at a time. Each response being sent has as many. */
enum { BODY_BLOCK = 64 * 1024 };

/* From SOURCE, which is copied; SIZED says that its length is known. NULL where memory is out. */
struct body *body_new(const struct http_source *source, bool sized);

/* What libmicrohttpd calls, with the body as context: for bytes, and at the end. */
ssize_t body_read(void *context, uint64_t position, char *out, size_t max);
void body_free(void *context);

/* BODY answers on CONNECTION of LOOP, which is LINK. It is known as *PLACE until it is freed, then
 * NULL. */
void body_bind(struct body *body, struct MHD_Connection *connection, struct link *link,
               const uv_loop_t *loop, struct body **place);

/* There are bytes again. Returns whether the connection was resumed, so that libmicrohttpd must
 * run. */
bool body_wake(struct body *body);

/* Send no more of it, and end the connection. Returns as body_wake does. */
bool body_cut(struct body *body);

#endif
