/* The YAML document in a file, as nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_FILE_H
#define FARLANDS_CONFIG_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "error.h"

enum { YAML_FILE_BYTES_MAX = 1 << 20 };

enum yaml_kind { YAML_SCALAR, YAML_LIST, YAML_MAPPING };

struct yaml_node {
    enum yaml_kind kind;
    bool plain;    /* a scalar without quotes */
    size_t line;   /* from 1 */
    size_t length; /* bytes of a scalar, items of a list, keys and values of a mapping */
    union {
        char *text;              /* ends with a NUL, and may have others */
        struct yaml_node *items; /* of a mapping: key, value, key, value, ... */
    };
};

/*
 * Read FILE, of up to YAML_FILE_BYTES_MAX bytes: a regular file, /dev/null, or a pipe of this
 * process such as /dev/stdin. Returns 0, and the caller frees *BYTES; or a negative error code with
 * ERROR set.
 */
int yaml_file_read(const char *file, unsigned char **bytes, size_t *length,
                   struct config_error *error);

/*
 * Parse BYTES in time linear in LENGTH; messages name FILE. Returns 0, and the caller frees *ROOT
 * by yaml_nodes_free(*ROOT, 1), or gets NULL if BYTES are only white space and comments. Or returns
 * -EINVAL with ERROR set: not YAML, not UTF-8, more than one document, an anchor or alias, nested
 * too deeply, too many nodes, or out of memory.
 */
int yaml_file_parse(struct yaml_node **root, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error);

/* Free the array of COUNT NODES and everything in it. NODES may be NULL if COUNT is 0. */
void yaml_nodes_free(struct yaml_node *nodes, size_t count);

#endif
