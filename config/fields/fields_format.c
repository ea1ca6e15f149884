/* A world's fields as JSON, in the grammar of files. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/values/exact_numbers.h"

/* A text that grows. */
struct text {
    char *bytes; /* ends with a NUL */
    size_t length, capacity;
    bool failed; /* out of memory */
    bool plain;  /* to be without names and colors of biomes */
    bool looks;  /* there are biomes */
};

static void append_bytes(struct text *text, const char *bytes, size_t length)
{
    if (text->length + length >= text->capacity) {
        const size_t capacity = 2 * (text->length + length) + 256;
        char *larger = text->failed ? NULL : realloc(text->bytes, capacity);
        if (!larger) {
            text->failed = true;
            return;
        }
        text->bytes = larger;
        text->capacity = capacity;
    }
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static void append(struct text *text, const char *string)
{
    append_bytes(text, string, strlen(string));
}

static void append_quoted(struct text *text, const char *string)
{
    append(text, "\"");
    for (; *string; string++) {
        if (*string == '"' || *string == '\\')
            append(text, "\\");
        append_bytes(text, string, 1);
    }
    append(text, "\"");
}

/* A key, after a comma unless it is the object's first key. */
static void append_key(struct text *text, const char *key)
{
    if (text->length > 0 && text->bytes[text->length - 1] != '{')
        append(text, ",");
    append_quoted(text, key);
    append(text, ":");
}

static void append_whole(struct text *text, const char *key, unsigned number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%u", number);
    append_key(text, key);
    append(text, digits);
}

static void append_knots(struct text *text, const struct farlands_knot *knot, int knots)
{
    char number[REAL_TEXT];
    for (int i = 0; i < knots; i++) {
        append(text, i > 0 ? ",[" : "[[");
        append(text, float_format(knot[i].noise, number));
        append(text, ",");
        append(text, float_format(knot[i].metres, number));
        append(text, "]");
    }
    append(text, "]");
}

/* A range with a limit at one end at least. */
static void append_range(struct text *text, const char *key, const struct biome_range *range)
{
    char number[REAL_TEXT];
    append_key(text, key);
    append(text, "[");
    append(text, range->from > -INFINITY ? float_format(range->from, number) : "\"-.inf\"");
    append(text, ",");
    append(text, range->to < INFINITY ? float_format(range->to, number) : "\".inf\"");
    append(text, "]");
}

static void append_look(struct text *text, const struct biome_look *look)
{
    static const char digits[] = "0123456789abcdef";
    char color[8] = "#";
    text->looks = true;
    if (text->plain)
        return;
    append_key(text, "name");
    append_quoted(text, look->name);
    append_key(text, "color");
    for (int i = 0; i < 6; i++)
        color[1 + i] = digits[look->color[i / 2] >> (i % 2 ? 0 : 4) & 15];
    append_quoted(text, color);
}

static void append_biomes(struct text *text, const struct biome_table *table)
{
    static const char *const axes[BIOME_AXES] = {"temperature", "humidity", "height", "slope"};
    for (int i = 0; i < table->rows.rows; i++) {
        const struct biome_row *row = &table->rows.row[i];
        append(text, i > 0 ? ",{" : "[{");
        append_whole(text, "id", (unsigned)row->id);
        append_look(text, &table->look[i]);
        for (int k = 0; k < BIOME_AXES; k++)
            if (row->range[k].from > -INFINITY || row->range[k].to < INFINITY)
                append_range(text, axes[k], &row->range[k]);
        append(text, "}");
    }
    append(text, "]");
}

static void append_expression(struct text *text, const struct world_fields *fields, int at,
                              const char *unit);

static void append_list(struct text *text, const struct world_fields *fields, const int *input,
                        int inputs)
{
    for (int i = 0; i < inputs; i++) {
        append(text, i > 0 ? "," : "[");
        append_expression(text, fields, input[i], "");
    }
    append(text, "]");
}

static void append_scalar(struct text *text, const struct option *option, const void *values,
                          const void *defaults)
{
    char value[OPTION_TEXT_MAX], other[OPTION_TEXT_MAX];
    const bool quoted = option_format(option, values, value, sizeof value);
    option_format(option, defaults, other, sizeof other);
    if (strcmp(value, other) == 0)
        return;
    append_key(text, option->key);
    if (quoted)
        append_quoted(text, value);
    else
        append(text, value);
}

static void append_keys(struct text *text, const struct world_fields *fields,
                        const struct option *keys, const struct node_values *values,
                        const struct node_values *defaults);

/* A section, or nothing if all its keys have their default. */
static void append_section(struct text *text, const struct world_fields *fields,
                           const struct option *option, const struct node_values *values,
                           const struct node_values *defaults)
{
    const size_t before = text->length;
    append_key(text, option->key);
    append(text, "{");
    const size_t inside = text->length;
    append_keys(text, fields, option->options, values, defaults);
    if (text->length > inside)
        append(text, "}");
    else
        text->length = before;
}

static void append_value(struct text *text, const struct world_fields *fields,
                         const struct option *option, const struct node_values *values,
                         const struct node_values *defaults)
{
    const void *value = (const char *)values + option->offset;
    const int *input = value;
    switch (option->kind) {
    case OPTION_SECTION:
        append_section(text, fields, option, values, defaults);
        break;
    case OPTION_FIELD:
        if (*input >= 0) {
            append_key(text, option->key);
            append_expression(text, fields, *input, "");
        }
        break;
    case OPTION_FIELD_PAIR:
        append_key(text, option->key);
        append_list(text, fields, input, 2);
        break;
    case OPTION_KNOTS:
        append_key(text, option->key);
        append_knots(text, values->curve.knot, values->curve.knots);
        break;
    case OPTION_ELEVATION:
        if (values->noise.knots > 0) {
            append_key(text, option->key);
            append_knots(text, values->noise.elevation, values->noise.knots);
        }
        break;
    case OPTION_BIOMES:
        append_key(text, option->key);
        append_biomes(text, values->biomes);
        break;
    default:
        append_scalar(text, option, values, defaults);
    }
}

static void append_keys(struct text *text, const struct world_fields *fields,
                        const struct option *keys, const struct node_values *values,
                        const struct node_values *defaults)
{
    for (; keys->key; keys++)
        append_value(text, fields, keys, values, defaults);
}

/* NODE: {...} */
static void append_node(struct text *text, const struct world_fields *fields,
                        const struct expression *expression)
{
    const struct node_kind *kind = expression->kind;
    append_key(text, kind->name);
    switch (kind->shape) {
    case NODE_SAME:
    case NODE_INPUT:
        append_expression(text, fields, expression->input[0], "");
        break;
    case NODE_LIST:
        append_list(text, fields, expression->input, expression->inputs);
        break;
    default:
        append(text, "{");
        append_keys(text, fields, kind->keys, expression->values, kind->defaults);
        append(text, "}");
    }
}

/* A number or a name stands alone; every other node is an object. */
static void append_expression(struct text *text, const struct world_fields *fields, int at,
                              const char *unit)
{
    const struct expression *expression = &fields->expression[at];
    char number[REAL_TEXT];
    if (expression->kind == NODE_KIND_NUMBER) {
        append(text, real_format(expression->number, number));
        return;
    }
    if (expression->kind == NODE_KIND_NAME) {
        append_quoted(text, fields->field[expression->field].name);
        return;
    }
    append(text, "{");
    append_node(text, fields, expression);
    if (expression->spacing > 0)
        append_whole(text, "lattice", expression->spacing);
    if (unit[0]) {
        append_key(text, "unit");
        append_quoted(text, unit);
    }
    append(text, "}");
}

static void format(struct text *text, const struct world_fields *fields)
{
    append(text, "{");
    for (int i = 0; i < fields->count; i++) {
        append_key(text, fields->field[i].name);
        append_expression(text, fields, fields->field[i].expression, fields->field[i].unit);
    }
    append(text, "}");
}

int fields_format(struct world_fields *fields)
{
    struct text text = {0}, plain = {.plain = true};
    if (!fields || fields->text)
        return 0;
    format(&text, fields);
    if (text.looks)
        format(&plain, fields);
    fields->text = text.bytes;
    fields->plain_text = plain.bytes;
    return text.failed || plain.failed ? -ENOMEM : 0;
}
