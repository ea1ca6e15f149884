/*
 * A body that is made while it is sent, as libmicrohttpd asks for it: its connection is suspended
 * while there is nothing to send. On the loop's thread.
 */
#ifndef FARLANDS_HTTP_STREAMED_BODY_H
#define FARLANDS_HTTP_STREAMED_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uv.h>

#include "server/http/message.h"
#include "server/net/deadlines.h"

struct streamed_body;
struct MHD_Connection; /* microhttpd.h */

/* What asks for bytes of it at a time. Each response being sent has as many. */
enum { STREAMED_BODY_BLOCK = 64 * 1024 };

/* From SOURCE, which is copied; SIZED says that its length is known. NULL where memory is out. */
struct streamed_body *streamed_body_new(const struct http_source *source, bool sized);

/* What libmicrohttpd calls, with the body as context: for bytes, and at the end. */
ssize_t streamed_body_read(void *context, uint64_t position, char *out, size_t max);
void streamed_body_free(void *context);

/* BODY answers on CONNECTION of LOOP, which is DEADLINE. It is known as *PLACE until it is freed,
 * then NULL. */
void streamed_body_bind(struct streamed_body *body, struct MHD_Connection *connection,
                        struct deadline *deadline, const uv_loop_t *loop,
                        struct streamed_body **place);

/* There are bytes again. Returns whether the connection was resumed, so that libmicrohttpd must
 * run. */
bool streamed_body_wake(struct streamed_body *body);

/* Send no more of it, and end the connection. Returns as streamed_body_wake does. */
bool streamed_body_cut(struct streamed_body *body);

#endif
