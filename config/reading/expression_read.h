/* Expressions of fields, from nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_EXPRESSION_READ_H
#define FARLANDS_CONFIG_EXPRESSION_READ_H

#include <stdbool.h>

#include "config/text/node_reader.h"

/*
 * Read an expression while fields_read does: add it to READER's fields, after all its inputs. *OUT
 * is its number there. Messages name PATH. Returns 0, or a negative error code with the error set.
 */
int expression_read(struct node_reader *reader, const struct text_node *node,
                    const struct key_path *path, int *out);

/* Read a list of two, the value of OPTION. As above. */
int expression_read_pair(struct node_reader *reader, const struct text_node *node,
                         const struct key_path *path, const struct option *option, int out[2]);

/* True if TEXT (LENGTH bytes, then a NUL) may be the name of a field. */
bool expression_is_name(const char *text, size_t length);

#endif
