#include "expression_read.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/fields/field_nodes.h"
#include "config/reading/biomes_read.h"
#include "config/reading/mapping.h"
#include "config/values/name_distance.h"
#include "noise/exact/lattice.h"

static const struct option expression_option = {.expected = FIELD_EXPRESSION};

/* --- Expressions --- */

/* PATH below `fields`. */
static const char *inner_path(const struct node_reader *reader, const struct key_path *path)
{
    return path->text + reader->fields_path + 1;
}

/* The salt of a noise without the key: a hash of its place in the file. */
static unsigned salt_of(const char *path)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (; *path; path++)
        hash = (hash ^ (unsigned char)*path) * UINT64_C(0x100000001b3);
    const unsigned salt = (unsigned)(lattice_mix(hash) & FIELD_MAX_SALT);
    return salt ? salt : 1;
}

/* Add an expression, which the caller fills in. Returns its number or a negative code. */
static int add_expression(struct node_reader *reader, const struct text_node *node,
                          const struct key_path *path, const struct node_kind *kind)
{
    struct world_fields *fields = reader->fields;
    const int at = fields->expressions;
    if (at == FIELDS_MAX_EXPRESSIONS)
        return node_reader_fail(reader, node, path,
                                "too many nodes, numbers and names; expected at most %d",
                                FIELDS_MAX_EXPRESSIONS);
    struct expression *expression = &fields->expression[at];
    *expression = (struct expression){.kind = kind, .line = node->line};
    expression->path = strdup(inner_path(reader, path));
    if (!expression->path)
        return node_reader_no_memory(reader);
    fields->expressions++;
    return at;
}

bool expression_is_name(const char *text, size_t length)
{
    return length < FIELD_NAME_MAX && text[0] >= 'a' && text[0] <= 'z' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == length;
}

static int read_name(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, int *out)
{
    const int at = add_expression(reader, node, path, NODE_KIND_NAME);
    if (at < 0)
        return at;
    *out = at;
    reader->fields->expression[at].name = strdup(node->text);
    return reader->fields->expression[at].name ? 0 : node_reader_no_memory(reader);
}

static int read_number(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, int *out)
{
    static const struct option number = {"", OPTION_REAL, .min = -1e9, .max = 1e9};
    double value;
    if (option_parse(&number, node->text, node->length, &value))
        return node_reader_refuse(reader, node, path, &number);
    const int at = add_expression(reader, node, path, NODE_KIND_NUMBER);
    if (at < 0)
        return at;
    *out = at;
    reader->fields->expression[at].number = value;
    return 0;
}

static int read_scalar(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, int *out)
{
    if (expression_is_name(node->text, node->length))
        return read_name(reader, node, path, out);
    if (node->length > 0 && memchr("+-.0123456789", node->text[0], 13))
        return read_number(reader, node, path, out);
    return node_reader_refuse(reader, node, path, &expression_option);
}

/* --- Nodes --- */

/* Make room for an expression's inputs, which the caller sets. */
static int *new_inputs(struct expression *expression, int count)
{
    expression->input = malloc((size_t)count * sizeof *expression->input);
    expression->inputs = expression->input ? count : 0;
    return expression->input;
}

static int read_items(struct node_reader *reader, const struct text_node *list,
                      const struct key_path *path, int *out)
{
    int err = 0;
    for (int i = 0; i < text_node_length(list) && !err; i++) {
        const struct key_path item = key_path_index(path, i);
        err = expression_read(reader, text_node_item(list, i), &item, &out[i]);
    }
    return err;
}

static int read_list(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, int at)
{
    const int most = reader->fields->expression[at].kind->inputs, count = text_node_length(node);
    char range[64];
    struct option option = {.expected = range};
    snprintf(range, sizeof range, "a list of 2 to %d fields, such as [NAME, 0.5]", most);
    if (most == 2)
        option.expected = FIELD_PAIR;
    if (count < 2 || count > most)
        return node_reader_refuse(reader, node, path, &option);
    int *input = new_inputs(&reader->fields->expression[at], count);
    return input ? read_items(reader, node, path, input) : node_reader_no_memory(reader);
}

static int read_only_input(struct node_reader *reader, const struct text_node *node,
                           const struct key_path *path, int at)
{
    int *input = new_inputs(&reader->fields->expression[at], 1);
    return input ? expression_read(reader, node, path, input) : node_reader_no_memory(reader);
}

/* True if OPTION's key is required, and VALUES still has a default that no file can set. */
static bool is_missing(const struct node_kind *kind, const struct option *option,
                       const struct node_values *values)
{
    const void *value = (const char *)values + option->offset;
    const int *input = value;
    switch (option->kind) {
    case OPTION_FIELD:
    case OPTION_FIELD_PAIR:
        return *input < 0 && input < &values->input[kind->inputs];
    case OPTION_REAL:
        return isnan(*(const double *)value);
    case OPTION_KNOTS:
        return values->curve.knots == 0;
    case OPTION_BIOMES:
        return !values->biomes;
    case OPTION_BLOCKS:
        return *(const int64_t *)value == 0;
    case OPTION_INTEGER:
        return *(const int *)value == 0 && option->min > 0;
    case OPTION_SPACING:
        return *(const unsigned *)value == 0 && option->min > 0;
    default:
        return false;
    }
}

