/* A world's document. */
#include "world_document.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "config/reading/mapping.h"
#include "config/values/exact_numbers.h"
#include "config/world/world_options.h"
#include "config/world/world_terrain.h"

#define STRING_OF(number) #number
#define STRING(number) STRING_OF(number)

static struct text_node *find(const struct text_node *root, const char *key)
{
    return text_node_find(root, key, strlen(key));
}

/* The generators in documents. Fields have one of their own. */
#define GENERATORS STRING(FARLANDS_GENERATOR) " or " STRING(WORLD_FIELDS_GENERATOR)

static int check_generator(struct node_reader *reader, const struct text_node *root)
{
    const struct key_path path = {"generator"};
    const struct text_node *node = find(root, path.text), *fields = find(root, "fields");
    size_t length;
    const char *text = node ? text_node_text(node, &length) : NULL;
    int64_t generator;
    if (!node)
        return node_reader_fail(reader, root, &path, "missing; expected " WORLD_DOCUMENT);
    if (!text || integer_parse(text, length, &generator))
        return node_reader_fail(reader, node, &path, "not a whole number; expected " GENERATORS);
    if (fields && generator < WORLD_FIELDS_GENERATOR)
        return node_reader_fail(reader, fields, &(struct key_path){"fields"},
                                "unknown to generator %lld; expected generator %d",
                                (long long)generator, WORLD_FIELDS_GENERATOR);
    if (generator == FARLANDS_GENERATOR || generator == WORLD_FIELDS_GENERATOR)
        return 0;
    node_reader_fail(reader, node, &path,
                     "document was made by generator %lld; expected " GENERATORS
                     ", which this release implements",
                     (long long)generator);
    return -ENOTSUP;
}

/* True if KEY changes how a world looks, and is an option. */
static bool is_look(const char *key, size_t length)
{
    static const char *const keys[] = {"palette", "exaggeration", "about"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strlen(keys[i]) == length && memcmp(keys[i], key, length) == 0)
            return true;
    return false;
}

/* Move keys for the terrain, and for pictures if LOOKS, to ROOT's front, with their values. *COUNT
 * is set to the number of these nodes. Refuses unknown keys, and documents with neither noise nor
 * fields. */
static int parameters_first(struct node_reader *reader, struct text_node *root, bool looks,
                            size_t *count)
{
    const struct key_path noise = {"noise"};
    *count = 0;
    for (size_t i = 0; i < root->length; i += 2) {
        size_t length = 0;
        const char *key = text_node_text(&root->items[i], &length);
        if (key && world_key_is_ignored(key, length) && !(looks && is_look(key, length)))
            continue;
        const struct option *option = key ? option_find(world_options, key, length) : NULL;
        if (!option || option->kind == OPTION_LIKE) {
            const struct key_path path = key_path_join(NULL, key ? key : "", length);
            return node_reader_fail(reader, &root->items[i], &path,
                                    "unknown key, which may change the heights; expected one "
                                    "that this release knows");
        }
        for (size_t k = i; k < i + 2; k++, ++*count) {
            const struct text_node node = root->items[*count];
            root->items[*count] = root->items[k];
            root->items[k] = node;
        }
    }
    /* An entry of /worlds.json has a generator, too, but neither noise nor fields. */
    if (!find(root, noise.text) && !find(root, "fields"))
        return node_reader_fail(reader, root, &noise, "missing; expected " WORLD_DOCUMENT);
    return 0;
}

/* Cut "name:seed" at the colon, which is no part of a configured name; SEED gets the rest. */
static int cut_seed(struct node_reader *reader, const struct text_node *root,
                    char seed[WORLD_SEEDED_NAME_MAX])
{
    struct text_node *node = find(root, "name");
    size_t length = 0;
    const char *text = node ? text_node_text(node, &length) : NULL;
    const char *colon = text ? memchr(text, ':', length) : NULL;
    seed[0] = '\0';
    if (!colon)
        return 0;
    const size_t name = (size_t)(colon - text);
    uint64_t value;
    if (unsigned_parse(colon + 1, length - name - 1, &value))
        return node_reader_refuse(reader, node, &(struct key_path){"name"}, &world_options[0]);
    snprintf(seed, WORLD_SEEDED_NAME_MAX, "%.*s", (int)(length - name), colon);
    node->length = name;
    return 0;
}

