#include "adler.h"

#include <libdeflate.h>

/* The largest prime below 2^16. */
enum { MODULUS = 65521 };

/*
 * Of n bytes d[i], with a0 and b0 to begin with:
 *     a = a0 + d[1] + ... + d[n]
 *     b = b0 + n a0 + n d[1] + (n - 1) d[2] + ... + d[n]
 * both modulo MODULUS, b above a in 32 bits. From zeros on both are sums over the
 * bytes alone; the standard begins with a0 = 1, which adds 1 and n.
 */
static uint32_t sums_of(uint64_t a, uint64_t b)
{
    return (uint32_t)(b % MODULUS << 16 | a % MODULUS);
}

static uint64_t low_sum(const struct adler *adler)
{
    return adler->sums & 0xffff;
}

static uint64_t high_sum(const struct adler *adler)
{
    return adler->sums >> 16;
}

struct adler adler_of(const uint8_t *bytes, size_t length)
{
    return (struct adler){length, libdeflate_adler32(0, bytes, length)};
}

void adler_join(struct adler *adler, const struct adler *next)
{
    /* What came before is the a0 and the b0 of what is next. */
    const uint64_t a0 = low_sum(adler), b0 = high_sum(adler);
    adler->sums = sums_of(a0 + low_sum(next), b0 + next->length % MODULUS * a0 + high_sum(next));
    adler->length += next->length;
}

uint32_t adler_value(const struct adler *adler)
{
    return sums_of(low_sum(adler) + 1, high_sum(adler) + adler->length % MODULUS);
}
