/* The prefix of all routes in URLs: a path, or scheme, host and path. Pure. */
#ifndef FARLANDS_CONFIG_URL_PREFIX_H
#define FARLANDS_CONFIG_URL_PREFIX_H

#include <stddef.h>

enum { URL_PREFIX_PATH_MAX = 256, URL_PREFIX_URL_MAX = 768 };

/*
 * Parse a path such as /a/b: segments of letters, digits and - _ . ~, none of them empty, . or ..
 * OUT gets it without a trailing slash, so "/" becomes "". Returns 0, or -EINVAL with OUT
 * untouched.
 */
int url_prefix_parse_path(char out[URL_PREFIX_PATH_MAX], const char *text, size_t length);

/* Parse http:// or https://, a host, and an optional port and path; or "". As above. */
int url_prefix_parse_url(char out[URL_PREFIX_URL_MAX], const char *text, size_t length);

#endif