static int refuse_missing(struct node_reader *reader, const struct text_node *node,
                          const struct key_path *path, const struct option *option)
{
    char expected[256];
    const struct key_path at = key_path_key(path, option->key);
    return node_reader_fail(reader, node, &at, "missing; expected %s",
                            option_expected(option, expected, sizeof expected));
}

static int check_keys(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const struct node_kind *kind,
                      const struct node_values *values)
{
    for (const struct option *option = kind->keys; option->key; option++)
        if (is_missing(kind, option, values))
            return refuse_missing(reader, node, path, option);
    return 0;
}

/* Check that a noise is moved along both axes, or not at all. */
static int check_move(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, const struct node_values *values)
{
    const struct text_node *move = text_node_find(node, "move", 4);
    const struct key_path at = key_path_key(path, "move");
    if (!move || (values->input[0] >= 0 && values->input[1] >= 0))
        return 0;
    return refuse_missing(
        reader, move, &at,
        &(struct option){.key = values->input[0] < 0 ? "x" : "y", .expected = FIELD_EXPRESSION});
}

/* Refuse a key in a node that belongs beside it. */
static int check_place(struct node_reader *reader, const struct text_node *node,
                       const struct key_path *path, const struct node_kind *kind)
{
    static const char *const outer[] = {"lattice", "unit"};
    for (int i = 0; i < 2; i++) {
        const size_t length = strlen(outer[i]);
        const struct text_node *value = text_node_find(node, outer[i], length);
        const struct key_path at = key_path_join(path, outer[i], length);
        if (value && !option_find(kind->keys, outer[i], length))
            return node_reader_fail(
                reader, value, &at,
                "unknown key; expected beside %s, as in { %s: { ... }, %s: ... }", kind->name,
                kind->name, outer[i]);
    }
    return 0;
}

static int read_keys(struct node_reader *reader, const struct text_node *node,
                     const struct key_path *path, int at)
{
    struct expression *expression = &reader->fields->expression[at];
    const struct node_kind *kind = expression->kind;
    struct node_values *values = malloc(sizeof *values);
    if (!values)
        return node_reader_no_memory(reader);
    *values = *kind->defaults;
    expression->values = values;
    int err = check_place(reader, node, path, kind);
    if (!err)
        err = mapping_read(reader, node, path, kind->keys, values);
    if (err)
        return err;
    if (values->noise.fractal == FARLANDS_NONE)
        values->noise.octaves = 1;
    if (values->salt == FIELD_NO_SALT)
        values->salt = salt_of(expression->path);
    err = check_keys(reader, node, path, kind, values);
    if (!err && values->biomes)
        err = biomes_check_inputs(reader, node, path, values->biomes, values->input);
    return err || kind->graph != GRAPH_NOISE ? err : check_move(reader, node, path, values);
}

/* --- Mappings --- */

/* The keys of an expression: { KIND: NODE, lattice: SPACING, unit: UNIT }. */
struct parts {
    const struct node_kind *kind;
    const struct text_node *node, *unit;
    unsigned spacing;
};

static size_t node_names(char *buffer, size_t size)
{
    size_t used = 0;
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name && used < size; kind++)
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", used ? ", " : "", kind->name);
    return used;
}

/* The node that a misspelt TEXT may mean, or NULL. */
static const char *nearest_node(const char *text, size_t length)
{
    unsigned least = NAME_DISTANCE_NONE;
    const char *nearest = NULL;
    for (const struct node_kind *kind = NODE_KINDS_WITH_KEYS; kind->name; kind++) {
        const unsigned distance = name_distance(text, length, kind->name);
        if (distance < least) {
            least = distance;
            nearest = kind->name;
        }
    }
    return nearest;
}

/* Refuse KEY, which is beside a node of KIND; NULL: beside no node so far. */
static int refuse_key(struct node_reader *reader, const struct text_node *key,
                      const struct key_path *path, const struct node_kind *kind)
{
    char names[300];
    size_t length = 0;
    const char *text = text_node_text(key, &length);
    const char *nearest = text ? nearest_node(text, length) : NULL;
    const struct key_path at = key_path_join(path, text ? text : "", length);
    if (text && kind && kind->keys && option_find(kind->keys, text, length))
        return node_reader_fail(reader, key, &at,
                                "unknown key; expected in %s, as in { %s: { %s: ... } }",
                                kind->name, kind->name, text);
    if (nearest)
        return node_reader_fail(reader, key, &at, "unknown key; did you mean %s?", nearest);
    node_names(names, sizeof names);
    return node_reader_fail(reader, key, &at, "unknown key; expected one of %s, lattice, unit",
                            names);
}

