#include "mhd_request.h"

#include <microhttpd.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    size_t length; /* of the name */
    size_t offset; /* of the value in struct http_request */
} headers[] = {
#define HEADER(member, text) {(text), sizeof(text) - 1, offsetof(struct http_request, member)},
    HTTP_REQUEST_HEADERS(HEADER)};

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    const size_t length = strlen(name);
    (void)kind;

    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (headers[i].length == length && strcasecmp(headers[i].name, name) == 0)
            *(const char **)((char *)context + headers[i].offset) = value ? value : "";
    return MHD_YES;
}

/* Split URI, which is in absolute form after SCHEME, into Host and the rest. */
static void split_uri(struct http_request *request, char *uri, size_t scheme)
{
    const size_t length = strcspn(uri + scheme, "/?");
    char *rest = uri + scheme + length;

    if (!request->refused && (length == 0 || memchr(uri + scheme, '@', length))) {
        request->refused = 400;
        request->why = "URL: expected http://HOST/...";
    }
    /* The scheme makes room for the end of the host and the path's first slash. */
    memmove(uri, uri + scheme, length);
    uri[length] = '\0';
    if (*rest != '/')
        *--rest = '/';
    request->host = uri;
    request->uri = rest;
}

void mhd_request_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                      const char *method)
{
    static const char scheme[] = "http://";

    MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, request);
    request->method = strcmp(method, "HEAD") == 0      ? HTTP_HEAD
                      : strcmp(method, "OPTIONS") == 0 ? HTTP_OPTIONS
                                                       : HTTP_GET;
    request->verb = method;
    request->uri = uri;
    if (strncasecmp(uri, scheme, sizeof scheme - 1) == 0)
        split_uri(request, uri, sizeof scheme - 1);
}
