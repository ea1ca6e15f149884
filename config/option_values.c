/* One value of the configuration: text -> its place in a struct, and back. */
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config.h"
#include "exact_numbers.h"
#include "options.h"

static int parse_text(const struct option *option, const char *text, size_t length, char *out)
{
    if (length >= (size_t)option->max || memchr(text, '\0', length))
        return -EINVAL;
    memcpy(out, text, length);
    out[length] = '\0';
    return 0;
}

static int parse_name(const struct option *option, const char *text, size_t length, char *out)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (length == 0 || text[0] == '_' || text[0] == '-')
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (!memchr(letters, text[i], sizeof letters - 1))
            return -EINVAL;
    return parse_text(option, text, length, out);
}

static int parse_listen(const struct option *option, const char *text, size_t length, char *out)
{
    return authority_can_listen(text, length) ? parse_text(option, text, length, out) : -EINVAL;
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

static int parse_whole(const struct option *option, const char *text, size_t length, int64_t *out)
{
    int64_t value;
    if (integer_parse(text, length, &value) || (double)value < option->min ||
        (double)value > option->max)
        return -EINVAL;
    *out = value;
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
    if (bytes < option->min || bytes > option->max)
        return -EINVAL;
    *out = value << shift;
    return 0;
}

static int parse_real(const struct option *option, const char *text, size_t length, double *out)
{
    static const char digits[] = "0123456789.+-eE";
    char copy[64], *end;
    if (length == 0 || length >= sizeof copy)
        return -EINVAL;
    for (size_t i = 0; i < length; i++)
        if (!memchr(digits, text[i], sizeof digits - 1))
            return -EINVAL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    double value = strtod(copy, &end);
    if (*end || !isfinite(value))
        return -EINVAL;
    if (option && !(value >= option->min && value <= option->max))
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

int option_parse(const struct option *option, const char *text, size_t length, void *base)
{
    void *place = (char *)base + option->offset;
    int64_t whole;

    switch (option->kind) {
    case OPTION_TEXT:
        return parse_text(option, text, length, place);
    case OPTION_NAME:
        return parse_name(option, text, length, place);
    case OPTION_LISTEN:
        return parse_listen(option, text, length, place);
    case OPTION_URL:
        return url_prefix_parse_url(place, text, length);
    case OPTION_PATH:
        return url_prefix_parse_path(place, text, length);
    case OPTION_CHOICE:
        return parse_choice(option, text, length, place);
    case OPTION_FLAG:
        return parse_flag(text, length, place);
    case OPTION_COUNT:
        if (parse_whole(option, text, length, &whole))
            return -EINVAL;
        *(unsigned *)place = (unsigned)whole;
        return 0;
    case OPTION_INTEGER:
        if (parse_whole(option, text, length, &whole))
            return -EINVAL;
        *(int *)place = (int)whole;
        return 0;
    case OPTION_SEED:
        return unsigned_parse(text, length, place) ? -EINVAL : 0;
    case OPTION_SIZE:
        return parse_size(option, text, length, place);
    case OPTION_REAL:
        return parse_real(option, text, length, place);
    case OPTION_BLOCKS:
        return parse_blocks(option, text, length, place);
    case OPTION_PLACE:
    case OPTION_ELEVATION:
    case OPTION_PALETTE:
    case OPTION_LAYERS:
    case OPTION_NETWORKS:
    case OPTION_SECTION:
    case OPTION_WORLDS:
        break; /* not scalars */
    }
    return -EINVAL;
}

char *option_accepted(const struct option *option, char *buffer, size_t size)
{
    size_t used = 0;

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
    case OPTION_SECTION:
        snprintf(buffer, size, "keys with values of their own");
        break;
    case OPTION_WORLDS:
        snprintf(buffer, size, "a list of 1 to %d worlds", WORLDS_MAX);
        break;
    case OPTION_BLOCKS:
        snprintf(buffer, size, "%.10g to %.15g blocks, with at most 10 fractional bits",
                 option->min, option->max);
        break;
    default:
        if (option->accepted)
            snprintf(buffer, size, "%s", option->accepted);
        else
            snprintf(buffer, size, "a whole number from %.15g to %.15g", option->min, option->max);
    }
    return buffer;
}

static void format_elevation(const struct farlands_params *params, char *buffer, size_t size)
{
    char noise[REAL_TEXT], metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < params->knots && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,%s]", i ? "," : "[",
                                 float_format(params->elevation[i].noise, noise),
                                 float_format(params->elevation[i].metres, metres));
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

static void format_palette(const struct world_config *world, char *buffer, size_t size)
{
    char metres[REAL_TEXT];
    size_t used = 0;
    for (int i = 0; i < world->stops && used < size; i++) {
        const struct palette_stop *stop = &world->palette[i];
        used += (size_t)snprintf(buffer + used, size - used, "%s[%s,\"#%02x%02x%02x\"]",
                                 i ? "," : "[", float_format(stop->metres, metres), stop->red,
                                 stop->green, stop->blue);
    }
    if (used < size)
        snprintf(buffer + used, size - used, "]");
}

static void format_networks(const struct networks *networks, char *buffer, size_t size)
{
    char text[NETWORK_TEXT];
    size_t used = 0;
    for (int i = 0; i < networks->count && used < size; i++)
        used += (size_t)snprintf(buffer + used, size - used, "%s\"%s\"", i ? "," : "[",
                                 network_format(&networks->network[i], text));
    if (used < size)
        snprintf(buffer + used, size - used, "%s]", networks->count ? "" : "[");
}

int option_format(const struct option *option, const void *base, char *buffer, size_t size)
{
    const void *place = (const char *)base + option->offset;
    const int64_t *pair = place;
    char x[BLOCKS_TEXT], y[BLOCKS_TEXT];

    switch (option->kind) {
    case OPTION_TEXT:
    case OPTION_NAME:
    case OPTION_LISTEN:
    case OPTION_URL:
    case OPTION_PATH:
        snprintf(buffer, size, "%s", (const char *)place);
        return 1;
    case OPTION_CHOICE:
        snprintf(buffer, size, "%s", option->choices[*(const unsigned *)place]);
        return 1;
    case OPTION_FLAG:
        snprintf(buffer, size, "%s", *(const bool *)place ? "true" : "false");
        return 0;
    case OPTION_COUNT:
        snprintf(buffer, size, "%u", *(const unsigned *)place);
        return 0;
    case OPTION_INTEGER:
        snprintf(buffer, size, "%d", *(const int *)place);
        return 0;
    case OPTION_SEED: /* quoted: JSON readers that use doubles would round it */
        snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)place);
        return 1;
    case OPTION_SIZE:
        snprintf(buffer, size, "%" PRIu64, *(const uint64_t *)place);
        return 0;
    case OPTION_REAL:
        snprintf(buffer, size, "%s", real_format(*(const double *)place, x));
        return 0;
    case OPTION_BLOCKS:
        snprintf(buffer, size, "%s", blocks_format(pair[0], x));
        return 0;
    case OPTION_PLACE:
        snprintf(buffer, size, "[%s,%s]", blocks_format(pair[0], x), blocks_format(pair[1], y));
        return 0;
    case OPTION_ELEVATION:
        format_elevation(place, buffer, size);
        return 0;
    case OPTION_PALETTE:
        format_palette(base, buffer, size);
        return 0;
    case OPTION_LAYERS: /* their names are the reader's */
        snprintf(buffer, size, "%" PRIu32, *(const uint32_t *)place);
        return 0;
    case OPTION_NETWORKS:
        format_networks(place, buffer, size);
        return 0;
    case OPTION_SECTION:
    case OPTION_WORLDS:
        break;
    }
    buffer[0] = '\0';
    return 0;
}
