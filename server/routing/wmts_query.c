#include "wmts_query.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "config/values/exact_numbers.h"

/* Parameters before REQUEST are GetTile's, all required. */
enum parameter {
    VERSION,
    LAYER,
    STYLE,
    FORMAT,
    TILEMATRIXSET,
    TILEMATRIX,
    TILEROW,
    TILECOL,
    REQUEST,
    SERVICE,
    ACCEPTVERSIONS,
    PARAMETERS,
    OF_TILE = REQUEST,
};

static const char *const names[PARAMETERS] = {
    [VERSION] = "version",
    [LAYER] = "layer",
    [STYLE] = "style",
    [FORMAT] = "format",
    [TILEMATRIXSET] = "tilematrixset",
    [TILEMATRIX] = "tilematrix",
    [TILEROW] = "tilerow",
    [TILECOL] = "tilecol",
    [REQUEST] = "request",
    [SERVICE] = "service",
    [ACCEPTVERSIONS] = "acceptversions",
};

struct values {
    bool given[PARAMETERS];
    char of[PARAMETERS][WMTS_VALUE];
};

unsigned wmts_status(enum wmts_code code)
{
    return code == WMTS_OPERATION_NOT_SUPPORTED ? 501 : 400;
}

unsigned wmts_reject(struct wmts_fault *fault, char *why, enum wmts_code code, const char *locator,
                     const char *format, ...)
{
    va_list arguments;

    fault->code = code;
    snprintf(fault->locator, sizeof fault->locator, "%s", locator);
    va_start(arguments, format);
    vsnprintf(why, QUERY_WHY, format, arguments);
    va_end(arguments);
    return wmts_status(code);
}

/* Copy VALUE, decoding escapes for printable characters; other escapes stay. Returns false if it is
 * too long. */
static bool copy_value(struct span value, char out[WMTS_VALUE])
{
    size_t length = 0;
    for (size_t i = 0; i < value.length && length + 1 < WMTS_VALUE; i++) {
        char c = value.text[i];
        if (c == '%' && i + 2 < value.length && isxdigit((unsigned char)value.text[i + 1]) &&
            isxdigit((unsigned char)value.text[i + 2])) {
            const char digits[] = {value.text[i + 1], value.text[i + 2], '\0'};
            const long byte = strtol(digits, NULL, 16);
            if (byte >= ' ' && byte <= '~') {
                c = (char)byte;
                i += 2;
            }
        }
        out[length++] = c;
        out[length] = '\0';
        if (i + 1 == value.length)
            return true;
    }
    return value.length == 0;
}

static bool has_request(const char *query)
{
    struct span rest = {query, strlen(query)};
    while (rest.length > 0) {
        struct span parameter = span_take(&rest, '&');
        if (span_is_in_any_case(span_take(&parameter, '='), names[REQUEST]))
            return true;
    }
    return false;
}

static unsigned find_values(struct values *values, bool *others, const char *query,
                            struct wmts_fault *fault, char *why)
{
    struct span rest = {query, strlen(query)};

    while (rest.length > 0) {
        struct span value = span_take(&rest, '&');
        const struct span name = span_take(&value, '=');
        int i = 0;
        while (i < PARAMETERS && !span_is_in_any_case(name, names[i]))
            i++;
        if (i == PARAMETERS) {
            *others = *others || name.length > 0;
            continue;
        }
        if (values->given[i])
            return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, names[i],
                               "%s: given twice; expected once", names[i]);
        values->given[i] = true;
        if (!copy_value(value, values->of[i]))
            return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, names[i],
                               "%s: longer than %d characters", names[i], WMTS_VALUE - 1);
    }
    return 0;
}

static unsigned reject_missing(struct wmts_fault *fault, char *why, enum parameter parameter,
                               const char *expected)
{
    return wmts_reject(fault, why, WMTS_MISSING_PARAMETER_VALUE, names[parameter],
                       "%s: missing; expected %s", names[parameter], expected);
}

static unsigned reject_value(struct wmts_fault *fault, char *why, enum parameter parameter,
                             const struct values *values, const char *expected)
{
    return wmts_reject(fault, why, WMTS_INVALID_PARAMETER_VALUE, names[parameter],
                       "%s: \"%.40s\" is not %s", names[parameter], values->of[parameter],
                       expected);
}

