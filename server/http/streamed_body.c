#include "streamed_body.h"

#include <microhttpd.h>
#include <stdlib.h>

struct body {
    struct http_source source;
    bool sized;
    bool waits; /* its connection is suspended */
    bool cut;
    size_t block; /* bytes that were given last: they have been taken when more are asked for */
    struct MHD_Connection *connection;
    struct link *link;
    const uv_loop_t *loop;
    struct body **place;
};

struct body *body_new(const struct http_source *source, bool sized)
{
    struct body *body = calloc(1, sizeof *body);
    if (!body)
        return NULL;
    body->source = *source;
    body->sized = sized;
    return body;
}

void body_bind(struct body *body, struct MHD_Connection *connection, struct link *link,
               const uv_loop_t *loop, struct body **place)
{
    body->connection = connection;
    body->link = link;
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

static ssize_t cut_off(const struct body *body)
{
    if (!body->sized)
        reset(body->link->fd);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

ssize_t body_read(void *context, uint64_t position, char *out, size_t max)
{
    struct body *body = context;
    (void)position;

    if (body->cut)
        return cut_off(body);
    link_advance(body->link, body->block, uv_now(body->loop));
    ssize_t count = body->source.read(body->source.context, out, max);
    if (count == UV_EOF && !body->sized)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0)
        return cut_off(body);
    body->block = (size_t)count;
    if (count == 0) {
        body->waits = true;
        link_wait(body->link, uv_now(body->loop));
        MHD_suspend_connection(body->connection);
    }
    return count;
}

bool body_wake(struct body *body)
{
    if (!body->waits)
        return false;
    body->waits = false;
    link_go_on(body->link, uv_now(body->loop));
    MHD_resume_connection(body->connection);
    return true;
}

bool body_cut(struct body *body)
{
    body->cut = true;
    return body_wake(body);
}

void body_free(void *context)
{
    struct body *body = context;
    if (body->place)
        *body->place = NULL;
    body->source.done(body->source.context);
    free(body);
}
