/* PNG's Paeth filter, on whole rows at once. */
#ifndef FARLANDS_PNG_PAETH_H
#define FARLANDS_PNG_PAETH_H

#include <stddef.h>
#include <stdint.h>

/* The filter's type byte, which stands before each row (PNG, third edition, 9.2). */
enum { PAETH_TYPE = 4 };

/*
 * What is left of the LENGTH bytes of ROW after each was predicted from those
 * PIXEL bytes to the left, above, and above that to the left (the same, 9.4).
 * ABOVE is the row before, or NULL for the first. OUT overlaps neither.
 */
void paeth_row(uint8_t *restrict out, const uint8_t *restrict row, const uint8_t *restrict above,
               size_t length, size_t pixel);

#endif
