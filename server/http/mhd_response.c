#include "mhd_response.h"

#include <assert.h>
#include <errno.h>
#include <microhttpd.h>

#include "server/core/clock.h"
#include "server/http/exchange.h"

/* libmicrohttpd asks for the next block when everything before POSITION has been sent. */
static ssize_t read_source(void *context, uint64_t position, char *out, size_t max)
{
    struct http_exchange *exchange = context;
    const bool sized = exchange->response.length > 0;

    deadline_advance(&exchange->deadline, (size_t)(position - exchange->sent));
    exchange->sent = position;
    const ssize_t count = exchange->source.read(exchange->source.context, out, max);
    if (count == UV_EOF && !sized)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (count < 0) {
        if (!sized) /* nothing else tells an HTTP/1.0 client that the body is incomplete */
            socket_reset(exchange->deadline.fd);
        return MHD_CONTENT_READER_END_WITH_ERROR;
    }
    if (count == 0) { /* until http_wake */
        deadline_wait(&exchange->deadline);
        MHD_suspend_connection(exchange->mhd);
    }
    return count;
}

static void free_source(void *context)
{
    struct http_exchange *exchange = context;
    const struct http_source source = exchange->source;

    exchange->source = (struct http_source){.read = NULL};
    source.done(source.context);
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
                                        struct http_exchange *exchange)
{
    assert(exchange && !exchange->source.read);
    exchange->source = *response->source;
    struct MHD_Response *made = MHD_create_response_from_callback(
        response->length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)response->length, HTTP_SOURCE_BUFFER,
        read_source, exchange, free_source);
    if (!made)
        free_source(exchange);
    return made;
}

static struct MHD_Response *from_length(uint64_t length)
{
    return MHD_create_response_from_callback(length, 1024, no_body, NULL, NULL);
}

/*
 * For a 304, and for HEAD if the length is unknown. 0.9 adds Content-Length: 0 to a 304, which is
 * harmless: with the true length some clients would wait for a body. For HEAD it would send a
 * body's last chunk; with this option the connection closes instead.
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

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

static struct MHD_Response *make_body(const struct http_response *response,
                                      struct http_exchange *exchange)
{
    const bool head = exchange && exchange->request.method == HTTP_HEAD;

    if (response->source && !head)
        return from_source(response, exchange);
    if (response->source)
        response->source->done(response->source->context);
    else if (response->body)
        return from_blob(response);
    if (head && (response->source || response->status == MHD_HTTP_OK))
        return response->length < 0 ? without_length(true)
                                    : from_length((uint64_t)response->length);
    if (response->status == MHD_HTTP_NOT_MODIFIED)
        return without_length(false);
    return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
}

static bool add_headers(struct MHD_Response *made, const struct http_response *response,
                        bool closes)
{
    if (response->type && !add_header(made, MHD_HTTP_HEADER_CONTENT_TYPE, response->type))
        return false;
    for (int i = 0; i < response->header_count; i++)
        if (!add_header(made, response->headers[i].name, response->headers[i].value))
            return false;
    return !closes || add_header(made, MHD_HTTP_HEADER_CONNECTION, "close");
}

int mhd_response_make(struct mhd_response *out, const struct http_response *response,
                      struct http_exchange *exchange)
{
    struct MHD_Response *made = make_body(response, exchange);

    *out = (struct mhd_response){
        .status = response->status, .length = http_body_length(response), .blob = response->body};
    if (!made)
        return -ENOMEM;
    if (!add_headers(made, response, exchange && http_closes(exchange))) {
        MHD_destroy_response(made);
        return -ENOMEM;
    }
    out->response = made;
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
