#include "yaml_reader.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    snprintf(path.text, sizeof path.text, "%.*s%s%s", KEY_PATH_PARENT, parent ? parent->text : "",
             parent && parent->text[0] ? "." : "", name);
    return path;
}

struct key_path key_path_index(const struct key_path *parent, int index)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.*s[%d]", KEY_PATH_PARENT, parent->text, index);
    return path;
}

int yaml_reader_fail(struct yaml_reader *reader, const struct yaml_node *at,
                     const struct key_path *path, const char *format, ...)
{
    char what[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reader->error->text, sizeof reader->error->text, "%s:%zu: %.300s%s%s", reader->file,
             at ? at->line : 1, path ? path->text : "", path ? ": " : "", what);
    return -EINVAL;
}

void yaml_nodes_free(struct yaml_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].kind == YAML_SCALAR)
            free(nodes[i].text);
        else
            yaml_nodes_free(nodes[i].items, nodes[i].length);
    free(nodes);
}

int yaml_reader_length(const struct yaml_node *node)
{
    if (node->kind != YAML_LIST)
        return -1;
    return (int)node->length;
}

/* The value for messages: short and printable. */
static const char *shown(const struct yaml_node *node, char buffer[48])
{
    if (node->kind == YAML_MAPPING)
        return "a mapping";
    if (node->kind == YAML_LIST) {
        snprintf(buffer, 48, "a list of %d", yaml_reader_length(node));
        return buffer;
    }
    if (node->length == 0 && node->plain)
        return "no value";
    size_t n = 0;
    buffer[n++] = '"';
    for (size_t i = 0; i < node->length && n < 40; i++)
        buffer[n++] = printable((unsigned char)node->text[i]);
    buffer[n++] = '"';
    buffer[n] = '\0';
    return buffer;
}

int yaml_reader_refuse(struct yaml_reader *reader, const struct yaml_node *node,
                       const struct key_path *path, const struct option *option)
{
    char expected[256], value[48];
    return yaml_reader_fail(reader, node, path, "got %s; expected %s", shown(node, value),
                            option_expected(option, expected, sizeof expected));
}

int yaml_reader_no_memory(struct yaml_reader *reader)
{
    snprintf(reader->error->text, sizeof reader->error->text, "out of memory");
    return -ENOMEM;
}

struct yaml_node *yaml_reader_item(const struct yaml_node *list, int i)
{
    return &list->items[i];
}

const char *yaml_reader_text(const struct yaml_node *node, size_t *length)
{
    if (node->kind != YAML_SCALAR)
        return NULL;
    *length = node->length;
    return node->text;
}

static bool has_text(const struct yaml_node *node, const char *expected, size_t expected_length)
{
    size_t length;
    const char *text = yaml_reader_text(node, &length);
    return text && length == expected_length && memcmp(text, expected, length) == 0;
}

bool yaml_reader_is(const struct yaml_node *node, const char *text)
{
    return has_text(node, text, strlen(text));
}

struct yaml_node *yaml_reader_find(const struct yaml_node *node, const char *key, size_t length)
{
    for (size_t i = 0; node->kind == YAML_MAPPING && i < node->length; i += 2)
        if (has_text(&node->items[i], key, length))
            return &node->items[i + 1];
    return NULL;
}

const struct yaml_node *yaml_reader_nearest(const struct yaml_node *node, const char *path)
{
    while (*path) {
        const struct yaml_node *found = NULL;
        const size_t length = strcspn(path, ".[]");
        if (*path == '[') {
            char *end;
            const long item = strtol(path + 1, &end, 10);
            found = item < yaml_reader_length(node) ? yaml_reader_item(node, (int)item) : NULL;
            path = end + 1;
        } else {
            found = yaml_reader_find(node, path, length);
            path += length;
        }
        if (!found)
            return node;
        node = found;
        path += *path == '.';
    }
    return node;
}
