/* Numbers as text, exact both ways: coordinates and lengths in decimal blocks, whole numbers,
 * reals. */
#ifndef FARLANDS_CONFIG_EXACT_NUMBERS_H
#define FARLANDS_CONFIG_EXACT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decimal text -> units of 1/1024 block, exactly. Canonical text only: an
 * optional '-', no leading zeros, no '+', no exponent, no "-0", digits on both
 * sides of a '.'. Returns 0; -EINVAL for malformed text or a value that is not a
 * whole number of units; -ERANGE from 2^53 blocks on. *OUT only on 0.
 */
int blocks_parse(const char *text, size_t length, int64_t *out);

enum { BLOCKS_TEXT = 32 };

/* The shortest text that blocks_parse reads back as UNITS. Returns BUFFER. */
char *blocks_format(int64_t units, char buffer[BLOCKS_TEXT]);

/* Canonical whole numbers, as in blocks_parse: 0, -EINVAL or -ERANGE. */
int integer_parse(const char *text, size_t length, int64_t *out);
int unsigned_parse(const char *text, size_t length, uint64_t *out);

enum { REAL_TEXT = 32 };

/* The shortest text that reads back as the same float, or double. Returns BUFFER. */
char *float_format(float value, char buffer[REAL_TEXT]);
char *real_format(double value, char buffer[REAL_TEXT]);

#endif
