/* Tables of biomes from nodes. Private to config/. */
#ifndef FARLANDS_CONFIG_BIOMES_READ_H
#define FARLANDS_CONFIG_BIOMES_READ_H

#include "config/fields/biomes.h"
#include "config/text/node_reader.h"

/* Read NODE, a list for OPTION; messages name PATH. *OUT, which the caller frees, is set even if a
 * row is wrong. Returns 0, or a negative error code with the error set. */
int biomes_read(struct node_reader *reader, const struct text_node *node,
                const struct key_path *path, const struct option *option, struct biome_table **out);

/* Read a range [from, to] in a row of such a table. As above. */
int biomes_read_range(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, struct biome_range *out);

/* Refuse a range in TABLE, made from NODE, if GIVEN is negative for the range's input. As above. */
int biomes_check_inputs(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, const struct biome_table *table,
                        const int given[BIOME_AXES]);

#endif
