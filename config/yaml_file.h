/* The YAML document in a file. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_FILE_H
#define FARLANDS_CONFIG_YAML_FILE_H

#include <stddef.h>
#include <yaml.h>

#include "config.h"

enum { YAML_FILE_BYTES_MAX = 1 << 20 };

/*
 * Read FILE, of up to YAML_FILE_BYTES_MAX bytes. Returns 0, and the caller frees *BYTES; or a
 * negative error code with ERROR set.
 */
int yaml_file_read(const char *file, unsigned char **bytes, size_t *length,
                   struct config_error *error);

/*
 * Parse BYTES; messages name FILE. Returns 0, and the caller deletes *OUT, which has no root if
 * BYTES are only white space and comments; or -EINVAL with ERROR set: not YAML, not UTF-8, nested
 * too deeply, or more than one document.
 */
int yaml_file_parse(yaml_document_t *out, const char *file, const unsigned char *bytes,
                    size_t length, struct config_error *error);

#endif
