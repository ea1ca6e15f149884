/* YAML -> struct config, by walking the document along the table of options. */
#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "document.h"
#include "numbers.h"
#include "options.h"

/* config/farlands.yaml, put into the binary by builtin.S. */
extern const unsigned char config_builtin[];
extern const uint64_t config_builtin_length;

enum { PATH_MAX_TEXT = 200 };

/* One reading of one file. */
struct reader {
    const char *file;
    yaml_document_t document;
    struct config *config;
    struct config_error *error;
};

/* A key as people write it, such as worlds[1].noise.octaves. */
struct key_path {
    char text[PATH_MAX_TEXT];
};

static char printable(unsigned char byte)
{
    return byte < 32 || byte == 127 ? '?' : (char)byte;
}

static struct key_path path_join(const struct key_path *parent, const char *key, size_t length)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.120s%s%.*s", parent ? parent->text : "",
             parent && parent->text[0] ? "." : "", (int)(length < 64 ? length : 64), key);
    for (char *c = path.text; *c; c++)
        *c = printable((unsigned char)*c);
    return path;
}

static struct key_path path_index(const struct key_path *parent, int index)
{
    struct key_path path;
    snprintf(path.text, sizeof path.text, "%.180s[%d]", parent->text, index);
    return path;
}

__attribute__((format(printf, 4, 5))) static int fail(struct reader *reader, const yaml_node_t *at,
                                                      const struct key_path *path,
                                                      const char *format, ...)
{
    char what[700];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(reader->error->text, sizeof reader->error->text, "%s:%zu: %s%s%s", reader->file,
             at ? at->start_mark.line + 1 : 1, path ? path->text : "", path ? ": " : "", what);
    return -EINVAL;
}

static int list_length(const yaml_node_t *node)
{
    if (node->type != YAML_SEQUENCE_NODE)
        return -1;
    return (int)(node->data.sequence.items.top - node->data.sequence.items.start);
}

