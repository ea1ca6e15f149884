/* Percent-encoding in URLs (RFC 3986 section 2.1). Pure. */
#ifndef FARLANDS_HTTP_URL_ESCAPES_H
#define FARLANDS_HTTP_URL_ESCAPES_H

#include <stdbool.h>

/*
 * The first escape in URI that is not decoded, or NULL. Refused are malformed escapes, and those
 * for a character that no URI has or that separates a URI's parts (/ ? & = # %). So a decoded URI
 * has the parts that were sent, and no escapes that could be decoded again.
 */
const char *url_escapes_refused(const char *uri);

/* Decode the escapes in URI in place, once. Leaves URI as it is if one of them is refused. Returns
 * true if URI has changed. */
bool url_escapes_decode(char *uri);

#endif
