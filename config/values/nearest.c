#include "nearest.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A natural number, lowest limb first. */
enum { LIMB_BITS = 32, LIMBS = 64 };

struct natural {
    uint32_t limb[LIMBS];
    int limbs; /* used; the highest is not 0 */
};

static void multiply_add(struct natural *n, uint32_t factor, uint32_t more)
{
    uint64_t carry = more;
    for (int i = 0; i < n->limbs; i++) {
        carry += (uint64_t)n->limb[i] * factor;
        n->limb[i] = (uint32_t)carry;
        carry >>= LIMB_BITS;
    }
    if (carry)
        n->limb[n->limbs++] = (uint32_t)carry;
}

/* Divide N by DIVISOR. Returns the remainder. */
static uint32_t divide(struct natural *n, uint32_t divisor)
{
    uint64_t rest = 0;
    for (int i = n->limbs - 1; i >= 0; i--) {
        rest = rest << LIMB_BITS | n->limb[i];
        n->limb[i] = (uint32_t)(rest / divisor);
        rest %= divisor;
    }
    while (n->limbs > 0 && n->limb[n->limbs - 1] == 0)
        n->limbs--;
    return (uint32_t)rest;
}

static int bits_of(const struct natural *n)
{
    return n->limbs ? n->limbs * LIMB_BITS - __builtin_clz(n->limb[n->limbs - 1]) : 0;
}

static uint64_t bit(const struct natural *n, int i)
{
    return i >= 0 && i < n->limbs * LIMB_BITS ? n->limb[i / LIMB_BITS] >> i % LIMB_BITS & 1 : 0;
}

/* N / 2^SHIFT, rounded to the nearest, ties to even; SHIFT may be negative. MORE: the true number
 * is a little above N, so a tie rounds up. */
static uint64_t round_off(const struct natural *n, int shift, bool more)
{
    const int bits = bits_of(n);
    uint64_t kept = 0;

    for (int i = bits - 1; i >= shift; i--)
        kept = kept << 1 | bit(n, i);
    for (int i = 0; i < shift - 1 && i < bits && !more; i++)
        more = bit(n, i);
    return kept + (bit(n, shift - 1) && (more || kept & 1));
}

/* An IEEE 754 format: the significand's bits, with the implied first one, and the biased exponent
 * of 1. */
struct binary {
    int precision, bias;
};

/* Digits * 10^exponent. */
struct decimal {
    bool negative;
    char digit[NEAREST_TEXT];
    int digits, exponent;
};

enum { MOST = 400 }; /* beyond the decimal exponents of all formats */

static uint32_t power(int exponent)
{
    uint32_t ten = 1;
    while (exponent-- > 0)
        ten *= 10;
    return ten;
}

/* DECIMAL's magnitude, encoded as BINARY. */
static uint64_t encode(const struct decimal *decimal, const struct binary *format)
{
    enum { CHUNK = 9 }; /* decimal digits in a limb */
    struct natural n = {.limbs = 0};
    const uint64_t infinite = (uint64_t)(2 * format->bias + 1) << (format->precision - 1);
    int shifted = 0; /* N is 2^shifted times the number */
    bool more = false;

    for (int i = 0; i < decimal->digits; i++)
        multiply_add(&n, 10, (uint32_t)(decimal->digit[i] - '0'));
    if (n.limbs == 0 || decimal->digits + decimal->exponent < -MOST)
        return 0;
    if (decimal->digits + decimal->exponent > MOST)
        return infinite;
    for (int left = decimal->exponent; left > 0; left -= CHUNK)
        multiply_add(&n, power(left < CHUNK ? left : CHUNK), 0);
    if (decimal->exponent < 0) { /* 10 is less than 2^4 */
        const int limbs = (-4 * decimal->exponent + 64) / LIMB_BITS + 1;
        memmove(n.limb + limbs, n.limb, (size_t)n.limbs * sizeof *n.limb);
        memset(n.limb, 0, (size_t)limbs * sizeof *n.limb);
        n.limbs += limbs;
        shifted = limbs * LIMB_BITS;
    }
    for (int left = -decimal->exponent; left > 0; left -= CHUNK)
        more = divide(&n, power(left < CHUNK ? left : CHUNK)) > 0 || more;

    /* The number is 1.xxx * 2^(top - shifted). Denormal numbers have the least normal exponent and
     * fewer bits. */
    const int top = bits_of(&n) - 1, exponent = top - shifted + format->bias;
    const int field = exponent < 1 ? 1 : exponent, kept = format->precision - (field - exponent);
    const uint64_t significand = kept < 0 ? 0 : round_off(&n, top + 1 - kept, more);
    /* A normal significand's first bit adds 1 to the exponent field, and so does a carry. */
    const uint64_t bits = ((uint64_t)(field - 1) << (format->precision - 1)) + significand;
    return field > 2 * format->bias || bits > infinite ? infinite : bits;
}

static size_t take_digits(const char *text, size_t length, struct decimal *out)
{
    size_t i = 0;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        out->digit[out->digits++] = text[i];
    return i;
}

/* Split TEXT into sign, digits and exponent. Returns 0 or -EINVAL. */
static int parse(const char *text, size_t length, struct decimal *out)
{
    size_t i = 0;

    *out = (struct decimal){.digits = 0};
    if (length >= NEAREST_TEXT)
        return -EINVAL;
    if (length > 0 && (text[0] == '-' || text[0] == '+'))
        out->negative = text[i++] == '-';
    i += take_digits(text + i, length - i, out);
    if (i < length && text[i] == '.') {
        const size_t digits = take_digits(text + i + 1, length - i - 1, out);
        out->exponent = -(int)digits;
        i += 1 + digits;
    }
    if (out->digits == 0)
        return -EINVAL;
    if (i == length)
        return 0;
    if ((text[i] | ' ') != 'e')
        return -EINVAL;
    i++;
    const bool negative = i < length && text[i] == '-';
    i += i < length && (text[i] == '-' || text[i] == '+');
    int exponent = 0;
    if (i == length)
        return -EINVAL;
    for (; i < length && text[i] >= '0' && text[i] <= '9'; i++)
        if (exponent < 10 * MOST)
            exponent = exponent * 10 + (text[i] - '0');
    out->exponent += negative ? -exponent : exponent;
    return i == length ? 0 : -EINVAL;
}

int nearest_double(const char *text, size_t length, double *out)
{
    static const struct binary format = {53, 1023};
    struct decimal decimal;
    if (parse(text, length, &decimal))
        return -EINVAL;
    const uint64_t bits = encode(&decimal, &format) | (uint64_t)decimal.negative << 63;
    memcpy(out, &bits, sizeof *out);
    return 0;
}

int nearest_float(const char *text, size_t length, float *out)
{
    static const struct binary format = {24, 127};
    struct decimal decimal;
    if (parse(text, length, &decimal))
        return -EINVAL;
    const uint32_t bits = (uint32_t)encode(&decimal, &format) | (uint32_t)decimal.negative << 31;
    memcpy(out, &bits, sizeof *out);
    return 0;
}
