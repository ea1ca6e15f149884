/* A YAML mapping -> the struct that its table of options describes. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_MAPPING_H
#define FARLANDS_CONFIG_YAML_MAPPING_H

#include "yaml_reader.h"

/* Read NODE, which messages call PATH (NULL: the whole), into BASE, which OPTIONS describe. Returns
 * 0, or a negative code with the error filled. */
int yaml_mapping_read(struct yaml_reader *reader, const yaml_node_t *node,
                      const struct key_path *path, const struct option *options, void *base);

/* Read NODE into world INDEX of the configuration, and judge it as a whole. Returns as above. */
int yaml_mapping_read_world(struct yaml_reader *reader, const yaml_node_t *node,
                            const struct key_path *path, int index);

#endif
