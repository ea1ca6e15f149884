/* Adler-32, a zlib stream's checksum (RFC 1950, 8.2), computed in parts. */
#ifndef FARLANDS_PNG_DEFLATE_ADLER_H
#define FARLANDS_PNG_DEFLATE_ADLER_H

#include <stddef.h>
#include <stdint.h>

/* The sums for a run of bytes; zeros for no bytes. */
struct adler {
    uint64_t length;
    uint32_t sums; /* from 0 instead of 1, so that two can be joined by adding */
};

/* The sums for LENGTH bytes. BYTES is never NULL. */
struct adler adler_of(const uint8_t *bytes, size_t length);

/* Append NEXT's bytes to ADLER's. */
void adler_join(struct adler *adler, const struct adler *next);

/* The checksum as the stream has it. */
uint32_t adler_value(const struct adler *adler);

#endif
