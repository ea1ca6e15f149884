#include "node_reader.h"

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

struct key_path key_path_key(const struct key_path *parent, const char *key)
{
    return key_path_join(parent, key, strlen(key));
}

struct key_path key_path_index(const struct key_path *parent, int index)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.*s[%d]", KEY_PATH_PARENT, parent->text, index);
    return path;
}

int node_reader_fail(struct node_reader *reader, const struct text_node *at,
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

/* NODE's value for messages: short and printable. May use BUFFER. */
static const char *shown(const struct text_node *node, char buffer[48])
{
    if (node->kind == TEXT_MAPPING)
        return "a mapping";
    if (node->kind == TEXT_LIST) {
        snprintf(buffer, 48, "a list of %d", text_node_length(node));
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

int node_reader_refuse(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option)
{
    char expected[256], value[48];
    return node_reader_fail(reader, node, path, "got %s; expected %s", shown(node, value),
                            option_expected(option, expected, sizeof expected));
}

int node_reader_no_memory(struct node_reader *reader)
{
    snprintf(reader->error->text, sizeof reader->error->text, "out of memory");
    return -ENOMEM;
}
