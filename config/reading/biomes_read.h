/* Tables of biomes from YAML. Private to config/. */
#ifndef FARLANDS_CONFIG_BIOMES_READ_H
#define FARLANDS_CONFIG_BIOMES_READ_H

#include "config/fields/biomes.h"
#include "config/text/node_reader.h"

/* Read the list NODE, the value of OPTION; messages name PATH. *OUT, which the caller frees, is set
 * even if a row is wrong. Returns 0, or a negative error code with the error set. */
int biomes_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct option *option, struct biome_table **out);

/* Read a range [from, to] while biomes_read does. As above. */
int biomes_read_range(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, struct biome_range *out);

/* Refuse ranges in TABLE, made from NODE, that are for an input that is not GIVEN. */
int biomes_check_inputs(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct biome_table *table,
                        const int given[BIOME_AXES]);

#endif
