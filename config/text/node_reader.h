/* The state while nodes are read, and error messages with line and key. Private to config/. */
#ifndef FARLANDS_CONFIG_NODE_READER_H
#define FARLANDS_CONFIG_NODE_READER_H

#include <stdbool.h>
#include <stddef.h>

#include "config/text/text_node.h"
#include "config/values/error.h"
#include "config/values/option.h"
#include "config/world/world_config.h"

struct key_path;

struct node_reader {
    const char *file;
    const struct config_layer *layers; /* as given to config_load */
    struct world_list *worlds;         /* read so far */
    const struct world_list
        *builtin; /* worlds for the key `like`; NULL if the text may not use it */
    /* Read the document that NODE names, a value of the key `file`, into OUT. NULL if the text may
     * not name files. */
    int (*read_file)(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, struct world_config *out);
    struct config_error *error;
    struct world_fields *fields; /* being read */
    size_t fields_path;          /* the length of the path that ends with `fields` */
};

/* Long enough for any path with known keys, because the salts of noises depend on the whole path.
 * The longest paths are those in fields: 20 bytes for worlds[1023].fields, 63 for a name, and 28
 * levels with at most 8 bytes, such as .slope_x. */
enum { KEY_PATH_TEXT = 480, KEY_PATH_PARENT = KEY_PATH_TEXT - 80 };

/* A key for messages, such as worlds[1].noise.octaves; longer ones are cut. */
struct key_path {
    char text[KEY_PATH_TEXT];
};

/* The path of KEY (LENGTH bytes, or a string) below PARENT, which may be NULL; control characters
 * become '?'. */
struct key_path key_path_join(const struct key_path *parent, const char *key, size_t length);
struct key_path key_path_key(const struct key_path *parent, const char *key);
struct key_path key_path_index(const struct key_path *parent, int index);

/* Set the error: AT's line, the key PATH (both may be NULL), a message. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int node_reader_fail(struct node_reader *reader,
                                                           const struct text_node *at,
                                                           const struct key_path *path,
                                                           const char *format, ...);
/* The same for NODE, an invalid value for OPTION. */
int node_reader_refuse(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option);
/* Set the error "out of memory". Returns -ENOMEM. */
int node_reader_no_memory(struct node_reader *reader);

#endif