static int read_fingerprint(struct node_reader *reader, const struct text_node *root, char out[17])
{
    const struct text_node *node = find(root, "fingerprint");
    size_t length = 0;
    const char *text = node ? text_node_text(node, &length) : NULL;
    if (!node)
        return 0;
    if (!text || length != 16 || strspn(text, "0123456789abcdef") != 16)
        return node_reader_fail(reader, node, &(struct key_path){"fingerprint"},
                                "malformed; expected 16 hexadecimal digits");
    memcpy(out, text, 16);
    return 0;
}

void world_text_set(struct world_text *out, const struct world_config *world, const char *seed)
{
    out->world = *world;
    world_fields_hold(world->fields);
    snprintf(out->world.name, sizeof out->world.name, "%s%s", world->name, seed);
}

int world_text_missing(struct node_reader *reader, const char *name, const char *names)
{
    node_reader_fail(reader, NULL, NULL, "no world \"%s\"; expected %s",
                     key_path_key(NULL, name).text, names);
    return -ENOENT;
}

/* Read world INDEX from ROOT, with its looks if LOOKS. SEED gets the end of the name from the colon
 * on, or "". */
static int read_parameters(struct node_reader *reader, struct text_node *root, int index,
                           bool looks, char seed[WORLD_SEEDED_NAME_MAX])
{
    size_t parameters;
    int err = cut_seed(reader, root, seed);
    if (!err)
        err = parameters_first(reader, root, looks, &parameters);
    if (err)
        return err;
    const size_t length = root->length;
    root->length = parameters; /* the other keys are ignored */
    err = mapping_read_world(reader, root, NULL, index);
    root->length = length;
    return err;
}

static int read_document(struct node_reader *reader, struct text_node *root, struct world_text *out,
                         const char *name)
{
    char seed[WORLD_SEEDED_NAME_MAX], expected[WORLD_SEEDED_NAME_MAX + 8];
    int err = check_generator(reader, root);
    if (!err)
        err = read_fingerprint(reader, root, out->fingerprint);
    if (!err)
        err = read_parameters(reader, root, 0, false, seed);
    if (err)
        return err;
    world_text_set(out, &reader->worlds->world[0], seed);
    if (!name || strcmp(name, out->world.name) == 0)
        return 0;
    snprintf(expected, sizeof expected, "\"%s\"", out->world.name);
    return world_text_missing(reader, name, expected);
}

int world_document_read(struct world_text *out, struct text_node *root, const char *name,
                        struct config_error *error)
{
    struct world_text text = {.fingerprint = ""};
    struct world_config world = world_defaults;
    struct world_list worlds = {&world, 1};
    struct node_reader reader = {.file = "text", .worlds = &worlds, .error = error};
    const int err = read_document(&reader, root, &text, name);
    world_fields_release(world.fields);
    if (err)
        world_fields_release(text.world.fields);
    else
        *out = text;
    return err;
}

/* The bit for the layer NAME, or 0 if another release has the layer. All layers field.NAME share
 * the bit of "field". */
static uint32_t layer_bit(const struct node_reader *reader, const char *name, size_t length)
{
    const char *dot = memchr(name, '.', length);
    const size_t used = dot ? (size_t)(dot - name) : length;
    for (int i = 0; reader->layers[i].name; i++)
        if (strlen(reader->layers[i].name) == used &&
            memcmp(reader->layers[i].name, name, used) == 0)
            return UINT32_C(1) << i;
    return 0;
}

/* The bits for the layers that ROOT lists; 0 if there is no list. */
static uint32_t listed_layers(const struct node_reader *reader, const struct text_node *root)
{
    const struct text_node *layers = find(root, "layers"), *fields = find(root, "fields");
    uint32_t bits = 0;
    for (int i = 0; layers && i < text_node_length(layers); i++) {
        const struct text_node *name = find(text_node_item(layers, i), "name");
        size_t length = 0;
        const char *text = name ? text_node_text(name, &length) : NULL;
        bits |= text ? layer_bit(reader, text, length) : 0;
    }
    /* Documents do not list the layer of the field `height`. If there is no other field, the layer
     * may have been served. */
    if (bits && (!fields || fields->length == 2))
        bits |= layer_bit(reader, "field", 5);
    return bits;
}

int world_document_serve(struct node_reader *reader, struct text_node *root, int index)
{
    const uint32_t layers = reader->layers ? listed_layers(reader, root) : 0;
    char seed[WORLD_SEEDED_NAME_MAX];
    int err = check_generator(reader, root);
    if (!err)
        err = read_parameters(reader, root, index, true, seed);
    if (layers)
        reader->worlds->world[index].layers = layers;
    return err;
}
