/* One reading of one file: its nodes, and messages that name line and key. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_READER_H
#define FARLANDS_CONFIG_YAML_READER_H

#include <stddef.h>
#include <yaml.h>

#include "config.h"
#include "option.h"

struct yaml_reader {
    const char *file;
    yaml_document_t document;
    const struct config_layer *layers; /* those known, and then a NULL name; NULL: not judged */
    struct config *config;
    struct config_error *error;
};

enum { KEY_PATH_TEXT = 200 };

/* A key as people write it, such as worlds[1].noise.octaves; cut where it is longer. */
struct key_path {
    char text[KEY_PATH_TEXT];
};

/* KEY (LENGTH bytes) below PARENT, which may be NULL; bytes unfit for printing become '?'. */
struct key_path key_path_join(const struct key_path *parent, const char *key, size_t length);
struct key_path key_path_index(const struct key_path *parent, int index);

/* Fill the error with what is wrong with PATH at the node AT (either may be NULL): -EINVAL. */
__attribute__((format(printf, 4, 5))) int yaml_reader_fail(struct yaml_reader *reader,
                                                           const yaml_node_t *at,
                                                           const struct key_path *path,
                                                           const char *format, ...);
/* The same of a value that the option does not accept. */
int yaml_reader_refuse(struct yaml_reader *reader, const yaml_node_t *node,
                       const struct key_path *path, const struct option *option);

yaml_node_t *yaml_reader_node(struct yaml_reader *reader, yaml_node_item_t item);

/* The value of KEY (LENGTH bytes) in a mapping, or NULL. */
yaml_node_t *yaml_reader_find(struct yaml_reader *reader, const yaml_node_t *node, const char *key,
                              size_t length);

/* How many items a list has, or -1 where NODE is no list. */
int yaml_reader_length(const yaml_node_t *node);
yaml_node_t *yaml_reader_item(struct yaml_reader *reader, const yaml_node_t *list, int i);

/* The text of a scalar, LENGTH bytes of it, or NULL. */
const char *yaml_reader_text(const yaml_node_t *node, size_t *length);

#endif
