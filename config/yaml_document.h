/* A file's bytes, and the one YAML document in them. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_DOCUMENT_H
#define FARLANDS_CONFIG_YAML_DOCUMENT_H

#include <stddef.h>
#include <yaml.h>

#include "config.h"

enum { YAML_DOCUMENT_BYTES_MAX = 1 << 20 };

/* The bytes of FILE, up to 1 MiB, to be freed by the caller. 0, or a negative
 * code with ERROR filled; *BYTES only on 0. */
int yaml_document_slurp(const char *file, unsigned char **bytes, size_t *length,
                        struct config_error *error);

/*
 * Parse BYTES, which messages call FILE. Returns 0, and the caller deletes *OUT
 * (it has no root where there is only white space); or -EINVAL with ERROR
 * filled: not YAML, not UTF-8, nested too deeply, or more than one document.
 */
int yaml_document_parse(yaml_document_t *out, const char *file, const unsigned char *bytes,
                        size_t length, struct config_error *error);

#endif
