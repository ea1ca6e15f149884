#include "json.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "config/values/exact_numbers.h"
#include "server/core/decimal.h"

enum { ROOM_AT_FIRST = 1024, ESCAPE = sizeof "\\u001f" - 1 };

/* Room for MORE bytes at the end, or NULL. */
static char *reserve(struct json *json, size_t more)
{
    struct blob *old = json->text;

    if (old && old->length - json->length < more) {
        json->text = blob_new(2 * json->length + more);
        if (json->text)
            memcpy(json->text->bytes, old->bytes, json->length);
        blob_release(old);
    }
    return json->text ? (char *)json->text->bytes + json->length : NULL;
}

static void add(struct json *json, const char *bytes, size_t count)
{
    char *at = reserve(json, count);

    if (!at)
        return;
    memcpy(at, bytes, count);
    json->length += count;
}

static void add_char(struct json *json, char c)
{
    add(json, &c, 1);
}

static void add_line(struct json *json)
{
    static const char spaces[2 * JSON_DEPTH + 1] = "                                ";
    add_char(json, '\n');
    add(json, spaces, 2 * json->depth);
}

/* Write the comma, blanks and key before a value. */
static void add_key(struct json *json, const char *key)
{
    if (!json->first)
        add_char(json, ',');
    if (json->indented && json->depth > 0 && key)
        add_line(json);
    else if (json->indented && !json->first)
        add_char(json, ' ');
    json->first = false;
    if (!key)
        return;
    add_char(json, '"');
    add(json, key, strlen(key));
    add(json, "\": ", json->indented ? 3 : 2);
}

static void begin(struct json *json, const char *key, char bracket, char close)
{
    assert(json->depth < JSON_DEPTH);
    add_key(json, key);
    add_char(json, bracket);
    json->close[json->depth++] = close;
    json->first = true;
}

void json_list(struct json *json, const char *key)
{
    begin(json, key, '[', ']');
}

void json_object(struct json *json, const char *key)
{
    begin(json, key, '{', '}');
}

void json_close(struct json *json)
{
    const char close = json->close[--json->depth];

    if (json->indented && close == '}' && !json->first)
        add_line(json);
    add_char(json, close);
    json->first = false;
}

struct json json_new(bool indented)
{
    struct json json = {.text = blob_new(ROOM_AT_FIRST), .indented = indented, .first = true};

    json_object(&json, NULL);
    return json;
}

struct blob *json_end(struct json *json)
{
    while (json->depth > 0)
        json_close(json);
    add_char(json, '\n');
    return json->text ? blob_trim(json->text, json->length) : NULL;
}

/* How many bytes C takes in a string. */
static size_t escaped_size(char c)
{
    if (c == '"' || c == '\\')
        return 2;
    return (unsigned char)c < ' ' ? ESCAPE : 1;
}

/* Write C as in a string, to end at END. Returns where C begins. */
static char *put_before(char *end, char c)
{
    static const char hex[] = "0123456789abcdef";
    const size_t size = escaped_size(c);
    char *at = end - size;

    if (size == ESCAPE) {
        memcpy(at, "\\u00", 4);
        at[4] = hex[c >> 4];
        at[5] = hex[c & 15];
    } else {
        at[0] = '\\';
        at[size - 1] = c;
    }
    return at;
}

/* Escape the last COUNT bytes, in place. */
static void escape(struct json *json, size_t count)
{
    size_t size = 0;

    for (size_t i = 1; json->text && i <= count; i++)
        size += escaped_size((char)json->text->bytes[json->length - i]);
    if (size <= count || !reserve(json, size - count))
        return;
    char *text = (char *)json->text->bytes + json->length - count;
    char *at = text + size;
    for (size_t i = count; i-- > 0;)
        at = put_before(at, text[i]);
    json->length += size - count;
}

void json_string(struct json *json, const char *key, const char *text)
{
    if (!text) {
        json_raw(json, key, "null");
        return;
    }
    add_key(json, key);
    add_char(json, '"');
    add(json, text, strlen(text));
    escape(json, strlen(text));
    add_char(json, '"');
}

void json_text(struct json *json, const char *key, const char *format, ...)
{
    char text[256];
    va_list arguments;

    add_key(json, key);
    add_char(json, '"');
    va_start(arguments, format);
    const size_t length = (size_t)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < sizeof text) {
        add(json, text, length);
    } else if (reserve(json, length + 1)) {
        va_start(arguments, format);
        vsnprintf(reserve(json, length + 1), length + 1, format, arguments);
        va_end(arguments);
        json->length += length;
    }
    escape(json, length);
    add_char(json, '"');
}

void json_integer(struct json *json, const char *key, int64_t value)
{
    char text[24];
    const char *end = decimal_put_signed(text, value);

    add_key(json, key);
    add(json, text, (size_t)(end - text));
}

void json_float(struct json *json, const char *key, float value)
{
    char text[REAL_TEXT];
    json_raw(json, key, isfinite(value) ? float_format(value, text) : "null");
}

void json_real(struct json *json, const char *key, double value)
{
    char text[REAL_TEXT];

    if (fabs(value) < 1e15 && value == floor(value) && (value != 0 || !signbit(value)))
        json_integer(json, key, (int64_t)value);
    else
        json_raw(json, key, isfinite(value) ? real_format(value, text) : "null");
}

void json_reals(struct json *json, const char *key, const double *values, int count)
{
    json_list(json, key);
    for (int i = 0; i < count; i++)
        json_real(json, NULL, values[i]);
    json_close(json);
}

void json_raw(struct json *json, const char *key, const char *value)
{
    add_key(json, key);
    add(json, value, strlen(value));
}
