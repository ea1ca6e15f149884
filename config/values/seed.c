#include "seed.h"

#include <errno.h>
#include <stdbool.h>

enum { DIGITS_MAX = 40 };

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns false if TEXT is no whole number from -2^63 to 2^64-1. */
static bool parse_number(const char *text, size_t length, uint64_t *out)
{
    const bool negative = length > 0 && text[0] == '-';
    uint64_t value = 0;

    if (length == negative || length - negative > DIGITS_MAX)
        return false;
    for (size_t i = negative; i < length; i++)
        if (text[i] < '0' || text[i] > '9' || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)(text[i] - '0'), &value))
            return false;
    if (negative && value > UINT64_C(1) << 63)
        return false;
    *out = negative ? 0 - value : value;
    return true;
}

/* FNV-1a, 64 bits (Fowler, Noll and Vo; draft-eastlake-fnv). */
static uint64_t hash(const char *text, size_t length)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < length; i++)
        sum = (sum ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return sum;
}

int seed_parse(const char *text, size_t length, uint64_t *out)
{
    while (length > 0 && is_blank(text[length - 1]))
        length--;
    for (; length > 0 && is_blank(*text); length--)
        text++;
    if (length == 0)
        return -EINVAL;
    if (!parse_number(text, length, out))
        *out = hash(text, length);
    return 0;
}
