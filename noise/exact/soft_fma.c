#include "soft_fma.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "noise/exact/arithmetic.h"
#include "noise/exact/wide.h"

/* --- In doubles, if no part can overflow or underflow --- */

/* X = result + *LOW. Both are short enough for exact products (Veltkamp 1968). */
static inline double split(double x, double *low)
{
    const double scaled = x * FMA_SPLIT;
    const double high = scaled - (scaled - x);
    *low = x - high;
    return high;
}

/* Boldo and Melquiond, algorithm 5; PRODUCT is A * B. */
static inline double fma_in_doubles(double a, double b, double c, double product)
{
    double a_low, b_low, sum_rest, high_rest, odd_rest;
    const double a_high = split(a, &a_low), b_high = split(b, &b_low);
    /* Dekker 1971 */
    const double product_rest =
        a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low);
    const double sum = two_sum(c, product_rest, &sum_rest);
    const double high = two_sum(product, sum, &high_rest);
    const double low = two_sum(sum_rest, high_rest, &odd_rest);
    return high + to_odd(low, odd_rest);
}

/* --- In integers, for all other numbers --- */

static struct wide shift_left(struct wide x, int n)
{
    if (n == 0)
        return x;
    if (n >= 64)
        return (struct wide){x.low << (n - 64), 0};
    return (struct wide){x.high << n | x.low >> (64 - n), x.low << n};
}

/* The last bit is set if any lost bit was. */
static struct wide shift_right(struct wide x, int n)
{
    if (n == 0)
        return x;
    if (n >= 128)
        return (struct wide){0, (x.high | x.low) != 0};
    if (n >= 64) {
        const uint64_t lost = x.low | (n > 64 ? x.high << (128 - n) : 0);
        return (struct wide){0, (x.high >> (n - 64)) | (lost != 0)};
    }
    const uint64_t lost = x.low << (64 - n);
    return (struct wide){x.high >> n, x.high << (64 - n) | x.low >> n | (lost != 0)};
}

static struct wide add(struct wide a, struct wide b)
{
    const uint64_t low = a.low + b.low;
    return (struct wide){a.high + b.high + (low < a.low), low};
}

static struct wide subtract(struct wide a, struct wide b)
{
    return (struct wide){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static int bit_length(struct wide x)
{
    return x.high ? 128 - __builtin_clzll(x.high) : x.low ? 64 - __builtin_clzll(x.low) : 0;
}

enum { SIGNIFICAND = 53, LEAST_EXPONENT = -1074, BIAS = 1075 };

/* |X| = result * 2^*EXPONENT. The result has 53 bits. X is finite and not 0. */
static uint64_t take_apart(double x, int *exponent)
{
    const uint64_t bits = bits_of(x) & (UINT64_MAX >> 1);
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    const int biased = (int)(bits >> 52);
    if (biased > 0) {
        *exponent = biased - BIAS;
        return fraction | UINT64_C(1) << 52;
    }
    const int shift = __builtin_clzll(fraction) - 11;
    *exponent = LEAST_EXPONENT - shift;
    return fraction << shift;
}

/* X * 2^EXPONENT, rounded. */
static double put_together(bool negative, struct wide x, int exponent)
{
    const uint64_t sign = (uint64_t)negative << 63;
    const int top = bit_length(x) - 1 + exponent;
    const int last =
        top - (SIGNIFICAND - 1) > LEAST_EXPONENT ? top - (SIGNIFICAND - 1) : LEAST_EXPONENT;
    const int drop = last - exponent;
    if (top > 1023)
        return double_of(sign | UINT64_C(0x7ff) << 52);
    uint64_t significand;
    if (drop <= 0) {
        significand = shift_left(x, -drop).low;
    } else {
        /* Two more bits: the half, and a sticky bit for the rest. */
        const uint64_t more = (drop >= 2 ? shift_right(x, drop - 2) : shift_left(x, 1)).low;
        significand = more >> 2;
        significand += (more & 3) == 3 || ((more & 3) == 2 && (significand & 1));
    }
    /* A carry out of the significand increments the exponent, up to infinity. */
    return double_of(sign | (((uint64_t)(last - LEAST_EXPONENT) << 52) + significand));
}

static double fma_in_integers(double a, double b, double c)
{
    enum { ROOM = 127 - SIGNIFICAND }; /* bits to the left of C */
    int ea, eb, ec;
    const uint64_t ma = take_apart(a, &ea), mb = take_apart(b, &eb), mc = take_apart(c, &ec);
    const bool negative = (bits_of(a) ^ bits_of(b)) >> 63, c_negative = bits_of(c) >> 63;
    /* Two extra bits keep the sticky bit apart from the product when it is subtracted. */
    struct wide product = shift_left(wide_multiply(ma, mb), 2), other = {0, mc};
    int exponent = ea + eb - 2;
    const int left = ec - exponent;
    /* Parts too small for the sum's last bits become a sticky bit, and no others do. */
    if (left > ROOM) {
        product = shift_right(product, left - ROOM);
        exponent += left - ROOM;
        other = shift_left(other, ROOM);
    } else if (left >= 0) {
        other = shift_left(other, left);
    } else {
        other = shift_right(other, -left);
    }
    if (negative == c_negative)
        return put_together(negative, add(product, other), exponent);
    if (product.high == other.high && product.low == other.low)
        return 0;
    const bool less =
        product.high != other.high ? product.high < other.high : product.low < other.low;
    return less ? put_together(c_negative, subtract(other, product), exponent)
                : put_together(negative, subtract(product, other), exponent);
}

double soft_fma(double a, double b, double c)
{
    const double product = a * b;
    const double size = fabs(product);
    if (size > FMA_LEAST && size < FMA_MOST && fabs(c) < FMA_MOST && fabs(a) < FMA_MOST &&
        fabs(b) < FMA_MOST)
        return fma_in_doubles(a, b, c, product);
    /* Infinities and NaNs need no more than this. */
    if (a == 0 || b == 0 || !isfinite(a) || !isfinite(b))
        return product + c;
    if (!isfinite(c))
        return c;
    return c == 0 ? product : fma_in_integers(a, b, c);
}
