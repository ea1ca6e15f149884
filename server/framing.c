#include "framing.h"

#include <string.h>
#include <strings.h>

/* Cookies count twice: libmicrohttpd keeps them as they came, and cut up. */
enum { URI_MAX = 8 * 1024, HEAD_MAX = 12 * 1024 };

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool consists_of(const char *text, const char *others)
{
    for (const char *c = text; *c; c++)
        if (!is_alphanumeric(*c) && !strchr(others, *c))
            return false;
    return true;
}

static bool has_control(const char *value)
{
    for (const unsigned char *c = (const unsigned char *)value; *c; c++)
        if ((*c < 32 && *c != '\t') || *c == 127)
            return true;
    return false;
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
    static const char uri_others[] = "-._~:/?[]@!$&'()*+,;=%"; /* RFC 3986 */

    framing->size = strlen(method) + strlen(uri) + strlen(version) + 4; /* two spaces, CRLF */
    framing->host_needed = strcmp(version, "HTTP/1.0") != 0;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0 && strcmp(method, "OPTIONS") != 0)
        refuse(framing, 405, "method: accepted are GET, HEAD and OPTIONS");
    if (strlen(uri) > URI_MAX)
        refuse(framing, 414, "URL: longer than 8 KiB");
    if (!consists_of(uri, uri_others))
        refuse(framing, 400, "URL: has characters that URLs cannot have");
}

void framing_header(struct framing *framing, const char *name, const char *value)
{
    static const char name_others[] = "!#$%&'*+-.^_`|~"; /* tchar, RFC 9110 section 5.6.2 */

    framing->size += strlen(name) + strlen(value) + 4; /* ": " and CRLF */
    if (!*name || !consists_of(name, name_others) || has_control(value))
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
        framing->cookies += strlen(value);
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
