#include "framing.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { URI_MAX = 8 * 1024 };

/* The characters of URIs (RFC 3986) and of tokens (RFC 9110 section 5.6.2). */
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

/* A part of a line. */
struct part {
    const char *at;
    size_t length;
};

/* True if PART is not empty and all its characters are in CLASS. */
static bool consists_of(struct part part, uint8_t class)
{
    uint8_t common = class;
    for (size_t i = 0; i < part.length; i++)
        common &= char_class[(unsigned char)part.at[i]];
    return part.length > 0 && common == class;
}

/* True if PART has control characters other than tabs. */
static bool has_control(struct part part)
{
    bool control = false;
    for (size_t i = 0; i < part.length; i++) {
        const unsigned char c = (unsigned char)part.at[i];
        control |= (c < 32 && c != '\t') || c == 127;
    }
    return control;
}

static bool equals(struct part part, const char *text)
{
    return part.length == strlen(text) && memcmp(part.at, text, part.length) == 0;
}

/* As equals, but names of headers may be in any case. */
static bool is_named(struct part name, const char *text)
{
    return name.length == strlen(text) && strncasecmp(name.at, text, name.length) == 0;
}

/* The part of LINE up to SEPARATOR, which *LINE begins after from now on; or all of it. */
static struct part split(struct part *line, char separator)
{
    const char *end = memchr(line->at, separator, line->length);
    const struct part first = {line->at, end ? (size_t)(end - line->at) : line->length};
    const size_t taken = first.length + (end != NULL);

    *line = (struct part){line->at + taken, line->length - taken};
    return first;
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* PART without the spaces before it. */
static struct part skip_spaces(struct part part)
{
    for (; part.length > 0 && is_space(*part.at); part.length--)
        part.at++;
    return part;
}

/* PART without the spaces around it. */
static struct part trim(struct part part)
{
    while (part.length > 0 && is_space(part.at[part.length - 1]))
        part.length--;
    return skip_spaces(part);
}

static void refuse(struct framing *framing, unsigned status, const char *why)
{
    if (framing->refused)
        return;
    framing->refused = status;
    framing->why = why;
}

void framing_refuse(struct framing *framing, unsigned status, const char *why)
{
    refuse(framing, status, why);
    framing->stop = true;
}

bool framing_is_foreign(char first)
{
    return first != '\r' && !(char_class[(unsigned char)first] & IN_TOKEN);
}

/* HTTP/1.2 to 1.9 are like HTTP/1.1 (RFC 9110 section 2.5). */
static void check_version(struct framing *framing, struct part version)
{
    const char *at = version.at;

    if (version.length != 8 || memcmp(at, "HTTP/", 5) != 0 || at[5] < '0' || at[5] > '9' ||
        at[6] != '.' || at[7] < '0' || at[7] > '9')
        framing_refuse(framing, 400, "request line: expected METHOD URL HTTP/1.1");
    else if (at[5] != '1')
        framing_refuse(framing, 505, "version: expected HTTP/1.1");
    framing->old = equals(version, "HTTP/1.0");
}

size_t framing_scheme(const char *uri)
{
    static const char scheme[] = "http://";
    if (*uri == '/' || strncasecmp(uri, scheme, sizeof scheme - 1) != 0)
        return 0;
    return sizeof scheme - 1;
}

/* True if URI is in absolute form with a host, or in another form. User names are not allowed
 * (RFC 9110 section 4.2.4). */
static bool has_host(struct part uri)
{
    const size_t scheme = framing_scheme(uri.at);
    struct part rest = {uri.at + scheme, uri.length - scheme};

    if (scheme == 0)
        return true;
    rest = split(&rest, '/');
    const struct part host = split(&rest, '?');
    return host.length > 0 && !memchr(host.at, '@', host.length);
}

void framing_method(struct framing *framing, const char *line, size_t length)
{
    framing->to_head = length > 4 && memcmp(line, "HEAD ", 5) == 0;
}

void framing_line(struct framing *framing, const char *line, size_t length)
{
    struct part version = {line, length};
    const struct part method = split(&version, ' ');
    const struct part uri = split(&version, ' ');

    if (!consists_of(method, IN_TOKEN))
        framing_refuse(framing, 400, "method: expected GET, HEAD or OPTIONS");
    check_version(framing, version);
    if (!equals(method, "GET") && !equals(method, "HEAD") && !equals(method, "OPTIONS"))
        refuse(framing, 405, "method: expected GET, HEAD or OPTIONS");
    if (uri.length > URI_MAX)
        framing_refuse(framing, 414, "URL: exceeds 8 KiB");
    if (!consists_of(uri, IN_URI))
        framing_refuse(framing, 400, "URL: invalid character");
    else if (!has_host(uri))
        refuse(framing, 400, "URL: expected http://HOST/...");
}

static void read_connection(struct framing *framing, struct part value)
{
    while (value.length > 0) {
        const struct part option = trim(split(&value, ','));
        framing->close |= is_named(option, "close");
        framing->keep_alive |= is_named(option, "keep-alive");
    }
}

static void read_header(struct framing *framing, struct part name, struct part value)
{
    if (is_named(name, "Transfer-Encoding"))
        refuse(framing, 400, "Transfer-Encoding: request bodies are not accepted");
    if (is_named(name, "Content-Length") && (framing->lengths++ || !equals(value, "0")))
        refuse(framing, 400, "Content-Length: request bodies are not accepted");
    if (is_named(name, "Expect"))
        refuse(framing, 417, "Expect: request bodies are not accepted");
    if (is_named(name, "Host") && framing->hosts++)
        refuse(framing, 400, "Host: given twice");
    if (is_named(name, "Connection"))
        read_connection(framing, value);
}

void framing_header(struct framing *framing, const char *line, size_t length)
{
    struct part value = {line, length};
    const struct part name = split(&value, ':');

    /* A folded header begins with a space, which is no character of a name either. */
    if (name.length == length)
        framing_refuse(framing, 400, "header: expected NAME: VALUE");
    else if (!consists_of(name, IN_TOKEN) || has_control(value))
        framing_refuse(framing, 400, "header: folded, or invalid character");
    else
        read_header(framing, name, skip_spaces(value));
}

void framing_end(struct framing *framing)
{
    if (framing->hosts == 0 && !framing->old)
        refuse(framing, 400, "Host: missing");
}
