#include "request_head.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "server/http/framing.h"

static const struct {
    const char *name;
    size_t length; /* of the name */
    size_t offset; /* of the value in struct http_request */
} wanted_headers[] = {
#define WANTED(name, member)                                            \
    {                                                                   \
        (name), sizeof(name) - 1, offsetof(struct http_request, member) \
    }
    WANTED("Host", host),
    WANTED("Accept-Encoding", accept_encoding),
    WANTED("If-Match", if_match),
    WANTED("If-None-Match", if_none_match),
    WANTED("If-Range", if_range),
    WANTED("Range", range),
    WANTED("Priority", priority),
    WANTED("Referer", referer),
    WANTED("User-Agent", user_agent),
    WANTED("X-Forwarded-For", forwarded_for),
    WANTED("X-Forwarded-Host", forwarded_host),
    WANTED("X-Forwarded-Prefix", forwarded_prefix),
    WANTED("X-Forwarded-Proto", forwarded_proto),
};

struct head {
    struct framing framing;
    struct http_request *request;
};

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct head *head = context;
    const size_t length = strlen(name);
    (void)kind;

    if (!value)
        value = "";
    framing_header(&head->framing, name, value);
    for (size_t i = 0; i < sizeof wanted_headers / sizeof wanted_headers[0]; i++)
        if (wanted_headers[i].length == length && strcasecmp(wanted_headers[i].name, name) == 0)
            *(const char **)((char *)head->request + wanted_headers[i].offset) = value;
    return MHD_YES;
}

bool request_head_read(struct http_request *request, struct MHD_Connection *connection,
                       const char *uri, const char *method, const char *version)
{
    struct head head = {.request = request};

    framing_line(&head.framing, method, uri, version);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &head);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    framing_end(&head.framing, info ? info->header_size : 0);
    request->method = strcmp(method, "HEAD") == 0      ? HTTP_HEAD
                      : strcmp(method, "OPTIONS") == 0 ? HTTP_OPTIONS
                                                       : HTTP_GET;
    request->verb = method;
    request->uri = uri;
    request->refused = head.framing.refused;
    request->why = head.framing.why;
    return head.framing.close;
}
