/* Conditional requests (RFC 9110, section 13). Pure. */
#ifndef FARLANDS_CONDITIONAL_H
#define FARLANDS_CONDITIONAL_H

#include <stdbool.h>

/* Whether the field value of If-None-Match names ETAG ("..." with its quotes),
 * by weak comparison, or is *. NULL and what is malformed match nothing. */
bool none_match_holds(const char *if_none_match, const char *etag);

#endif
