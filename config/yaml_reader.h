/* The nodes of a YAML file, and error messages with line and key. Private to config/. */
#ifndef FARLANDS_CONFIG_YAML_READER_H
#define FARLANDS_CONFIG_YAML_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "config.h"
#include "option.h"

struct yaml_reader {
    const char *file;
    yaml_document_t document;
    const struct config_layer *layers; /* as given to config_load */
    struct config *config;
    struct config_error *error;
};

enum { KEY_PATH_TEXT = 200 };

/* A key for messages, such as worlds[1].noise.octaves; longer ones are cut. */
struct key_path {
    char text[KEY_PATH_TEXT];
};

/* KEY (LENGTH bytes) below PARENT, which may be NULL; control characters become '?'. */
struct key_path key_path_join(const struct key_path *parent, const char *key, size_t length);
struct key_path key_path_index(const struct key_path *parent, int index);

/* Set the error: the line of AT, the key PATH (either may be NULL), a message. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int yaml_reader_fail(struct yaml_reader *reader,
                                                           const yaml_node_t *at,
                                                           const struct key_path *path,
                                                           const char *format, ...);
/* The same for a value that is invalid for OPTION. */
int yaml_reader_refuse(struct yaml_reader *reader, const yaml_node_t *node,
                       const struct key_path *path, const struct option *option);

yaml_node_t *yaml_reader_node(struct yaml_reader *reader, yaml_node_item_t item);

/* The value of KEY (LENGTH bytes) in NODE; NULL if absent or NODE is no mapping. */
yaml_node_t *yaml_reader_find(struct yaml_reader *reader, const yaml_node_t *node, const char *key,
                              size_t length);

/* The number of items of a list, or -1 if NODE is not a list. */
int yaml_reader_length(const yaml_node_t *node);
yaml_node_t *yaml_reader_item(struct yaml_reader *reader, const yaml_node_t *list, int i);

/* True if NODE is the scalar TEXT. */
bool yaml_reader_is(const yaml_node_t *node, const char *text);

/* The text of a scalar, of *LENGTH bytes; NULL if NODE is not a scalar. */
const char *yaml_reader_text(const yaml_node_t *node, size_t *length);

#endif
