/* YAML or JSON as nodes: scalars, lists and mappings. Private to config/. */
#ifndef FARLANDS_CONFIG_TEXT_NODE_H
#define FARLANDS_CONFIG_TEXT_NODE_H

#include <stdbool.h>
#include <stddef.h>

enum { TEXT_BYTES_MAX = 1 << 20 };

enum text_kind { TEXT_SCALAR, TEXT_LIST, TEXT_MAPPING };

struct text_node {
    enum text_kind kind;
    bool plain;    /* a scalar without quotes */
    size_t line;   /* from 1 */
    size_t length; /* a scalar's bytes, a list's items, a mapping's keys plus values */
    union {
        char *text;              /* ends with a NUL; others may be inside */
        struct text_node *items; /* in a mapping: key, value, key, value, ... */
    };
};

/* Free the array NODES and everything in its COUNT nodes. NODES may be NULL if COUNT is 0. */
void text_nodes_free(struct text_node *nodes, size_t count);

/* The value for KEY (LENGTH bytes) in NODE; NULL if absent or NODE is no mapping. */
struct text_node *text_node_find(const struct text_node *node, const char *key, size_t length);

/* The value at PATH below NODE, such as a.b[1].c. If there is none, the nearest list or mapping
 * above. */
const struct text_node *text_node_nearest(const struct text_node *node, const char *path);

/* A list's number of items, or -1 if NODE is not a list. */
int text_node_length(const struct text_node *node);
struct text_node *text_node_item(const struct text_node *list, int i);

/* True if NODE is the scalar TEXT. */
bool text_node_is(const struct text_node *node, const char *text);

/* A scalar's text, *LENGTH bytes; NULL if NODE is not a scalar. */
const char *text_node_text(const struct text_node *node, size_t *length);

#endif
