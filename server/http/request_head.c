#include "request_head.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "server/core/span.h"
#include "server/http/url_escapes.h"

enum { URI_MAX = 8 * 1024, HEAD_MAX = 12 * 1024 };

/* The characters in URIs (RFC 3986) and tokens (RFC 9110 section 5.6.2). */
enum { IN_URI = 1, IN_TOKEN = 2, IN_BOTH = 3 };

static const uint8_t char_class[256] = {
    ['0' ... '9'] = IN_BOTH, ['A' ... 'Z'] = IN_BOTH, ['a' ... 'z'] = IN_BOTH, ['-'] = IN_BOTH,
    ['.'] = IN_BOTH,         ['_'] = IN_BOTH,         ['~'] = IN_BOTH,         ['!'] = IN_BOTH,
    ['$'] = IN_BOTH,         ['%'] = IN_BOTH,         ['&'] = IN_BOTH,         ['\''] = IN_BOTH,
    ['*'] = IN_BOTH,         ['+'] = IN_BOTH,         [':'] = IN_URI,          ['/'] = IN_URI,
    ['?'] = IN_URI,          ['['] = IN_URI,          [']'] = IN_URI,          ['@'] = IN_URI,
    ['('] = IN_URI,          [')'] = IN_URI,          [','] = IN_URI,          [';'] = IN_URI,
    ['='] = IN_URI,          ['#'] = IN_TOKEN,        ['^'] = IN_TOKEN,        ['`'] = IN_TOKEN,
    ['|'] = IN_TOKEN,
};

/* True if TEXT is not empty and all characters are in CLASS. */
static bool consists_of(struct span text, uint8_t class)
{
    uint8_t common = class;
    for (size_t i = 0; i < text.length; i++)
        common &= char_class[(unsigned char)text.text[i]];
    return text.length > 0 && common == class;
}

/* True if TEXT has control characters other than tabs. */
static bool has_control(struct span text)
{
    uint8_t control = 0; /* without branches, for the compiler's vectors */
    for (size_t i = 0; i < text.length; i++) {
        const uint8_t c = (uint8_t)text.text[i];
        control |= (uint8_t)((c < 32) & (c != '\t')) | (uint8_t)(c == 127);
    }
    return control != 0;
}

static struct span trim(struct span text)
{
    while (text.length > 0 && (*text.text == ' ' || *text.text == '\t')) {
        text.text++;
        text.length--;
    }
    while (text.length > 0 &&
           (text.text[text.length - 1] == ' ' || text.text[text.length - 1] == '\t'))
        text.length--;
    return text;
}

/* A head that is being read. */
struct head {
    struct http_request *request;
    unsigned hosts, lengths; /* Host and Content-Length headers so far */
    bool close, keep_alive;  /* in Connection */
    const char *next;        /* where the next part must be, behind the last one's CRLF */
    bool gap;                /* a part was elsewhere */
};

/* The first reason is kept. */
static void refuse(struct http_request *request, unsigned status, const char *why)
{
    if (request->refused)
        return;
    request->refused = status;
    request->why = why;
}

static void read_connection(struct head *head, struct span options)
{
    while (options.length > 0) {
        const struct span option = trim(span_take(&options, ','));
        head->close |= span_is_in_any_case(option, "close");
        head->keep_alive |= span_is_in_any_case(option, "keep-alive");
    }
}

static void judge_header(struct head *head, struct span name, struct span value)
{
    struct http_request *request = head->request;

    if (!consists_of(name, IN_TOKEN) || has_control(value))
        refuse(request, 400, "header: folded, or invalid character");
    else if (span_is_in_any_case(name, "Transfer-Encoding"))
        refuse(request, 400, "Transfer-Encoding: request bodies are not accepted");
    else if (span_is_in_any_case(name, "Content-Length") &&
             (head->lengths++ || !span_is(value, "0")))
        refuse(request, 400, "Content-Length: request bodies are not accepted");
    else if (span_is_in_any_case(name, "Expect"))
        refuse(request, 417, "Expect: request bodies are not accepted");
    else if (span_is_in_any_case(name, "Host") && head->hosts++)
        refuse(request, 400, "Host: given twice");
    else if (span_is_in_any_case(name, "Connection"))
        read_connection(head, value);
}

static const struct {
    struct span name;
    size_t offset; /* where struct http_request has the value */
} headers[] = {
#define HEADER(member, name) {{(name), sizeof(name) - 1}, offsetof(struct http_request, member)},
    HTTP_REQUEST_HEADERS(HEADER)};

/* The headers whose lines are one list (RFC 9110, section 5.3). */
static const size_t lists[HTTP_REQUEST_LISTS] = {offsetof(struct http_request, accept_encoding),
                                                 offsetof(struct http_request, if_match),
                                                 offsetof(struct http_request, if_none_match)};

