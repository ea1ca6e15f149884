/* PNG's Paeth filter, a row at a time. */
#ifndef FARLANDS_PNG_PAETH_H
#define FARLANDS_PNG_PAETH_H

#include <stddef.h>
#include <stdint.h>

/* The filter's type, the byte before each row (PNG, third edition, 9.2). */
enum { PAETH_TYPE = 4 };

/*
 * ROW's LENGTH bytes minus their predictions from three bytes: PIXEL bytes to the left, above, and
 * PIXEL bytes to the left in the row above (9.4). ABOVE is the row before, or NULL for the first
 * one. OUT overlaps neither.
 */
void paeth_row(uint8_t *restrict out, const uint8_t *restrict row, const uint8_t *restrict above,
               size_t length, size_t pixel);

#endif
