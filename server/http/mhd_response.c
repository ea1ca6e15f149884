#include "mhd_response.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>

#include "server/core/clock.h"
#include "server/net/deadlines.h"

/* A source as a libmicrohttpd content reader. Its connection is suspended while it has no bytes. */
struct streamed_body {
    struct http_source source;
    bool sized;
    bool suspended; /* its connection is, until there are bytes */
    bool cut;
    struct MHD_Connection *connection;
    struct deadline *deadline;
    const struct clock *clock;
    const uv_loop_t *loop;
    struct streamed_body **place;
    uint64_t *sent;
};

void streamed_body_bind(struct streamed_body *body, struct MHD_Connection *connection,
                        struct deadline *deadline, const struct clock *clock, const uv_loop_t *loop,
                        struct streamed_body **place, uint64_t *sent)
{
    body->connection = connection;
    body->deadline = deadline;
    body->clock = clock;
    body->loop = loop;
    body->place = place;
    body->sent = sent;
    *place = body;
}

/* In HTTP/1.0 a body of unknown length ends with the connection, so only a reset tells the client
 * that it is incomplete. */
static ssize_t cut_off(const struct streamed_body *body)
{
    if (!body->sized)
        deadline_reset(body->deadline);
    return MHD_CONTENT_READER_END_WITH_ERROR;
}

static ssize_t read_body(void *context, uint64_t position, char *out, size_t max)
{
    struct streamed_body *body = context;

    if (body->cut)
        return cut_off(body);
    deadline_advance(body->deadline, (size_t)(position - *body->sent),
                     clock_loop_ms(body->clock, body->loop));
    *body->sent = position; /* libmicrohttpd asks when all before has been sent */
    ssize_t count = body->source.read(body->source.context, out, max);
    if (count == UV_EOF && !body->sized)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0)
        return cut_off(body);
    if (count == 0) {
        body->suspended = true;
        deadline_wait(body->deadline, clock_loop_ms(body->clock, body->loop));
        MHD_suspend_connection(body->connection);
    }
    return count;
}

bool streamed_body_wake(struct streamed_body *body)
{
    if (!body->suspended)
        return false;
    body->suspended = false;
    deadline_resume(body->deadline, clock_loop_ms(body->clock, body->loop));
    MHD_resume_connection(body->connection);
    return true;
}

bool streamed_body_cut(struct streamed_body *body)
{
    body->cut = true;
    return streamed_body_wake(body);
}

static void free_body(void *context)
{
    struct streamed_body *body = context;
    if (body->place)
        *body->place = NULL;
    body->source.done(body->source.context);
    free(body);
}

static void release_body(void *blob)
{
    blob_release(blob);
}

static ssize_t no_body(void *context, uint64_t position, char *buffer, size_t max)
{
    (void)context, (void)position, (void)buffer, (void)max;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *from_blob(const struct http_response *response)
{
    struct MHD_Response *made = MHD_create_response_from_buffer_with_free_callback_cls(
        http_body_length(response), response->body->bytes + response->first, release_body,
        blob_hold(response->body));
    if (!made)
        blob_release(response->body);
    return made;
}

static struct MHD_Response *from_source(const struct http_response *response,
                                        struct streamed_body **body)
{
    const bool sized = response->length >= 0;
    *body = malloc(sizeof **body);
    if (!*body) {
        response->source->done(response->source->context);
        return NULL;
    }
    **body = (struct streamed_body){.source = *response->source, .sized = sized};
    struct MHD_Response *made =
        MHD_create_response_from_callback(sized ? (uint64_t)response->length : MHD_SIZE_UNKNOWN,
                                          HTTP_SOURCE_BUFFER, read_body, *body, free_body);
    if (!made)
        free_body(*body);
    return made;
}

static struct MHD_Response *from_length(uint64_t length)
{
    return MHD_create_response_from_callback(length, 1024, no_body, NULL, NULL);
}

/*
 * For a 304, and for HEAD if the length is unknown. 0.9 adds Content-Length: 0 to a 304, which is
 * harmless: with the true length some clients would wait for a body. In response to HEAD it would
 * send the last chunk of a body, unless the connection closes, as with this option.
 */
static struct MHD_Response *without_length(bool head)
{
    struct MHD_Response *made;

#if MHD_VERSION >= 0x00097701
    made = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    const enum MHD_ResponseFlags flag = MHD_RF_HEAD_ONLY_RESPONSE;
    (void)head;
#else
    made = head ? from_length(MHD_SIZE_UNKNOWN)
                : MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    const enum MHD_ResponseFlags flag = head ? MHD_RF_HTTP_1_0_COMPATIBLE_STRICT : MHD_RF_NONE;
#endif
    if (made)
        MHD_set_response_options(made, flag, MHD_OPTION_END);
    return made;
}

/* For HEAD, if there is no body to take the length from; negative: it is unknown. */
static struct MHD_Response *for_head(int64_t length)
{
    return length < 0 ? without_length(true) : from_length((uint64_t)length);
}

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

int mhd_response_make(struct mhd_response *out, const struct http_response *response, bool head,
                      bool closes)
{
    struct MHD_Response *made;
    struct streamed_body *body = NULL;

    if (response->source && head) {
        response->source->done(response->source->context);
        made = for_head(response->length);
    } else if (response->source)
        made = from_source(response, &body);
    else if (response->body)
        made = from_blob(response);
    else if (head && response->status == MHD_HTTP_OK)
        made = for_head(response->length);
    else if (response->status == MHD_HTTP_NOT_MODIFIED)
        made = without_length(false);
    else
        made = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!made)
        return -ENOMEM;
    bool complete =
        !response->type || add_header(made, MHD_HTTP_HEADER_CONTENT_TYPE, response->type);
    for (int i = 0; i < response->header_count && complete; i++)
        complete = add_header(made, response->headers[i].name, response->headers[i].value);
    if (closes && complete)
        complete = add_header(made, MHD_HTTP_HEADER_CONNECTION, "close");
    if (!complete) {
        MHD_destroy_response(made);
        return -ENOMEM;
    }
    *out = (struct mhd_response){.response = made,
                                 .status = response->status,
                                 .length = http_body_length(response),
                                 .blob = response->body,
                                 .body = body};
    return 0;
}

static void update(struct http_date *date)
{
    const struct timespec now = clock_of_day_coarse();
    struct tm utc;

    if (now.tv_sec == date->second)
        return;
    date->second = now.tv_sec;
    gmtime_r(&now.tv_sec, &utc);
    /* The names are English: no locale is ever set. */
    strftime(date->text, sizeof date->text, "%a, %d %b %Y %H:%M:%S GMT", &utc);
}

void mhd_response_date(struct mhd_response *response, struct http_date *date)
{
    update(date);
    if (response->dated != date->second &&
        add_header(response->response, MHD_HTTP_HEADER_DATE, date->text))
        response->dated = date->second;
}

void mhd_response_drop(struct mhd_response *response)
{
    if (response->response)
        MHD_destroy_response(response->response);
    response->response = NULL;
}
