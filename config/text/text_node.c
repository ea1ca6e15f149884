#include "text_node.h"

#include <stdlib.h>
#include <string.h>

void text_nodes_free(struct text_node *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (nodes[i].kind == TEXT_SCALAR)
            free(nodes[i].text);
        else
            text_nodes_free(nodes[i].items, nodes[i].length);
    free(nodes);
}

int text_node_length(const struct text_node *node)
{
    if (node->kind != TEXT_LIST)
        return -1;
    return (int)node->length;
}

struct text_node *text_node_item(const struct text_node *list, int i)
{
    return &list->items[i];
}

const char *text_node_text(const struct text_node *node, size_t *length)
{
    if (node->kind != TEXT_SCALAR)
        return NULL;
    *length = node->length;
    return node->text;
}

static bool has_text(const struct text_node *node, const char *expected, size_t expected_length)
{
    size_t length;
    const char *text = text_node_text(node, &length);
    return text && length == expected_length && memcmp(text, expected, length) == 0;
}

bool text_node_is(const struct text_node *node, const char *text)
{
    return has_text(node, text, strlen(text));
}

struct text_node *text_node_find(const struct text_node *node, const char *key, size_t length)
{
    for (size_t i = 0; node->kind == TEXT_MAPPING && i < node->length; i += 2)
        if (has_text(&node->items[i], key, length))
            return &node->items[i + 1];
    return NULL;
}

const struct text_node *text_node_nearest(const struct text_node *node, const char *path)
{
    while (*path) {
        const struct text_node *found = NULL;
        const size_t length = strcspn(path, ".[]");
        if (*path == '[') {
            char *end;
            const long item = strtol(path + 1, &end, 10);
            found = item < text_node_length(node) ? text_node_item(node, (int)item) : NULL;
            path = end + 1;
        } else {
            found = text_node_find(node, path, length);
            path += length;
        }
        if (!found)
            return node;
        node = found;
        path += *path == '.';
    }
    return node;
}
