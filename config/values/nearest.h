/* The binary numbers nearest to decimal ones, ties to even: as strtod has them, but in any locale,
 * which another thread may change meanwhile, and in any rounding mode. Pure. */
#ifndef FARLANDS_CONFIG_NEAREST_H
#define FARLANDS_CONFIG_NEAREST_H

#include <stddef.h>

enum { NEAREST_TEXT = 64 }; /* bytes of text must be fewer */

/* Parse a sign, digits with a '.' among them, and an exponent: of these only the digits must be
 * there. Infinite if the number is too large. Returns 0 or -EINVAL. */
int nearest_double(const char *text, size_t length, double *out);
int nearest_float(const char *text, size_t length, float *out);

#endif
