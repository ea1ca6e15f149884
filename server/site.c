#include "site.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum site_place site_locate(const struct site_config *site, const char *uri, const char **route)
{
    const size_t length = strlen(site->base_path);

    *route = uri;
    if (strncmp(uri, site->base_path, length) != 0)
        return SITE_OUTSIDE;
    if (length == 0 || uri[length] == '/') {
        *route = uri + length;
        return SITE_INSIDE;
    }
    return uri[length] == '\0' || uri[length] == '?' ? SITE_EDGE : SITE_OUTSIDE;
}

static bool is_proxy(const struct site_config *site, const struct sockaddr *peer)
{
    for (int i = 0; peer && i < site->proxies.count; i++)
        if (network_contains(&site->proxies.network[i], peer))
            return true;
    return false;
}

/* The last value of a list, the one that the nearest proxy wrote; "" of none. */
static const char *last_value(const char *list, size_t *length)
{
    const char *comma = list ? strrchr(list, ',') : NULL;
    const char *value = comma ? comma + 1 : list ? list : "";

    value += strspn(value, " \t");
    *length = strlen(value);
    while (*length > 0 && strchr(" \t", value[*length - 1]))
        --*length;
    return value;
}

int site_base_url(const struct site_config *site, const struct http_request *request,
                  char out[SITE_URL_MAX])
{
    const char *scheme = "http", *host = request->host;
    char prefix[PREFIX_PATH_MAX] = "";
    size_t host_length = host ? strlen(host) : 0;

    if (site->public_url[0]) {
        snprintf(out, SITE_URL_MAX, "%s", site->public_url);
        return 0;
    }
    if (is_proxy(site, request->peer)) {
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
        prefix_parse_path(prefix, value, length); /* where malformed, it stays empty */
    }
    if (!host || !authority_can_be_in_url(host, host_length))
        return -EINVAL;
    snprintf(out, SITE_URL_MAX, "%s://%.*s%s%s", scheme, (int)host_length, host, prefix,
             site->base_path);
    return 0;
}

const char *site_vary(const struct site_config *site, const struct http_request *request)
{
    if (site->public_url[0])
        return NULL;
    if (is_proxy(site, request->peer))
        return "Host, X-Forwarded-Host, X-Forwarded-Prefix, X-Forwarded-Proto";
    return "Host";
}
