#include "query.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/exact_numbers.h"
#include "noise/farlands.h"

unsigned query_reject(char why[QUERY_WHY], unsigned status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, QUERY_WHY, format, arguments);
    va_end(arguments);
    return status;
}

static unsigned parse_place(struct span span, const char *name, unsigned beyond, int64_t *out,
                            char *why)
{
    int err = blocks_parse(span.text, span.length, out);
    if (err == -ERANGE || (!err && (*out < -FARLANDS_LIMIT || *out > FARLANDS_LIMIT)))
        return query_reject(why, beyond, "%s: \"%.*s\" is beyond the limit of 2^52 blocks", name,
                            span_shown(span), span.text);
    if (err)
        return query_reject(why, 400,
                            "%s: \"%.*s\" is not a decimal number of blocks in steps of 1/1024, "
                            "such as 12, -3.5 or 0.0009765625",
                            name, span_shown(span), span.text);
    return 0;
}

static unsigned parse_count(struct span span, const struct query_parameter *parameter, int *out,
                            char *why)
{
    int64_t value = 0;
    int err = integer_parse(span.text, span.length, &value);
    if (err == -EINVAL || (!err && value < 1))
        return query_reject(why, 400, "%s: \"%.*s\" is not a whole number from 1 to %d",
                            parameter->name, span_shown(span), span.text, parameter->max);
    if (err || value > parameter->max)
        return query_reject(why, 413, "%s: %.*s samples are too many; at most %d", parameter->name,
                            span_shown(span), span.text, parameter->max);
    *out = (int)value;
    return 0;
}

static unsigned parse_flag(struct span span, const char *name, bool *out, char *why)
{
    *out = span_is(span, "1");
    if (*out || span_is(span, "0"))
        return 0;
    return query_reject(why, 400, "%s: \"%.*s\" is not 1, nor 0, which is the default", name,
                        span_shown(span), span.text);
}

static unsigned parse_step(struct span span, const char *name, int64_t *out, char *why)
{
    int64_t units;
    if (blocks_parse(span.text, span.length, &units) || units < 1 || (units & (units - 1)) != 0 ||
        units > INT64_C(1) << QUERY_STEP_MAX_BITS)
        return query_reject(why, 400,
                            "%s: \"%.*s\" is not a power of two from 0.0009765625 (1/1024) to "
                            "1048576 (2^20) blocks",
                            name, span_shown(span), span.text);
    *out = units;
    return 0;
}

/* Whether TEXT is like "12" or "-3.5": strtof accepts more. */
static bool is_decimal(const char *text)
{
    const char *whole = text + (*text == '-');
    const char *point = whole + strspn(whole, "0123456789");
    const char *end = *point == '.' ? point + 1 + strspn(point + 1, "0123456789") : point;
    return point > whole && *end == '\0' && end[-1] != '.';
}

static unsigned parse_real(struct span span, const struct query_parameter *parameter, float *out,
                           char *why)
{
    const bool signed_too = parameter->min < 0;
    char text[40];

    if (span.length < sizeof text) {
        memcpy(text, span.text, span.length);
        text[span.length] = '\0';
        if (is_decimal(text) && (*out = strtof(text, NULL)) >= parameter->min)
            return 0;
    }
    return query_reject(why, 400, "%s: \"%.*s\" is not a decimal number%s such as %s1.5",
                        parameter->name, span_shown(span), span.text,
                        signed_too ? "" : ", 0 or more,", signed_too ? "-" : "");
}

static unsigned parse_places(struct span list, const char *name, unsigned beyond, struct span *out,
                             char *why)
{
    *out = list;
    for (int i = 1; list.length > 0 || i == 1; i++) {
        char part[32];
        struct span y = span_take(&list, ';');
        struct span x = span_take(&y, ',');
        int64_t units;
        if (parse_place(x, name, beyond, &units, why) == 0 &&
            parse_place(y, name, beyond, &units, why) == 0)
            continue;
        snprintf(part, sizeof part, "%s: place %d: x", name, i);
        unsigned status = parse_place(x, part, beyond, &units, why);
        part[strlen(part) - 1] = 'y';
        return status ? status : parse_place(y, part, beyond, &units, why);
    }
    return 0;
}

