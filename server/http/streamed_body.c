#include "streamed_body.h"

#include <microhttpd.h>
#include <stdlib.h>

struct streamed_body {
    struct http_source source;
    bool sized;
    bool waits; /* its connection is suspended */
    bool cut;
    size_t block; /* bytes that were given last: they have been taken when more are asked for */
    struct MHD_Connection *connection;
    struct deadline *deadline;
    const uv_loop_t *loop;
    struct streamed_body **place;
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
                        struct streamed_body **place)
{
    body->connection = connection;
    body->deadline = deadline;
    body->loop = loop;
    body->place = place;
    *place = body;
}

/*
 * The end of a body without a length, as HTTP/1.0 has it, is the connection's. That it is not
 * there yet only a reset tells, which takes what is unsent along (tcp(7): connecting to nowhere).
 */
static void reset(int fd)
{
    const struct sockaddr nowhere = {.sa_family = AF_UNSPEC};
    (void)connect(fd, &nowhere, sizeof nowhere);
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
    (void)position;

    if (body->cut)
        return cut_off(body);
    deadline_advance(body->deadline, body->block, uv_now(body->loop));
    ssize_t count = body->source.read(body->source.context, out, max);
    if (count == UV_EOF && !body->sized)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0)
        return cut_off(body);
    body->block = (size_t)count;
    if (count == 0) {
        body->waits = true;
        deadline_wait(body->deadline, uv_now(body->loop));
        MHD_suspend_connection(body->connection);
    }
    return count;
}

bool streamed_body_wake(struct streamed_body *body)
{
    if (!body->waits)
        return false;
    body->waits = false;
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