/* The value as the user wrote it, for messages: short, and safe to print. */
static const char *shown(const yaml_node_t *node, char buffer[48])
{
    if (node->type == YAML_MAPPING_NODE)
        return "a mapping";
    if (node->type == YAML_SEQUENCE_NODE) {
        snprintf(buffer, 48, "a list of %d", list_length(node));
        return buffer;
    }
    if (node->data.scalar.length == 0 && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        return "no value";
    size_t n = 0;
    buffer[n++] = '"';
    for (size_t i = 0; i < node->data.scalar.length && n < 40; i++) {
        buffer[n++] = printable(node->data.scalar.value[i]);
    }
    buffer[n++] = '"';
    buffer[n] = '\0';
    return buffer;
}

static int refuse(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                  const struct option *option)
{
    char accepted[256], value[48];
    return fail(reader, node, path, "%s is not accepted; accepted: %s", shown(node, value),
                option_accepted(option, accepted, sizeof accepted));
}

static yaml_node_t *node_at(struct reader *reader, yaml_node_item_t item)
{
    return yaml_document_get_node(&reader->document, item);
}

static yaml_node_t *list_item(struct reader *reader, const yaml_node_t *node, int i)
{
    return node_at(reader, node->data.sequence.items.start[i]);
}

static const char *scalar(const yaml_node_t *node, size_t *length)
{
    if (node->type != YAML_SCALAR_NODE)
        return NULL;
    *length = node->data.scalar.length;
    return (const char *)node->data.scalar.value;
}

static int read_scalar(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                       const struct option *option, void *base)
{
    size_t length;
    const char *text = scalar(node, &length);
    if (!text || option_parse(option, text, length, base))
        return refuse(reader, node, path, option);
    return 0;
}

static int read_place(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                      const struct option *option, void *base)
{
    struct option axis = *option;
    axis.kind = OPTION_BLOCKS;
    for (int i = 0; i < 2; i++, axis.offset += sizeof(int64_t)) {
        size_t length;
        const char *text;
        if (list_length(node) != 2 || !(text = scalar(list_item(reader, node, i), &length)) ||
            option_parse(&axis, text, length, base))
            return refuse(reader, node, path, option);
    }
    return 0;
}

/* A number in a pair. */
static const struct option number = {"", OPTION_REAL, 0, -1e6, 1e6, NULL, NULL, NULL};

/* A pair of scalars in a list; the first a number up to a million either way. */
static const char *read_pair(struct reader *reader, const yaml_node_t *node, double *first,
                             size_t *length)
{
    const char *text;
    size_t first_length;
    if (list_length(node) != 2 || !(text = scalar(list_item(reader, node, 0), &first_length)) ||
        option_parse(&number, text, first_length, first))
        return NULL;
    return scalar(list_item(reader, node, 1), length);
}

static int read_elevation(struct reader *reader, const yaml_node_t *node,
                          const struct key_path *path, const struct option *option,
                          struct farlands_params *params)
{
    int count = list_length(node);
    if (count < 2 || count > FARLANDS_MAX_KNOTS)
        return refuse(reader, node, path, option);
    params->knots = count;
    for (int i = 0; i < count; i++) {
        const yaml_node_t *item = list_item(reader, node, i);
        struct key_path at = path_index(path, i);
        double noise, metres;
        size_t length;
        const char *text = read_pair(reader, item, &noise, &length);
        if (text && option_parse(&number, text, length, &metres))
            return refuse(reader, list_item(reader, item, 1), &at, option);
        if (!text)
            return refuse(reader, item, &at, option);
        params->elevation[i] = (struct farlands_knot){(float)noise, (float)metres};
        if (i > 0 && !(params->elevation[i - 1].noise < params->elevation[i].noise))
            return fail(reader, item, &at, "the noise does not ascend; accepted: %s",
                        option->accepted);
    }
    return 0;
}

static bool read_colour(const char *text, size_t length, struct palette_stop *stop)
{
    static const char digits[] = "0123456789abcdefABCDEF";
    uint8_t nibble[6];
    if (length != 7 || text[0] != '#')
        return false;
    for (int i = 0; i < 6; i++) {
        const char *digit = memchr(digits, text[i + 1], sizeof digits - 1);
        if (!digit)
            return false;
        nibble[i] = (uint8_t)(digit - digits < 16 ? digit - digits : digit - digits - 6);
    }
    stop->red = (uint8_t)(nibble[0] << 4 | nibble[1]);
    stop->green = (uint8_t)(nibble[2] << 4 | nibble[3]);
    stop->blue = (uint8_t)(nibble[4] << 4 | nibble[5]);
    return true;
}

static int read_palette(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                        const struct option *option, struct world_config *world)
{
    int count = list_length(node);
    if (count < 2 || count > PALETTE_MAX)
        return refuse(reader, node, path, option);
    world->stops = count;
    for (int i = 0; i < count; i++) {
        const yaml_node_t *item = list_item(reader, node, i);
        struct key_path at = path_index(path, i);
        struct palette_stop *stop = &world->palette[i];
        double metres;
        size_t length;
        const char *text = read_pair(reader, item, &metres, &length);
        if (text && !read_colour(text, length, stop))
            return refuse(reader, list_item(reader, item, 1), &at, option);
        if (!text)
            return refuse(reader, item, &at, option);
        stop->metres = (float)metres;
        if (i > 0 && stop[-1].metres > stop->metres)
            return fail(reader, item, &at, "the metres do not ascend; accepted: %s",
                        option->accepted);
    }
    return 0;
}

static int read_worlds(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                       const struct option *option);

static int read_mapping(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                        const struct option *options, void *base);

static int read_value(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                      const struct option *option, void *base)
{
    switch (option->kind) {
    case OPTION_SECTION:
        return read_mapping(reader, node, path, option->options, base);
    case OPTION_WORLDS:
        return read_worlds(reader, node, path, option);
    case OPTION_PLACE:
        return read_place(reader, node, path, option, base);
    case OPTION_ELEVATION:
        return read_elevation(reader, node, path, option, (void *)((char *)base + option->offset));
    case OPTION_PALETTE:
        return read_palette(reader, node, path, option, base);
    default:
        return read_scalar(reader, node, path, option, base);
    }
}

static const char *known_keys(const struct option *options, char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct option *o = options; o->key && used < size; o++)
        used +=
            (size_t)snprintf(buffer + used, size - used, "%s%s", o == options ? "" : ", ", o->key);
    return buffer;
}

static bool same_key(const yaml_node_t *a, const yaml_node_t *b)
{
    return b->type == YAML_SCALAR_NODE && a->data.scalar.length == b->data.scalar.length &&
           memcmp(a->data.scalar.value, b->data.scalar.value, a->data.scalar.length) == 0;
}

static int read_mapping(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                        const struct option *options, void *base)
{
    char keys[256];

    if (node->type != YAML_MAPPING_NODE)
        return fail(reader, node, path, "not a mapping; accepted are the keys %s",
                    known_keys(options, keys, sizeof keys));
    const yaml_node_pair_t *first = node->data.mapping.pairs.start;
    const yaml_node_pair_t *end = node->data.mapping.pairs.top;
    for (const yaml_node_pair_t *pair = first; pair < end; pair++) {
        const yaml_node_t *key = node_at(reader, pair->key);
        size_t length = 0;
        const char *text = scalar(key, &length);
        if (!text)
            return fail(reader, key, path, "a key must be a word");
        struct key_path at = path_join(path, text, length);
        const struct option *option = option_find(options, text, length);
        if (!option)
            return fail(reader, key, &at, "unknown key; accepted are %s",
                        known_keys(options, keys, sizeof keys));
        for (const yaml_node_pair_t *before = first; before < pair; before++)
            if (same_key(key, node_at(reader, before->key)))
                return fail(reader, key, &at, "given twice; accepted: once");
        int err = read_value(reader, node_at(reader, pair->value), &at, option, base);
        if (err)
            return err;
    }
    return 0;
}