/* Take the next parameter off QUERY. Returns false behind the last one. */
static bool next_parameter(const char **query, struct span *out)
{
    if (!**query)
        return false;
    const char *end = strchrnul(*query, '&');
    *out = (struct span){*query, (size_t)(end - *query)};
    *query = end + (*end == '&');
    return true;
}

/* Whether PARAMETER is NAME=VALUE. */
static bool is_named(struct span parameter, const char *name, size_t length, struct span *value)
{
    if (parameter.length <= length || parameter.text[length] != '=' ||
        memcmp(parameter.text, name, length) != 0)
        return false;
    *value = (struct span){parameter.text + length + 1, parameter.length - length - 1};
    return true;
}

int query_value(const char *query, const char *name, struct span *out)
{
    const size_t length = strlen(name);
    struct span parameter;
    int found = 0;

    while (next_parameter(&query, &parameter))
        found += is_named(parameter, name, length, out);
    return found;
}

static unsigned parse_one(const struct query_parameter *parameter, struct span value,
                          unsigned beyond, void *out, char *why)
{
    switch (parameter->kind) {
    case QUERY_PLACE:
        return parse_place(value, parameter->name, beyond, out, why);
    case QUERY_COUNT:
        return parse_count(value, parameter, out, why);
    case QUERY_STEP:
        return parse_step(value, parameter->name, out, why);
    case QUERY_REAL:
        return parse_real(value, parameter, out, why);
    case QUERY_FLAG:
        return parse_flag(value, parameter->name, out, why);
    default:
        return parse_places(value, parameter->name, beyond, out, why);
    }
}

static bool is_optional(const struct query_parameter *parameter)
{
    return parameter->kind == QUERY_STEP || parameter->kind == QUERY_REAL ||
           parameter->kind == QUERY_FLAG;
}

static unsigned reject_absent(const struct query_parameter *parameters, const char *name, int found,
                              char *why)
{
    int n = snprintf(why, QUERY_WHY, "%s: %s; required once each:", name,
                     found ? "given twice" : "missing");
    for (; parameters->name && n < QUERY_WHY; parameters++)
        if (!is_optional(parameters))
            n += snprintf(why + n, (size_t)(QUERY_WHY - n), " %s=", parameters->name);
    return 400;
}

/* The values of all PARAMETERS, and how often each is given, in one pass: a URL has room for
 * thousands. */
struct values {
    struct span value[QUERY_PARAMETERS_MAX];
    int found[QUERY_PARAMETERS_MAX];
};

static void find_values(const struct query_parameter *parameters, const char *query,
                        struct values *values)
{
    size_t length[QUERY_PARAMETERS_MAX];
    struct span parameter;
    int count = 0;

    memset(values, 0, sizeof *values);
    for (; parameters[count].name; count++)
        length[count] = strlen(parameters[count].name);
    while (next_parameter(&query, &parameter))
        for (int i = 0; i < count; i++)
            values->found[i] +=
                is_named(parameter, parameters[i].name, length[i], &values->value[i]);
}

unsigned query_parse(const struct query_parameter *parameters, const char *query, unsigned beyond,
                     void *base, char why[QUERY_WHY])
{
    struct values values;

    find_values(parameters, query, &values);
    for (int i = 0; parameters[i].name; i++) {
        const struct query_parameter *p = &parameters[i];
        void *out = (char *)base + p->offset;

        if (p->kind == QUERY_STEP)
            *(int64_t *)out = FARLANDS_UNIT;
        if (values.found[i] == 0 && is_optional(p))
            continue;
        if (values.found[i] != 1)
            return reject_absent(parameters, p->name, values.found[i], why);
        unsigned status = parse_one(p, values.value[i], beyond, out, why);
        if (status)
            return status;
    }
    return 0;
}

bool query_next_place(struct span *places, int64_t *x, int64_t *y)
{
    if (places->length == 0)
        return false;
    struct span second = span_take(places, ';');
    struct span first = span_take(&second, ',');
    return !blocks_parse(first.text, first.length, x) &&
           !blocks_parse(second.text, second.length, y);
}
