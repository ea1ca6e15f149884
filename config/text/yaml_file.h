/* A file's YAML document as nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_FILE_H
#define FARLANDS_CONFIG_YAML_FILE_H

#include <stddef.h>

#include "config/text/text_node.h"
#include "config/values/error.h"

/*
 * Read FILE, up to TEXT_BYTES_MAX bytes: a regular file, /dev/null, or a pipe of this process such
 * as /dev/stdin. Returns 0, and the caller frees *BYTES; or a negative error code with ERROR set.
 */
int yaml_file_read(const char *file, unsigned char **bytes, size_t *length,
                   struct config_error *error);

/*
 * Parse BYTES in time linear in LENGTH; messages name FILE. Returns 0, and the caller frees *ROOT
 * by text_nodes_free(*ROOT, 1), or gets NULL if BYTES are only white space and comments. Or returns
 * -EINVAL with ERROR set: not YAML, not UTF-8, more than one document, an anchor or alias, nested
 * too deeply, too many nodes, or out of memory.
 */
int yaml_file_parse(struct text_node **root, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error);

#endif
