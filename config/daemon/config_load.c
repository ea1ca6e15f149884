/* A configuration from a file, on top of the built-in one. */
#include "config_load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/daemon/daemon_options.h"
#include "config/fields/field_nodes.h"
#include "config/reading/mapping.h"
#include "config/reading/world_document.h"
#include "config/text/yaml_file.h"
#include "config/world/world_options.h"

struct builtin_text {
    const unsigned char *bytes;
    uint64_t length;
};

/* config/farlands.yaml, then a text for each built-in world, then NULL; see builtin.S. */
extern const struct builtin_text config_builtin[];

/* Read TEXT, some keys of a configuration, into CONFIG and READER's worlds; other keys stay. */
static int read_builtin(struct node_reader *reader, const struct builtin_text *text,
                        struct config *config)
{
    struct text_node *root;
    int err =
        yaml_file_parse(&root, reader->file, text->bytes, (size_t)text->length, reader->error);
    if (err)
        return err;
    err = mapping_read(reader, root, NULL, daemon_options, config);
    text_nodes_free(root, 1);
    return err;
}

static int read_builtin_worlds(struct node_reader *reader, struct config *config)
{
    int err = 0;
    for (int i = 1; config_builtin[i].bytes && !err; i++)
        err = read_builtin(reader, &config_builtin[i], config);
    return err;
}

/* True if a world in ROOT is `like` a built-in one. */
static bool has_likeness(const struct text_node *root)
{
    const struct text_node *worlds = root ? text_node_find(root, "worlds", 6) : NULL;
    for (int i = 0; worlds && i < text_node_length(worlds); i++)
        if (text_node_find(text_node_item(worlds, i), "like", 4))
            return true;
    return false;
}

/* Read ROOT. Its worlds may be `like` built-in ones, which are read first if so. */
static int read_document(struct node_reader *reader, const struct text_node *root,
                         struct config *config)
{
    struct world_list builtin = {NULL, 0};
    struct node_reader worlds = {
        .file = "built-in", .layers = reader->layers, .worlds = &builtin, .error = reader->error};
    int err = has_likeness(root) ? read_builtin_worlds(&worlds, config) : 0;
    reader->builtin = &builtin;
    if (!err)
        err = mapping_read(reader, root, NULL, daemon_options, config);
    reader->builtin = NULL;
    world_list_free(&builtin);
    return err;
}

static int parse_file(struct text_node **root, const char *file, struct config_error *error)
{
    unsigned char *bytes;
    size_t length;
    int err = yaml_file_read(file, &bytes, &length, error);
    if (err)
        return err;
    err = yaml_file_parse(root, file, bytes, length, error);
    free(bytes);
    return err;
}

/* Read ROOT, a world's document, as the only world. */
static int read_saved(struct node_reader *reader, struct text_node *root)
{
    struct world_list *worlds = reader->worlds;
    worlds->world = malloc(sizeof *worlds->world);
    if (!worlds->world)
        return node_reader_no_memory(reader);
    worlds->world[worlds->count++] = world_defaults;
    return world_document_serve(reader, root, 0);
}

static bool is_path(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < 32 || text[i] == 127)
            return false;
    return length > 0;
}

/* The path that NODE names, relative to the configuration's directory; NULL if out of memory or if
 * NODE is no path. */
static char *path_beside(const struct node_reader *reader, const struct text_node *node)
{
    const char *slash = strrchr(reader->file, '/');
    size_t length = 0;
    const char *text = text_node_text(node, &length);
    char *path;
    if (!text || !is_path(text, length))
        return NULL;
    const int above = text[0] == '/' || !slash ? 0 : (int)(slash - reader->file) + 1;
    return asprintf(&path, "%.*s%s", above, reader->file, text) < 0 ? NULL : path;
}

/* Put NODE's line and key before the error about FILE. The message names FILE as NODE does, because
 * clients see messages but should not see directories. */
