#include "exact_numbers.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* Digits after the point -> units. 1/1024 has ten of them. */
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

/* Bytes of a decimal point, with its NUL. */
enum { POINT = 8 };

/* Set POINT to that of strtod and printf: they take it from the locale. */
static void find_point(char point[POINT])
{
    char half[POINT + 2];
    snprintf(half, sizeof half, "%g", 0.5);
    snprintf(point, POINT, "%.*s", (int)strlen(half) - 2, half + 1);
}

int real_parse(const char *text, size_t length, double *out)
{
    static const char digits[] = "0123456789.+-eE";
    char copy[64 + POINT], point[POINT], *end;
    const char *found = memchr(text, '.', length);
    const size_t whole = found ? (size_t)(found - text) : length;
    if (length == 0 || length >= sizeof copy - POINT)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (!memchr(digits, text[i], sizeof digits - 1))
            return -EINVAL;
    find_point(point);
    snprintf(copy, sizeof copy, "%.*s%s%.*s", (int)whole, text, found ? point : "",
             found ? (int)(length - whole - 1) : 0, found ? found + 1 : "");
    const double value = strtod(copy, &end);
    if (*end)
        return -EINVAL;
    *out = value;
    return 0;
}

/* Replace the locale's decimal point in NUMBER. Returns NUMBER. */
static char *with_plain_point(char *number)
{
    char point[POINT];
    find_point(point);
    char *found = strstr(number, point);
    if (found) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
    return number;
}

char *float_format(float value, char buffer[REAL_TEXT])
{
    for (int digits = FLT_DIG; digits <= FLT_DECIMAL_DIG; digits++) {
        snprintf(buffer, REAL_TEXT, "%.*g", digits, (double)value);
        if (strtof(buffer, NULL) == value)
            break;
    }
    return with_plain_point(buffer);
}

char *real_format(double value, char buffer[REAL_TEXT])
{
    for (int digits = DBL_DIG; digits <= DBL_DECIMAL_DIG; digits++) {
        snprintf(buffer, REAL_TEXT, "%.*g", digits, value);
        if (strtod(buffer, NULL) == value)
            break;
    }
    return with_plain_point(buffer);
}
