#include "exact_numbers.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "config/values/nearest.h"
#include "noise/farlands.h"

enum { UNIT_BITS = FARLANDS_UNIT_BITS };
#define LIMIT_BLOCKS (UINT64_C(1) << 53)

int unsigned_parse(const char *text, size_t length, uint64_t *out)
{
    uint64_t value = 0;

    if (length == 0 || (length > 1 && text[0] == '0'))
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
    for (size_t i = 0; i < length; i++) {
        uint64_t digit = (uint64_t)(text[i] - '0');
        if (__builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, digit, &value))
            return -ERANGE;
    }
    *out = value;
    return 0;
}

int integer_parse(const char *text, size_t length, int64_t *out)
{
    bool negative = length > 0 && text[0] == '-';
    uint64_t magnitude;
    int err = unsigned_parse(text + negative, length - negative, &magnitude);
    if (err)
        return err;
    if (negative && magnitude == 0)
        return -EINVAL;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return -ERANGE;
    *out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return 0;
}

/* Digits after the point -> units. 1/1024 has ten digits. */
static int fraction_parse(const char *text, size_t length, uint64_t *out)
{
    uint64_t digits = 0, power = 1;

    while (length > UNIT_BITS && text[length - 1] == '0')
        length--;
    if (length == 0 || length > UNIT_BITS)
        return -EINVAL;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9')
            return -EINVAL;
        digits = digits * 10 + (uint64_t)(text[i] - '0');
        power *= 10;
    }
    digits <<= UNIT_BITS;
    if (digits % power != 0)
        return -EINVAL;
    *out = digits / power;
    return 0;
}

int blocks_parse(const char *text, size_t length, int64_t *out)
{
    bool negative = length > 0 && text[0] == '-';
    const char *end = text + length, *whole = text + negative;
    const char *point = memchr(text, '.', length);
    uint64_t blocks, units = 0;
    int err = unsigned_parse(whole, (size_t)((point ? point : end) - whole), &blocks);
    if (!err && point)
        err = fraction_parse(point + 1, (size_t)(end - point - 1), &units);
    if (err)
        return err;
    if (negative && blocks == 0 && units == 0)
        return -EINVAL;
    if (blocks >= LIMIT_BLOCKS)
        return -ERANGE;
    units += blocks << UNIT_BITS;
    *out = negative ? -(int64_t)units : (int64_t)units;
    return 0;
}

char *blocks_format(int64_t units, char buffer[BLOCKS_TEXT])
{
    uint64_t magnitude = units < 0 ? 0 - (uint64_t)units : (uint64_t)units;
    uint64_t fraction = magnitude & ((1 << UNIT_BITS) - 1);
    int n =
        snprintf(buffer, BLOCKS_TEXT, "%s%" PRIu64, units < 0 ? "-" : "", magnitude >> UNIT_BITS);
    if (fraction > 0) {
        buffer[n++] = '.';
        for (; fraction > 0; fraction &= (1 << UNIT_BITS) - 1) {
            fraction *= 10;
            buffer[n++] = (char)('0' + (fraction >> UNIT_BITS));
        }
        buffer[n] = '\0';
    }
    return buffer;
}

int exponent_expand(const char *text, size_t length, char out[EXPANDED_TEXT])
{
    enum { SHIFT_MAX = 40 };
    const char *end = text + length, *e = text;
    char digits[EXPANDED_TEXT];
    bool negative_shift;
    uint64_t shift;

    while (e < end && *e != 'e' && *e != 'E')
        e++;
    const bool negative = length > 0 && text[0] == '-';
    const char *whole = text + negative;
    if (end - e < 2 || e - whole < 1 || e - whole > EXPANDED_TEXT / 4)
        return -EINVAL;
    const char *point = memchr(whole, '.', (size_t)(e - whole));
    const size_t before = (size_t)((point ? point : e) - whole);
    const size_t behind = point ? (size_t)(e - point - 1) : 0;
    negative_shift = e[1] == '-';
    const char *first = e + 1 + (e[1] == '-' || e[1] == '+');
    while (end - first > 1 && *first == '0') /* as printf writes exponents */
        first++;
    if (*whole < '0' || *whole > '9' || (before > 1 && *whole == '0') || (point && behind == 0) ||
        unsigned_parse(first, (size_t)(end - first), &shift) || shift > SHIFT_MAX)
        return -EINVAL;

    /* All digits, with zeros for the point to move over. */
    const size_t room = SHIFT_MAX;
    const size_t count = 2 * room + before + behind;
    memset(digits, '0', count);
    memcpy(digits + room, whole, before);
    if (behind > 0)
        memcpy(digits + room + before, point + 1, behind);
    const size_t at = room + before + (negative_shift ? 0 - (size_t)shift : (size_t)shift);
    size_t from = 0, to = count;
    while (from + 1 < at && digits[from] == '0')
        from++;
    while (to > at && digits[to - 1] == '0')
        to--;
    snprintf(out, EXPANDED_TEXT, "%s%.*s%s%.*s", negative ? "-" : "", (int)(at - from),
             digits + from, to > at ? "." : "", (int)(to - at), digits + at);
    return 0;
}

int real_parse(const char *text, size_t length, double *out)
{
    return nearest_double(text, length, out);
}

/* Replace the decimal point in NUMBER by '.'. printf takes the point from the locale, and some
 * locales have one with several bytes. Returns NUMBER. */
static char *with_plain_point(char *number)
{
    static const char others[] = "0123456789+-einfa";
    char *point = number + strspn(number, others);
    if (*point) {
        char *behind = point + strcspn(point, others);
        *point = '.';
        memmove(point + 1, behind, strlen(behind) + 1);
    }
    return number;
}

char *float_format(float value, char buffer[REAL_TEXT])
{
    float again;
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(buffer, REAL_TEXT, "%.*g", digits, (double)value);
        with_plain_point(buffer);
        if (nearest_float(buffer, strlen(buffer), &again) == 0 && again == value)
            break;
    }
    return buffer;
}

char *real_format(double value, char buffer[REAL_TEXT])
{
    double again;
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(buffer, REAL_TEXT, "%.*g", digits, value);
        with_plain_point(buffer);
        if (nearest_double(buffer, strlen(buffer), &again) == 0 && again == value)
            break;
    }
    return buffer;
}
