#include "forwarded.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "server/core/span.h"

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

/* VALUE without blanks at the ends. */
static struct span trim(struct span value)
{
    while (value.length > 0 && (*value.text == ' ' || *value.text == '\t')) {
        value.text++;
        value.length--;
    }
    while (value.length > 0 &&
           (value.text[value.length - 1] == ' ' || value.text[value.length - 1] == '\t'))
        value.length--;
    return value;
}

/*
 * Take the last value, which the nearest proxy added, off LIST. LIST's text is NULL if nothing
 * remains. A comma always ends a value, also between quotes: no proxy adds a value with a comma, so
 * a client cannot hide the proxy's value behind an open quote.
 */
static struct span take_last(struct span *list)
{
    const char *comma = list->length > 0 ? memrchr(list->text, ',', list->length) : NULL;
    const char *end = list->text + list->length, *text = comma ? comma + 1 : list->text;

    *list = comma ? (struct span){list->text, (size_t)(comma - list->text)} : (struct span){0};
    return trim((struct span){text, text ? (size_t)(end - text) : 0});
}

static struct span span_of(const char *text)
{
    return (struct span){text ? text : "", text ? strlen(text) : 0};
}

/* The last value in LIST, a header; empty if LIST is NULL. */
static struct span last_value(const char *list)
{
    struct span all = span_of(list);
    return take_last(&all);
}

/* The parameter NAME in ELEMENT, one proxy's part of Forwarded (RFC 7239, section 4); empty if
 * absent. */
static struct span parameter(struct span element, const char *name)
{
    struct span found = {"", 0};

    while (element.length > 0) {
        struct span value = trim(span_take(&element, ';'));
        if (!span_is_in_any_case(span_take(&value, '='), name))
            continue;
        if (value.length >= 2 && value.text[0] == '"' && value.text[value.length - 1] == '"')
            value = (struct span){value.text + 1, value.length - 2};
        found = value;
    }
    return found;
}

/* True if REQUEST's Forwarded counts. A proxy that writes the older headers may pass on a client's
 * Forwarded unchanged, so the older headers come first. */
static bool has_forwarded(const struct http_request *request)
{
    return request->forwarded && !request->forwarded_for && !request->forwarded_host &&
           !request->forwarded_port && !request->forwarded_proto;
}

/* The nearest proxy's words on the URL that the client requested; empty: none. */
struct outer_url {
    struct span scheme, host, port, prefix;
};

static struct outer_url outer_url_of(const struct http_request *request)
{
    const struct span element = last_value(request->forwarded);
    const struct span prefix = last_value(request->forwarded_prefix);

    if (has_forwarded(request))
        return (struct outer_url){.scheme = parameter(element, "proto"),
                                  .host = parameter(element, "host"),
                                  .prefix = prefix};
    return (struct outer_url){.scheme = last_value(request->forwarded_proto),
                              .host = last_value(request->forwarded_host),
                              .port = last_value(request->forwarded_port),
                              .prefix = prefix};
}

/*
 * The PORT to add to HOST, or 0. If HOST has a port, the client requested that one. 80 and 443 are
 * never needed: a client leaves out its scheme's own port, and the other port is where a proxy that
 * ended TLS connects.
 */
static unsigned port_to_add(struct span host, struct span port)
{
    struct authority authority;
    uint64_t number;

    if (authority_parse(&authority, host.text, host.length) ||
        authority.port != AUTHORITY_NO_PORT || unsigned_parse(port.text, port.length, &number) ||
        number == 0 || number > 65535 || number == 80 || number == 443)
        return 0;
    return (unsigned)number;
}

int forwarded_base_url(const struct site_config *site, const struct http_request *request,
                       char out[FORWARDED_URL_MAX])
{
    const char *scheme = "http";
    char prefix[URL_PREFIX_PATH_MAX] = "", port[sizeof ":65535"] = "";
    struct span host = span_of(request->host);

    if (site->public_url[0]) {
        snprintf(out, FORWARDED_URL_MAX, "%s", site->public_url);
        return 0;
    }
    if (forwarded_is_proxy(site, request->peer)) {
        const struct outer_url outer = outer_url_of(request);
        if (span_is(outer.scheme, "https"))
            scheme = "https";
        if (authority_can_be_in_url(outer.host.text, outer.host.length))
            host = outer.host;
        const unsigned number = port_to_add(host, outer.port);
        if (number)
            snprintf(port, sizeof port, ":%u", number);
        /* if malformed, prefix stays empty */
        url_prefix_parse_path(prefix, outer.prefix.text, outer.prefix.length);
    }
    if (!authority_can_be_in_url(host.text, host.length))
        return -EINVAL;
    snprintf(out, FORWARDED_URL_MAX, "%s://%.*s%s%s%s", scheme, (int)host.length, host.text, port,
             prefix, site->base_path);
    return 0;
}

/* Parse an address as proxies write it: IPv4 or IPv6, with or without brackets and a port. */
static bool parse_address(struct span address, struct sockaddr_storage *out)
{
    char copy[INET6_ADDRSTRLEN] = "";
    struct sockaddr_in *v4 = (struct sockaddr_in *)out;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
    const char *text = address.text, *end = text + address.length;
    const char *colon = memchr(text, ':', address.length);

    if (address.length > 0 && *text == '[') {
        const char *bracket = memchr(text, ']', address.length);
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
    const bool standard = has_forwarded(request);
    struct span list = span_of(standard ? request->forwarded : request->forwarded_for);

    if (!forwarded_is_proxy(site, request->peer))
        return request->peer;
    /* Each proxy appends its client: the last one that is not a trusted proxy itself counts. */
    for (int count = 1;; count++) {
        const struct span value = take_last(&list);
        if (!parse_address(standard ? parameter(value, "for") : value, storage))
            return NULL;
        if (!list.text || count == PROXIES_MAX ||
            !forwarded_is_proxy(site, (const struct sockaddr *)storage))
            return (const struct sockaddr *)storage;
    }
}

const char *forwarded_header(const struct http_request *request)
{
    return request->forwarded_for      ? "X-Forwarded-For"
           : request->forwarded_proto  ? "X-Forwarded-Proto"
           : request->forwarded_host   ? "X-Forwarded-Host"
           : request->forwarded_port   ? "X-Forwarded-Port"
           : request->forwarded_prefix ? "X-Forwarded-Prefix"
           : request->forwarded        ? "Forwarded"
                                       : NULL;
}

const char *forwarded_vary(const struct site_config *site, const struct http_request *request)
{
    if (site->public_url[0])
        return NULL;
    if (forwarded_is_proxy(site, request->peer))
        return "Host, Forwarded, X-Forwarded-Host, X-Forwarded-Port, X-Forwarded-Prefix, "
               "X-Forwarded-Proto";
    return "Host";
}
