#include "streamed_body.h"

#include <microhttpd.h>
#include <stdlib.h>

struct streamed_body {
    struct http_source source;
    bool sized;
    bool suspended; /* its connection is, until there are bytes */
    bool cut;
    struct MHD_Connection *connection;
    struct deadline *deadline;
    const uv_loop_t *loop;
    struct streamed_body **place;
    uint64_t *sent;
};

struct streamed_body *streamed_body_new(const struct http_source *source, bool sized)
{
    struct streamed_body *body = calloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->source = *source;
    body->sized = sized;
    return body;
}

void streamed_body_bind(struct streamed_body *body, struct MHD_Connection *connection,
                        struct deadline *deadline, const uv_loop_t *loop,
                        struct streamed_body **place, uint64_t *sent)
{
    body->connection = connection;
    body->deadline = deadline;
    body->loop = loop;
    body->place = place;
    body->sent = sent;
    *place = body;
}

/*
 * In HTTP/1.0 a body of unknown length ends with the connection, so only a reset tells the client
 * that it is incomplete. Connecting to AF_UNSPEC resets, and discards unsent bytes (tcp(7)).
 */
static void reset(int fd)
{
    const struct sockaddr unspecified = {.sa_family = AF_UNSPEC};
    (void)connect(fd, &unspecified, sizeof unspecified);
}

static ssize_t cut_off(const struct streamed_body *body)
{
    if (!body->sized)
        reset(body->deadline->fd);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

ssize_t streamed_body_read(void *context, uint64_t position, char *out, size_t max)
{
    struct streamed_body *body = context;

    if (body->cut)
        return cut_off(body);
    deadline_advance(body->deadline, (size_t)(position - *body->sent), uv_now(body->loop));
    *body->sent = position; /* libmicrohttpd asks when all before has been sent */
    ssize_t count = body->source.read(body->source.context, out, max);
    if (count == UV_EOF && !body->sized)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0)
        return cut_off(body);
    if (count == 0) {
        body->suspended = true;
        deadline_wait(body->deadline, uv_now(body->loop));
        MHD_suspend_connection(body->connection);
    }
    return count;
}

bool streamed_body_wake(struct streamed_body *body)
{
    if (!body->suspended)
        return false;
    body->suspended = false;
    deadline_resume(body->deadline, uv_now(body->loop));
    MHD_resume_connection(body->connection);
    return true;
}

bool streamed_body_cut(struct streamed_body *body)
{
    body->cut = true;
    return streamed_body_wake(body);
}

void streamed_body_free(void *context)
{
    struct streamed_body *body = context;
    if (body->place)
        *body->place = NULL;
    body->source.done(body->source.context);
    free(body);
}
