#include "authority.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "config/values/exact_numbers.h"

static const char name_letters[] =
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";

/* The number of LETTERS at TEXT's beginning. */
static size_t span(const char *text, size_t length, const char *letters)
{
    size_t n = 0;
    while (n < length && strchr(letters, text[n]))
        n++;
    return n;
}

/* The text between the brackets: an IPv6 address, optionally followed by %ZONE. */
static int parse_ipv6(struct authority *out, const char *text, size_t length)
{
    const char *percent = memchr(text, '%', length);
    const size_t digits = percent ? (size_t)(percent - text) : length;
    char address[INET6_ADDRSTRLEN];
    struct in6_addr ignored;

    if (digits >= sizeof address)
        return -EINVAL;
    memcpy(address, text, digits);
    address[digits] = '\0';
    const size_t zone = percent ? length - digits - 1 : 0;
    if (percent && (zone == 0 || span(percent + 1, zone, name_letters) < zone))
        return -EINVAL;
    out->zone = percent != NULL;
    out->host = text;
    out->host_length = length;
    return inet_pton(AF_INET6, address, &ignored) == 1 ? 0 : -EINVAL;
}

int authority_parse(struct authority *out, const char *text, size_t length)
{
    const char *end = text + length;
    uint64_t port;

    if (length == 0 || length >= AUTHORITY_MAX || memchr(text, '\0', length))
        return -EINVAL;
    *out = (struct authority){.host = text, .port = AUTHORITY_NO_PORT};
    const char *rest;
    if (*text == '[') {
        const char *close = memchr(text, ']', length);
        if (!close || parse_ipv6(out, text + 1, (size_t)(close - text - 1)))
            return -EINVAL;
        rest = close + 1;
    } else {
        out->host_length = span(text, length, name_letters);
        rest = text + out->host_length;
    }
    if (out->host_length == 0)
        return -EINVAL;
    if (rest == end)
        return 0;
    if (*rest != ':' || unsigned_parse(rest + 1, (size_t)(end - rest - 1), &port) || port > 65535)
        return -EINVAL;
    out->port = (int)port;
    return 0;
}

bool authority_can_listen(const char *text, size_t length)
{
    struct authority authority;
    return authority_parse(&authority, text, length) == 0 && authority.port != AUTHORITY_NO_PORT;
}

bool authority_can_be_in_url(const char *text, size_t length)
{
    struct authority authority;
    return authority_parse(&authority, text, length) == 0 && !authority.zone && authority.port != 0;
}
