#include "framing.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

/* Cookies count twice: libmicrohttpd keeps them as they came, and cut up. */
enum { URI_MAX = 8 * 1024, HEAD_MAX = 12 * 1024 };

/* What a byte may be part of: a URI (RFC 3986), or a header's name (tchar, RFC 9110 section 5.6.2).
 */
enum { IN_URI = 1, IN_NAME = 2, IN_BOTH = 3 };

static const uint8_t part_of[256] = {
    ['0' ... '9'] = IN_BOTH, ['A' ... 'Z'] = IN_BOTH, ['a' ... 'z'] = IN_BOTH, ['-'] = IN_BOTH,
    ['.'] = IN_BOTH,         ['_'] = IN_BOTH,         ['~'] = IN_BOTH,         ['!'] = IN_BOTH,
    ['$'] = IN_BOTH,         ['%'] = IN_BOTH,         ['&'] = IN_BOTH,         ['\''] = IN_BOTH,
    ['*'] = IN_BOTH,         ['+'] = IN_BOTH,         [':'] = IN_URI,          ['/'] = IN_URI,
    ['?'] = IN_URI,          ['['] = IN_URI,          [']'] = IN_URI,          ['@'] = IN_URI,
    ['('] = IN_URI,          [')'] = IN_URI,          [','] = IN_URI,          [';'] = IN_URI,
    ['='] = IN_URI,          ['#'] = IN_NAME,         ['^'] = IN_NAME,         ['`'] = IN_NAME,
    ['|'] = IN_NAME,
};

/* Whether TEXT consists of bytes that may be part of WHAT; and its length. */
static bool consists_of(const char *text, uint8_t what, size_t *length)
{
    uint8_t common = what;
    const char *at = text;
    for (; *at; at++)
        common &= part_of[(unsigned char)*at];
    *length = (size_t)(at - text);
    return common == what;
}

/* Whether TEXT has control characters, but for tabs; and its length. */
static bool has_control(const char *text, size_t *length)
{
    bool control = false;
    const char *at = text;
    for (; *at; at++)
        control |= ((unsigned char)*at < 32 && *at != '\t') || *at == 127;
    *length = (size_t)(at - text);
    return control;
}

/* The first fault counts. */
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
        refuse(framing, 405, "method: accepted are GET, HEAD and OPTIONS");
    if (length > URI_MAX)
        refuse(framing, 414, "URL: longer than 8 KiB");
    if (!proper)
        refuse(framing, 400, "URL: has characters that URLs cannot have");
}

void framing_header(struct framing *framing, const char *name, const char *value)
{
    size_t name_length, value_length;
    const bool proper = consists_of(name, IN_NAME, &name_length);
    const bool control = has_control(value, &value_length);

    framing->size += name_length + value_length + 4; /* ": " and CRLF */
    if (!*name || !proper || control)
        refuse(framing, 400, "a header has characters that headers cannot have");
    if (strcasecmp(name, "Transfer-Encoding") == 0)
        refuse(framing, 400, "Transfer-Encoding: a request with a body is not accepted");
    if (strcasecmp(name, "Content-Length") == 0 && (framing->lengths++ || strcmp(value, "0") != 0))
        refuse(framing, 400, "Content-Length: a request with a body is not accepted");
    /* Nothing is to come that could be expected; and of what is pipelined behind such a request
     * libmicrohttpd 0.9.75 makes a body, and then gives no answer. */
    if (strcasecmp(name, "Expect") == 0)
        refuse(framing, 417, "Expect: a request with a body is not accepted");
    if (strcasecmp(name, "Host") == 0 && framing->hosts++)
        refuse(framing, 400, "Host: given twice");
    if (strcasecmp(name, "Cookie") == 0)
        framing->cookies += value_length;
}

void framing_end(struct framing *framing, size_t came)
{
    size_t parsed = framing->size + 2; /* the empty line */
    size_t difference = came > parsed ? came - parsed : parsed - came;

    if (framing->hosts == 0 && framing->host_needed)
        refuse(framing, 400, "Host: missing");
    if (came + framing->cookies > HEAD_MAX)
        refuse(framing, 431,
               "the request line and headers, cookies counted twice, are longer "
               "than 12 KiB");
    /* A tolerant parser takes folded lines, bare line feeds and NULs, which a
     * proxy may have read otherwise; what it made of them is then longer or
     * shorter than what came. Up to two bytes can be harmless spaces: answered,
     * but nothing more is read from that connection. */
    if (difference > 0)
        framing->close = true;
    if (difference >= 3)
        refuse(framing, 400, "a header is folded, or has bytes that headers cannot have");
}
