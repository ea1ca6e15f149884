#include "fields_read.h"

#include <stdlib.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/reading/expression_read.h"
#include "config/reading/fields_resolve.h"

static int read_field(struct node_reader *reader, const struct text_node *key,
                      const struct text_node *value, const struct key_path *path)
{
    struct world_fields *fields = reader->fields;
    struct named_field *field = &fields->field[fields->count];
    size_t length = 0;
    const char *text = text_node_text(key, &length);
    const struct key_path at = key_path_join(path, text ? text : "", length);
    if (!text || !expression_is_name(text, length))
        return node_reader_fail(reader, key, &at,
                                "not a name of a field; expected 1 to 63 of the characters "
                                "a-z 0-9 _, beginning with a letter");
    if (world_fields_find(fields, text, length) >= 0)
        return node_reader_fail(reader, key, &at, "duplicate key; expected once");
    memcpy(field->name, text, length);
    field->first = fields->expressions;
    int err = expression_read(reader, value, &at, &field->expression);
    fields->count++;
    return err;
}

static int read_all(struct node_reader *reader, const struct text_node *node,
                    const struct key_path *path)
{
    int err = 0;
    for (size_t i = 0; i < node->length && !err; i += 2)
        err = read_field(reader, &node->items[i], &node->items[i + 1], path);
    if (err)
        return err;
    if (world_fields_find(reader->fields, "height", 6) < 0) {
        const struct key_path height = key_path_key(path, "height");
        return node_reader_fail(reader, node, &height,
                                "missing; expected the field that is the height in metres");
    }
    return fields_resolve(reader, path);
}

/* Give back the memory beyond FIELDS' expressions. */
static void trim(struct world_fields *fields)
{
    const size_t size = (size_t)fields->expressions * sizeof *fields->expression;
    struct expression *smaller = realloc(fields->expression, size);
    if (smaller)
        fields->expression = smaller;
}

static struct world_fields *fields_new(size_t count)
{
    struct world_fields *fields = calloc(1, sizeof *fields);
    if (!fields)
        return NULL;
    fields->references = 1;
    fields->field = calloc(count, sizeof *fields->field);
    fields->expression = calloc(FIELDS_MAX_EXPRESSIONS, sizeof *fields->expression);
    if (fields->field && fields->expression)
        return fields;
    free(fields->field);
    free(fields->expression);
    free(fields);
    return NULL;
}

int fields_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct world_fields **out)
{
    static const struct option option = {.expected = "1 to 256 fields, NAME: EXPRESSION"};
    if (node->kind != TEXT_MAPPING || node->length == 0 || node->length > 2 * FIELDS_MAX)
        return node_reader_refuse(reader, node, path, &option);
    reader->fields = fields_new(node->length / 2);
    if (!reader->fields)
        return node_reader_no_memory(reader);
    reader->fields_path = strlen(path->text);
    int err = read_all(reader, node, path);
    if (err) {
        world_fields_release(reader->fields);
    } else {
        trim(reader->fields);
        *out = reader->fields;
    }
    reader->fields = NULL;
    return err;
}