static void add_place(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const char *file)
{
    size_t length, above;
    text_node_text(node, &length);
    above = strlen(file) - length;
    struct config_error inner = *reader->error;
    node_reader_fail(reader, node, path, "%s",
                     inner.text + (strncmp(inner.text, file, above) == 0 ? above : 0));
}

/* Implements node_reader.read_file. */
static int read_file(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, struct world_config *out)
{
    char *file = path_beside(reader, node);
    struct world_list worlds = {NULL, 0};
    struct node_reader saved = {
        .file = file, .layers = reader->layers, .worlds = &worlds, .error = reader->error};
    struct text_node *root = NULL;
    if (!file)
        return node_reader_refuse(reader, node, path, option_find(world_options, "file", 4));
    int err = parse_file(&root, file, reader->error);
    if (!err && !root)
        err = node_reader_fail(&saved, NULL, NULL, "empty; expected " WORLD_DOCUMENT);
    if (!err)
        err = read_saved(&saved, root);
    if (!err) {
        *out = worlds.world[0];
        world_fields_hold(out->fields);
    } else
        add_place(reader, node, path, file);
    text_nodes_free(root, root != NULL);
    world_list_free(&worlds);
    free(file);
    return err;
}

/* Read ROOT: a configuration, or a world's document, which has a name at the top. /worlds.json is
 * neither; it has the release at the top. */
static int read_any(struct node_reader *reader, struct text_node *root, struct config *config)
{
    config->saved = text_node_find(root, "name", 4) != NULL;
    if (config->saved)
        return read_saved(reader, root);
    if (text_node_find(root, "farlands", 8))
        return node_reader_fail(reader, root, NULL,
                                "a list of worlds; expected a configuration or " WORLD_DOCUMENT);
    return read_document(reader, root, config);
}

static int read_all(struct config *config, const char *file, struct text_node *root, bool files,
                    const struct config_layer *layers, struct config_error *error)
{
    struct world_list worlds = {NULL, 0};
    struct node_reader builtin = {
        .file = "built-in", .layers = layers, .worlds = &worlds, .error = error};
    struct node_reader reader = builtin;
    reader.file = file;
    reader.read_file = files ? read_file : NULL;
    int err = read_builtin(&builtin, &config_builtin[0], config);
    if (!err && root)
        err = files ? read_any(&reader, root, config) : read_document(&reader, root, config);
    if (!err && worlds.count == 0)
        err = read_builtin_worlds(&builtin, config);
    config->worlds = worlds.world;
    config->world_count = worlds.count;
    return err;
}

/* Make the text of all fields, for documents of worlds and for fingerprints. */
static int format_fields(const struct config *config, struct config_error *error)
{
    int err = 0;
    for (int i = 0; i < config->world_count && !err; i++)
        err = fields_format((struct world_fields *)config->worlds[i].fields);
    if (err)
        snprintf(error->text, sizeof error->text, "out of memory");
    return err;
}

static int load_nodes(struct config **out, const char *file, struct text_node *root, bool files,
                      const struct config_layer *layers, struct config_error *error)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -ENOMEM;
    }
    int err = read_all(config, file, root, files, layers, error);
    if (!err)
        err = format_fields(config, error);
    if (err) {
        config_free(config);
        return err;
    }
    *out = config;
    return 0;
}

int config_load_nodes(struct config **out, const char *file, struct text_node *root,
                      const struct config_layer *layers, struct config_error *error)
{
    return load_nodes(out, file, root, false, layers, error);
}

int config_load(struct config **out, const char *file, const struct config_layer *layers,
                struct config_error *error)
{
    struct text_node *root = NULL;
    error->steps = 0;
    int err = file ? parse_file(&root, file, error) : 0;
    if (err)
        return err;
    err = load_nodes(out, file, root, true, layers, error);
    text_nodes_free(root, root != NULL);
    return err;
}
