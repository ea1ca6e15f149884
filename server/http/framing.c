#include "framing.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Cookies count twice towards HEAD_MAX: libmicrohttpd stores them whole and in parts. */
enum { URI_MAX = 8 * 1024, HEAD_MAX = 12 * 1024 };

/* The characters of URIs (RFC 3986) and of header names (tchar, RFC 9110 section 5.6.2). */
enum { IN_URI = 1, IN_NAME = 2, IN_BOTH = 3 };

static const uint8_t char_class[256] = {
    ['0' ... '9'] = IN_BOTH, ['A' ... 'Z'] = IN_BOTH, ['a' ... 'z'] = IN_BOTH, ['-'] = IN_BOTH,
    ['.'] = IN_BOTH,         ['_'] = IN_BOTH,         ['~'] = IN_BOTH,         ['!'] = IN_BOTH,
    ['$'] = IN_BOTH,         ['%'] = IN_BOTH,         ['&'] = IN_BOTH,         ['\''] = IN_BOTH,
    ['*'] = IN_BOTH,         ['+'] = IN_BOTH,         [':'] = IN_URI,          ['/'] = IN_URI,
    ['?'] = IN_URI,          ['['] = IN_URI,          [']'] = IN_URI,          ['@'] = IN_URI,
    ['('] = IN_URI,          [')'] = IN_URI,          [','] = IN_URI,          [';'] = IN_URI,
    ['='] = IN_URI,          ['#'] = IN_NAME,         ['^'] = IN_NAME,         ['`'] = IN_NAME,
    ['|'] = IN_NAME,
};

/* True if all characters of TEXT are in CLASS. Sets *LENGTH to the length of TEXT. */
static bool consists_of(const char *text, uint8_t class, size_t *length)
{
    uint8_t common = class;
    const char *at = text;
    for (; *at; at++)
        common &= char_class[(unsigned char)*at];
    *length = (size_t)(at - text);
    return common == class;
}

/* True if TEXT has control characters other than tabs. Sets *LENGTH to the length of TEXT. */
static bool has_control(const char *text, size_t *length)
{
    bool control = false;
    const char *at = text;
    for (; *at; at++)
        control |= ((unsigned char)*at < 32 && *at != '\t') || *at == 127;
    *length = (size_t)(at - text);
    return control;
}

/* The first reason is kept. */
static void refuse(struct framing *framing, unsigned status, const char *why)
{
    framing->close = true;
    if (framing->refused)
        return;
    framing->refused = status;
    framing->why = why;
}

void framing_line(struct framing *framing, const char *method, const char *uri, const char *version)
{
    size_t length;
    const bool proper = consists_of(uri, IN_URI, &length);

    framing->size = strlen(method) + length + strlen(version) + 4; /* two spaces, CRLF */
    framing->host_needed = strcmp(version, "HTTP/1.0") != 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && strcmp(method, "OPTIONS") != 0)
        refuse(framing, 405, "method: expected GET, HEAD or OPTIONS");
    if (length > URI_MAX)
        refuse(framing, 414, "URL: exceeds 8 KiB");
    if (!proper)
        refuse(framing, 400, "URL: invalid character");
}

void framing_header(struct framing *framing, const char *name, const char *value)
{
    size_t name_length, value_length;
    const bool proper = consists_of(name, IN_NAME, &name_length);
    const bool control = has_control(value, &value_length);

    framing->size += name_length + value_length + 4; /* ": " and CRLF */
    if (!*name || !proper || control)
        refuse(framing, 400, "header: invalid character");
    if (strcasecmp(name, "Transfer-Encoding") == 0)
        refuse(framing, 400, "Transfer-Encoding: request bodies are not accepted");
    if (strcasecmp(name, "Content-Length") == 0 && (framing->lengths++ || strcmp(value, "0") != 0))
        refuse(framing, 400, "Content-Length: request bodies are not accepted");
    /* libmicrohttpd 0.9.75 takes requests pipelined behind this one for its body, and then sends
     * no response. */
    if (strcasecmp(name, "Expect") == 0)
        refuse(framing, 417, "Expect: request bodies are not accepted");
    if (strcasecmp(name, "Host") == 0 && framing->hosts++)
        refuse(framing, 400, "Host: given twice");
    if (strcasecmp(name, "Cookie") == 0)
        framing->cookies += value_length;
}

void framing_end(struct framing *framing, size_t received)
{
    size_t parsed = framing->size + 2; /* the empty line */
    size_t difference = received > parsed ? received - parsed : parsed - received;

    if (framing->hosts == 0 && framing->host_needed)
        refuse(framing, 400, "Host: missing");
    if (received + framing->cookies > HEAD_MAX)
        refuse(framing, 431, "request line and headers, with cookies counted twice, exceed 12 KiB");
    /* libmicrohttpd tolerates folded lines, bare line feeds and NULs, which a proxy may have read
     * differently. They show in the size: the parsed head is then longer or shorter than the
     * received one. A difference of up to two bytes can be harmless spaces: the request is served,
     * but no other is read from its connection. */
    if (difference > 0)
        framing->close = true;
    if (difference >= 3)
        refuse(framing, 400, "header: folded, or invalid character");
}

/* The headers that struct http_request has. */
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

static enum MHD_Result on_header(void *context, enum MHD_ValueKind kind, const char *name,
                                 const char *value)
{
    struct framing *framing = context;
    const size_t length = strlen(name);
    (void)kind;

    if (!value)
        value = "";
    framing_header(framing, name, value);
    for (size_t i = 0; i < sizeof wanted_headers / sizeof wanted_headers[0]; i++)
        if (wanted_headers[i].length == length && strcasecmp(wanted_headers[i].name, name) == 0)
            *(const char **)((char *)framing->request + wanted_headers[i].offset) = value;
    return MHD_YES;
}

bool framing_read(struct http_request *request, struct MHD_Connection *connection, const char *uri,
                  const char *method, const char *version)
{
    struct framing framing = {.request = request};

    framing_line(&framing, method, uri, version);
    MHD_get_connection_values(connection, MHD_HEADER_KIND, on_header, &framing);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    framing_end(&framing, info ? info->header_size : 0);
    request->method = strcmp(method, "HEAD") == 0      ? HTTP_HEAD
                      : strcmp(method, "OPTIONS") == 0 ? HTTP_OPTIONS
                                                       : HTTP_GET;
    request->verb = method;
    request->uri = uri;
    request->refused = framing.refused;
    request->why = framing.why;
    return framing.close;
}
