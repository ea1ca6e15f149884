/* A world from YAML, and so from JSON, too. */
#include "config/library/world_text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/daemon/config_load.h"
#include "config/reading/world_document.h"
#include "config/text/node_reader.h"
#include "config/text/yaml_file.h"

/* Choose from a configuration: the world NAME, or the only world if NAME is NULL. */
static int choose_world(struct node_reader *reader, const struct text_node *root,
                        const struct config *config, struct world_text *out, const char *name)
{
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < config->world_count; i++) {
        const struct world_config *world = &config->worlds[i];
        if (name ? strcmp(world->name, name) == 0 : config->world_count == 1) {
            *out = (struct world_text){.fingerprint = ""};
            world_text_set(out, world, "");
            return 0;
        }
        if (used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s\"%s\"",
                                     i ? ", " : "one of ", world->name);
    }
    if (name)
        return world_text_missing(reader, name, names);
    return node_reader_fail(reader, text_node_find(root, "worlds", 6), &(struct key_path){"worlds"},
                            "%d worlds and no name given; expected %s", config->world_count, names);
}

static int read_configuration(struct world_text *out, struct text_node *root, const char *name,
                              struct config_error *error)
{
    struct node_reader reader = {.file = "text", .error = error};
    struct config *config;
    int err = config_load_nodes(&config, reader.file, root, NULL, error);
    if (err)
        return err;
    err = choose_world(&reader, root, config, out, name);
    config_free(config);
    return err;
}

static int read_root(struct world_text *out, struct text_node *root, const char *name,
                     struct config_error *error)
{
    if (!root) {
        struct node_reader reader = {.file = "text", .error = error};
        return node_reader_fail(&reader, NULL, NULL,
                                "empty; expected a configuration or " WORLD_DOCUMENT);
    }
    /* A world's document has a name at the top, a configuration does not. */
    if (text_node_find(root, "name", 4))
        return world_document_read(out, root, name, error);
    return read_configuration(out, root, name, error);
}

int world_yaml_read(struct world_text *out, const char *text, size_t length, const char *name,
                    struct config_error *error)
{
    struct text_node *root;
    int err = yaml_file_parse(&root, "text", (const unsigned char *)text, length, error);
    if (err)
        return err;
    err = read_root(out, root, name, error);
    text_nodes_free(root, root != NULL);
    return err;
}
