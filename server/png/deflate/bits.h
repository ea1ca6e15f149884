/* A bit stream, lowest bits first, as in deflate (RFC 1951, 3.1.1). */
#ifndef FARLANDS_PNG_DEFLATE_BITS_H
#define FARLANDS_PNG_DEFLATE_BITS_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

enum { BITS_AT_ONCE = 56 };

/* Fewer than 8 bits are pending between calls. Seven bytes beyond OUT are overwritten. */
struct bits {
    uint8_t *out;
    uint64_t pending;
    unsigned count;
};

/* Append the lowest COUNT <= BITS_AT_ONCE bits of VALUE, whose other bits are 0. */
static inline void bits_put(struct bits *bits, uint64_t value, unsigned count)
{
    bits->pending |= value << bits->count;
    bits->count += count;
    const uint64_t word = htole64(bits->pending);
    memcpy(bits->out, &word, sizeof word);
    bits->out += bits->count >> 3;
    bits->pending >>= bits->count & ~7u;
    bits->count &= 7;
}

#endif
