/* What reading nodes needs to know, and error messages with line and key. Private to config/. */
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
    struct world_list *worlds;         /* that have been read */
    const struct world_list *builtin;  /* those that others may be like; NULL in other texts */
    /* Set OUT to the world in the document that NODE names, the value of `file`; NULL: texts that
     * may not name files. */
    int (*read_file)(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, struct world_config *out);
    struct config_error *error;
    struct world_fields *fields; /* those that are being read */
    size_t fields_path;          /* the length of the path of `fields` */
};

/* Long enough for any path with keys that are known, since salts of noises depend on all of it.
 * Those of fields are the longest: 20 bytes of worlds[1023].fields, 63 of a name, and 28 levels of
 * at most 8, such as .slope_x. */
enum { KEY_PATH_TEXT = 480, KEY_PATH_PARENT = KEY_PATH_TEXT - 80 };

/* A key for messages, such as worlds[1].noise.octaves; longer ones are cut. */
struct key_path {
    char text[KEY_PATH_TEXT];
};

/* KEY (LENGTH bytes) below PARENT, which may be NULL; control characters become '?'. */
struct key_path key_path_join(const struct key_path *parent, const char *key, size_t length);
struct key_path key_path_key(const struct key_path *parent, const char *key);
struct key_path key_path_index(const struct key_path *parent, int index);

/* Set the error: the line of AT, the key PATH (either may be NULL), a message. Returns -EINVAL. */
__attribute__((format(printf, 4, 5))) int node_reader_fail(struct node_reader *reader,
                                                           const struct text_node *at,
                                                           const struct key_path *path,
                                                           const char *format, ...);
/* The same for a value that is invalid for OPTION. */
int node_reader_refuse(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct option *option);
/* The same if there is no memory. Returns -ENOMEM. */
int node_reader_no_memory(struct node_reader *reader);

#endif
