/* Fields of a world from YAML. Private to config/. */
#ifndef FARLANDS_CONFIG_FIELDS_READ_H
#define FARLANDS_CONFIG_FIELDS_READ_H

#include "config/fields/fields.h"
#include "config/text/node_reader.h"

/*
 * Read the mapping NODE of names to expressions; the caller releases *OUT. Messages name PATH.
 * Names are known, there is a height, no field depends on itself, and there are not too many nodes.
 * Returns 0, or a negative error code with the error set.
 */
int fields_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct world_fields **out);

#endif
