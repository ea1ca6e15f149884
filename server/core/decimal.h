/* Integers as decimal text, for the hot paths: printf takes a microsecond. */
#ifndef FARLANDS_CORE_DECIMAL_H
#define FARLANDS_CORE_DECIMAL_H

#include <stdint.h>

/* Write VALUE, at most 20 digits and no terminator. Returns the end of the text. */
static inline char *decimal_put(char *at, uint64_t value)
{
    char digits[20];
    int count = 0;
    do
        digits[count++] = (char)('0' + value % 10);
    while (value /= 10);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

/* The same with a sign if VALUE is negative, at most 20 characters. */
static inline char *decimal_put_signed(char *at, int64_t value)
{
    if (value < 0)
        *at++ = '-';
    return decimal_put(at, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

#endif
