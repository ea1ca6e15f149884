/*
 * Where clients reach the server: the path below which its routes live, and the
 * absolute URLs that lead back to it, also through proxies. Pure.
 */
#ifndef FARLANDS_API_FORWARDED_H
#define FARLANDS_API_FORWARDED_H

#include "config/config.h"
#include "server/http/message.h"

enum forwarded_scope {
    FORWARDED_INSIDE,
    FORWARDED_EDGE,    /* the base path itself, without the slash that makes it a folder */
    FORWARDED_OUTSIDE, /* not below the base path */
};

/* Where URI lies. *ROUTE is the part of it behind the base path; not inside, all of it. */
enum forwarded_scope forwarded_scope_of(const struct site_config *site, const char *uri,
                                        const char **route);

enum { FORWARDED_URL_MAX = 1024 };

/*
 * What absolute URLs begin with, without a slash at the end: public_url, else
 * what REQUEST asked for: its Host and, of a listed proxy, each X-Forwarded-...
 * header that is well-formed. Returns 0, or -EINVAL where the Host is needed and
 * is none.
 */
int forwarded_base_url(const struct site_config *site, const struct http_request *request,
                       char out[FORWARDED_URL_MAX]);

/* Whether PEER, which may be NULL, is a listed proxy. */
bool forwarded_is_proxy(const struct site_config *site, const struct sockaddr *peer);

/* The address whose requests REQUEST counts among: its peer, or whom a listed proxy sent it for;
 * NULL where that is unknown. STORAGE may hold it. */
const struct sockaddr *forwarded_client(const struct site_config *site,
                                        const struct http_request *request,
                                        struct sockaddr_storage *storage);

/* The headers that forwarded_base_url goes by, for Vary; NULL: none. */
const char *forwarded_vary(const struct site_config *site, const struct http_request *request);

#endif
