/* A world's fields from nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELDS_READ_H
#define FARLANDS_CONFIG_FIELDS_READ_H

#include "config/fields/fields.h"
#include "config/text/node_reader.h"

/*
 * Read NODE, a mapping from names to expressions; the caller releases *OUT. Messages name PATH.
 * Refuses unknown names, fields that depend on themselves, too many nodes, and fields without
 * `height`. Returns 0, or a negative error code with the error set.
 */
int fields_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct world_fields **out);

#endif
