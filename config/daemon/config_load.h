/* A configuration from the nodes of a text. Private to config/. */
#ifndef FARLANDS_CONFIG_CONFIG_LOAD_H
#define FARLANDS_CONFIG_CONFIG_LOAD_H

#include "config/daemon/config.h"
#include "config/text/text_node.h"

/* As config_load, of the configuration ROOT of FILE, which may not name other files; NULL for an
 * empty one, which changes nothing. */
int config_load_nodes(struct config **out, const char *file, struct text_node *root,
                      const struct config_layer *layers, struct config_error *error);

#endif
