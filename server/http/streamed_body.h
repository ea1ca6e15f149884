/*
 * A body produced while it is sent, as a libmicrohttpd content reader. Its connection is suspended
 * while there are no bytes to send. On the loop's thread.
 */
#ifndef FARLANDS_HTTP_STREAMED_BODY_H
#define FARLANDS_HTTP_STREAMED_BODY_H

#include <uv.h>

#include "server/http/message.h"
#include "server/net/deadlines.h"

struct streamed_body;
struct MHD_Connection; /* microhttpd.h */

/* The most bytes that libmicrohttpd asks for at a time; each response being sent has a buffer of
 * this size. */
enum { STREAMED_BODY_BLOCK = 64 * 1024 };

/* SOURCE is copied; SIZED: its length is known. NULL if out of memory. */
struct streamed_body *streamed_body_new(const struct http_source *source, bool sized);

/* libmicrohttpd's callbacks, with the body as CONTEXT. */
ssize_t streamed_body_read(void *context, uint64_t position, char *out, size_t max);
void streamed_body_free(void *context);

/*
 * Send BODY on CONNECTION of LOOP, with its DEADLINE. *PLACE points to the body until it is freed,
 * then it is NULL. *SENT, which is 0, counts the bytes of the blocks that are sent.
 */
void streamed_body_bind(struct streamed_body *body, struct MHD_Connection *connection,
                        struct deadline *deadline, const uv_loop_t *loop,
                        struct streamed_body **place, uint64_t *sent);

/* There are bytes again. Returns true if the connection was resumed: libmicrohttpd must run. */
bool streamed_body_wake(struct streamed_body *body);

/* Send no more of it and end the connection. Returns as streamed_body_wake does. */
bool streamed_body_cut(struct streamed_body *body);

#endif
