/*
 * Text to numbers and back, exactly. Names of functions begin with the type: blocks (a coordinate
 * or a length in units of 1/1024 block), integer, unsigned, float, real (double). The decimal point
 * is '.' in any locale, even while another thread sets a locale. Pure.
 */
#ifndef FARLANDS_CONFIG_EXACT_NUMBERS_H
#define FARLANDS_CONFIG_EXACT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Parse decimal blocks. Only canonical text is valid: an optional '-', no leading zeros, no '+', no
 * exponent, no "-0", digits on both sides of a '.'. Returns 0, with *OUT set in units; -EINVAL for
 * malformed text and values between two units; -ERANGE for 2^53 blocks and more.
 */
int blocks_parse(const char *text, size_t length, int64_t *out);

enum { BLOCKS_TEXT = 32 };

/* Write the shortest text from which blocks_parse makes UNITS. Returns BUFFER. */
char *blocks_format(int64_t units, char buffer[BLOCKS_TEXT]);

/* Parse canonical whole numbers; results as for blocks_parse. */
int integer_parse(const char *text, size_t length, int64_t *out);
int unsigned_parse(const char *text, size_t length, uint64_t *out);

enum { EXPANDED_TEXT = 160 };

/* Write a number with an exponent, such as 1e3 or 2.5E-1, as canonical text without one: 1000,
 * 0.25. The text before the exponent must be canonical, with at most 40 characters; the exponent
 * must be at most 40. Returns 0 or -EINVAL. */
int exponent_expand(const char *text, size_t length, char out[EXPANDED_TEXT]);

/* Parse up to 63 decimal digits with a sign, a '.' and an exponent if any, rounded to the nearest
 * double. Returns 0 or -EINVAL. */
int real_parse(const char *text, size_t length, double *out);

enum { REAL_TEXT = 32 };

/* Write the shortest text that means VALUE. Returns BUFFER. */
char *float_format(float value, char buffer[REAL_TEXT]);
char *real_format(double value, char buffer[REAL_TEXT]);

#endif
