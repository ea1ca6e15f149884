/* Adler-32 (RFC 1950, 8.2), by which a zlib stream ends, of bytes that are summed in parts. */
#ifndef FARLANDS_PNG_DEFLATE_ADLER_H
#define FARLANDS_PNG_DEFLATE_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* The sums of some bytes: plain data, zeros for no bytes at all. */
struct adler {
    uint64_t length;
    uint32_t sums; /* counted from 0, not from 1: only then can two be joined by adding */
};

/* Of LENGTH bytes from BYTES on, which is never NULL. */
struct adler adler_of(const uint8_t *bytes, size_t length);

/* Make ADLER that of its bytes and, behind them, those of NEXT. */
void adler_join(struct adler *adler, const struct adler *next);

/* As the stream has it. */
uint32_t adler_value(const struct adler *adler);

#endif
