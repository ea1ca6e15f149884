/*
 * Where clients reach the server: the path below which its routes live, and the
 * absolute URLs that lead back to it, also through proxies. Pure.
 */
#ifndef FARLANDS_API_FORWARDED_H
#define FARLANDS_API_FORWARDED_H

#include "config/config.h"
#include "server/http/http.h"

enum site_place {
    SITE_INSIDE,
    SITE_EDGE,    /* the base path itself, without the slash that makes it a folder */
    SITE_OUTSIDE, /* not below the base path */
};

/* Where URI lies. *ROUTE is the part of it behind the base path; not inside, all of it. */
enum site_place site_locate(const struct site_config *site, const char *uri, const char **route);

enum { SITE_URL_MAX = 1024 };

/*
 * What absolute URLs begin with, without a slash at the end: public_url, else
 * what REQUEST asked for: its Host and, of a listed proxy, each X-Forwarded-...
 * header that is well-formed. Returns 0, or -EINVAL where the Host is needed and
 * is none.
 */
int site_base_url(const struct site_config *site, const struct http_request *request,
                  char out[SITE_URL_MAX]);

/* Whether PEER, which may be NULL, is a listed proxy. */
bool site_is_proxy(const struct site_config *site, const struct sockaddr *peer);

/* The address whose requests REQUEST counts among: its peer, or whom a listed proxy sent it for;
 * NULL where that is unknown. STORAGE may hold it. */
const struct sockaddr *site_client(const struct site_config *site,
                                   const struct http_request *request,
                                   struct sockaddr_storage *storage);

/* The headers that site_base_url goes by, for Vary; NULL: none. */
const char *site_vary(const struct site_config *site, const struct http_request *request);

#endif
