/* A scalar's text -> a member of a struct, and back. */
#include "option.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "config/values/seed.h"
#include "noise/graph/graph.h"

const struct option *option_find(const struct option *options, const char *key, size_t length)
{
    for (; options->key; options++)
        if (strlen(options->key) == length && memcmp(options->key, key, length) == 0)
            return options;
    return NULL;
}

static int parse_text(const struct option *option, const char *text, size_t length, char *out)
{
    if (length >= (size_t)option->max || memchr(text, '\0', length))
        return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

int option_parse_line(char *out, size_t size, const char *text, size_t length)
{
    if (length >= size)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

static int parse_choice(const struct option *option, const char *text, size_t length, unsigned *out)
{
    for (unsigned i = 0; option->choices[i]; i++) {
        const char *choice = option->choices[i];
        if (strlen(choice) == length && memcmp(choice, text, length) == 0) {
            *out = i;
            return 0;
        }
    }
    return -EINVAL;
}

static int parse_flag(const char *text, size_t length, bool *out)
{
    *out = length == 4 && memcmp(text, "true", 4) == 0;
    return *out || (length == 5 && memcmp(text, "false", 5) == 0) ? 0 : -EINVAL;
}

static int parse_whole(const struct option *option, const char *text, size_t length, unsigned *out)
{
    uint64_t value;
    if (unsigned_parse(text, length, &value) || (double)value < option->min ||
        (double)value > option->max)
        return -EINVAL;
    *out = (unsigned)value;
    return 0;
}

static int parse_size(const struct option *option, const char *text, size_t length, uint64_t *out)
{
    static const char suffixes[] = "KMGT";
    const char *suffix = length > 0 ? strchr(suffixes, text[length - 1]) : NULL;
    unsigned shift = 0;
    uint64_t value;
    if (suffix && *suffix) {
        shift = 10 * (unsigned)(suffix - suffixes + 1);
        length--;
    }
    if (unsigned_parse(text, length, &value))
        return -EINVAL;
    const double bytes = (double)value * (double)(UINT64_C(1) << shift);
    if ((bytes < option->min && !(option->or_zero && value == 0)) || bytes > option->max)
        return -EINVAL;
    *out = value << shift;
    return 0;
}

static int parse_real(const struct option *option, const char *text, size_t length, double *out)
{
    double value;
    if (real_parse(text, length, &value) || !(value >= option->min && value <= option->max))
        return -EINVAL;
    *out = value;
    return 0;
}

static int parse_blocks(const struct option *option, const char *text, size_t length, int64_t *out)
{
    int64_t units;
    if (blocks_parse(text, length, &units) || units < (int64_t)(option->min * FARLANDS_UNIT) ||
        units > (int64_t)(option->max * FARLANDS_UNIT))
        return -EINVAL;
    *out = units;
    return 0;
}

static int parse_spacing(const char *text, size_t length, unsigned *out)
{
    uint64_t value;
    if (unsigned_parse(text, length, &value) || value < 1 ||
        value > GRAPH_MAX_SPACING / FARLANDS_UNIT || (value & (value - 1)) != 0)
        return -EINVAL;
    *out = (unsigned)value;
    return 0;
}

static int parse_color(const char *text, size_t length, uint8_t out[3])
{
    static const char digits[] = "0123456789abcdefABCDEF";
    unsigned nibble[6];
    if (length != 7 || text[0] != '#')
        return -EINVAL;
    for (int i = 0; i < 6; i++) {
        const char *digit = memchr(digits, text[i + 1], sizeof digits - 1);
        if (!digit)
            return -EINVAL;
        nibble[i] = (unsigned)(digit - digits < 16 ? digit - digits : digit - digits - 6);
    }
    for (int i = 0; i < 3; i++)
        out[i] = (uint8_t)(nibble[2 * i] << 4 | nibble[2 * i + 1]);
    return 0;
}

/* Numbers whose parsers know no exponents: option_parse expands 1e3 first. */
static bool is_canonical(enum option_kind kind)
{
    return kind == OPTION_INTEGER || kind == OPTION_SIZE || kind == OPTION_BLOCKS ||
           kind == OPTION_SPACING;
}

int option_parse(const struct option *option, const char *text, size_t length, void *base)
{
    void *value = (char *)base + option->offset;
    char expanded[EXPANDED_TEXT];

    if (is_canonical(option->kind) && exponent_expand(text, length, expanded) == 0) {
        text = expanded;
        length = strlen(expanded);
    }
    switch (option->kind) {
    case OPTION_TEXT:
        return option->parse ? option->parse(value, text, length)
                             : parse_text(option, text, length, value);
    case OPTION_CHOICE:
        return parse_choice(option, text, length, value);
    case OPTION_FLAG:
        return parse_flag(text, length, value);
    case OPTION_INTEGER:
        return parse_whole(option, text, length, value);
    case OPTION_SEED:
        return seed_parse(text, length, value);
    case OPTION_SIZE:
        return parse_size(option, text, length, value);
    case OPTION_REAL:
        return parse_real(option, text, length, value);
    case OPTION_BLOCKS:
        return parse_blocks(option, text, length, value);
    case OPTION_SPACING:
        return parse_spacing(text, length, value);
    case OPTION_COLOR:
        return parse_color(text, length, value);
    default:
        return -EINVAL; /* not a scalar */
    }
}

char *option_expected(const struct option *option, char *buffer, size_t size)
{
    char min[REAL_TEXT], max[REAL_TEXT];
    size_t used = 0;

    if (option->expected) {
        snprintf(buffer, size, "%s", option->expected);
        return buffer;
    }
    switch (option->kind) {
    case OPTION_CHOICE:
        buffer[0] = '\0';
        for (unsigned i = 0; option->choices[i] && used < size; i++) {
            const char *link = i == 0 ? "" : option->choices[i + 1] ? ", " : " or ";
            used += (size_t)snprintf(buffer + used, size - used, "%s%s", link, option->choices[i]);
        }
        break;
    case OPTION_FLAG:
        snprintf(buffer, size, "true or false");
        break;
    case OPTION_REAL:
        snprintf(buffer, size, "a number from %s to %s", real_format(option->min, min),
                 real_format(option->max, max));
        break;
    case OPTION_BLOCKS:
        snprintf(buffer, size, "%s to %s blocks, with at most 10 fractional bits",
                 real_format(option->min, min), real_format(option->max, max));
        break;
    case OPTION_SPACING:
        snprintf(buffer, size, "a power of two from 1 to 16777216 blocks");
        break;
    case OPTION_COLOR:
        snprintf(buffer, size, "%s",
                 "\"#rrggbb\", in quotes, each of r, g and b from 0 to 9 or a to f");
        break;
    default:
        snprintf(buffer, size, "a whole number from %s to %s", real_format(option->min, min),
                 real_format(option->max, max));
    }
    return buffer;
}

bool option_format(const struct option *option, const void *base, char *buffer, size_t size)
{
    const void *value = (const char *)base + option->offset;
    char real[REAL_TEXT], blocks[BLOCKS_TEXT];

    switch (option->kind) {
    case OPTION_TEXT:
        snprintf(buffer, size, "%s", (const char *)value);
        return true;
    case OPTION_CHOICE:
        snprintf(buffer, size, "%s", option->choices[*(const unsigned *)value]);
        return true;
    case OPTION_FLAG:
        snprintf(buffer, size, "%s", *(const bool *)value ? "true" : "false");
        return false;
    case OPTION_INTEGER:
    case OPTION_SPACING:
        snprintf(buffer, size, "%u", *(const unsigned *)value);
        return false;
    case OPTION_SEED: /* quoted: JSON readers that use doubles would round it */
    case OPTION_SIZE:
        snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)value);
        return option->kind == OPTION_SEED;
    case OPTION_REAL:
        snprintf(buffer, size, "%s", real_format(*(const double *)value, real));
        return false;
    case OPTION_BLOCKS:
        snprintf(buffer, size, "%s", blocks_format(*(const int64_t *)value, blocks));
        return false;
    default:
        buffer[0] = '\0'; /* not a scalar */
        return false;
    }
}
