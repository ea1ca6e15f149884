/* Mappings -> structs, by tables of options. Private to config/. */
#ifndef FARLANDS_CONFIG_MAPPING_H
#define FARLANDS_CONFIG_MAPPING_H

#include "config/text/node_reader.h"

/*
 * Read the mapping NODE into BASE, a struct that OPTIONS describes. Messages name PATH, NULL at the
 * top. Returns 0, or a negative error code with the error set.
 */
int mapping_read(struct node_reader *reader, const struct text_node *node,
                 const struct key_path *path, const struct option *options, void *base);

/* Read NODE into world INDEX of READER, and check the whole world. As above. */
int mapping_read_world(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, int index);

#endif
