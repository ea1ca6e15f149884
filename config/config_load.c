/* A configuration from a file, on top of the built-in one. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon_options.h"
#include "yaml_file.h"
#include "yaml_mapping.h"

/* config/farlands.yaml, embedded by builtin.S. */
extern const unsigned char config_builtin[];
extern const uint64_t config_builtin_length;

static int read_text(struct yaml_reader *reader, const unsigned char *bytes, size_t length)
{
    struct yaml_node *root;
    int err = yaml_file_parse(&root, reader->file, bytes, length, reader->error);
    if (err || !root) /* an empty file changes nothing */
        return err;
    err = yaml_mapping_read(reader, root, NULL, daemon_options, reader->config);
    yaml_nodes_free(root, 1);
    return err;
}

static int read_file(struct yaml_reader *reader, const char *file)
{
    unsigned char *bytes;
    size_t length;
    int err = yaml_file_read(file, &bytes, &length, reader->error);
    if (err)
        return err;
    reader->file = file;
    err = read_text(reader, bytes, length);
    free(bytes);
    return err;
}

int config_load(struct config **out, const char *file, const struct config_layer *layers,
                struct config_error *error)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -ENOMEM;
    }
    struct yaml_reader reader = {
        .file = "built-in", .layers = layers, .config = config, .error = error};
    int err = read_text(&reader, config_builtin, (size_t)config_builtin_length);
    if (!err && file)
        err = read_file(&reader, file);
    if (err) {
        config_free(config);
        return err;
    }
    *out = config;
    return 0;
}
