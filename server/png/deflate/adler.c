#include "adler.h"

#include <libdeflate.h>

enum { MODULUS = 65521 }; /* the largest prime below 2^16 */

/*
 * Bytes d[1] .. d[n] turn sums a0, b0 into
 *     a = a0 + d[1] + ... + d[n]
 *     b = b0 + n a0 + n d[1] + (n - 1) d[2] + ... + d[n]
 * both modulo MODULUS, with b in the high half of 32 bits. From zeros on, both depend on the bytes
 * alone. The standard starts with a0 = 1, which adds 1 to a and n to b.
 */
static uint32_t append(uint64_t a0, uint64_t b0, const struct adler *next)
{
    const uint64_t a = a0 + (next->sums & 0xffff);
    const uint64_t b = b0 + next->length % MODULUS * a0 + (next->sums >> 16);
    return (uint32_t)(b % MODULUS << 16 | a % MODULUS);
}

struct adler adler_of(const uint8_t *bytes, size_t length)
{
    return (struct adler){length, libdeflate_adler32(0, bytes, length)};
}

void adler_join(struct adler *adler, const struct adler *next)
{
    adler->sums = append(adler->sums & 0xffff, adler->sums >> 16, next);
    adler->length += next->length;
}

uint32_t adler_value(const struct adler *adler)
{
    return append(1, 0, adler);
}
