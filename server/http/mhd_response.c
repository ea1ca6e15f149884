#include "mhd_response.h"

#include <errno.h>
#include <microhttpd.h>

#include "server/http/streamed_body.h"

static void release_body(void *blob)
{
    blob_release(blob);
}

static ssize_t no_body(void *context, uint64_t position, char *buffer, size_t max)
{
    (void)context, (void)position, (void)buffer, (void)max;
    return MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *with_body(const struct http_response *answer)
{
    struct MHD_Response *response = MHD_create_response_from_buffer_with_free_callback_cls(
        http_body_length(answer), answer->body->bytes + answer->first, release_body,
        blob_hold(answer->body));
    if (!response)
        blob_release(answer->body);
    return response;
}

static struct MHD_Response *with_source(const struct http_response *answer,
                                        struct streamed_body **body)
{
    const bool sized = answer->length >= 0;
    *body = streamed_body_new(answer->source, sized);
    if (!*body) {
        answer->source->done(answer->source->context);
        return NULL;
    }
    struct MHD_Response *response = MHD_create_response_from_callback(
        sized ? (uint64_t)answer->length : MHD_SIZE_UNKNOWN, STREAMED_BODY_BLOCK,
        streamed_body_read, *body, streamed_body_free);
    if (!response)
        streamed_body_free(*body);
    return response;
}

/* To HEAD, where the body is not there. */
static struct MHD_Response *with_length(int64_t length)
{
    struct MHD_Response *response = MHD_create_response_from_callback(
        length < 0 ? MHD_SIZE_UNKNOWN : (uint64_t)length, 1024, no_body, NULL, NULL);
    /* Of an unknown length libmicrohttpd would send the end of a chunked body even for HEAD; like
     * this it says nothing, and closes. */
    if (response && length < 0)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_OPTION_END);
    return response;
}

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

int mhd_response_make(struct mhd_response *out, const struct http_response *answer, bool head,
                      bool closes)
{
    struct MHD_Response *response;
    struct streamed_body *body = NULL;

    if (answer->source && head) {
        answer->source->done(answer->source->context);
        response = with_length(answer->length);
    } else if (answer->source)
        response = with_source(answer, &body);
    else if (answer->body)
        response = with_body(answer);
    else if (head && answer->status == MHD_HTTP_OK)
        response = with_length(answer->length);
    else /* A 304 then says Content-Length: 0. Leaving it out needs a newer libmicrohttpd, and with
            the true length some clients wait for a body. */
        response = MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    if (!response)
        return -ENOMEM;
    bool whole = !answer->type || add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->type);
    for (int i = 0; i < answer->header_count; i++)
        whole = add_header(response, answer->headers[i].name, answer->headers[i].value) && whole;
    if (closes)
        whole = add_header(response, MHD_HTTP_HEADER_CONNECTION, "close") && whole;
    if (!whole) {
        MHD_destroy_response(response);
        return -ENOMEM;
    }
    *out = (struct mhd_response){.response = response,
                                 .status = answer->status,
                                 .length = http_body_length(answer),
                                 .body = body};
    return 0;
}

static void update(struct http_date *date)
{
    struct timespec now;
    struct tm utc;

    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    if (now.tv_sec == date->second)
        return;
    date->second = now.tv_sec;
    gmtime_r(&now.tv_sec, &utc);
    /* Names in English, whatever the locale: it is never set. */
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