/* Append VALUE to the list *PLACE, if any. Returns the list; VALUE alone if out of memory. */
static const char *append(struct http_request *request, const char **place, const char *value)
{
    for (int i = 0; i < HTTP_REQUEST_LISTS && *place; i++) {
        if ((size_t)((char *)place - (char *)request) != lists[i])
            continue;
        const size_t before = strlen(*place), size = before + strlen(", ") + strlen(value) + 1;
        const bool owned = *place == request->joined[i];
        char *list = realloc(request->joined[i], size);
        if (!list)
            return value;
        request->joined[i] = list;
        if (!owned)
            memcpy(list, *place, before);
        stpcpy(stpcpy(list + before, ", "), value);
        return list;
    }
    return value;
}

void request_head_free(struct http_request *request)
{
    for (int i = 0; i < HTTP_REQUEST_LISTS; i++) {
        free(request->joined[i]);
        request->joined[i] = NULL;
    }
}

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 size_t name_length, const char *value, size_t length)
{
    struct head *head = context;
    const struct span named = {name, name_length};
    (void)kind;

    head->gap |= name != head->next;
    head->next = value + length + strlen("\r\n");
    judge_header(head, named, (struct span){value, length});
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (headers[i].name.length == name_length &&
            strncasecmp(headers[i].name.text, name, name_length) == 0) {
            const char **place = (const char **)((char *)head->request + headers[i].offset);
            *place = append(head->request, place, value);
        }
    return MHD_YES;
}

/* The length of the scheme with slashes if URI is in absolute form, or 0. */
static size_t scheme_length(const char *uri)
{
    static const char scheme[] = "http://";
    return strncasecmp(uri, scheme, sizeof scheme - 1) == 0 ? sizeof scheme - 1 : 0;
}

/* Split URI, in absolute form, into Host and the rest. User names are not allowed (RFC 9110 section
 * 4.2.4). */
static void split_uri(struct http_request *request, char *uri, size_t scheme)
{
    const size_t length = strcspn(uri + scheme, "/?");
    char *rest = uri + scheme + length;

    if (length == 0 || memchr(uri + scheme, '@', length)) {
        refuse(request, 400, "URL: expected http://HOST/...");
        return;
    }
    /* The scheme makes room for the host's end and the path's first slash. */
    memmove(uri, uri + scheme, length);
    uri[length] = '\0';
    if (*rest != '/')
        *--rest = '/';
    request->host = uri;
    request->uri = rest;
}

/* URI has LENGTH characters. */
static void read_line(struct http_request *request, char *uri, size_t length, struct span method)
{
    const bool is_uri = consists_of((struct span){uri, length}, IN_URI);

    request->uri = is_uri ? uri : "-";
    request->verb = method.text;
    if (span_is(method, "GET")) {
        request->method = HTTP_GET;
    } else if (span_is(method, "HEAD")) {
        request->method = HTTP_HEAD;
    } else if (span_is(method, "OPTIONS")) {
        request->method = HTTP_OPTIONS;
    } else if (consists_of(method, IN_TOKEN)) {
        refuse(request, 405, "method: expected GET, HEAD or OPTIONS");
    } else {
        request->verb = "-";
        refuse(request, 400, "method: expected GET, HEAD or OPTIONS");
    }
    if (!is_uri)
        refuse(request, 400, "URL: invalid character");
    else if (length > URI_MAX)
        refuse(request, 414, "URL: exceeds 8 KiB");
}

bool request_head_strict(void)
{
    return MHD_get_version()[0] != '0';
}

static bool is_blank(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at == end;
}

size_t request_head_read(struct http_request *request, struct MHD_Connection *connection, char *uri,
                         const char *url, const char *method, const char *version)
{
    struct head head = {.request = request};
    const struct span named = {method, strlen(method)};
    const size_t length = strlen(uri), scheme = scheme_length(uri);
    const size_t size =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;

    request->old = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
    read_line(request, uri, length, named);
    head.gap = url != method + named.length + 1 || version != url + length + 1;
    head.next = version + strlen("HTTP/1.1\r\n");
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_header, &head);
    head.gap |= method + size != head.next + strlen("\r\n");
    if (head.hosts == 0 && !request->old)
        refuse(request, 400, "Host: missing");
    if (size > HEAD_MAX)
        refuse(request, 431, "request line and headers: exceed 12 KiB");
    if (head.gap && !request_head_strict()) {
        refuse(request, 400, "head: folded line, line without CRLF, space or NUL");
        if (!is_blank(method + named.length + 1, url)) /* nor does libmicrohttpd take it for HEAD */
            request->method = HTTP_GET;
    }
    if (request->uri == uri) {
        if (scheme > 0)
            split_uri(request, uri, scheme);
        request->decoded = url_escapes_decode((char *)request->uri);
    }
    request->last = head.close || (request->old && !head.keep_alive);
    return size;
}
