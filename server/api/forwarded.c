#include "forwarded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum forwarded_scope forwarded_scope_of(const struct site_config *site, const char *uri,
                                        const char **route)
{
    const size_t length = strlen(site->base_path);

    *route = uri;
    if (strncmp(uri, site->base_path, length) != 0)
        return FORWARDED_OUTSIDE;
    if (length == 0 || uri[length] == '/') {
        *route = uri + length;
        return FORWARDED_INSIDE;
    }
    return uri[length] == '\0' || uri[length] == '?' ? FORWARDED_EDGE : FORWARDED_OUTSIDE;
}

bool forwarded_is_proxy(const struct site_config *site, const struct sockaddr *peer)
{
    for (int i = 0; peer && i < site->proxies.count; i++)
        if (network_contains(&site->proxies.network[i], peer))
            return true;
    return false;
}

/* LENGTH of VALUE without trailing blanks. */
static size_t trimmed(const char *value, size_t length)
{
    while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == '\t'))
        length--;
    return length;
}

/* The last value of LIST, written by the nearest proxy; "" if LIST is NULL. */
static const char *last_value(const char *list, size_t *length)
{
    const char *comma = list ? strrchr(list, ',') : NULL;
    const char *value = comma ? comma + 1 : list ? list : "";

    value += strspn(value, " \t");
    *length = trimmed(value, strlen(value));
    return value;
}

int forwarded_base_url(const struct site_config *site, const struct http_request *request,
                       char out[FORWARDED_URL_MAX])
{
    const char *scheme = "http", *host = request->host;
    char prefix[URL_PREFIX_PATH_MAX] = "";
    size_t host_length = host ? strlen(host) : 0;

    if (site->public_url[0]) {
        snprintf(out, FORWARDED_URL_MAX, "%s", site->public_url);
        return 0;
    }
    if (forwarded_is_proxy(site, request->peer)) {
        size_t length;
        const char *value = last_value(request->forwarded_proto, &length);
        if (length == 5 && memcmp(value, "https", length) == 0)
            scheme = "https";
        value = last_value(request->forwarded_host, &length);
        if (authority_can_be_in_url(value, length)) {
            host = value;
            host_length = length;
        }
        value = last_value(request->forwarded_prefix, &length);
        url_prefix_parse_path(prefix, value, length); /* if malformed, prefix stays empty */
    }
    if (!host || !authority_can_be_in_url(host, host_length))
        return -EINVAL;
    snprintf(out, FORWARDED_URL_MAX, "%s://%.*s%s%s", scheme, (int)host_length, host, prefix,
             site->base_path);
    return 0;
}

/* Parse an address as proxies write it: IPv4 or IPv6, with or without brackets and a port. */
static bool parse_address(const char *text, size_t length, struct sockaddr_storage *out)
{
    char copy[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    const char *colon = memchr(text, ':', length);
    const char *end = text + length;

    if (length > 0 && *text == '[') {
        const char *bracket = memchr(text, ']', length);
        end = bracket ? bracket : end;
        text++;
    } else if (colon && !memchr(colon + 1, ':', (size_t)(end - colon - 1))) {
        end = colon;
    }
    if (end - text >= (ptrdiff_t)sizeof copy)
        return false;
    memcpy(copy, text, (size_t)(end - text));
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, copy, &v4->sin_addr) == 1)
        out->ss_family = AF_INET;
    else if (inet_pton(AF_INET6, copy, &v6->sin6_addr) == 1)
        out->ss_family = AF_INET6;
    return out->ss_family != 0;
}

/* More proxies than any chain has. */
enum { PROXIES_MAX = 16 };

const struct sockaddr *forwarded_client(const struct site_config *site,
                                        const struct http_request *request,
                                        struct sockaddr_storage *storage)
{
    const char *list = request->forwarded_for ? request->forwarded_for : "";
    const char *end = list + strlen(list);

    if (!forwarded_is_proxy(site, request->peer))
        return request->peer;
    /* Each proxy appends its client: the last one that is not a trusted proxy itself counts. */
    for (int count = 1;; count++) {
        const char *comma = memrchr(list, ',', (size_t)(end - list));
        const char *value = comma ? comma + 1 : list;
        value += strspn(value, " \t");
        if (!parse_address(value, trimmed(value, (size_t)(end - value)), storage))
            return NULL;
        if (!comma || count == PROXIES_MAX ||
            !forwarded_is_proxy(site, (const struct sockaddr *)storage))
            return (const struct sockaddr *)storage;
        end = comma;
    }
}

const char *forwarded_vary(const struct site_config *site, const struct http_request *request)
{
    if (site->public_url[0])
        return NULL;
    if (forwarded_is_proxy(site, request->peer))
        return "Host, X-Forwarded-Host, X-Forwarded-Prefix, X-Forwarded-Proto";
    return "Host";
}
