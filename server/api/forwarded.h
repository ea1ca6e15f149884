/*
 * The server behind proxies: base path, absolute URLs, and the client's address. Proxies send them
 * in X-Forwarded-... headers, or in Forwarded (RFC 7239), which is ignored if there is
 * X-Forwarded-For, -Host, -Port or -Proto. Pure.
 */
#ifndef FARLANDS_API_FORWARDED_H
#define FARLANDS_API_FORWARDED_H

#include "config/daemon/config.h"
#include "server/http/message.h"

enum forwarded_scope {
    FORWARDED_INSIDE,
    FORWARDED_EDGE,    /* the base path itself, without its last slash */
    FORWARDED_OUTSIDE, /* not below the base path */
};

/* URI's scope. *ROUTE points behind the base path if URI is inside, else to URI. */
enum forwarded_scope forwarded_scope_of(const struct site_config *site, const char *uri,
                                        const char **route);

enum { FORWARDED_URL_MAX = 1024 };

/*
 * How absolute URLs begin, without a slash at the end: public_url if configured, otherwise from
 * REQUEST's Host and, if a trusted proxy sent REQUEST, from the proxy's well-formed headers.
 * Returns 0, or -EINVAL if there is no valid host.
 */
int forwarded_base_url(const struct site_config *site, const struct http_request *request,
                       char out[FORWARDED_URL_MAX]);

/* True if PEER, which may be NULL, is a trusted proxy. */
bool forwarded_is_proxy(const struct site_config *site, const struct sockaddr *peer);

/*
 * The client's address: the peer's, or the one for which a trusted proxy sent REQUEST; NULL if
 * unknown. At most 16 addresses are read, from the right. If all are trusted proxies, the last one
 * read is the client. The result may point into STORAGE.
 */
const struct sockaddr *forwarded_client(const struct site_config *site,
                                        const struct http_request *request,
                                        struct sockaddr_storage *storage);

/* The name of a proxy header in REQUEST, or NULL. */
const char *forwarded_header(const struct http_request *request);

/* The request headers that forwarded_base_url uses, for Vary, or NULL. */
const char *forwarded_vary(const struct site_config *site, const struct http_request *request);

#endif
