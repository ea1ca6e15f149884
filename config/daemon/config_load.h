/* A configuration from nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_CONFIG_LOAD_H
#define FARLANDS_CONFIG_CONFIG_LOAD_H

#include "config/daemon/config.h"
#include "config/text/text_node.h"

/* As config_load, but from ROOT, a configuration that may not name files; NULL if it is empty.
 * Messages name FILE. */
int config_load_nodes(struct config **out, const char *file, struct text_node *root,
                      const struct config_layer *layers, struct config_error *error);

#endif
