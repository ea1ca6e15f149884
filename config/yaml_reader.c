#include "yaml_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static char printable(unsigned char byte)
{
    return byte < 32 || byte == 127 ? '?' : (char)byte;
}

struct key_path key_path_join(const struct key_path *parent, const char *key, size_t length)
{
    struct key_path path;
    char name[64 + 1];
    size_t n = 0;
    for (; n < length && n < sizeof name - 1; n++)
        name[n] = printable((unsigned char)key[n]); /* NULs, too */
    name[n] = '\0';
    snprintf(path.text, sizeof path.text, "%.120s%s%s", parent ? parent->text : "",
             parent && parent->text[0] ? "." : "", name);
    return path;
}

struct key_path key_path_index(const struct key_path *parent, int index)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.180s[%d]", parent->text, index);
    return path;
}

int yaml_reader_fail(struct yaml_reader *reader, const yaml_node_t *at, const struct key_path *path,
                     const char *format, ...)
{
    char what[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reader->error->text, sizeof reader->error->text, "%s:%zu: %s%s%s", reader->file,
             at ? at->start_mark.line + 1 : 1, path ? path->text : "", path ? ": " : "", what);
    return -EINVAL;
}

int yaml_reader_length(const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return -1;
    return (int)(node->data.sequence.items.top - node->data.sequence.items.start);
}

/* The value for messages: short and printable. */
static const char *shown(const yaml_node_t *node, char buffer[48])
{
    if (node->type == YAML_MAPPING_NODE)
        return "a mapping";
    if (node->type == YAML_SEQUENCE_NODE) {
        snprintf(buffer, 48, "a list of %d", yaml_reader_length(node));
        return buffer;
    }
    if (node->data.scalar.length == 0 && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return "no value";
    size_t n = 0;
    buffer[n++] = '"';
    for (size_t i = 0; i < node->data.scalar.length && n < 40; i++)
        buffer[n++] = printable(node->data.scalar.value[i]);
    buffer[n++] = '"';
    buffer[n] = '\0';
    return buffer;
}

int yaml_reader_refuse(struct yaml_reader *reader, const yaml_node_t *node,
                       const struct key_path *path, const struct option *option)
{
    char expected[256], value[48];
    return yaml_reader_fail(reader, node, path, "got %s; expected %s", shown(node, value),
                            option_expected(option, expected, sizeof expected));
}

yaml_node_t *yaml_reader_node(struct yaml_reader *reader, yaml_node_item_t item)
{
    return yaml_document_get_node(&reader->document, item);
}

yaml_node_t *yaml_reader_item(struct yaml_reader *reader, const yaml_node_t *node, int i)
{
    return yaml_reader_node(reader, node->data.sequence.items.start[i]);
}

const char *yaml_reader_text(const yaml_node_t *node, size_t *length)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;
    *length = node->data.scalar.length;
    return (const char *)node->data.scalar.value;
}

static bool has_text(const yaml_node_t *node, const char *expected, size_t expected_length)
{
    size_t length;
    const char *text = yaml_reader_text(node, &length);
    return text && length == expected_length && memcmp(text, expected, length) == 0;
}

bool yaml_reader_is(const yaml_node_t *node, const char *text)
{
    return has_text(node, text, strlen(text));
}

yaml_node_t *yaml_reader_find(struct yaml_reader *reader, const yaml_node_t *node, const char *key,
                              size_t length)
{
    if (node->type == YAML_MAPPING_NODE)
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
             pair < node->data.mapping.pairs.top; pair++) {
            if (has_text(yaml_reader_node(reader, pair->key), key, length))
                return yaml_reader_node(reader, pair->value);
        }
    return NULL;
}