static int read_lattice(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, unsigned *out)
{
    static const struct option spacing = {"lattice", OPTION_SPACING, .offset = 0};
    const struct key_path at = key_path_key(path, "lattice");
    if (*out > 0)
        return node_reader_fail(reader, node, &at, "duplicate key; expected once");
    size_t length;
    const char *text = text_node_text(node, &length);
    if (!text || option_parse(&spacing, text, length, out))
        return node_reader_refuse(reader, node, &at, &spacing);
    return 0;
}

static int read_unit(struct node_reader *reader, const struct text_node *key,
                     const struct text_node *value, const struct key_path *path,
                     struct parts *parts)
{
    const struct key_path at = key_path_key(path, "unit");
    if (strchr(inner_path(reader, path), '.'))
        return node_reader_fail(reader, key, &at,
                                "unknown key; expected a unit only at the top of a field");
    if (parts->unit)
        return node_reader_fail(reader, key, &at, "duplicate key; expected once");
    parts->unit = value;
    return 0;
}

/* Read one key of an expression, and its value. */
static int read_part(struct node_reader *reader, const struct text_node *key,
                     const struct text_node *value, const struct key_path *path,
                     struct parts *parts)
{
    size_t length = 0;
    const char *text = text_node_text(key, &length);
    if (text_node_is(key, "lattice"))
        return read_lattice(reader, value, path, &parts->spacing);
    if (text_node_is(key, "unit"))
        return read_unit(reader, key, value, path, parts);
    const struct node_kind *kind = text ? node_kind_find(text, length) : NULL;
    if (!kind)
        return refuse_key(reader, key, path, parts->kind);
    if (parts->kind) {
        const struct key_path at = key_path_join(path, text, length);
        return node_reader_fail(reader, key, &at,
                                "a second node beside %s; expected one, with others inside it",
                                parts->kind->name);
    }
    parts->kind = kind;
    parts->node = value;
    return 0;
}

static int read_parts(struct node_reader *reader, const struct text_node *node,
                      const struct key_path *path, struct parts *parts)
{
    char names[300];
    for (size_t i = 0; i < node->length; i += 2) {
        int err = read_part(reader, &node->items[i], &node->items[i + 1], path, parts);
        if (err)
            return err;
    }
    if (parts->kind)
        return 0;
    node_names(names, sizeof names);
    return node_reader_fail(reader, node, path, "no node; expected one of %s", names);
}

static int read_node(struct node_reader *reader, const struct key_path *path,
                     const struct parts *parts, int at)
{
    const struct node_kind *kind = parts->kind;
    assert(kind && kind->name);
    const struct key_path below = key_path_key(path, kind->name);
    switch (kind->shape) {
    case NODE_LIST:
        return read_list(reader, parts->node, &below, at);
    case NODE_KEYS:
        return read_keys(reader, parts->node, &below, at);
    default:
        return read_only_input(reader, parts->node, &below, at);
    }
}

static int set_unit(struct node_reader *reader, const struct text_node *unit,
                    const struct key_path *path)
{
    struct world_fields *fields = reader->fields;
    const struct key_path at = key_path_key(path, "unit");
    const struct option text = {.expected = "a text of 1 to 31 bytes, such as m"};
    bool printable = unit->kind == TEXT_SCALAR && unit->length > 0 && unit->length < FIELD_UNIT_MAX;
    for (size_t i = 0; printable && i < unit->length; i++)
        printable = (unsigned char)unit->text[i] >= 32 && unit->text[i] != 127;
    if (!printable)
        return node_reader_refuse(reader, unit, &at, &text);
    memcpy(fields->field[fields->count].unit, unit->text, unit->length);
    return 0;
}

static int read_mapping(struct node_reader *reader, const struct text_node *node,
                        const struct key_path *path, int *out)
{
    struct parts parts = {0};
    int err = read_parts(reader, node, path, &parts);
    if (!err && parts.unit)
        err = set_unit(reader, parts.unit, path);
    if (err)
        return err;
    assert(parts.kind);
    if (parts.kind->graph == GRAPH_BIOME && parts.spacing > 0) {
        const struct key_path lattice = key_path_key(path, "lattice");
        return node_reader_fail(reader, text_node_find(node, "lattice", 7), &lattice,
                                "a lattice would blend ids; expected it beside what the biome is "
                                "made of");
    }
    const int at = add_expression(reader, node, path, parts.kind);
    if (at < 0)
        return at;
    *out = at;
    reader->fields->expression[at].spacing = parts.spacing;
    return read_node(reader, path, &parts, at);
}

int expression_read(struct node_reader *reader, const struct text_node *node,
                    const struct key_path *path, int *out)
{
    switch (node->kind) {
    case TEXT_SCALAR:
        return read_scalar(reader, node, path, out);
    case TEXT_MAPPING:
        return read_mapping(reader, node, path, out);
    case TEXT_LIST:
        break;
    }
    return node_reader_refuse(reader, node, path, &expression_option);
}

int expression_read_pair(struct node_reader *reader, const struct text_node *node,
                         const struct key_path *path, const struct option *option, int out[2])
{
    if (text_node_length(node) != 2)
        return node_reader_refuse(reader, node, path, option);
    return read_items(reader, node, path, out);
}
