/* Decimal text to the nearest binary number, ties to even. strtod does the same, but depends on the
 * locale, which another thread may change meanwhile, and on the rounding mode. Pure. */
#ifndef FARLANDS_CONFIG_NEAREST_H
#define FARLANDS_CONFIG_NEAREST_H

#include <stddef.h>

enum { NEAREST_TEXT = 64 }; /* the text must be shorter, in bytes */

/* Parse an optional sign, digits with an optional '.' among them, and an optional exponent. A
 * number that is too large becomes infinite. Returns 0 or -EINVAL. */
int nearest_double(const char *text, size_t length, double *out);
int nearest_float(const char *text, size_t length, float *out);

#endif
