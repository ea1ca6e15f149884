/* JSON as nodes, for programs without libyaml. Private to config/. */
#ifndef FARLANDS_CONFIG_JSON_FILE_H
#define FARLANDS_CONFIG_JSON_FILE_H

#include "config/text/text_node.h"
#include "config/values/error.h"

/*
 * Parse BYTES, a JSON value (RFC 8259), up to TEXT_BYTES_MAX bytes; messages name FILE. Strings may
 * be invalid UTF-8. Returns 0, and the caller frees *ROOT by text_nodes_free(*ROOT, 1); or -EINVAL
 * with ERROR set: not JSON, nested too deeply, or out of memory.
 */
int json_file_parse(struct text_node **root, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error);

#endif
