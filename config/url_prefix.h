/* What stands before the routes in a URL: a path, or scheme, host and path. */
#ifndef FARLANDS_CONFIG_URL_PREFIX_H
#define FARLANDS_CONFIG_URL_PREFIX_H

#include <stddef.h>

enum { URL_PREFIX_PATH_MAX = 256, URL_PREFIX_URL_MAX = 768 };

/*
 * A path such as /a/b, of letters, digits and - _ . ~, with no part that is
 * empty, . or ..; OUT gets it without the slash that may end it, so that of
 * "" and "/" nothing is left. Returns 0, or -EINVAL with OUT untouched.
 */
int url_prefix_parse_path(char out[URL_PREFIX_PATH_MAX], const char *text, size_t length);

/* The same with http:// or https:// and a host before it; or "". */
int url_prefix_parse_url(char out[URL_PREFIX_URL_MAX], const char *text, size_t length);

#endif
