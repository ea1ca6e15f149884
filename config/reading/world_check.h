/* Checks a world as a whole. Private to config/. */
#ifndef FARLANDS_CONFIG_WORLD_CHECK_H
#define FARLANDS_CONFIG_WORLD_CHECK_H

#include "config/text/node_reader.h"

/*
 * Check that world INDEX, read from NODE, can be served; messages name PATH. Returns 0, or -EINVAL
 * with the error set.
 */
int world_check(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, int index);

#endif
