#include "number.h"

#include <errno.h>
#include <math.h>

#include "config/values/nearest.h"
#include "noise/farlands.h"

#define LIMIT_BLOCKS (UINT64_C(1) << 53)

/* Half a unit is 1/2048 block, which has eleven decimals. */
enum { HALF_BITS = FARLANDS_UNIT_BITS + 1, DECIMALS = HALF_BITS };
#define FRACTION_ONE UINT64_C(100000000000) /* 10^DECIMALS */

/* Larger than every exponent that matters, however long the text is. */
enum { EXPONENT_MAX = 1 << 30 };

/* A number's parts. The decimal point follows the first WHOLE digits. WHOLE may exceed the number
 * of digits; if it is negative, so many zeros precede the first digit. */
struct decimal {
    bool negative;
    const char *digits, *end; /* may include a point */
    int64_t whole;
    size_t steps; /* for struct number_reading */
};

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    return at;
}

static const char *skip_sign(const char *at, const char *end)
{
    return at + (at < end && (*at == '-' || *at == '+'));
}

/* Parse the exponent after the "e" at AT, up to END. Returns 0 or -EINVAL. */
static int parse_exponent(const char *at, const char *end, int64_t *out, size_t *steps)
{
    const bool negative = ++at < end && *at == '-';
    const char *digit = skip_sign(at, end);

    if (digit == end || skip_digits(digit, end) != end)
        return -EINVAL;
    for (*out = 0; digit < end && *out < EXPONENT_MAX; digit++, ++*steps)
        *out = *out * 10 + (*digit - '0');
    *out = negative ? -*out : *out;
    return 0;
}

static int take_apart(struct span text, struct decimal *out)
{
    const char *end = text.text + text.length;
    const char *digits = skip_sign(text.text, end), *point = skip_digits(digits, end);
    const char *behind = point < end && *point == '.' ? skip_digits(point + 1, end) : point;
    int64_t exponent = 0;

    out->steps = text.length;
    if (behind - digits == (point < behind)) /* no digit */
        return -EINVAL;
    if (behind < end &&
        ((*behind | ' ') != 'e' || parse_exponent(behind, end, &exponent, &out->steps)))
        return -EINVAL;
    out->negative = *text.text == '-';
    out->digits = digits;
    out->end = behind;
    out->whole = point - digits + exponent;
    return 0;
}

/* Whole blocks, a fraction in 1/FRACTION_ONE, and whether nonzero digits follow the fraction. */
struct magnitude {
    uint64_t blocks, fraction;
    bool more;
};

static int measure(struct decimal *decimal, struct magnitude *out)
{
    int64_t left = decimal->whole; /* digits left before the point */
    *out = (struct magnitude){0};

    for (const char *at = decimal->digits; at < decimal->end && out->blocks < LIMIT_BLOCKS; at++) {
        const uint64_t digit = (uint64_t)(*at - '0');
        decimal->steps++;
        if (*at == '.')
            continue;
        if (--left >= 0)
            out->blocks = out->blocks * 10 + digit;
        else if (left >= -DECIMALS)
            out->fraction = out->fraction * 10 + digit;
        else
            out->more = out->more || digit > 0;
    }
    for (; left > 0 && out->blocks > 0 && out->blocks < LIMIT_BLOCKS; left--, decimal->steps++)
        out->blocks *= 10;
    for (; left > -DECIMALS && out->fraction > 0; left--, decimal->steps++)
        out->fraction *= 10;
    return out->blocks < LIMIT_BLOCKS ? 0 : -ERANGE;
}

int number_to_units(struct span text, int64_t *out, struct number_reading *reading)
{
    struct decimal decimal = {.steps = 0};
    struct magnitude size;
    int err = text.length > 0 ? take_apart(text, &decimal) : -EINVAL;
    if (!err)
        err = measure(&decimal, &size);
    if (reading)
        reading->steps = decimal.steps;
    if (err)
        return err;
    const uint64_t scaled = size.fraction << HALF_BITS, halves = scaled / FRACTION_ONE;
    const bool more = size.more || scaled % FRACTION_ONE > 0;
    const bool is_half = halves % 2 == 1 && !more;
    const bool up = halves % 2 == 1 && !(is_half && decimal.negative);
    const uint64_t units = (size.blocks << FARLANDS_UNIT_BITS) + halves / 2 + up;
    if (units > INT64_MAX)
        return -ERANGE;
    *out = decimal.negative ? -(int64_t)units : (int64_t)units;
    if (reading)
        reading->exact = halves % 2 == 0 && !more;
    return 0;
}

int number_to_float(struct span text, float *out)
{
    struct decimal decimal;
    float value;

    if (text.length == 0 || take_apart(text, &decimal))
        return -EINVAL;
    if (text.length >= NEAREST_TEXT)
        return -ERANGE;
    if (nearest_float(text.text, text.length, &value) || isinf(value))
        return -ERANGE;
    *out = value;
    return 0;
}