/* The value of KEY in a mapping, or the mapping itself: for the line of a message. */
static const yaml_node_t *find_key(struct reader *reader, const yaml_node_t *node, const char *key)
{
    if (node->type == YAML_MAPPING_NODE)
        for (const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
             pair < node->data.mapping.pairs.top; pair++) {
            const yaml_node_t *name = node_at(reader, pair->key);
            if (name->type == YAML_SCALAR_NODE &&
                strcmp((const char *)name->data.scalar.value, key) == 0)
                return node_at(reader, pair->value);
        }
    return node;
}

static bool reserved(const char *name)
{
    /* The first segments of the server's own URLs. */
    return strcmp(name, "viewer") == 0 || strcmp(name, "healthz") == 0 ||
           strcmp(name, "readyz") == 0 || strcmp(name, "metrics") == 0 ||
           strcmp(name, "worlds") == 0;
}

/* What no single value can tell. */
static int check_world(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                       int index)
{
    const struct world_config *world = &reader->config->worlds[index];
    struct key_path at = path_join(path, "name", 4);
    const char *key;

    if (find_key(reader, node, "name") == node)
        return fail(reader, node, &at, "missing; accepted: %s", world_options[0].accepted);
    if (reserved(world->name))
        return fail(reader, find_key(reader, node, "name"), &at,
                    "\"%s\" is a URL of the server's own; accepted is any other name", world->name);
    for (int i = 0; i < index; i++)
        if (strcmp(reader->config->worlds[i].name, world->name) == 0)
            return fail(reader, find_key(reader, node, "name"), &at,
                        "\"%s\" names a world already; accepted: each name once", world->name);
    const char *fault = farlands_params_fault(&world->terrain, &key);
    if (fault) {
        const bool own = strcmp(key, "elevation") == 0; /* the others are below noise */
        const yaml_node_t *parent = own ? node : find_key(reader, node, "noise");
        const struct key_path section = path_join(path, "noise", 5);
        at = path_join(own ? path : &section, key, strlen(key));
        return fail(reader, find_key(reader, parent, key), &at, "not accepted; %s", fault);
    }
    return 0;
}

static int read_worlds(struct reader *reader, const yaml_node_t *node, const struct key_path *path,
                       const struct option *option)
{
    struct config *config = reader->config;
    int count = list_length(node);
    if (count < 1 || count > WORLDS_MAX)
        return refuse(reader, node, path, option);
    struct world_config *worlds = calloc((size_t)count, sizeof *worlds);
    if (!worlds) {
        snprintf(reader->error->text, sizeof reader->error->text, "out of memory");
        return -ENOMEM;
    }
    /* A world takes what it leaves out from the built-in one. */
    if (config->worlds)
        for (int i = 0; i < count; i++)
            worlds[i] = config->worlds[0];
    free(config->worlds);
    config->worlds = worlds;
    config->world_count = count;
    for (int i = 0; i < count; i++) {
        const yaml_node_t *item = list_item(reader, node, i);
        struct key_path at = path_index(path, i);
        int err = read_mapping(reader, item, &at, option->options, &worlds[i]);
        if (!err)
            err = check_world(reader, item, &at, i);
        if (err)
            return err;
    }
    return 0;
}

static int read_text(struct config *config, const char *file, const unsigned char *bytes,
                     size_t length, struct config_error *error)
{
    struct reader reader = {.file = file, .config = config, .error = error};
    int err = document_parse(&reader.document, file, bytes, length, error);
    if (err)
        return err;
    const yaml_node_t *root = yaml_document_get_root_node(&reader.document);
    if (root) /* an empty file changes nothing */
        err = read_mapping(&reader, root, NULL, config_options, config);
    yaml_document_delete(&reader.document);
    return err;
}

static int read_file(struct config *config, const char *file, struct config_error *error)
{
    unsigned char *bytes;
    size_t length;
    int err = document_slurp(file, &bytes, &length, error);
    if (err)
        return err;
    err = read_text(config, file, bytes, length, error);
    free(bytes);
    return err;
}

int config_load(struct config **out, const char *file, struct config_error *error)
{
    struct config *config = calloc(1, sizeof *config);
    if (!config) {
        snprintf(error->text, sizeof error->text, "out of memory");
        return -ENOMEM;
    }
    int err = read_text(config, "built-in", config_builtin, (size_t)config_builtin_length, error);
    if (!err && file)
        err = read_file(config, file, error);
    if (err) {
        config_free(config);
        return err;
    }
    *out = config;
    return 0;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    free(config->worlds);
    free(config);
}

static void visit_options(const struct option *options, const char *prefix,
                          const struct world_config *world, world_visitor *visit, void *context)
{
    for (; options->key; options++) {
        char key[64], value[OPTION_TEXT_MAX];
        const bool section = options->kind == OPTION_SECTION;
        snprintf(key, sizeof key, "%s%s%s", prefix, options->key, section ? "." : "");
        if (section) {
            visit_options(options->options, key, world, visit, context);
            continue;
        }
        int quoted = option_format(options, world, value, sizeof value);
        visit(context, key, value, quoted);
    }
}

void config_world_visit(const struct world_config *world, world_visitor *visit, void *context)
{
    visit_options(world_options, "", world, visit, context);
}