/* True if VERSION is in LIST, separated by commas. */
static bool lists_version(const char *list, const char *version)
{
    struct span rest = {list, strlen(list)};
    while (rest.length > 0)
        if (span_is(span_take(&rest, ','), version))
            return true;
    return false;
}

/* Accepts WMS as the service, because QGIS asks for WMS capabilities before it knows the service.
 */
static unsigned check_capabilities(const struct values *values, struct wmts_fault *fault, char *why)
{
    const char *service = values->of[SERVICE], *versions = values->of[ACCEPTVERSIONS];

    if (service[0] && strcasecmp(service, "WMTS") != 0 && strcasecmp(service, "WMS") != 0)
        return reject_value(fault, why, SERVICE, values, "WMTS");
    if (versions[0] && !lists_version(versions, "1.0.0"))
        return wmts_reject(fault, why, WMTS_VERSION_NEGOTIATION_FAILED, names[ACCEPTVERSIONS],
                           "acceptversions: \"%.40s\" has no 1.0.0, the only version", versions);
    return 0;
}

static unsigned parse_number(const struct values *values, enum parameter parameter, int64_t *out,
                             struct wmts_fault *fault, char *why)
{
    const char *text = values->of[parameter];
    const int err = integer_parse(text, strlen(text), out);

    if (err && err != -ERANGE)
        return reject_value(fault, why, parameter, values, "a whole number such as 0 or 12");
    if (err)
        *out = text[0] == '-' ? INT64_MIN : INT64_MAX;
    return 0;
}

static unsigned parse_tile(struct wmts_query *out, const struct values *values,
                           struct wmts_fault *fault, char *why)
{
    static const char *const expected[OF_TILE] = {
        [VERSION] = "1.0.0",
        [LAYER] = "one of the capabilities, such as default:relief",
        [STYLE] = "default",
        [FORMAT] = "image/png",
        [TILEMATRIXSET] = "that of the layer in the capabilities",
        [TILEMATRIX] = "a zoom",
        [TILEROW] = "a row",
        [TILECOL] = "a column",
    };
    /* The only values that these parameters accept. An empty style is the default one. */
    static const char *const only[OF_TILE] = {
        [VERSION] = "1.0.0", [STYLE] = "default", [FORMAT] = "image/png"};
    unsigned status;

    for (enum parameter i = VERSION; i < OF_TILE; i++) {
        if (!values->given[i] || (!values->of[i][0] && i != STYLE))
            return reject_missing(fault, why, i, expected[i]);
        if (only[i] && values->of[i][0] && strcmp(values->of[i], only[i]) != 0)
            return reject_value(fault, why, i, values, expected[i]);
    }
    if (strlen(values->of[TILEMATRIXSET]) >= sizeof out->set)
        return reject_value(fault, why, TILEMATRIXSET, values, expected[TILEMATRIXSET]);
    out->tile = true;
    memcpy(out->layer, values->of[LAYER], sizeof out->layer);
    memcpy(out->set, values->of[TILEMATRIXSET], sizeof out->set);
    if ((status = parse_number(values, TILEMATRIX, &out->matrix, fault, why)) ||
        (status = parse_number(values, TILEROW, &out->row, fault, why)))
        return status;
    return parse_number(values, TILECOL, &out->col, fault, why);
}

unsigned wmts_query_parse(struct wmts_query *out, const char *query, bool document,
                          struct wmts_fault *fault, char why[QUERY_WHY])
{
    struct values values = {.given = {false}};

    *out = (struct wmts_query){.tile = false};
    if (!query[0] || (document && !has_request(query)))
        return 0;
    const unsigned status = find_values(&values, &out->others, query, fault, why);
    const char *request = values.of[REQUEST], *service = values.of[SERVICE];
    if (status)
        return status;
    if (!request[0])
        return reject_missing(fault, why, REQUEST, "GetCapabilities or GetTile");
    if (strcasecmp(request, "GetCapabilities") == 0)
        return check_capabilities(&values, fault, why);
    if (!service[0])
        return reject_missing(fault, why, SERVICE, "WMTS");
    if (strcasecmp(service, "WMTS") != 0)
        return reject_value(fault, why, SERVICE, &values, "WMTS");
    if (strcasecmp(request, "GetTile") == 0)
        return parse_tile(out, &values, fault, why);
    return wmts_reject(fault, why, WMTS_OPERATION_NOT_SUPPORTED, request,
                       "request: \"%.40s\" is not GetCapabilities or GetTile", request);
}
