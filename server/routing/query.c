#include "query.h"

#include <assert.h>
#include <errno.h>
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/values/exact_numbers.h"
#include "config/values/name_distance.h"
#include "noise/farlands.h"
#include "server/layers/layer.h"
#include "server/routing/number.h"

unsigned query_reject(char why[QUERY_WHY], unsigned status, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, QUERY_WHY, format, arguments);
    va_end(arguments);
    return status;
}

static unsigned parse_place(struct span span, const char *name, int64_t *out, char *why)
{
    int err = number_to_units(span, out, NULL);
    if (err == -ERANGE || (!err && (*out < -FARLANDS_LIMIT || *out > FARLANDS_LIMIT)))
        return query_reject(why, 404, "%s: \"%.*s\" is beyond the limit of 2^52 blocks", name,
                            span_shown(span), span.text);
    if (err)
        return query_reject(why, 400,
                            "%s: \"%.*s\" is not a number of blocks such as 12, -3.5 or 1e6", name,
                            span_shown(span), span.text);
    return 0;
}

static unsigned parse_whole(struct span span, const struct query_parameter *parameter, int *out,
                            char *why)
{
    const int min = (int)parameter->min, max = parameter->max;
    struct number_reading reading = {.exact = true};
    int64_t units = 0;
    const int err = number_to_units(span, &units, &reading);
    const bool is_large = err == -ERANGE && span.text[0] != '-';
    const bool is_whole = !err && reading.exact && units % FARLANDS_UNIT == 0;
    const int64_t value = units / FARLANDS_UNIT;

    if (parameter->unit && (is_large || (is_whole && value > max)))
        return query_reject(why, 413, "%s: %.*s %s are too many; at most %d", parameter->name,
                            span_shown(span), span.text, parameter->unit, max);
    if (!is_whole || value < min || value > max)
        return query_reject(why, 400, "%s: \"%.*s\" is not a whole number from %d to %d",
                            parameter->name, span_shown(span), span.text, min, max);
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

static unsigned parse_format(struct span span, const char *name, enum format *out, char *why)
{
    for (enum format format = 0; format < FORMATS; format++)
        if (format_is_picture(format) && span_is(span, format_extension(format))) {
            *out = format;
            return 0;
        }
    return query_reject(why, 400, "%s: \"%.*s\" is not png, which is the default, nor webp", name,
                        span_shown(span), span.text);
}

const char *query_crs_name(enum query_crs crs)
{
    static const char *const names[] = {"blocks", "north", "lnglat"};
    return names[crs];
}

static unsigned parse_crs(struct span span, const char *name, enum query_crs *out, char *why)
{
    for (enum query_crs crs = 0; crs < CRS_COUNT; crs++)
        if (span_is(span, query_crs_name(crs))) {
            *out = crs;
            return 0;
        }
    return query_reject(why, 400,
                        "%s: \"%.*s\" is not blocks, which is the default, north or lnglat", name,
                        span_shown(span), span.text);
}

static unsigned parse_step(struct span span, const char *name, int64_t *out, char *why)
{
    struct number_reading reading;
    int64_t units;
    if (number_to_units(span, &units, &reading) || !reading.exact || units < 1 ||
        (units & (units - 1)) != 0 || units > INT64_C(1) << QUERY_STEP_MAX_BITS)
        return query_reject(why, 400,
                            "%s: \"%.*s\" is not a power of two from 0.0009765625 (1/1024) to "
                            "1048576 (2^20) blocks",
                            name, span_shown(span), span.text);
    *out = units;
    return 0;
}

static unsigned parse_real(struct span span, const struct query_parameter *parameter, float *out,
                           char *why)
{
    const int err = number_to_float(span, out);
    if (err == -ERANGE)
        return query_reject(why, 400, "%s: \"%.*s\" is beyond 3.4e38, or too long", parameter->name,
                            span_shown(span), span.text);
    if (err || !(*out >= parameter->min))
        return query_reject(why, 400, "%s: \"%.*s\" is not a number%s such as %s1.5",
                            parameter->name, span_shown(span), span.text,
                            parameter->min < 0 ? "" : ", 0 or more,",
                            parameter->min < 0 ? "-" : "");
    return 0;
}

static unsigned parse_course(struct span span, const char *name, struct farlands_course *out,
                             char *why)
{
    struct span rest = span;
    const struct span i = span_take(&rest, ','), j = span_take(&rest, ',');
    int64_t step;

    if (!integer_parse(i.text, i.length, &out->i) && !integer_parse(j.text, j.length, &out->j) &&
        !integer_parse(rest.text, rest.length, &step) && step >= 0 && step <= QUERY_STEPS_MAX) {
        out->step = (int)step;
        return 0;
    }
    return query_reject(why, 400,
                        "%s: \"%.*s\" is no part of a course; expected that of a response", name,
                        span_shown(span), span.text);
}

static unsigned parse_range(struct span span, const char *name, float out[2], char *why)
{
    struct span last = span;
    const struct span first = span_take(&last, ',');

    if (number_to_float(first, &out[0]) || number_to_float(last, &out[1]))
        return query_reject(why, 400, "%s: \"%.*s\" is not two numbers A,B such as -50,250.5", name,
                            span_shown(span), span.text);
    /* Over a narrower range the integers' scale would not be finite. */
    if (out[1] - out[0] > 1e-30F && out[1] - out[0] <= FLT_MAX)
        return 0;
    return query_reject(why, 400, "%s: \"%.*s\" is not A,B with A below B, by at most 3.4e38", name,
                        span_shown(span), span.text);
}

/* Take the next place off LIST. *MORE is true if a semicolon ended it: another place follows, even
 * if that is empty. */
static struct span take_place(struct span *list, bool *more)
{
    const size_t length = list->length;
    const struct span place = span_take(list, ';');
    *more = place.length < length;
    return place;
}

/* Check place NUMBER, counted from 1, in the list NAME. */
static unsigned check_place(struct span place, size_t number, const char *name, char *why)
{
    char part[48];
    struct span y = place;
    const struct span x = span_take(&y, ',');
    int64_t units;

    if (place.length == 0)
        return query_reject(why, 400, "%s: place %zu: empty", name, number);
    if (parse_place(x, name, &units, why) == 0 && parse_place(y, name, &units, why) == 0)
        return 0;
    snprintf(part, sizeof part, "%s: place %zu: x", name, number);
    const unsigned status = parse_place(x, part, &units, why);
    part[strlen(part) - 1] = 'y';
    return status ? status : parse_place(y, part, &units, why);
}

static unsigned parse_places(struct span list, const char *name, struct query_places *out,
                             char *why)
{
    *out = (struct query_places){.text = list};
    for (bool more = true; more; out->count++) {
        const struct span place = take_place(&list, &more);
        const unsigned status = check_place(place, out->count + 1, name, why);
        if (status)
            return status;
    }
    return 0;
}

/* Take the next parameter off QUERY. Returns false at the end. */
static bool next_parameter(const char **query, struct span *out)
{
    if (!**query)
        return false;
    const char *end = strchrnul(*query, '&');
    *out = (struct span){*query, (size_t)(end - *query)};
    *query = end + (*end == '&');
    return true;
}

static void parse_text(struct span span, char *out, size_t size)
{
    const size_t length = span.length < size ? span.length : 0;
    memcpy(out, span.text, length);
    out[length] = '\0';
}

static unsigned parse_name(struct span span, const struct query_parameter *parameter, char *out,
                           char *why)
{
    const int size = parameter->max ? parameter->max : QUERY_WORD;
    parse_text(span, out, (size_t)size);
    return out[0] ? 0
                  : query_reject(why, 404, "%s: expected a name of 1 to %d characters",
                                 parameter->name, size - 1);
}

static unsigned parse_names(struct span list, const struct query_parameter *parameter,
                            struct span *out, char *why)
{
    struct span rest = list, name;
    int count = 0;

    *out = list;
    while (query_next_name(&rest, &name) && ++count <= parameter->max) {
        if (name.length == 0)
            return query_reject(why, 400, "%s: name %d: empty", parameter->name, count);
        if (name.length >= QUERY_WORD)
            return query_reject(why, 404, "%s: \"%.*s\" is no name; expected names such as a,b",
                                parameter->name, span_shown(name), name.text);
    }
    if (count > 0 && count <= parameter->max && list.text[list.length - 1] != ',')
        return 0;
    return query_reject(why, 400, "%s: expected 1 to %d names, separated by commas",
                        parameter->name, parameter->max);
}

static unsigned parse_one(const struct query_parameter *parameter, struct span value, void *out,
                          char *why)
{
    switch (parameter->kind) {
    case QUERY_PLACE:
        return parse_place(value, parameter->name, out, why);
    case QUERY_WHOLE:
        return parse_whole(value, parameter, out, why);
    case QUERY_STEP:
        return parse_step(value, parameter->name, out, why);
    case QUERY_REAL:
        return parse_real(value, parameter, out, why);
    case QUERY_COURSE:
        return parse_course(value, parameter->name, out, why);
    case QUERY_RANGE:
        return parse_range(value, parameter->name, out, why);
    case QUERY_NAMES:
        return parse_names(value, parameter, out, why);
    case QUERY_FLAG:
        return parse_flag(value, parameter->name, out, why);
    case QUERY_FORMAT:
        return parse_format(value, parameter->name, out, why);
    case QUERY_CRS:
        return parse_crs(value, parameter->name, out, why);
    case QUERY_NAME:
        return parse_name(value, parameter, out, why);
    case QUERY_TEXT:
        parse_text(value, out, QUERY_WORD);
        return 0;
    default:
        return parse_places(value, parameter->name, out, why);
    }
}

static unsigned reject_absent(const struct query_parameter *parameters, const char *name, char *why)
{
    int n = snprintf(why, QUERY_WHY, "%s: missing; required:", name);
    for (; parameters->name && n < QUERY_WHY; parameters++)
        if (parameters->required)
            n += snprintf(why + n, (size_t)(QUERY_WHY - n), " %s=", parameters->name);
    return 400;
}

/* The table's parameter KEY, or NULL. *NEAREST is then the parameter that was probably meant, or
 * NULL. */
static const struct query_parameter *find(const struct query_table *table, struct span key,
                                          const struct query_parameter **nearest)
{
    unsigned least = NAME_DISTANCE_NONE;

    *nearest = NULL;
    for (const struct query_parameter *p = table->parameters; p->name; p++)
        if (span_is(key, p->name))
            return p;
    for (const struct query_parameter *p = table->parameters; p->name; p++) {
        const unsigned distance = name_distance(key.text, key.length, p->name);
        if (distance < least) {
            least = distance;
            *nearest = p;
        }
    }
    return NULL;
}

static unsigned reject_unknown(const struct query_table *table, struct span key,
                               const struct query_parameter *nearest, char *why)
{
    int n = snprintf(why, QUERY_WHY, "'%.*s' is not a parameter of %s; ", span_shown(key), key.text,
                     table->name);
    if (nearest) {
        snprintf(why + n, (size_t)(QUERY_WHY - n), "did you mean '%s'?", nearest->name);
        return 400;
    }
    for (const struct query_parameter *p = table->parameters; p->name && n < QUERY_WHY; p++)
        n += snprintf(why + n, (size_t)(QUERY_WHY - n), "%s%s",
                      p == table->parameters ? "expected " : ", ", p->name);
    return 400;
}

/* The values for a table's parameters; NULL: absent. */
struct values {
    struct span of[QUERY_PARAMETERS_MAX];
};

static unsigned find_values(const struct query_table *table, const char *query,
                            struct values *values, bool *others, char *why)
{
    const struct query_parameter *nearest;
    struct span value;

    for (int count = 1; next_parameter(&query, &value); count++) {
        if (count > QUERY_KEYS_MAX)
            return query_reject(why, 400, "query: more than %d parameters", QUERY_KEYS_MAX);
        if (value.length == 0)
            continue;
        const struct span key = span_take(&value, '=');
        const struct query_parameter *parameter = find(table, key, &nearest);
        struct span *slot = parameter ? &values->of[parameter - table->parameters] : NULL;
        /* A single letter is too short to be taken for a misspelling. */
        if (!slot && (!table->open || (nearest && nearest->name[1])))
            return reject_unknown(table, key, nearest, why);
        if (slot && slot->text)
            return query_reject(why, 400, "%s: given twice; expected once", parameter->name);
        if (slot)
            *slot = value;
        else
            *others = true;
    }
    return 0;
}

unsigned query_parse(const struct query_table *table, const char *query, void *base, bool *others,
                     char why[QUERY_WHY])
{
    struct values values = {0};

    *others = false;
    unsigned status = find_values(table, query, &values, others, why);
    for (const struct query_parameter *p = table->parameters; p->name && !status; p++) {
        const struct span value = values.of[p - table->parameters];
        void *out = (char *)base + p->offset;
        if (p->kind == QUERY_STEP)
            *(int64_t *)out = FARLANDS_UNIT;
        if (value.text)
            status = parse_one(p, value, out, why);
        else if (p->required)
            status = reject_absent(table->parameters, p->name, why);
    }
    return status;
}

bool query_next_place(struct query_places *places, int64_t *x, int64_t *y)
{
    bool more;
    if (places->count == 0)
        return false;
    struct span second = take_place(&places->text, &more);
    const struct span first = span_take(&second, ',');
    const int err = number_to_units(first, x, NULL) || number_to_units(second, y, NULL);
    places->count--;
    assert(!err && more == (places->count > 0)); /* query_parse has counted and checked them */
    return !err;
}

bool query_next_name(struct span *names, struct span *out)
{
    if (names->length == 0)
        return false;
    *out = span_take(names, ',');
    return true;
}
