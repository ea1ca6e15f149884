/* Adler-32, the checksum of a zlib stream (RFC 1950, 8.2), computed in parts. */
#ifndef FARLANDS_PNG_DEFLATE_ADLER_H
#define FARLANDS_PNG_DEFLATE_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* The sums of a run of bytes; all zeros for no bytes. */
struct adler {
    uint64_t length;
    uint32_t sums; /* from 0 instead of 1, so that two can be joined by adding */
};

/* The sums of LENGTH bytes. BYTES is never NULL. */
struct adler adler_of(const uint8_t *bytes, size_t length);

/* Append the bytes of NEXT to those of ADLER. */
void adler_join(struct adler *adler, const struct adler *next);

/* The checksum as the stream has it. */
uint32_t adler_value(const struct adler *adler);

#endif
